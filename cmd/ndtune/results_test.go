package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A kept is one configuration of a result file as the tests see it, which read the files
// by themselves: what the program writes is looked at with other eyes than its own.
type kept struct {
	status, reason string
	times          int // timed launches
	earlyStopped   bool
	device         string
}

// readKept reads a T4 file, a CSV file or a run log: what became of each configuration, by
// its text with the parameters in the order of their names.
func readKept(name, content string) (map[string]kept, error) {
	all := map[string]kept{}
	add := func(configuration map[string]string, k kept) error {
		var parts []string
		for _, parameter := range slices.Sorted(maps.Keys(configuration)) {
			parts = append(parts, parameter+"="+configuration[parameter])
		}
		text := strings.Join(parts, ", ")
		if _, twice := all[text]; twice {
			return fmt.Errorf("%s: %s is there twice", name, text)
		}
		if k.status != "correct" && (k.reason == "" || k.times > 0) {
			return fmt.Errorf("%s: %s is %s, with the reason %q and %d times", name, text, k.status, k.reason, k.times)
		}
		if k.status == "correct" && (k.reason != "" || k.times == 0) {
			return fmt.Errorf("%s: %s is correct, with the reason %q and %d times", name, text, k.reason, k.times)
		}
		all[text] = k
		return nil
	}
	var read func(string, func(map[string]string, kept) error) error
	switch filepath.Ext(name) {
	case ".json":
		read = readT4
	case ".csv":
		read = readCSV
	case ".jsonl":
		read = readLog
	default:
		return nil, fmt.Errorf("%s: what is it?", name)
	}
	if err := read(content, add); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

func readT4(content string, add func(map[string]string, kept) error) error {
	var file struct {
		Results []struct {
			Configuration map[string]any
			Times         struct{ Runtimes []float64 }
			Invalidity    string
			Reason        string
			Correctness   float64
			NDTune        struct {
				EarlyStopped bool `json:"early_stopped"`
				Device       string
			}
		}
		SchemaVersion string `json:"schema_version"`
	}
	if err := decodeJSON(content, &file); err != nil {
		return err
	}
	if file.SchemaVersion == "" {
		return fmt.Errorf("no schema version")
	}
	for _, r := range file.Results {
		if (r.Correctness == 1) != (r.Invalidity == "correct") {
			return fmt.Errorf("correctness %v and invalidity %s", r.Correctness, r.Invalidity)
		}
		if err := add(textValues(r.Configuration), kept{r.Invalidity, r.Reason, len(r.Times.Runtimes), r.NDTune.EarlyStopped, r.NDTune.Device}); err != nil {
			return err
		}
	}
	return nil
}

func readCSV(content string, add func(map[string]string, kept) error) error {
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no header row")
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		configuration := map[string]string{}
		for i := range column["status"] {
			configuration[rows[0][i]] = row[i]
		}
		k := kept{status: row[column["status"]], reason: row[column["reason"]], times: len(strings.Fields(row[column["runs"]]))}
		if i, ok := column["early_stopped"]; ok {
			k.earlyStopped = row[i] == "true"
		}
		if i, ok := column["device"]; ok {
			k.device = row[i]
		}
		if err := add(configuration, k); err != nil {
			return err
		}
	}
	return nil
}

