package record

import (
	"bytes"
	"path/filepath"
	"testing"
)

// through writes a record in formats, one after the other, and reads it back each time.
func through(t *testing.T, r *Record, formats ...string) *Record {
	t.Helper()
	for _, format := range formats {
		e, err := encodingNamed(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := e.encode(&b, r); err != nil {
			t.Fatal(err)
		}
		r = mustDecode(t, b.String())
	}
	return r
}

// TestThereAndBack converts recorded spaces and finds them as they were: the whole record in
// the formats that hold it, the results in the others.
func TestThereAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	for _, test := range []struct {
		file    string
		formats []string
		results bool // the header does not survive
	}{
		{"convolution_A100.json.gz", []string{"log", "t4", "cache"}, false},
		{"convolution_A100_T4.json.gz", []string{"t4", "log"}, false},
		{"convolution_A100_T4.json.gz", []string{"cache"}, true}, // which knows no other timer or tool
		{"small_cache.json", []string{"t4", "log", "t4"}, false},
	} {
		want := mustRead(t, filepath.Join("testdata", test.file))
		got := through(t, want, test.formats...)
		if len(got.Results) != len(want.Results) {
			t.Fatalf("%s: %d results, want %d", test.file, len(got.Results), len(want.Results))
		}
		for i := range want.Results {
			if diff := difference(got.Results[i], want.Results[i]); diff != "" {
				t.Fatalf("%s through %s: result %d: %s", test.file, test.formats, i, diff)
			}
		}
		got.Header.Format, got.Header.Version = want.Header.Format, 0
		if !test.results {
			sameHeader(t, got.Header, want.Header)
		}
	}
}
