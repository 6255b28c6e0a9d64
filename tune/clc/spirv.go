package clc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// spirvMagic is the first word of a SPIR-V module, in the byte order of the module.
const spirvMagic = 0x07230203

// IsSPIRV reports whether the content of a source is a SPIR-V module, by its first word.
func IsSPIRV(text string) bool { return spirvOrder(text) != nil }

// spirvOrder returns the byte order of a module; nil: the text is none.
func spirvOrder(text string) binary.ByteOrder {
	if len(text) < 4 {
		return nil
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32([]byte(text[:4])) == spirvMagic {
			return order
		}
	}
	return nil
}

// Instructions of SPIR-V that declare specialization constants, and the number of words before the first
// instruction (section 2.3 and chapter 3 of the specification of SPIR-V).
const (
	opTypeBool          = 20
	opTypeInt           = 21
	opTypeFloat         = 22
	opSpecConstantTrue  = 48
	opSpecConstantFalse = 49
	opSpecConstant      = 50
	opDecorate          = 71

	decorationSpecID = 1
	headerWords      = 5
)

var errSPIRV = errors.New("the SPIR-V module is damaged")

// SpecializationConstants returns the types of the specialization constants of a SPIR-V module by their
// SpecIds: bool, int32, uint32, float64 and so on.
func SpecializationConstants(module string) (map[uint32]string, error) {
	order := spirvOrder(module)
	if order == nil || len(module)%4 != 0 || len(module) < 4*headerWords {
		return nil, errSPIRV
	}
	words := make([]uint32, len(module)/4)
	for i := range words {
		words[i] = order.Uint32([]byte(module[4*i:]))
	}
	types, constants, ids := map[uint32]string{}, map[uint32]uint32{}, map[uint32]uint32{} // by result: name, type, SpecId
	for rest := words[headerWords:]; len(rest) > 0; {
		length := int(rest[0] >> 16)
		if length == 0 || length > len(rest) {
			return nil, errSPIRV
		}
		op, args := rest[0]&0xffff, rest[1:length]
		rest = rest[length:]
		switch {
		case op == opTypeBool && len(args) == 1:
			types[args[0]] = "bool"
		case op == opTypeInt && len(args) == 3:
			types[args[0]] = fmt.Sprintf("%sint%d", map[bool]string{true: "u"}[args[2] == 0], args[1])
		case op == opTypeFloat && len(args) >= 2:
			types[args[0]] = fmt.Sprintf("float%d", args[1])
		case (op == opSpecConstantTrue || op == opSpecConstantFalse || op == opSpecConstant) && len(args) >= 2:
			constants[args[1]] = args[0]
		case op == opDecorate && len(args) == 3 && args[1] == decorationSpecID:
			ids[args[0]] = args[2]
		}
	}
	found := map[uint32]string{}
	for result, id := range ids {
		if name := types[constants[result]]; name != "" {
			found[id] = name
		}
	}
	return found, nil
}
