package clc

import (
	"encoding/binary"
	"maps"
	"strings"
	"testing"
)

// spirv returns a module of some instructions, each with its operands.
func spirv(order binary.AppendByteOrder, instructions ...[]uint32) string {
	b := order.AppendUint32(nil, spirvMagic)
	for _, word := range []uint32{0x10000, 0, 100, 0} {
		b = order.AppendUint32(b, word)
	}
	for _, words := range instructions {
		b = order.AppendUint32(b, uint32(len(words))<<16|words[0])
		for _, word := range words[1:] {
			b = order.AppendUint32(b, word)
		}
	}
	return string(b)
}

func TestSpecializationConstants(t *testing.T) {
	const other = 17 // an instruction that declares no constant
	instructions := [][]uint32{
		{other, 6}, {opDecorate, 10, decorationSpecID, 0}, {opDecorate, 11, decorationSpecID, 8}, {opDecorate, 12, decorationSpecID, 1},
		{opDecorate, 13, decorationSpecID, 2}, {opDecorate, 14, decorationSpecID, 3}, {opDecorate, 15, 44, 4}, {opDecorate, 16, decorationSpecID, 5},
		{opTypeBool, 1}, {opTypeInt, 2, 32, 0}, {opTypeInt, 3, 16, 1}, {opTypeFloat, 4, 64},
		{opSpecConstantTrue, 1, 10}, {opSpecConstantFalse, 1, 11}, {opSpecConstant, 2, 12, 7}, {opSpecConstant, 3, 13, 7}, {opSpecConstant, 4, 14, 0, 0},
		{opSpecConstant, 2, 15, 7},
	}
	want := map[uint32]string{0: "bool", 8: "bool", 1: "uint32", 2: "int16", 3: "float64"}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		module := spirv(order, instructions...)
		if got, err := SpecializationConstants(module); err != nil || !maps.Equal(got, want) || !IsSPIRV(module) {
			t.Errorf("%v: %v %v, want %v", order, got, err, want)
		}
	}
}

func TestDamagedSPIRV(t *testing.T) {
	module := spirv(binary.LittleEndian, []uint32{opTypeBool, 1})
	for name, text := range map[string]string{
		"empty": "", "a source": "__kernel void k() {}", "half a header": module[:8], "half a word": module[:len(module)-1],
		"no length": module + "\x00\x00\x00\x00", "too long": module + "\x14\x00\x03\x00",
	} {
		if got, err := SpecializationConstants(text); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSPIRVIsNoText(t *testing.T) {
	module := spirv(binary.LittleEndian, []uint32{opTypeBool, 1}) + "\n#include \"a.h\"\n"
	read := func(path string) ([]byte, error) {
		return []byte(map[string]string{"a.spv": module, "a.cl": "#include \"a.spv\"\n", "a.h": "x"}[path]), nil
	}
	if got, err := ResolveIncludes(read, "a.spv", nil); err != nil || got != module {
		t.Errorf("%q %v", got, err)
	}
	if _, err := ResolveIncludes(read, "a.cl", nil); err == nil || !strings.Contains(err.Error(), `include "a.spv": it is a SPIR-V module`) {
		t.Errorf("included: %v", err)
	}
}
