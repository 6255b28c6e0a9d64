package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// unchecked is a log without its checksums.
func unchecked(text string) string {
	return regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAllString(text, "")
}

// checked is a line with its checksum, and with its end.
func checked(line string) string {
	return string(endLine([]byte(strings.TrimSuffix(unchecked(line), "\n"))))
}

// TestFlippedBits flips each bit of a log. No reader takes what comes of it, but for the end
// of the last line: without it, the line is torn.
func TestFlippedBits(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	_, whole := sampleLog(t)
	for at := range len(whole) - 1 {
		for bit := range 8 {
			whole[at] ^= 1 << bit
			if _, err := Decode(whole); err == nil {
				t.Fatalf("bit %d of byte %d: the log was read:\n%s", bit, at, whole)
			}
			whole[at] ^= 1 << bit
		}
	}
}

// TestDamagedLinesAreSkipped reads logs without their damaged lines, which are listed. What is whole can be written to another log, and
// resumed.
func TestDamagedLinesAreSkipped(t *testing.T) {
	h, whole := sampleLog(t) // the header, results 0 to 2, finals of 0 and 1, a failure
	lines := strings.SplitAfter(string(whole), "\n")
	_, results := sixteen()
	results[1].Final, results[0].Final = []float64{1, 0.5}, []float64{0, 0.5}
	results[1].AtFinal, results[0].AtFinal = &score.Judgement{Objective: 1}, &score.Judgement{}
	for name, c := range map[string]struct {
		change  func(lines []string)
		numbers []int
		reasons string
		want    []tune.Result // without the failure at the end
	}{
		"a changed time":  {func(l []string) { l[2] = strings.Replace(l[2], "1.1,", "1.5,", 1) }, []int{3, 6}, "line 3: its checksum does not match (it reads as a result of x=16, y=2.0) line 6: a final measurement of x=16, y=2.0, which has no result", []tune.Result{results[0], results[2]}},
		"two lines":       {func(l []string) { l[1] = l[1][:30] + "\n"; l[3] = strings.Repeat("\x00", 40) + "\n" }, []int{2, 4, 5}, "line 2: unexpected end of JSON input line 4: ", []tune.Result{results[1]}},
		"a joined line":   {func(l []string) { l[3] = strings.Replace(l[3], "\n", "J", 1) }, []int{4}, "line 4: ", []tune.Result{withoutFinal(results[0]), results[1]}},
		"a final":         {func(l []string) { l[4] = strings.Replace(l[4], "0.5", "0.6", 1) }, []int{5}, "line 5: ", []tune.Result{withoutFinal(results[0]), results[1], results[2]}},
		"the header":      {func(l []string) { l[0] = strings.Replace(l[0], "k.yaml", "j.yaml", 1) }, []int{1}, "line 1: the header's checksum does not match; it is taken as it reads", []tune.Result{results[0], results[1], results[2]}},
		"a torn last one": {func(l []string) { l[2] = "x" + l[2]; l[7] = lines[3][:20] }, []int{3, 6}, "line 3: ", []tune.Result{results[0], results[2]}},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := slices.Clone(lines)
			c.change(damaged)
			text := []byte(strings.Join(damaged, ""))
			path := mustWrite(t, text)
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "--skip-damaged") {
				t.Errorf("it was read, or the error names no way to go on: %v", err)
			}
			r, skipped, err := ReadSkipping(path)
			if err != nil {
				t.Fatal(err)
			}
			var numbers []int
			for _, d := range skipped {
				numbers = append(numbers, d.Number)
			}
			if reasons := strings.Trim(fmt.Sprint(skipped), "[]"); !slices.Equal(numbers, c.numbers) || !strings.HasPrefix(reasons, c.reasons) {
				t.Errorf("lines %v are damaged, want %v: %s", numbers, c.numbers, reasons)
			}
			intact := filepath.Join(t.TempDir(), "intact.jsonl")
			if err := Write(intact, r); err != nil {
				t.Fatal(err)
			}
			l := mustOpen(t, intact, h)
			sameResults(t, l.Previous(), r.Results)
			got := l.Previous()
			if got[len(got)-1].Status != tune.Compile {
				t.Errorf("the failure at the end is missing")
			}
			sameResults(t, got[:len(got)-1], c.want)
			mustAppend(t, l, results[7])
			mustClose(t, l)
			sameResults(t, mustRead(t, intact).Results, append(got, results[7]))
		})
	}
}

func withoutFinal(r tune.Result) tune.Result {
	r.Final, r.AtFinal = nil, nil
	return r
}

