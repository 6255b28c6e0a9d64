package spec

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune/expression"
)

func reference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The tables of keys are those of the readers.
func TestReferenceKeys(t *testing.T) {
	text := reference(t)
	want := regexp.MustCompile(`(?s)<!-- keys ?(\w*) -->\n.*?<!-- end -->`).ReplaceAllStringFunc(text, func(found string) string {
		begin, _, _ := strings.Cut(found, "\n")
		of := strings.Fields(strings.Trim(begin, "<!->"))
		return begin + "\n" + keyTable(text, strings.Join(of[1:], "")) + "<!-- end -->"
	})
	golden.File(t, "../../docs/spec.md", want)
}

// keyTable is the table of the keys within a key, or of those of a specification. A key that has a section in text links to it.
func keyTable(text, within string) string {
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, k := range Keys() {
		parent, name := "", k.Path
		if i := strings.LastIndexByte(k.Path, '.'); i >= 0 {
			parent, name = k.Path[:i], k.Path[i+1:]
		}
		if parent != within {
			continue
		}
		shown := "`" + name + "`"
		if within == "" && strings.Contains(text, "\n### "+name+"\n") {
			shown = "[" + shown + "](#" + name + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", shown, k.Type, k.Meaning)
	}
	return b.String()
}

var block = regexp.MustCompile("(?s)```\\w+\n(?:#|//) (\\S+)\n(.*?)```")

// The example of docs/spec.md is a problem.
func TestReferenceExample(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, m := range block.FindAllStringSubmatch(reference(t), -1) {
		fsys[m[1]] = &fstest.MapFile{Data: []byte(m[2])}
	}
	s, err := LoadFS(fsys, "saxpy.yaml", Options{Set: map[string]string{"n": "1000"}, Parameters: map[string][]string{"per_item": {"1", "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	configurations, _, err := s.Problem.SpaceWithoutDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := configurations.Len(); n != 10 {
		t.Errorf("%d configurations, want 10", n)
	}
}

// The other pieces of YAML are right too: each loads in place of what the good
// specification has.
func TestReferencePieces(t *testing.T) {
	names := "constants: {n: 64, nx: 64, ny: 64, dt: 0.225f, real: float}\n" +
		"parameters: {block_size_x: 64, block_size_y: 2, tile_size_x: 1, tile: 1, limit: 16, use_local: true, use_half: false, threads: 2, per_item: 1, type: float4, unroll: 1, time_steps: 2}\n"
	pieces := 0
	for _, piece := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(reference(t), -1) {
		text := regexp.MustCompile(`(?m)^    `).ReplaceAllString(piece, "")
		key, _, _ := strings.Cut(text, ":")
		switch key {
		case "constants", "sizes", "problem_size", "arguments", "parameters", "restrictions", "block_size", "grid_div", "roofline", "metrics":
		case "kernels":
			text += "arguments: [{name: u, type: int, size: n}, {name: u_new, type: int, size: n, output: true}]\n"
		default:
			continue
		}
		if strings.Contains(text, "kernels:\n") { // which name arguments
			pieces++
			loaded(t, merged(names, text), Options{})
			continue
		}
		for _, text := range sections(text) {
			pieces++
			loaded(t, merged(names, text), Options{})
		}
	}
	if pieces < 9 {
		t.Errorf("only %d pieces found", pieces)
	}
}

func after(text, heading string) string {
	_, rest, _ := strings.Cut(text, heading+"\n")
	return rest
}

// merged are the sections of names, but those of which text has the key, and text.
func merged(names, text string) string {
	key, _, _ := strings.Cut(text, ":")
	kept := ""
	for _, s := range sections(names) {
		if !strings.HasPrefix(s, key+":") {
			kept += s
		}
	}
	return kept + text
}

// Every row of the table of expressions is true.
func TestReferenceExpressions(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\S+) \\|$").FindAllStringSubmatch(after(reference(t), "## Expressions"), -1)
	checked := 0
	for _, row := range rows {
		source := strings.ReplaceAll(row[1], `\|`, `|`)
		if strings.HasPrefix(source, "device.") {
			continue
		}
		want, err := plain(row[2])
		if err != nil {
			t.Fatal(err)
		}
		e, err := expression.Compile(source, expression.Scope{})
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := e.Eval(map[string]any{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v (%T), %v; the reference says %v", source, got, got, err, want)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("only %d expressions found", checked)
	}
}

// Every field of device.* that the reference lists exists.
func TestReferenceDeviceFields(t *testing.T) {
	fields := regexp.MustCompile(`device\.\w+`).FindAllString(reference(t), -1)
	if len(fields) < 15 {
		t.Fatalf("only %d fields found", len(fields))
	}
	for _, field := range fields {
		loaded(t, "restrictions: ['len(["+field+"]) == 1']\n", Options{})
	}
}

// The bound of seeds is that of the message, and that of docs/spec.md.
func TestSeedBound(t *testing.T) {
	if s := loaded(t, good+"seed: 9007199254740991\n", Options{}); s.Problem.Definition().Seed != 1<<53-1 {
		t.Errorf("the largest seed became %d", s.Problem.Definition().Seed)
	}
	for _, seed := range []string{"9007199254740992", "9007199254740993", "-1", "0.5"} { // the second is rounded to the first
		fsys := library()
		fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(good + "seed: " + seed + "\n")}
		if _, err := LoadFS(fsys, "spec.yaml", Options{}); err == nil || !strings.Contains(err.Error(), "a seed is an integer from 0 to 2^53 - 1") {
			t.Errorf("seed %s: %v", seed, err)
		}
	}
	if !strings.Contains(reference(t), "\n### seed\n\nA whole number from 0 to 2⁵³ − 1 from which random data are made.") {
		t.Error("docs/spec.md states another bound")
	}
}
