// Command steady shows what the watch over a device's speed is worth. It runs the same search four times: as the machine is, and
// under a load that comes and goes, each without and with the watch. Then it measures the best of all four again, in turn and
// without the load, and compares:
//
//	go build -o ndtune ./cmd/ndtune
//	go run ./scripts/steady -ndtune ./ndtune -set nx=1024 -set ny=1024 kernels/diffusion/diffuse_tiled.yaml
//
// docs/observers.md has the results.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// loadVariable makes this program the load: «1s 4s» keeps all processors busy for one second of each four.
const loadVariable = "NDTUNE_STEADY_LOAD"

const (
	best   = 10 // of each search
	pool   = 20 // of each search, which are measured again
	rounds = 31
)

type experiment struct {
	ndtune, device, spec, folder, load string
	settings                           []string
	evaluations, repetitions           int
	seed                               int
}

func main() {
	if load := os.Getenv(loadVariable); load != "" {
		keepBusy(load)
	}
	x := experiment{}
	flag.StringVar(&x.ndtune, "ndtune", "ndtune", "the program")
	flag.StringVar(&x.device, "device", "cpu", "as ndtune's --device")
	flag.StringVar(&x.folder, "folder", "", "for run logs (default: a new one)")
	flag.StringVar(&x.load, "load", "1s 4s", "the load is on for the first time of each second one")
	flag.IntVar(&x.evaluations, "evaluations", 120, "of each search")
	flag.IntVar(&x.repetitions, "repetitions", 3, "of the experiment")
	flag.IntVar(&x.seed, "seed", 1, "of the searches")
	flag.Func("set", "a constant, as ndtune's --set; may be repeated", func(s string) error { x.settings = append(x.settings, s); return nil })
	flag.Parse()
	x.spec = flag.Arg(0)
	if err := x.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "steady:", err)
		os.Exit(1)
	}
}

// keepBusy is the load. It never returns.
func keepBusy(load string) {
	on, period, _ := strings.Cut(load, " ")
	busy, err := time.ParseDuration(on)
	each, err2 := time.ParseDuration(period)
	if err := cmp.Or(err, err2); err != nil || each <= busy {
		fmt.Fprintf(os.Stderr, "steady: -load %q: want two durations, such as «1s 4s»\n", load)
		os.Exit(2)
	}
	for range runtime.NumCPU() {
		go func() {
			for {
				if in := time.Duration(time.Now().UnixNano()) % each; in > busy {
					time.Sleep(each - in)
				}
			}
		}()
	}
	select {}
}

func (x *experiment) run(ctx context.Context) error {
	set := map[string]string{}
	for _, s := range x.settings {
		name, value, _ := strings.Cut(s, "=")
		set[name] = value
	}
	s, err := spec.Load(x.spec, spec.Options{Set: set})
	if err != nil {
		return err
	}
	if x.folder == "" {
		if x.folder, err = os.MkdirTemp("", "ndtune-steady-"); err != nil {
			return err
		}
	}
	fmt.Printf("run logs: %s\n", x.folder)
	for i := range x.repetitions {
		if err := x.once(ctx, s.Problem, filepath.Join(x.folder, fmt.Sprint(i+1))); err != nil {
			return err
		}
	}
	return nil
}

// once makes the four searches and compares them with what is measured after them.
func (x *experiment) once(ctx context.Context, p *problem.Problem, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	before := loadAverage()
	var all []search
	for _, s := range []search{{name: "quiet"}, {name: "quiet, watched", watched: true}, {name: "load", loaded: true}, {name: "load, watched", loaded: true, watched: true}} {
		if err := x.search(ctx, &s, folder); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, s)
	}
	fmt.Printf("\nload average before %s, after %s\n", before, loadAverage())
	truth, err := x.measure(ctx, p, all)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.compare(truth)
	}
	return nil
}

type search struct {
	name            string
	loaded, watched bool
	results         []tune.Result // the correct ones, the fastest first
	took            time.Duration
	said            []string
}