func readLog(content string, add func(map[string]string, kept) error) error {
	lines := strings.SplitAfter(content, "\n")
	if !strings.Contains(lines[0], `"format":"ndtune-run-log"`) {
		return fmt.Errorf("no header line")
	}
	for i, line := range lines[1:] {
		if line == "" {
			continue
		}
		var entry struct {
			Kind          string
			Configuration map[string]any
			Status        string
			Reason        string
			Times         []float64
			EarlyStopped  bool `json:"early_stopped"`
			Device        string
		}
		if err := decodeJSON(line, &entry); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
		if entry.Kind != "result" {
			continue
		}
		if err := add(textValues(entry.Configuration), kept{entry.Status, entry.Reason, len(entry.Times), entry.EarlyStopped, entry.Device}); err != nil {
			return err
		}
	}
	return nil
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(text string, to any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return d.Decode(to)
}

func textValues(configuration map[string]any) map[string]string {
	texts := map[string]string{}
	for name, value := range configuration {
		texts[name] = fmt.Sprint(value)
	}
	return texts
}

// countStatuses are how many configurations have each status.
func countStatuses(all map[string]kept) map[string]int {
	counts := map[string]int{}
	for _, k := range all {
		counts[k.status]++
	}
	return counts
}

// sameResults compares result files with each other and with the numbers that are wanted.
func sameResults(ts *testscript.TestScript, neg bool, args []string) {
	want := map[string]int{}
	for len(args) > 0 && strings.Contains(args[0], "=") {
		status, text, _ := strings.Cut(args[0], "=")
		n, err := strconv.Atoi(text)
		ts.Check(err)
		want[status] = n
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: results [STATUS=N…] FILE…")
	}
	var first map[string]kept
	for _, name := range args {
		all, err := readKept(name, ts.ReadFile(name))
		ts.Check(err)
		if counts := countStatuses(all); len(want) > 0 && !maps.Equal(counts, want) {
			ts.Fatalf("%s: the statuses are %v, want %v", name, counts, want)
		}
		if first == nil {
			first = all
		}
		if !maps.Equal(all, first) {
			ts.Fatalf("%s and %s differ:\n%v\n%v", name, args[0], all, first)
		}
	}
}

// sameConfigurations compares the configurations of two result files, whatever became of
// them.
func sameConfigurations(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same-configurations A B")
	}
	var sets [2][]string
	for i, name := range args {
		all, err := readKept(name, ts.ReadFile(name))
		ts.Check(err)
		sets[i] = slices.Sorted(maps.Keys(all))
	}
	if slices.Equal(sets[0], sets[1]) == neg {
		ts.Fatalf("%v\n%v", sets[0], sets[1])
	}
}

// The lines that belong on stdout.
var resultLines = []*regexp.Regexp{
	regexp.MustCompile(`^Using: .+$`),
	regexp.MustCompile(`^timer: host$`),
	measuredLine,
	regexp.MustCompile(`^(\w+=[^,]+, )+(compile|runtime|correctness|timeout|constraints): .+$`),
	bestLine,
	regexp.MustCompile(`^build options: (-\S+ |-D \w+=\S+ ?)+$`),
	regexp.MustCompile(`^launch: global size \d+(×\d+)*, local size \d+(×\d+)*$`),
	regexp.MustCompile(`^limit: beaten: [\d.]+ G(B|FLOP)/s, and the peak \w+ is [\d.]+ G(B|FLOP)/s$`),
	regexp.MustCompile(`^limit: [\d.]+ % of what the device('s memory gives|'s caches give for [\d.]+ [KMGT]?i?B| computes in float\d\d) \([\d.]+ G(B|FLOP)/s\)$`),
}

var (
	// measuredLine is a configuration with its time: block_size_x=16, time=1.636ms, GB/s=3.2.
	measuredLine = regexp.MustCompile(`^(\w+=[^,]+, )+time=\d+\.\d+ms(, [^,=]+=([-+.e\d]+|beaten))*(, measured once)?(, unverified)?$`)
	bestLine     = regexp.MustCompile(`^best performing configuration: (\w+=[^,]+, )+time=\d+\.\d+ms(, [^,=]+=([-+.e\d]+|beaten))*(, unverified)?$`)
)

func onlyResults(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: only-results")
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		line = strings.TrimSuffix(line, "\n")
		if !slices.ContainsFunc(resultLines, func(r *regexp.Regexp) bool { return r.MatchString(line) }) {
			ts.Fatalf("no result: %s", line)
		}
	}
}
