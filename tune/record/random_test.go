package record

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A maker makes random records that hold whatever a run can bring forth.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 7))} }

func (m maker) header() Header {
	return Header{
		Digest: m.word(), KernelDigest: m.word(), MeasurementDigest: m.word(), Kernel: m.word(), Source: m.word(),
		Device:      hardware.Device{Name: m.word(), Vendor: m.word(), Driver: "1.2", Architecture: m.word(), Timer: hardware.TimerEvent, MaxWorkItemSizes: []int{1024, 64}, GlobalMemory: 1 << 40},
		Parameters:  m.parameters(),
		Constants:   []definition.Constant{{Name: "n", Value: 3.0}, {Name: "dt", Value: "0.225f"}, {Name: "b", Value: true}},
		ProblemSize: []int{4096, 1 << 40},
		Objective:   m.objective(),
		Metrics:     []string{"GB/s", "a b"},
		Iterations:  7, Verified: m.IntN(2) == 0, Medians: true,
		Strategy: "random_sample", Seed: m.Uint64(), Capacity: 1 + m.IntN(200), Priors: []string{m.word(), "x"}, Started: m.time(), Tool: "ndtune 1.0",
	}
}

func (m maker) objective() score.Objective {
	o := score.Objective{Name: "GB/s", Maximize: true}
	if m.IntN(2) == 0 {
		o.More = []score.Objective{{Name: "time_min"}, {Name: "a b", Maximize: true}}
		o.Choose = "time_min <= 1.1 * best.time_min"
	}
	return o
}

func (m maker) parameters() []space.Parameter {
	all := []space.Parameter{
		{Name: "block_size_x", Values: []space.Value{16, 32, 48, -7, math.MaxInt, math.MinInt}},
		{Name: "scale", Values: []space.Value{2.0, 0.1, 1e300, 5e-324, -0.5, 3, 1e21}},
		{Name: "use", Values: []space.Value{true, false}},
		{Name: "type", Values: []space.Value{"float", "a \"quoted\" text", "é\u2028\n", "<&>", "16"}},
		{Name: "one", Values: []space.Value{1}},
	}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+m.IntN(len(all))]
}

// record makes a record of up to n results.
func (m maker) record(n int) *Record {
	r := &Record{Header: m.header()}
	r.Header.Format, r.Header.Version = FormatLog, LogVersion
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		panic(err)
	}
	seen := map[string]bool{}
	for range n {
		d := make(indices, l.parameters.Len())
		for i := range d {
			d[i] = uint16(m.IntN(len(l.parameters.At(i).Values)))
		}
		if !seen[d.key()] {
			seen[d.key()] = true
			r.Results = append(r.Results, m.result(l.configuration(d)))
		}
	}
	return r
}

func (m maker) result(c space.Configuration) tune.Result {
	r := tune.Result{
		Configuration: c,
		Status:        tune.Statuses()[m.IntN(len(tune.Statuses()))],
		Verified:      m.IntN(2) == 0,
		EarlyStopped:  m.IntN(4) == 0,
		Device:        []string{"", "0:0", "1:0", "\"größe\"\n"}[m.IntN(4)],
		Timestamp:     m.time(),
		Durations: tune.Durations{
			Build: time.Duration(m.Int64()), Verify: time.Duration(m.IntN(3)), Measure: -1,
			Framework: time.Duration(m.IntN(1e9)), Search: time.Duration(m.IntN(2)),
		},
	}
	if r.Status == tune.Correct {
		r.Times = m.floats()
		r.Metrics = []score.MetricValue{{Name: "GB/s", Value: m.float()}, {Name: "a \"b\"", Value: m.float()}}
		if m.IntN(2) == 0 {
			r.Readings = []hardware.Reading{
				{Quantity: hardware.Energy, Value: m.Float64(), Uncertainty: m.Float64(), Note: m.word()}, hardware.MissingReading("clock", m.word()),
			}
		}
		r.Objective = m.float()
		r.Global, r.Local, r.Offset = [][]int{nil, {1 << 40}, {64, 2}}[m.IntN(3)], [][]int{nil, {1}}[m.IntN(2)], [][]int{nil, {0, 3}}[m.IntN(2)]
		for i := range m.IntN(3) {
			r.Parts = append(r.Parts, problem.Part{Kernel: "k" + string(rune('a'+i)), Launches: 1 + m.IntN(9), Global: r.Global, Time: float64(m.IntN(1000)) / 7})
		}
	} else {
		r.Reason = m.bytes()
	}
	return r
}

