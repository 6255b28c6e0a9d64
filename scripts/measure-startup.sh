#!/usr/bin/env bash
# Compares the time of whole searches of two versions of ndtune on a GPU, in turn: with an empty and with a full driver cache, in
# processes and in one, without and with the peaks that the limit needs. It takes about 80 s on an H200, and empties NVIDIA's
# cache, ~/.nv/ComputeCache. The machine needs no Go: build both versions elsewhere, with CGO_ENABLED=0.
#
#   scripts/measure-startup.sh OLD NEW RESULTS
set -u
old=$(realpath "$1") new=$(realpath "$2")
mkdir -p "$3"
cd "$3" || exit
export XDG_STATE_HOME=$PWD/state

search() { # name, program, flags
	local name=$1 program=$2 begin
	shift 2
	begin=$(date +%s%N)
	timeout 60 "$program" diffusion tune --device gpu --kernel tiled --nx 4096 --ny 4096 -v --log "$name.jsonl" "$@" >"$name.txt" 2>&1
	echo "$name: status $?, $((($(date +%s%N) - begin) / 1000000)) ms, $(grep -h '^time' "$name.txt")"
	sleep 1.2 # the driver clears the contexts away
}

for i in 1 2 3; do
	rm -rf ~/.nv/ComputeCache
	search "cold-old$i" "$old" --no-peak
	rm -rf ~/.nv/ComputeCache
	search "cold-new$i" "$new" --no-peak
done
for i in 1 2 3; do
	search "warm-old$i" "$old" --no-peak
	search "warm-new$i" "$new" --no-peak
	search "in-process-new$i" "$new" --no-peak --workers 0
done
search peaks-old "$old"
search peaks-new "$new"