// TestSkippingHasLimits has logs that cannot be read without their damaged lines either.
func TestSkippingHasLimits(t *testing.T) {
	_, whole := sampleLog(t)
	lines := strings.SplitAfter(string(whole), "\n")
	for name, c := range map[string]struct{ text, says string }{
		"a newer kind":    {lines[0] + lines[1][:9] + "\n" + checked(`{"kind":"other"}`), `line 3: a line of the unknown kind "other"`},
		"no header":       {lines[0][:99] + "\n" + lines[1], "line 1 is damaged, and nothing else says"},
		"a newer version": {checked(strings.Replace(lines[0], `"version":2`, `"version":9`, 1)) + "x\n", "version 9"},
	} {
		if _, _, err := ReadSkipping(mustWrite(t, []byte(c.text))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadIsBounded: neither a file nor what it unpacks to may be larger than the limit.
func TestReadIsBounded(t *testing.T) {
	t.Setenv(maxVariable, "1")
	large := []byte(`{"results":[],"x":"` + strings.Repeat("a", 1<<20) + `"}`)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(large)
	_ = z.Close()
	for name, text := range map[string][]byte{"plain": large, "packed": packed.Bytes()} {
		_, err := Read(mustWrite(t, text))
		if err == nil || !strings.Contains(err.Error(), "more than 1 MiB, the most that is read of a record; NDTUNE_MAX_RECORD_MIB=2 in the environment") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv(maxVariable, "2")
	if _, err := Read(mustWrite(t, packed.Bytes())); err != nil {
		t.Error(err)
	}
	t.Setenv(maxVariable, "much")
	if _, err := Read(mustWrite(t, packed.Bytes())); err == nil || !strings.Contains(err.Error(), "NDTUNE_MAX_RECORD_MIB=much in the environment: want a number") {
		t.Error(err)
	}
}

// TestManyValues: the time to read a parameter's values grows with their number, not with
// its square.
func TestManyValues(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	const n = 1 << 16
	values, results := make([]string, n), make([]string, n)
	for i := range n {
		values[i] = fmt.Sprintf(`"value %d"`, i)
		results[i] = fmt.Sprintf(`{"configuration": {"x": %s}, "times": {"runtimes": [1]}, "invalidity": "correct"}`, values[i])
	}
	cache := fmt.Sprintf(`{"tune_params": {"x": [%s]}, "cache": {"v": {"x": %s, "time": 1}}}`, strings.Join(values, ","), values[n-1])
	t4 := fmt.Sprintf(`{"results": [%s]}`, strings.Join(results, ","))
	for i := range n { // read as integers, given as floats
		values[i] = fmt.Sprint(i)
		results[i] = fmt.Sprintf(`{"configuration": {"x": %d.0}, "times": {"runtimes": [1]}, "invalidity": "correct"}`, i)
	}
	own := fmt.Sprintf(`{"metadata": {"ndtune": {"parameters": [{"name": "x", "values": [%s]}]}}, "results": [%s]}`, strings.Join(values, ","), strings.Join(results, ","))
	for _, text := range []string{cache, t4, own} {
		if got := len(mustDecode(t, text).Header.Parameters[0].Values); got != n {
			t.Errorf("%.20s…: %d values, want %d", text, got, n)
		}
	}
}

// TestTooManyColumns: each parameter and each metric is one.
func TestTooManyColumns(t *testing.T) {
	result := func(configuration, measurements string) string {
		return fmt.Sprintf(`{"configuration": {%s}, "times": {"runtimes": [1]}, "invalidity": "correct", "measurements": [%s]}`, configuration, measurements)
	}
	parameters, metrics := make([]string, maxParameters+1), make([]string, maxMetrics+1)
	for i := range parameters {
		parameters[i] = fmt.Sprintf(`"p%d": 1`, i)
	}
	for i := range metrics {
		metrics[i] = result(fmt.Sprintf(`"x": %d`, i), fmt.Sprintf(`{"name": "m%d", "value": 1}`, i))
	}
	for _, c := range []struct{ results, want string }{
		{result(strings.Join(parameters[1:], ","), ""), ""},
		{result(strings.Join(parameters, ","), ""), "its results have 10001 parameters, more than the 10000 that are read"},
		{strings.Join(metrics[1:], ","), ""},
		{strings.Join(metrics, ","), "its results have 2001 metrics, more than the 2000 that are read"},
	} {
		_, err := Decode([]byte(`{"results": [` + c.results + `]}`))
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
