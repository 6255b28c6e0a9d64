package definition

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
)

// portableTask has arrays of several lengths wherever a definition has arrays.
func portableTask() Definition {
	content := func(bytes ...byte) *array.Array { return &array.Array{Type: array.Uint8, Bytes: bytes} }
	return Definition{
		Kernel: Kernel{Name: "k"},
		Arguments: []Argument{
			{Name: "a", Data: content(1, 2, 3)}, {Name: "n", Value: 7}, {Name: "empty", Data: content()}, {Name: "b", Data: content(make([]byte, 200)...)},
		},
		Verify: &Verification{
			Expected: map[string]any{"b": content(4), "a": content(5, 6)},
			Problem:  &Definition{Arguments: []Argument{{Name: "c", Data: content(8)}}},
		},
	}
}

func memory(size int) []byte { return make([]byte, size) }

func TestArraysFollowTheDefinition(t *testing.T) {
	given := portableTask()
	data, err := given.Encode(memory, func(*array.Array) string { return "" }, false)
	if err != nil {
		t.Fatal(err)
	}
	if again := portableTask(); !reflect.DeepEqual(given, again) {
		t.Error("encoding has changed the definition")
	}
	got, err := Decode(data)
	got.Arguments[2].Data.(*array.Array).Bytes = given.Arguments[2].Data.(*array.Array).Bytes // nil or empty
	if err != nil || !reflect.DeepEqual(got, given) {
		t.Errorf("%v, decoded:\n%+v\nwant:\n%+v", err, got, given)
	}
	if a := got.Arguments[0].Data.(*array.Array); cap(a.Bytes) != 3 {
		t.Errorf("the content has room for %d bytes, which are another's", cap(a.Bytes))
	}
	for n := range data {
		if _, err := Decode(data[:n]); err == nil {
			t.Fatalf("%d of %d bytes were decoded", n, len(data))
		}
	}
	if _, err := Decode(append(data, 0)); err == nil {
		t.Error("a byte too many was decoded")
	}
}

// TestDigestsOfOthersAreDropped: what comes from somebody else does not say what the digests of its arrays are.
func TestDigestsOfOthersAreDropped(t *testing.T) {
	given := portableTask()
	data, err := given.Encode(memory, func(*array.Array) string { return "claimed" }, true)
	if err != nil {
		t.Fatal(err)
	}
	for want, decode := range map[string]func([]byte) (Definition, error){"": Decode, "claimed": DecodeTrusted} {
		got, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if a := got.Arguments[0].Data.(*array.Array); a.Digest != want {
			t.Errorf("digest %q, want %q", a.Digest, want)
		}
	}
}

// TestMappedFilesTravelByName, and only to a process that trusts this one: another would read any file that it is told to.
func TestMappedFilesTravelByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	content := array.Of([]int32{1, 2, 3})
	if err := array.WriteNPY(path, content, nil); err != nil {
		t.Fatal(err)
	}
	content.File = path
	given := Definition{Arguments: []Argument{{Name: "a", Data: content}}}
	for _, here := range []bool{true, false} {
		data, err := given.Encode(memory, func(*array.Array) string { return "" }, here)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := DecodeTrusted(data); err != nil || len(d.Arguments[0].Data.(*array.Array).Bytes) != 12 {
			t.Errorf("here: %t: %+v, %v", here, d.Arguments[0].Data, err)
		}
		want := map[bool]int{true: 0, false: 12}[here]
		if d, err := Decode(data); err != nil || len(d.Arguments[0].Data.(*array.Array).Bytes) != want {
			t.Errorf("here: %t, not trusted: %+v, %v", here, d.Arguments[0].Data, err)
		}
	}
}
