#!/bin/sh
# Measures the time from the start of a process to its first result, for docs/export.md: a product of two matrices by the
# exported kernel of matmul_fast.yaml, compiled from its source, from binaries, and with the cache of the driver.
#
#   measure-start.sh NDTUNE DEVICE [SIZE [REPEATS]]
#
# NDTUNE is the built program (CGO_ENABLED=0 go build ./cmd/ndtune for a machine without Go). DEVICE is a part of the name
# of the device, such as H200. SIZE is the number of rows and columns (512), REPEATS the number of measurements of each case
# (5). The script needs gcc, CL/cl.h and the OpenCL library. The driver's caches of the user stay: each empty cache is a
# new folder.
set -eu

[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
ndtune=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
device=$2 size=${3:-512} repeats=${4:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cp "$root"/kernels/matmul/* "$root/scripts/start/measure-start.c" "$work"
cd "$work"

"$ndtune" tune matmul_fast.yaml --set m="$size" --set n="$size" --set k="$size" --device "$device" --max-evals 40 --no-peak -q --log log.jsonl
"$ndtune" export matmul_fast.yaml log.jsonl --lang c --binaries --device "$device"
gcc -std=c99 -O2 -Wall -Wextra -Werror -I. measure-start.c -lOpenCL -lm -o start

# cache FOLDER lets the drivers keep what they compile there: PoCL, NVIDIA, and those that use the home folder.
cache() {
	mkdir -p "$1"
	export HOME="$1" XDG_CACHE_HOME="$1" POCL_CACHE_DIR="$1" CUDA_CACHE_PATH="$1" NEO_CACHE_DIR="$1"
}

start() { ./start "$device" "$size" "$1" "$(date +%s%N)"; }

i=0
while [ $i -lt "$repeats" ]; do
	i=$((i + 1))
	cache "$work/source$i"
	start - >>"source, empty cache"
	start - >>"source, warm cache"
	./start "$device" "$size" saved.binaries 0 save >/dev/null
	cache "$work/binaries$i"
	start matmul_kernel.binaries >>"export, empty cache"
	start matmul_kernel.binaries >>"export, warm cache"
	cache "$work/saved$i"
	start saved.binaries >>"saved, empty cache"
done
if cat "export, "* "saved, "* | grep -q source; then echo "measure-start.sh: the driver did not take a binary" >&2; fi
echo "seconds to the first result, and to the built program: the least of $repeats each"
for case in "source, empty cache" "export, empty cache" "saved, empty cache" "source, warm cache" "export, warm cache"; do
	printf '%-26s' "$case"
	for column in 1 2; do
		cut -d' ' -f$column "./$case" | sort -n | head -n 1 | tr '\n' ' '
	done
	echo "($(cut -d' ' -f3 "./$case" | sort -u | tr '\n' ' '))" | sed 's/ )/)/'
done
ls -l matmul_kernel.binaries saved.binaries | awk '{print $NF ": " $5 " bytes"}'
