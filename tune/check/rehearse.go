package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
)

const (
	// guardZone is the size of the zones before and behind each buffer on a real device: writes that go further cannot be seen.
	guardZone = 8 << 20

	// The two fills of memory that nothing has written: as floats, large numbers of either sign.
	firstPoison, secondPoison = 0x4B, 0xCB
)

// rehearse launches on a real device: some times on the same data, on memory with two fills, and with the work-groups reversed.
func (x *examination) rehearse(ctx context.Context) error {
	x.ready(nil)
	constant := x.inspector.Constant()
	launch := func(how device.Rehearsal) (*device.Rehearsed, error) {
		how.Guard = guardZone
		seen, err := x.inspector.Rehearse(ctx, how)
		if err == nil {
			x.judge(seen, constant)
		}
		return seen, err
	}
	var alike []*device.Rehearsed // on the same data; only the first keeps its content
	stable := true
	for range x.Launches {
		seen, err := launch(device.Rehearsal{})
		if err != nil {
			return err
		}
		if alike = append(alike, seen); len(alike) > 1 {
			stable = x.compare(Nondeterminism, "between launches on the same data", alike[0], seen) && stable
			seen.Contents = nil
		}
	}
	x.verdict(alike)
	if !stable {
		return nil // other differences would say nothing
	}
	var err error
	var poisoned [2]*device.Rehearsed
	for i, poison := range []byte{firstPoison, secondPoison} {
		if poisoned[i], err = launch(device.Rehearsal{Poison: poison}); err != nil {
			return err
		}
	}
	if x.dependOnFill(poisoned) {
		return nil // the order would seem to matter, too
	}
	return x.reverse(ctx, alike[0], device.Rehearsal{Guard: guardZone})
}

// verdict says in how many launches the output was wrong.
func (x *examination) verdict(alike []*device.Rehearsed) {
	wrong, reason := 0, ""
	for _, seen := range alike {
		if seen.Wrong != "" {
			wrong++
			reason = cmp.Or(reason, seen.Wrong)
		}
	}
	switch {
	case wrong > 0:
		x.add(fault{Kind: WrongOutput, Argument: -1, Text: fmt.Sprintf("wrong in %d of %d launches: %s", wrong, len(alike), reason)})
	case !alike[0].Verified:
		x.skip("the output is not compared with a reference: the specification has no verify, or a command judges it")
	}
}

// judge looks at what a launch has written where it should not.
func (x *examination) judge(seen *device.Rehearsed, constant []bool) {
	infos, elements := x.problem.Arguments(), x.inspector.Variant.Elements
	for _, s := range seen.Strays {
		side := "before"
		if s.Index > 0 {
			side = "behind"
		}
		x.addOnce(fault{Kind: OutOfBounds, Argument: s.Argument, Index: s.Index,
			Text: fmt.Sprintf("write out of bounds at %s[%d]: %s the %d elements, %d bytes have changed",
				infos[s.Argument].Name, s.Index, side, elements[s.Argument], s.Bytes)})
	}
	for i, is := range constant {
		if !is {
			continue
		}
		initial, err := x.inspector.Content(i)
		if err != nil {
			continue
		}
		if at := firstDifference(initial.Bytes, seen.Contents[i]); at >= 0 {
			index := at / infos[i].Element.Size()
			x.addOnce(fault{Kind: ConstWrite, Argument: i, Index: index,
				Text: fmt.Sprintf("write to %s[%d], which the kernel declares constant", infos[i].Name, index)})
		}
	}
}

// addOnce adds a fault unless a launch before had it.
func (x *examination) addOnce(f fault) {
	for _, known := range x.done.Faults {
		if known.Kind == f.Kind && known.Argument == f.Argument && known.Note == f.Note {
			return
		}
	}
	x.add(f)
}

func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// compare reports whether two launches have the same outputs, bit by bit, and adds a fault if not. It is a note if they differ by no
// more than the tolerance of the problem.
func (x *examination) compare(kind Kind, between string, a, b *device.Rehearsed) (same bool) {
	v := x.inspector.Variant
	same = true
	for i, info := range x.problem.Arguments() {
		if !info.Output {
			continue
		}
		first, second := a.Contents[v.Holders[i]], b.Contents[v.Holders[i]]
		at := firstDifference(first, second)
		if at < 0 {
			continue
		}
		same = false
		index := at / info.Element.Size()
		f := fault{Kind: kind, Argument: i, Index: index, Text: fmt.Sprintf("%s[%d] differs %s", info.Name, index, between)}
		of := func(content []byte) *array.Array {
			return &array.Array{Type: info.Element.Type, Struct: info.Element.Struct, Bytes: content}
		}
		if err := x.Tolerance.Compare(info.Name, of(second), of(first)); err == nil {
			f.Note = true
			f.Text += ", within the tolerance"
		} else {
			f.Text += ": " + err.Error()
		}
		x.addOnce(f)
	}
	return same
}

// dependOnFill finds elements of outputs that depend on memory that nothing has written: they differ between launches in which that
// memory has two contents. An element that still has the fill was not written at all.
func (x *examination) dependOnFill(seen [2]*device.Rehearsed) (found bool) {
	v := x.inspector.Variant
	for i, info := range x.problem.Arguments() {
		if !info.Output {
			continue
		}
		first, second := seen[0].Contents[v.Holders[i]], seen[1].Contents[v.Holders[i]]
		size := info.Element.Size()
		for at := 0; at+size <= len(first); at += size {
			a, b := first[at:at+size], second[at:at+size]
			if bytes.Equal(a, b) || filled(a, firstPoison) && filled(b, secondPoison) {
				continue
			}
			text := fmt.Sprintf("%s[%d] depends on memory that nothing has written", info.Name, at/size)
			if given := x.problem.Definition().Arguments[i]; given.Data == nil && given.Fill.IsZero() {
				text += fmt.Sprintf(", or on the content of %s before the launch, for which the specification has no fill", info.Name)
			}
			x.addOnce(fault{Kind: Uninitialised, Argument: i, Index: at / size, Text: text})
			found = true
			break
		}
	}
	return found
}

// filled reports whether no byte differs from a fill.
func filled(content []byte, fill byte) bool {
	return bytes.Count(content, []byte{fill}) == len(content)
}
