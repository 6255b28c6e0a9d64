package array

import (
	"strings"
	"testing"
)

func TestParseType(t *testing.T) {
	for _, c := range []struct {
		text, name, opencl string
		size, lanes        int
	}{
		{"float32", "float32", "float", 4, 1},
		{"float", "float32", "float", 4, 1},
		{"double", "float64", "double", 8, 1},
		{"half", "float16", "half", 2, 1},
		{"int", "int32", "int", 4, 1},
		{"uint", "uint32", "uint", 4, 1},
		{"long", "int64", "long", 8, 1},
		{"ulong", "uint64", "ulong", 8, 1},
		{"short", "int16", "short", 2, 1},
		{"ushort", "uint16", "ushort", 2, 1},
		{"char", "int8", "char", 1, 1},
		{"uchar", "uint8", "uchar", 1, 1},
		{" float4 ", "float32x4", "float4", 16, 4},
		{"float32x4", "float32x4", "float4", 16, 4},
		{"float3", "float32x3", "float3", 16, 3},
		{"double3", "float64x3", "double3", 32, 3},
		{"int2", "int32x2", "int2", 8, 2},
		{"uchar16", "uint8x16", "uchar16", 16, 16},
		{"half8", "float16x8", "half8", 16, 8},
		// NumPy's scalars, not OpenCL's vectors.
		{"int8", "int8", "char", 1, 1},
		{"int16", "int16", "short", 2, 1},
		{"uint16", "uint16", "ushort", 2, 1},
		{"float16", "float16", "half", 2, 1},
		{"int32x8", "int32x8", "int8", 32, 8},
	} {
		typ, err := ParseType(c.text)
		if err != nil {
			t.Errorf("ParseType(%q): %v", c.text, err)
			continue
		}
		if typ.String() != c.name || typ.OpenCL() != c.opencl || typ.Size() != c.size || typ.Lanes() != c.lanes {
			t.Errorf("ParseType(%q) = %v, %s, %d bytes, %d lanes; want %v", c.text, typ, typ.OpenCL(), typ.Size(), typ.Lanes(), c)
		}
	}
}

func TestParseTypeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"flaot32": `did you mean "float32"?`,
		"Float":   `did you mean "float"?`,
		"float5":  `did you mean "float`,
		"":        "types are called",
		"bool":    "types are called",
	} {
		_, err := ParseType(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseType(%q): %v; want an error with %q", text, err, want)
		}
	}
}

func allTypes() []Type {
	var all []Type
	for s := Int8; s <= Float64; s++ {
		all = append(all, s)
		for _, n := range vectorLanes {
			all = append(all, s.Vector(n))
		}
	}
	return all
}

func TestTypeText(t *testing.T) {
	for _, typ := range allTypes() {
		text, err := typ.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Type
		if err := back.UnmarshalText(text); err != nil || back != typ {
			t.Errorf("%s is read back as %v, %v", text, back, err)
		}
		if typ.Vector(1) != typ.Scalar() || typ.Scalar().Vector(typ.Lanes()) != typ {
			t.Errorf("%v: Vector and Scalar are not inverse", typ)
		}
	}
	if _, err := Type(0).MarshalText(); err == nil {
		t.Error("the zero Type has a text")
	}
}
