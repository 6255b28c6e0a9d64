#!/usr/bin/env bash
# Repeats the measurements of kernels in docs/performance.md: the device's peaks, diffusion with one
# and with several steps per launch, and matmul beside the installed libraries. Each kernel is tuned from
# its bundled specification. On a GPU this takes some 15 minutes. PARTS chooses parts, SIZES and
# FIELD shrink the matrices and the field, DEVICE is any selector, LIBRARY a folder with cuBLAS.
#
#   scripts/measure-kernels.sh NDTUNE RESULTS
#   DEVICE=cpu SIZES=1024 FIELD=1024 scripts/measure-kernels.sh bin/ndtune results
set -u
ndtune=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2" && cd "$2"
device=${DEVICE:-gpu}
sizes=${SIZES:-4096 8192 1024}
field=${FIELD:-4096}
parts=${PARTS:-peaks diffusion matmul tensor double bench}

# said NAME COMMAND... runs a command, writes its output to NAME.txt, and shows the last lines.
said() {
	local name=$1
	shift
	echo "== $name: ${*/#"$ndtune"/ndtune}"
	(time "$@") >"$name.txt" 2>&1
	grep -vE '^(Using|build options|user|sys|$)' "$name.txt" | tail -8 | cut -c 1-400
}

for part in $parts; do
	case $part in
	peaks)
		said peaks "$ndtune" devices --peak --device "$device"
		;;
	diffusion)
		for kernel in naive stencil temporal; do
			said "diffusion-$kernel" "$ndtune" diffusion tune --device "$device" --kernel $kernel \
				--nx "$field" --ny "$field" -q --max-evals 600 --log "diffusion-$kernel.jsonl"
		done
		said diffusion-run "$ndtune" diffusion run --device "$device" --nx "$field" --ny "$field" \
			--steps 1000 --tuned diffusion-temporal.jsonl
		;;
	matmul)
		for size in $sizes; do
			said "fast-$size" "$ndtune" matmul tune --device "$device" --kernel fast --size "$size" -q --log "fast-$size.jsonl"
		done
		;;
	tensor)
		for kernel in tf32 half; do
			said $kernel "$ndtune" matmul tune --device "$device" --kernel $kernel --size 4096 -q --max-evals 300 --log $kernel.jsonl
		done
		;;
	double)
		said double "$ndtune" matmul tune --device "$device" --kernel fast --size 4096 -q --set element=double \
			--max-evals 200 --log double.jsonl
		;;
	bench)
		records=()
		for size in $sizes; do
			records+=(--tuned "fast-$size.jsonl")
		done
		said bench "$ndtune" matmul bench --device "$device" --kernel naive,fast "${records[@]}" \
			--sizes "$(tr ' ' '\n' <<<"$sizes" | sort -n | paste -sd,)" \
			${LIBRARY:+--library "$LIBRARY"} -o bench.csv -o bench.png
		;;
	*)
		echo "no part $part: peaks diffusion matmul tensor double bench" >&2
		exit 2
		;;
	esac
done
