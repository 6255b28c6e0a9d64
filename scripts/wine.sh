#!/usr/bin/env bash
# Tries the program for Windows under Wine, whose opencl.dll passes calls on to the OpenCL loader of Linux, and so to PoCL. It prints
# one line for each trial, and ends with status 1 if one failed. It takes some two minutes, installs nothing, and leaves nothing behind.
#
#   scripts/wine.sh [NDTUNE.exe]     # by default, it builds one
#
# Debian's packages: wine64 pocl-opencl-icd, and for a Wine without bcryptprimitives.dll (8.0 of Debian 12), which every program in Go
# needs, binutils-mingw-w64-x86-64.
#
# Two settings are for Wine and PoCL in one process, and of no use on Windows. LLVM, inside PoCL, takes the signals by which Wine stops
# threads: without GODEBUG=asyncpreemptoff=1 most runs hang. Without POCL_SIGFPE_HANDLER=0 LLVM takes them already when devices are
# listed. A process that built a kernel itself still ends by SIGQUIT now and then, after its work is done; that is said, and no failure.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD

need() {
	printf 'wine.sh: %s is missing: apt-get install --no-install-recommends %s\n' "$1" "$2" >&2
	exit 1
}

wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null) || need wine64 wine64
server=$(command -v wineserver || ls /usr/lib/wine/wineserver 2>/dev/null) || need wineserver wine64
ls /etc/OpenCL/vendors/pocl*.icd >/dev/null 2>&1 || need PoCL pocl-opencl-icd

folder=$(mktemp -d "${TMPDIR:-/tmp}/ndtune wine.XXXXXX")
export WINEPREFIX=$folder/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' POCL_MEMORY_LIMIT=${POCL_MEMORY_LIMIT:-2}
export GODEBUG=asyncpreemptoff=1 POCL_SIGFPE_HANDLER=0
trap '"$server" -k; "$server" -w; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

mkdir "$folder/prefix"
"$wine" wineboot -i >/dev/null 2>&1
"$server" -p # it stays until the end
system=$WINEPREFIX/drive_c/windows/system32
if [ ! -e "$system/bcryptprimitives.dll" ]; then
	mingw=x86_64-w64-mingw32
	command -v $mingw-ld >/dev/null || need "$mingw-ld" binutils-mingw-w64-x86-64
	printf 'LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n' >"$folder/random.def"
	$mingw-as -o "$folder/random.o" /dev/null &&
		$mingw-ld -shared -o "$system/bcryptprimitives.dll" "$folder/random.o" "$folder/random.def" || exit 1
fi

