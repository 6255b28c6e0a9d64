package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// snapshot is all that a refused file must keep.
func snapshot(t *testing.T, path string) [2]any {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	return [2]any{string(data), info.ModTime()}
}

func TestOpenRefuses(t *testing.T) {
	h, results := sixteen()
	var whole bytes.Buffer
	if err := EncodeLog(&whole, &Record{h, results[:3]}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(whole.String(), "\n")
	with := func(change func(h *Header)) Header {
		h, _ := sixteen()
		change(&h)
		return h
	}
	for _, test := range []struct {
		name    string
		content string
		header  Header
		says    string
	}{
		{"another digest", whole.String(), with(func(h *Header) { h.Digest, h.Source = "sha256:fedcba9876543210", "other.yaml" }), "k of k.yaml (digest sha256:0123456789ab…), not k of other.yaml (digest sha256:fedcba987654…)"},
		{"another device", whole.String(), with(func(h *Header) { h.Device.Name = "AMD W7800" }), `"NVIDIA H200", and this run is on "AMD W7800"`},
		{"another driver", whole.String(), with(func(h *Header) { h.Device.Driver = "2" }), `driver "1", not "2"`},
		{"another timer", whole.String(), with(func(h *Header) { h.Device.Timer = hardware.TimerHost }), `timer "event", not "host"`},
		{"fewer values", whole.String(), with(func(h *Header) { h.Parameters[0].Values = h.Parameters[0].Values[:3] }), "x has 4 values, not 3"},
		{"another value", whole.String(), with(func(h *Header) { h.Parameters[0].Values[1] = 33 }), "value 2 of x is 32, not 33"},
		{"another parameter", whole.String(), with(func(h *Header) { h.Parameters[1].Name = "z" }), "parameter 2 is y, not z"},
		{"garbage", lines[0] + lines[1] + "garbage\n" + lines[2], h, "line 3 is damaged: invalid character"},
		{"a line cut in the middle", lines[0] + lines[1] + lines[2][:20] + lines[3], h, "line 3 is damaged: "},
		{"a torn line with its end", lines[0] + lines[1] + lines[2][:20] + "\n", h, "line 3 is damaged: unexpected end"},
		{"a number", lines[0] + "42\n", h, "line 2 is damaged: want an object, not a number"},
		{"an unknown kind", lines[0] + `{"kind":"other"}` + "\n", h, `line 2 is damaged: a line of the unknown kind "other"`},
		{"a kind of a newer program", lines[0] + checked(`{"kind":"other"}`), h, `line 2: a line of the unknown kind "other"; its checksum is right: a newer ndtune wrote it`},
		{"a line without a checksum", lines[0] + checked(lines[1]) + unchecked(lines[2]), h, "line 3 is damaged: it has no checksum; ndtune convert --skip-damaged writes the other lines"},
		{"two lines without", lines[0] + lines[1] + unchecked(lines[2]) + unchecked(lines[3]), h, "line 3 (and 1 more) is damaged: it has no checksum"},
		{"a header without a checksum", unchecked(lines[0]) + lines[1], h, "line 1 is damaged: the header has no checksum"},
		{"a result that was changed", lines[0] + strings.Replace(lines[1], "0.1,", "0.2,", 1), h, "line 2 is damaged: its checksum does not match (it reads as a result of x=16, y=1.0)"},
		{"an unknown value", lines[0] + `{"kind":"result","configuration":{"x":17,"y":1.0},"status":"correct"}` + "\n", h, "line 2 is damaged: configuration: x=17 is not among the values"},
		{"a missing parameter", lines[0] + `{"kind":"result","configuration":{"x":16},"status":"correct"}` + "\n", h, "line 2 is damaged: configuration: no value for the parameter y"},
		{"a surplus parameter", lines[0] + `{"kind":"result","configuration":{"x":16,"y":2.0,"z":1},"status":"correct"}` + "\n", h, "line 2 is damaged: configuration: no parameter is named z"},
		{"a list for a configuration", lines[0] + `{"kind":"result","configuration":[16,2.0],"status":"correct"}` + "\n", h, "line 2 is damaged: configuration: want an object, not a list"},
		{"no configuration", lines[0] + `{"kind":"result","status":"correct"}` + "\n", h, "line 2 is damaged: no configuration"},
		{"no status", lines[0] + `{"kind":"result","configuration":{"x":16,"y":2.0}}` + "\n", h, "line 2 is damaged: no status"},
		{"an unknown status", lines[0] + `{"kind":"result","configuration":{"x":16,"y":2.0},"status":"fine"}` + "\n", h, `line 2 is damaged: status: "fine"`},
		{"a text for times", lines[0] + `{"kind":"result","configuration":{"x":16,"y":2.0},"status":"correct","times":"1"}` + "\n", h, "line 2 is damaged: times: want a list of numbers, not a text"},
		{"a final without a result", lines[0] + lines[1] + checked(`{"kind":"final","session":1,"configuration":{"x":128,"y":2.0},"times":[1]}`), h, "line 3 is damaged: a final measurement of x=128, y=2.0"},
		{"a later version", checked(strings.Replace(lines[0], `"version":2`, `"version":3`, 1)) + lines[1], h, "version 3, and this program reads version 2: use the ndtune that wrote it"},
		{"a broken header", strings.Replace(whole.String(), `"version":2`, `"version":"x"`, 1), h, "line 1 is damaged, and nothing else says"},
		{"T4", `{"metadata":{},"results":[],"schema_version":"1.0.0"}`, h, "no run log"},
		{"a single brace with a newline", "{\n", h, "no run log"},
		{"a text", "some notes\n", h, "no run log"},
		{"a binary", "\x7fELF\x02\x01\x01\x00\x00", h, "no run log"},
		{"a gzipped log", "\x1f\x8b\x08\x00", h, "no run log"},
		{"a newline", "\n", h, "no run log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, path)
			l, err := Open(path, test.header)
			if err == nil {
				_ = l.Close()
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v\nwant %s: … %s", err, path, test.says)
			}
			if after := snapshot(t, path); after != before {
				t.Errorf("the file was changed: %q, modified %v; was %q, %v", after[0], after[1], before[0], before[1])
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
				t.Errorf("litter: %q", left)
			}
		})
	}
}

func TestOpenRefusesPlaces(t *testing.T) {
	h, _ := sixteen()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		folder:                           "it is a folder",
		filepath.Join(file, "run.jsonl"): file,
		os.DevNull:                       "",
	} {
		if l, err := Open(path, h); err == nil {
			_ = l.Close()
			t.Errorf("%s was taken", path)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", path, err, says)
		}
	}
}

func TestOpenRefusesHeaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for name, p := range map[string]space.Parameter{
		"not UTF-8":     {Name: "x", Values: []space.Value{"\xff"}},
		"not an option": {Name: "a b", Values: []space.Value{1}},
		"no values":     {Name: "x"},
		"no value":      {Name: "x", Values: []space.Value{struct{}{}}},
	} {
		if _, err := Open(path, Header{Parameters: []space.Parameter{p}}); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was made", name)
		}
	}
}

// TestDriverTexts keeps a log resumable whatever bytes a driver has for a name.
