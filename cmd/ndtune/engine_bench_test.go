package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkEngine tunes one problem in one process and with more and more workers, each time
// as a whole process on an empty driver cache: start-up, the search, the final measurement,
// the end. Beside Go's own figures it gives configurations a second, how many times as fast
// as in one process that is, and where the time of the workers went, in seconds summed
// over them. Every run takes as long as a search does: make bench-engine asks for them by
// NDTUNE_BENCH_ENGINE, and runs each once.
//
// NDTUNE_BENCH_SIZE is the size of the field and of the matrices. NDTUNE_TEST_DEVICE names
// the device.
func BenchmarkEngine(b *testing.B) {
	if os.Getenv("NDTUNE_BENCH_ENGINE") == "" {
		b.Skip("whole searches take minutes: make bench-engine runs them")
	}
	d, err := testDevice()
	if err != nil {
		b.Skip(err)
	}
	size := os.Getenv("NDTUNE_BENCH_SIZE")
	if size == "" {
		size = "1024"
	}
	for _, problem := range []struct {
		name      string
		arguments []string
	}{
		{"diffusion", []string{"diffusion", "tune", "--kernel", "tiled", "--nx", size, "--ny", size}},
		{"matmul", []string{"tune", "testdata/bench/matmul.yaml", "--set", "size=" + size}},
	} {
		b.Run(problem.name, func(b *testing.B) {
			arguments := append(problem.arguments, "--device", d.Selector, "-v")
			var alone float64 // configurations a second in one process
			b.Run("in-process", func(b *testing.B) { benchEngine(b, append(arguments, "--workers", "0"), &alone) })
			for _, n := range workerCounts() {
				b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) {
					benchEngine(b, append(arguments, "--workers", strconv.Itoa(n)), &alone)
				})
			}
			b.Run("default", func(b *testing.B) { benchEngine(b, arguments, &alone) })
		})
	}
}

// workerCounts are 1, 2, 4, … up to the number of cores.
func workerCounts() []int {
	var counts []int
	for n := 1; n <= runtime.NumCPU(); n *= 2 {
		counts = append(counts, n)
	}
	return counts
}

// benchEngine runs the program. Alone is the rate of the first runs, with which the others
// are compared.
func benchEngine(b *testing.B, arguments []string, alone *float64) {
	var spent engineTimes
	configurations, elapsed := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		folder := b.TempDir()
		c := exec.Command("ndtune", append(arguments, "--log", folder+"/log.jsonl")...)
		c.Env = append(programEnvironment(folder), "POCL_CACHE_DIR="+b.TempDir(), "CUDA_CACHE_PATH="+b.TempDir())
		var notes strings.Builder
		c.Stderr = &notes
		b.StartTimer()
		began := time.Now()
		_, err := c.Output()
		elapsed += time.Since(began)
		if err != nil {
			b.Fatalf("%v\n%s", err, notes.String())
		}
		if err := spent.add(notes.String()); err != nil {
			b.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^(\d+) configurations?: .*correct`).FindStringSubmatch(notes.String())
		if found == nil {
			b.Fatalf("no summary in:\n%s", notes.String())
		}
		n, _ := strconv.Atoi(found[1])
		configurations += n
	}
	rate := float64(configurations) / elapsed.Seconds()
	if *alone == 0 {
		*alone = rate
	}
	b.ReportMetric(rate, "configs/s")
	b.ReportMetric(rate / *alone, "x")
	for name, seconds := range spent {
		b.ReportMetric(seconds/float64(b.N), strings.ReplaceAll(name, " ", "-")+"-s")
	}
}

// engineTimes are the seconds that the program says it spent, by what on.
type engineTimes map[string]float64

// add reads what -v says of where the time went.
func (t *engineTimes) add(notes string) error {
	line := regexp.MustCompile(`(?m)^time(?: of \d+ workers?)?: (.*)$`).FindStringSubmatch(notes)
	if line == nil {
		return errors.New("the program does not say where its time went")
	}
	if *t == nil {
		*t = engineTimes{}
	}
	for _, part := range strings.Split(line[1], ", ") {
		at := strings.LastIndexByte(part, ' ')
		d, err := time.ParseDuration(part[at+1:])
		if err != nil {
			return err
		}
		(*t)[part[:at]] += d.Seconds()
	}
	return nil
}