if [ $# -gt 0 ]; then
	cp "$1" "$folder/ndtune.exe" || exit 1
else
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 nice go build -buildvcs=false -o "$folder/ndtune.exe" ./cmd/ndtune || exit 1
fi
printf '%s, %s\n' "$("$wine" --version)" "$(cat /etc/debian_version 2>/dev/null)"

failures=0
failed() {
	failures=$((failures + 1))
	printf 'failed  %s: %s\n' "$name" "$*"
}

# ndtune ARGUMENT... runs the program with its output in a file, and keeps its status.
ndtune() {
	nice timeout -s KILL 120 "$wine" "$folder/ndtune.exe" "$@" >"$folder/out.txt" 2>&1 </dev/null
	status=$?
} 2>/dev/null # the shell's words about signals

# judge WANT TEXT... says that the trial has passed if the status is WANT and the output has all the texts.
judge() {
	local want=$1 text note=
	shift
	for text in "$@"; do
		if ! grep -qF -e "$text" "$folder/out.txt"; then
			failed "status $status, and no \"$text\" in: $(tail -n 3 "$folder/out.txt" | tr -d '\r' | tr '\n' ' ')"
			return
		fi
	done
	if [ "$status" = 131 ] && [ $# -gt 0 ]; then
		note=' (and then SIGQUIT, of Wine and LLVM)'
	elif [ "$status" != "$want" ]; then
		failed "status $status, want $want: $(tail -n 3 "$folder/out.txt" | tr -d '\r' | tr '\n' ' ')"
		return
	fi
	printf 'passed  %s%s\n' "$name" "$note"
}

# is FILE TEXT adds to the output whether a file that was written has the text.
is() { grep -qF -e "$2" "$1" && echo "$1 is there" >>"$folder/out.txt"; }

# processes prints the IDs of the running programs, workers included, the first one first. The tasklist of Wine 8 prints nothing, but its
# taskkill names the programs whose windows it asks to close, though a program at a console has none.
processes() {
	{ "$wine" tasklist; "$wine" taskkill /im ndtune.exe; } 2>/dev/null |
		sed -n 's/^ndtune\.exe  *\([0-9]*\) .*/\1/p; s/^Close .* PID \([0-9]*\).*/\1/p' | sort -un
}

# alone is the trial that none is left.
alone() {
	for _ in $(seq 50); do
		if [ -z "$(processes)" ]; then
			printf 'passed  %s\n' "$name"
			return
		fi
		sleep 0.2
	done
	failed "processes are left: $(processes | tr '\n' ' ')"
}

mkdir -p "$folder/my files/my inc" "$folder/my files/sub" "$folder/my files/logs"
cd "$folder/my files" || exit 1
here=$(printf 'Z:%s' "$PWD" | tr / '\\')
printf '#define SCALE 2.0f\n' >'my inc/scale.h'
printf '#define OFFSET 0\n' >sub/offset.h
cat >scale.cl <<'E'
#include "scale.h"
#include "sub\offset.h"
__kernel void scale(__global float *out, __global const float *in, int n) {
    int i = get_global_id(0) * ITEMS + OFFSET;
    for (int k = 0; k < ITEMS; k++)
        if (i + k < n) out[i + k] = SCALE * in[i + k];
}
E
cat >twice.cl <<'E'
#include "scale.h"
__kernel void twice(__global float *out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] *= SCALE;
}
E
specification() { # FILE OPTION ITEMS
	cat <<E
kernel: {name: scale, file: $1, build_options: ['$2']}
constants: {n: {value: 65536, host: true}}
problem_size: n
grid_div: {x: [block_size_x, ITEMS]}
arguments:
  - {name: out, type: float, size: n, output: true}
  - {name: in, type: float, size: n, fill: random}
  - {name: n, type: int, value: n}
parameters: {ITEMS: [$3], block_size_x: [32, 64]}
verify: {spec: reference.yaml}
E
}
specification scale.cl '-Imy inc' 1 | sed 's/\[32, 64\]/[32]/; /^verify/d' >reference.yaml
specification "'$here\\scale.cl'" "-I$here\\my inc" '1, 2, 4' >letters.yaml
specification scale.cl '-Imy inc' '1, 2, 4' >scale.yaml
specification scale.cl '-Imy inc' "$(seq -s , 1 60)" >long.yaml
# ITEMS=2 hangs, and ITEMS=4 writes where no memory is.
sed '$d' scale.cl >bad.cl
cat >>bad.cl <<'E'
#if ITEMS == 2
    while (in[0] < 1e30f) ((volatile __global float *)out)[i] = 1.0f;
#elif ITEMS == 4
    *(volatile __global int *)16 = i;
#endif
}
E
specification bad.cl '-Imy inc' '1, 2, 4' >bad.yaml

name=version
ndtune version
judge 0 'windows/amd64' 'Portable Computing Language'
name=devices
ndtune devices
judge 0 'platform 0' 'compute units'
if command -v go >/dev/null; then
	name='the tests of tune/process'
	(cd "$root" && GOOS=windows GOARCH=amd64 CGO_ENABLED=0 nice go test -vet=off -count=1 -exec "$wine" ./tune/process) >"$folder/out.txt" 2>&1
	status=$?
	judge 0 ok
fi
name='init, with commands for the shells of Windows'
ndtune init '.\twice.cl' -I 'my inc' -o 'sub\first.yaml'
judge 0 'ndtune tune sub\first.yaml' # without single quotes, which cmd does not know
name='space, of a path with a drive letter'
ndtune space "$here\\letters.yaml"
judge 0 'configurations: 6'
name='bad input'
ndtune space 'sub\none.yaml'
judge 2 'there is no file sub\none.yaml'
name='run, of a specification whose files have drive letters and spaces'
ndtune run letters.yaml -p ITEMS=2 -p block_size_x=64
judge 0 'output: verified' "-I\"$here\\my inc\""

