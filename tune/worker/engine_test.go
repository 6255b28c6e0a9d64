package worker_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/natsserver"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// BenchmarkEngineCost is what a configuration costs beyond its build and its launches, in
// process, in one worker, and in one worker of an agent of a fleet on this machine: the search, the messages, the variant, buffers, arguments, the
// comparison, statistics and the run log. The kernel writes one element, and the driver's
// cache holds every variant.
func BenchmarkEngineCost(b *testing.B) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "nothing", Source: "__kernel void nothing(__global int *y, const int length) { *y = 1; }"},
		Constants:   []definition.Constant{{Name: "n", Value: 1}},
		ProblemSize: []definition.Expr{"n"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "int32", Size: "n", Output: true},
			{Name: "length", Type: "int32", Value: "n"},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{1, 2, 4, 8}}, {Name: "tile_size_x", Values: []space.Value{1, 2, 3, 4}}, {Name: "unroll", Values: []space.Value{1, 2}},
		},
		Restrictions: []space.Restriction{{Expression: "block_size_x * tile_size_x <= 1024"}},
		Metrics:      []definition.Metric{{Name: "GB/s", Expression: "4 * n / time / 1e6"}},
		Verify:       &definition.Verification{Expected: map[string]any{"y": []int32{1}}},
	}
	whole, err := problem.New(d)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("in-process", func(b *testing.B) {
		e, err := device.Open(worker.TestDevice(b).Device, whole, device.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		benchEngineCost(b, whole, e)
	})
	b.Run("worker", func(b *testing.B) {
		pool, err := worker.Open(context.Background(), []device.Listed{worker.TestDevice(b)}, whole, worker.Options{Single: true})
		if err != nil {
			b.Fatal(err)
		}
		defer pool.Close()
		benchEngineCost(b, whole, pool)
	})
	b.Run("fleet", func(b *testing.B) {
		server := natsserver.Start(b, b.TempDir())
		connect := func() *fleet.Connection {
			c, err := fleet.Connect(context.Background(), server.URL(), "benchmark", nil)
			if err != nil {
				b.Fatal(err)
			}
			return c
		}
		here, there := connect(), connect()
		defer here.Close()
		defer there.Close()
		ctx, end := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		defer func() {
			end()
			if err := <-ended; err != nil {
				b.Error(err)
			}
		}()
		d := worker.TestDevice(b)
		agent := &fleet.Agent{Devices: []fleet.Device{{Selector: d.Selector(), Identity: *d.Identity, Open: func(ctx context.Context, p *problem.Problem, _ worker.Options) (fleet.Opened, error) {
			return worker.Open(ctx, []device.Listed{d}, p, worker.Options{Single: true})
		}}}}
		go func() { ended <- agent.Run(ctx, there) }()
		e, err := fleet.Open(ctx, here, whole, *d.Identity, fleet.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		benchEngineCost(b, whole, e)
	})
}

func benchEngineCost(b *testing.B, problem *problem.Problem, e tune.Evaluator) {
	run := func(path string) *tune.Outcome {
		log, err := record.Open(path, record.Header{
			Digest: problem.Digest(), Kernel: problem.KernelName(), Device: e.Device(),
			Parameters: problem.Definition().Parameters, Metrics: []string{"GB/s"},
		})
		if err != nil {
			b.Fatal(err)
		}
		o, err := loop.Run(context.Background(), problem, e, loop.Options{Log: log, Finalists: -1})
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
		o := run(filepath.Join(dir, strconv.Itoa(i)+".jsonl"))
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
