#!/usr/bin/env bash
# Repeats the measurements of docs/performance.md that need a GPU: hostile kernels, SIGTERM,
# searches in one process and in several, and the difference of their times. The machine needs no
# Go: build ndtune and the test binary elsewhere, with CGO_ENABLED=0, into DIR.
#
#   CGO_ENABLED=0 go build -o DIR/ndtune ./cmd/ndtune
#   CGO_ENABLED=0 go test -c -o DIR/cmd.test ./cmd/ndtune
#   scripts/measure-gpu.sh DIR RESULTS
set -u
cd "$(dirname "$0")/.."
bin=$(cd "$1" && pwd)
mkdir -p "$2"
results=$(cd "$2" && pwd)
bench=cmd/ndtune/testdata/bench

echo '== hostile kernels'
( time timeout 300 "$bin/ndtune" tune "$bench/hostile.yaml" --device gpu --build-timeout 3s --log "$results/hostile.jsonl" ) \
	>"$results/hostile.txt" 2>&1
cut -c 1-160 "$results/hostile.txt"
echo "workers left: $(pgrep -fc '[(]worker[)]')"

echo '== SIGTERM in the middle'
rm -rf ~/.nv/ComputeCache
( export NDTUNE_NO_PEAK=1; time timeout --preserve-status -s TERM 1.7 "$bin/ndtune" diffusion tune --device gpu --kernel tiled --log "$results/term.jsonl" ) \
	>"$results/term.txt" 2>&1
echo "status $?"
tail -8 "$results/term.txt"
echo "workers left: $(pgrep -fc '[(]worker[)]')"

echo '== one process and several'
export NDTUNE_TEST_DEVICE=${NDTUNE_TEST_DEVICE:-gpu} NDTUNE_REQUIRE_OPENCL=1 NDTUNE_BENCH_ENGINE=1
( cd cmd/ndtune && NDTUNE_BENCH_SIZE=4096 timeout 300 "$bin/cmd.test" -test.run '^$' -test.bench Engine/diffusion -test.benchtime 1x ) |
	tee "$results/engine-diffusion.txt"
( cd cmd/ndtune && NDTUNE_BENCH_SIZE=1024 timeout 400 "$bin/cmd.test" -test.run '^$' -test.bench Engine/matmul -test.benchtime 1x ) |
	tee "$results/engine-matmul.txt"

echo '== times in one process and in several'
for i in 1 2; do
	"$bin/ndtune" diffusion tune --device gpu --kernel tiled --workers 0 -q --log "$results/in-process$i.jsonl"
	"$bin/ndtune" diffusion tune --device gpu --kernel tiled -q --log "$results/workers$i.jsonl"
done
python3 "$bench/medians.py" "$results"/in-process{1,2}.jsonl "$results"/workers{1,2}.jsonl