for workers in 0 2; do
	name="tune --workers $workers, with -o and --log"
	ndtune tune '.\scale.yaml' --workers $workers -o "logs\\best$workers.json" -o "$here\\logs\\best$workers.csv" --log "C:\\k$workers.jsonl"
	is "logs/best$workers.csv" block_size_x
	is "logs/best$workers.json" results
	judge 0 'best performing configuration' '6 correct' "logs/best$workers.csv is there" "logs/best$workers.json is there"
done
name='tune again, from its log'
ndtune tune scale.yaml --log 'C:\k2.jsonl'
judge 0 'best performing configuration'
name='tune at two sizes'
ndtune tune scale.yaml --set n=4096,8192 --max-evals 2 --log 'logs\sizes.jsonl'
judge 0 'logs\sizes.n-4096.jsonl'
name='tune, kernels that hang and crash'
ndtune tune bad.yaml --workers 1 --build-timeout 8s --kernel-timeout 3s --log 'logs\bad.jsonl'
judge 0 'ITEMS=2, block_size_x=64, timeout' 'ITEMS=4, block_size_x=64, runtime' '2 correct'
name='no worker of theirs is left'
alone

name=report
ndtune report 'C:\k2.jsonl'
judge 0 '6 correct'
name='report, a page'
ndtune report "C:\\k2.jsonl" -o "$here\\logs\\page.html"
is logs/page.html '</html>'
judge 0 'logs/page.html is there'
name='convert, to all formats'
for format in t4 csv log cache; do
	ndtune convert 'C:\k2.jsonl' "logs\\converted.$format" --to $format
	[ $status = 0 ] || break
done
judge 0
name='report of a T4 file'
ndtune report 'logs\converted.t4'
judge 0 '6 correct'
name=export
ndtune export scale.yaml 'C:\k2.jsonl' -o 'logs\tuned'
is logs/tuned/scale.h 'my inc'
judge 0 'logs/tuned/scale.h is there'

# begin ARGUMENT... starts the program at a console on a terminal, and returns when it has results. Its keyboard is descriptor 3.
begin() {
	rm -f "$folder/screen.txt" "$folder/keys"
	mkfifo "$folder/keys"
	script -qefc "nice '$wine' '$folder/ndtune.exe' $*" "$folder/screen.txt" <"$folder/keys" >/dev/null 2>&1 &
	terminal=$!
	exec 3>"$folder/keys"
	for _ in $(seq 300); do
		grep -qsF 'ITEMS=2' "$folder/screen.txt" && return
		sleep 0.2
	done
}

# ended waits for it, and takes its output and status.
ended() {
	for _ in $(seq 150); do
		kill -0 $terminal 2>/dev/null || break
		sleep 0.2
	done
	kill $terminal 2>/dev/null # it ran on
	exec 3>&-
	wait $terminal
	status=$?
	tr -d '\r' <"$folder/screen.txt" >"$folder/out.txt"
}

for workers in 0 1; do
	name="Ctrl-C, --workers $workers"
	begin tune long.yaml --workers $workers --log "'logs\\stopped$workers.jsonl'"
	printf '\003' >&3
	ended
	judge 130 'ndtune: interrupted; stopping' 'Interrupted; the best so far:'
	name='no process is left'
	alone
	name='the same command goes on'
	ndtune tune long.yaml --max-evals 4 --workers 1 --log "logs\\stopped$workers.jsonl"
	judge 0 'best performing configuration'
done
name='taskkill /f, and the worker ends, too'
begin tune long.yaml --workers 1 --log "'logs\\killed.jsonl'"
running=$(processes)
[ "$(printf '%s\n' "$running" | wc -l)" = 2 ] || failed "want a program and a worker, there are $running"
"$wine" taskkill /f /pid "$(printf '%s\n' "$running" | head -n 1)" >/dev/null 2>&1
ended
alone
name='the same command goes on'
ndtune tune long.yaml --max-evals 4 --workers 1 --log 'logs\killed.jsonl'
judge 0 'best performing configuration'

[ $failures = 0 ]
