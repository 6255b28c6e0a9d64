package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads anything without a panic, and writes what it could read in every format;
// a run log then comes back as the same results.
func FuzzRead(f *testing.F) {
	_, log := sampleLog(f)
	f.Add(log)
	f.Add(bytes.ReplaceAll(log, []byte("\n"), []byte(" \r\n")))
	small, _ := os.ReadFile(filepath.Join("testdata", "small_cache.json"))
	f.Add(small)
	r, err := Decode(small)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range encodings {
		var b bytes.Buffer
		if err := encodeTo(&b, r, e, false); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		b.Reset()
		if err := encodeTo(&b, r, e, true); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"results":[{"configuration":{"a":1},"times":{},"invalidity":"correct","measurements":[{"name":"time","value":NaN}]}]}`))
	f.Add([]byte(`{"tune_params":{"a":[1]},"cache":{"1":{"a":1,"time":1e20},"2":`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		for _, e := range encodings {
			var b bytes.Buffer
			if err := encodeTo(&b, r, e, false); err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			again, err := Decode(b.Bytes())
			if err != nil {
				t.Fatalf("%s: %v\n%s", e.name, err, b.Bytes())
			}
			switch {
			case e.name == "log":
				sameResults(t, again.Results, r.Results)
			case e.name == "csv": // which mends texts, so that two of them may become one
			case len(again.Results) != len(r.Results):
				t.Fatalf("%s: %d results, want %d", e.name, len(again.Results), len(r.Results))
			}
		}
		if _, err := NewRecorded(r); err != nil {
			t.Fatal(err)
		}
	})
}