func (x *experiment) search(ctx context.Context, s *search, folder string) error {
	log := filepath.Join(folder, strings.ReplaceAll(s.name, ", ", "-")+".jsonl")
	args := []string{"tune", x.spec, "--device", x.device, "--strategy", "random_sample", "--seed", fmt.Sprint(x.seed),
		"--max-evals", fmt.Sprint(x.evaluations), "--early-stop", "0", "--no-peak", "-q", "--log", log}
	for _, set := range x.settings {
		args = append(args, "--set", set)
	}
	if s.watched {
		args = append(args, "--steady")
	}
	if s.loaded {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		load := exec.Command(self)
		load.Env, load.Stderr = append(os.Environ(), loadVariable+"="+x.load), os.Stderr
		if err := load.Start(); err != nil {
			return err
		}
		defer load.Wait()
		defer load.Process.Kill()
	}
	began := time.Now()
	if out, err := exec.CommandContext(ctx, x.ndtune, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	s.took = time.Since(began)
	r, err := record.Read(log)
	if err != nil {
		return err
	}
	s.said = tune.Disturbances(r.Results)
	s.results = slices.DeleteFunc(r.Results, func(r tune.Result) bool { return r.Status != tune.Correct })
	slices.SortFunc(s.results, func(a, b tune.Result) int { return cmp.Compare(a.Time(), b.Time()) })
	return nil
}

// measure measures the fastest of all searches in turn, and returns their median times.
func (x *experiment) measure(ctx context.Context, p *problem.Problem, all []search) (map[string]float64, error) {
	var configurations []space.Configuration
	seen := map[string]bool{}
	for _, s := range all {
		for _, r := range s.results[:min(pool, len(s.results))] {
			if text := r.Configuration.String(); !seen[text] {
				seen[text] = true
				values := map[string]space.Value{}
				r.Configuration.Assign(values)
				c, err := p.Parameters().Configure(values)
				if err != nil {
					return nil, err
				}
				configurations = append(configurations, c)
			}
		}
	}
	listed, err := device.List()
	if err != nil {
		return nil, err
	}
	d, err := device.Select(listed, x.device)
	if err != nil {
		return nil, err
	}
	e, err := device.Open(d.Device, p, device.Options{})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	times, err := e.Remeasure(ctx, configurations, rounds)
	if err != nil {
		return nil, err
	}
	truth := map[string]float64{}
	for i, c := range configurations {
		if len(times[i]) > 0 {
			truth[c.String()] = problem.StatsOf(times[i]).Median
		}
	}
	return truth, nil
}

// compare prints how far the ten best of a search are from the times that were measured after it. The whole machine may have been
// faster or slower then, so the differences are from the median ratio of all configurations that were measured again.
func (s *search) compare(truth map[string]float64) {
	var here, there, ratios []float64
	for _, r := range s.results {
		if t := truth[r.Configuration.String()]; t > 0 {
			here, there, ratios = append(here, r.Time()), append(there, t), append(ratios, r.Time()/t)
		}
	}
	scale := median(ratios)
	fastest := slices.Sorted(slices.Values(there))[best-1]
	var own, true10 []float64 // by how much the times of its ten best, and of the true ten best, are off
	found := 0
	for i, ratio := range ratios {
		off := math.Abs(ratio/scale - 1)
		if i < best {
			own = append(own, off)
		}
		if there[i] <= fastest {
			true10 = append(true10, off)
			if i < best {
				found++
			}
		}
	}
	fmt.Printf("%-14s %5.1f s | its ten best off by %.1f %%, worst %.1f %% | true ten best off by %.1f %%, worst %.1f %% | found %d of them | its best is %.1f %% slower than the true one | rank correlation of %d: %.2f | ratio to the times after it %.2f\n",
		s.name, s.took.Seconds(), 100*median(own), 100*slices.Max(own), 100*median(true10), 100*slices.Max(true10), found, 100*(there[0]/slices.Min(there)-1), len(here), correlation(here, there), scale)
	for _, text := range s.said {
		fmt.Println("  ", text)
	}
}

func median(values []float64) float64 { return problem.StatsOf(values).Median }

// correlation is Spearman's.
func correlation(a, b []float64) float64 { return stat.Correlation(ranks(a), ranks(b), nil) }

func ranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	r := make([]float64, len(values))
	for i, v := range values {
		place, _ := slices.BinarySearch(sorted, v)
		r[i] = float64(place)
	}
	return r
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 2 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}
