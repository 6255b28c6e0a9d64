package footprint

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// amdMetadata is the type of the note with the metadata of AMD's code objects since version 3.
const amdMetadata = 32

// AMD reads the footprints of kernels, by name, from a binary of AMD's driver: an ELF file with a note AMDGPU, whose content is
// a MessagePack document. See «Code Object V3 to V6 Metadata» in https://llvm.org/docs/AMDGPUUsage.html.
func AMD(program []byte) (map[string]Footprint, error) {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return nil, fmt.Errorf("the binary is no ELF file: %w", err)
	}
	for _, content := range noteSegments(file) {
		document, ok, err := findNote(content, file.ByteOrder)
		if err != nil {
			return nil, err
		}
		if ok {
			return amdKernels(document)
		}
	}
	return nil, errors.New("the binary has no metadata of AMD's code object version 3 or later")
}

// noteSegments returns the contents of the segments and the sections with notes.
func noteSegments(file *elf.File) (all [][]byte) {
	for _, p := range file.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz <= maxNotes {
			content := make([]byte, p.Filesz)
			if _, err := p.ReadAt(content, 0); err == nil {
				all = append(all, content)
			}
		}
	}
	for _, s := range file.Sections {
		if s.Type == elf.SHT_NOTE && s.Size <= maxNotes {
			if content, err := s.Data(); err == nil {
				all = append(all, content)
			}
		}
	}
	return all
}

// maxNotes bounds the memory that a damaged file can cause to be used.
const maxNotes = 64 << 20

// findNote returns the content of the first note with metadata. A note is the sizes of its name and of its content, its type, the name
// and the content, each of which is padded to 4 bytes.
func findNote(notes []byte, order binary.ByteOrder) (content []byte, found bool, err error) {
	padded := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(notes) >= 12 {
		nameSize, size, kind := order.Uint32(notes), order.Uint32(notes[4:]), order.Uint32(notes[8:])
		notes = notes[12:]
		if padded(nameSize) > uint64(len(notes)) || uint64(size) > uint64(len(notes))-padded(nameSize) {
			return nil, false, errors.New("a note of the binary is cut off")
		}
		name := bytes.TrimRight(notes[:nameSize], "\x00")
		content = notes[padded(nameSize):][:size]
		if kind == amdMetadata && string(name) == "AMDGPU" {
			return content, true, nil
		}
		notes = notes[min(uint64(len(notes)), padded(nameSize)+padded(size)):]
	}
	return nil, false, nil
}

// amdKernels reads the document of the metadata.
func amdKernels(document []byte) (map[string]Footprint, error) {
	value, err := readMessagePack(document)
	if err != nil {
		return nil, fmt.Errorf("the metadata of the binary: %w", err)
	}
	metadata, _ := value.(map[string]any)
	kernels, ok := metadata["amdhsa.kernels"].([]any)
	if !ok {
		return nil, errors.New("the metadata of the binary have no list amdhsa.kernels")
	}
	all := map[string]Footprint{}
	for _, k := range kernels {
		kernel, _ := k.(map[string]any)
		name, _ := kernel[".name"].(string)
		f := Footprint{}
		for _, q := range []struct {
			key, quantity string
			factor        float64
		}{
			{".vgpr_count", Registers, 1},
			{".vgpr_spill_count", SpillBytes, 4}, // registers of 32 bits
			{".private_segment_fixed_size", PrivateBytes, 1},
			{".group_segment_fixed_size", LocalBytes, 1},
		} {
			if n, ok := kernel[q.key].(int64); ok && n >= 0 {
				f[q.quantity] = float64(n) * q.factor
			}
		}
		all[name] = f
	}
	return all, nil
}