func (m maker) floats() []float64 {
	var fs []float64
	for range m.IntN(9) {
		fs = append(fs, m.float())
	}
	return fs
}

// final is a final measurement, or none.
func (m maker) final() ([]float64, *score.Judgement) {
	times := m.floats()
	if len(times) == 0 {
		return nil, nil
	}
	j := &score.Judgement{Objective: m.float()}
	for _, name := range []string{"GB/s", "a b"}[:m.IntN(3)] {
		j.Metrics = append(j.Metrics, score.MetricValue{Name: name, Value: m.float()})
	}
	return times, j
}

func (m maker) float() float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1, 1e21, 1e-7}
	if m.IntN(4) == 0 {
		return special[m.IntN(len(special))]
	}
	return math.Float64frombits(m.Uint64())
}

// time is any with a nanosecond, in any zone, or none.
func (m maker) time() time.Time {
	if m.IntN(8) == 0 {
		return time.Time{}
	}
	t := time.Unix(m.Int64N(250_000_000_000), m.Int64N(1e9))
	return t.In(time.FixedZone("", m.IntN(80000)-40000))
}

func (m maker) word() string {
	words := []string{"", "diffuse_kernel", "NVIDIA H200", "größe", "a/b.yaml", "\x01\"", "0123456789abcdef"}
	return words[m.IntN(len(words))]
}

// bytes is a reason: a text, or a build log of any bytes.
func (m maker) bytes() string {
	pieces := []string{"error: ", "\n", "\r\n", "\xff\xfe", "\x00", "é", "\u2028", "=1+1", "\\", "\"", "𝄞", "\xed\xa0\x80", "\ufffd", "\x7f", "</script>"}
	text := ""
	for range m.IntN(6) {
		text += pieces[m.IntN(len(pieces))]
	}
	return text
}

// The fuzz targets of the formats read anything without a panic, and write what they could read in every format; a run log then comes back as
// the same results. Each begins with files of its format.

func FuzzLog(f *testing.F) {
	_, log := sampleLog(f)
	f.Add(log)
	f.Add(bytes.ReplaceAll(log, []byte("\n"), []byte(" \r\n")))
	fuzzFormat(f, "log")
}

func FuzzT4(f *testing.F) {
	f.Add([]byte(`{"results":[{"configuration":{"a":1},"times":{},"invalidity":"correct","measurements":[{"name":"time","value":NaN}]}]}`))
	f.Add([]byte("{"))
	fuzzFormat(f, "t4")
}

func FuzzCache(f *testing.F) {
	f.Add([]byte(`{"tune_params":{"a":[1]},"cache":{"1":{"a":1,"time":1e20},"2":`))
	fuzzFormat(f, "cache")
}

func fuzzFormat(f *testing.F, format string) {
	// By default, Go spends a minute on making each input smaller that reaches new code, and tries no other one meanwhile.
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil {
		f.Fatal(err)
	}
	small, err := os.ReadFile(filepath.Join("testdata", "small_cache.json"))
	if err != nil {
		f.Fatal(err)
	}
	r, err := Decode(small)
	if err != nil {
		f.Fatal(err)
	}
	if format == "cache" {
		f.Add(small)
	}
	for _, name := range []string{"plain", "zipped.gz"} {
		path := filepath.Join(f.TempDir(), name)
		if err := WriteAs(path, r, format); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		for _, e := range encodings {
			var b bytes.Buffer
			if err := e.encode(&b, r); err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			if e.name == "csv" {
				continue // nothing reads it back
			}
			again, err := Decode(b.Bytes())
			if err != nil {
				t.Fatalf("%s: %v\n%s", e.name, err, b.Bytes())
			}
			switch {
			case e.name == "log":
				sameResults(t, again.Results, r.Results)
			case len(again.Results) != len(r.Results):
				t.Fatalf("%s: %d results, want %d", e.name, len(again.Results), len(r.Results))
			}
		}
	})
}
