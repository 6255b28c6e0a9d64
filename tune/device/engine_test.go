package device

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// BenchmarkEngineCost is what a configuration costs beyond its build and its launches: the
// search, the variant, buffers, arguments, the comparison, statistics and the run log. The
// kernel writes one element, and the driver's cache holds every variant.
func BenchmarkEngineCost(b *testing.B) {
	d := tune.Definition{
		Kernel:      tune.Kernel{Name: "nothing", Source: "__kernel void nothing(__global int *y, const int length) { *y = 1; }"},
		Constants:   []tune.Constant{{Name: "n", Value: 1}},
		ProblemSize: []tune.Expr{"n"},
		Arguments: []tune.Argument{
			{Name: "y", Type: "int32", Size: "n", Output: true},
			{Name: "length", Type: "int32", Value: "n"},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{1, 2, 4, 8}}, {Name: "tile_size_x", Values: []space.Value{1, 2, 3, 4}}, {Name: "unroll", Values: []space.Value{1, 2}},
		},
		Restrictions: []space.Restriction{{Expression: "block_size_x * tile_size_x <= 1024"}},
		Metrics:      []tune.Metric{{Name: "GB/s", Expression: "4 * n / time / 1e6"}},
		Verify:       expect(map[string]any{"y": []int32{1}}),
	}
	e := open(b, d)
	run := func(path string) *tune.Outcome {
		log, err := record.Open(path, record.Header{
			Digest: e.problem.Digest(), Kernel: e.problem.KernelName(), Device: e.Device(), Parameters: d.Parameters, Metrics: []string{"GB/s"},
		})
		if err != nil {
			b.Fatal(err)
		}
		o, err := tune.Run(context.Background(), e.problem, e, tune.Options{Log: log, Finalists: -1})
		if err != nil || o.Best == nil {
			b.Fatalf("%v, stop %s", err, o.Stop)
		}
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
		return o
	}
	dir := b.TempDir()
	run(filepath.Join(dir, "warm.jsonl")) // fills the driver's cache

	var parts tune.Durations
	configurations, engine := 0, time.Duration(0)
	for i := 0; b.Loop(); i++ {
		path := filepath.Join(dir, strconv.Itoa(i)+".jsonl")
		o := run(path)
		configurations += len(o.Results)
		engine += o.Elapsed
		for _, r := range o.Results {
			engine -= r.Durations.Build + r.Durations.Measure
			parts.Verify += r.Durations.Verify
			parts.Framework += r.Durations.Framework
			parts.Search += r.Durations.Search
		}
	}
	each := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(configurations) }
	b.ReportMetric(each(parts.Verify), "verify-ms/config")
	b.ReportMetric(each(parts.Framework), "framework-ms/config")
	b.ReportMetric(each(parts.Search), "search-ms/config")
	b.ReportMetric(each(engine), "engine-ms/config")
}
