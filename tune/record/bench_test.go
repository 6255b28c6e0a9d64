package record

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// manyResults is the hub's record as often as it takes to have n results, with one more
// parameter to tell the repetitions apart.
func manyResults(b *testing.B, n int) *Record {
	b.Helper()
	hub := readHub(b, "convolution_A100.json.gz")
	h := hub.Header
	filter := &h.Parameters[len(h.Parameters)-1]
	filter.Values = nil
	for i := range (n + hubConfigurations - 1) / hubConfigurations {
		filter.Values = append(filter.Values, i)
	}
	l, err := newLayout(h.Parameters)
	if err != nil {
		b.Fatal(err)
	}
	r := &Record{Header: h}
	hubLayout, _ := newLayout(readHub(b, "convolution_A100.json.gz").Header.Parameters)
	for i := range n {
		result := hub.Results[i%hubConfigurations]
		d, err := hubLayout.indices(result.Configuration)
		if err != nil {
			b.Fatal(err)
		}
		d[len(d)-1] = uint16(i / hubConfigurations)
		result.Configuration = l.configuration(d)
		r.Results = append(r.Results, result)
	}
	return r
}

func BenchmarkAppend(b *testing.B) {
	r := readHub(b, "convolution_A100.json.gz")
	l, err := Open(filepath.Join(b.TempDir(), "run.jsonl"), r.Header)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	results := make([]tune.Result, len(r.Results))
	for i, result := range r.Results {
		result.Times = result.Times[:min(7, len(result.Times))]
		results[i] = result
	}
	for i := 0; b.Loop(); i++ {
		if err := l.Append(results[i%len(results)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadLog200000(b *testing.B) {
	r := manyResults(b, 200_000)
	for i := range r.Results {
		r.Results[i].Times = r.Results[i].Times[:min(7, len(r.Results[i].Times))]
	}
	path := filepath.Join(b.TempDir(), "run.jsonl")
	if err := Write(path, r); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, err := Read(path)
		if err != nil || len(got.Results) != len(r.Results) {
			b.Fatal(len(got.Results), err)
		}
	}
}

func BenchmarkReadHub(b *testing.B) {
	for _, name := range []string{"convolution_A100.json.gz", "convolution_A100_T4.json.gz"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				readHub(b, name)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	r := readHub(b, "convolution_A100.json.gz")
	for _, e := range encodings {
		b.Run(e.name, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := e.encode(&out, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
