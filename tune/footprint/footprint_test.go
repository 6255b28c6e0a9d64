package footprint

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

func wantFootprints(t *testing.T, got, want map[string]Footprint) {
	t.Helper()
	if !maps.EqualFunc(got, want, func(a, b Footprint) bool { return maps.Equal(a, b) }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNVIDIA reads a log that an H200 with driver 580 has written for two kernels and -cl-nv-maxrregcount=32.
func TestNVIDIA(t *testing.T) {
	log, err := os.ReadFile("testdata/nvidia-h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	wantFootprints(t, NVIDIA(string(log)), map[string]Footprint{
		"plain":   {Registers: 10, PrivateBytes: 0, SpillBytes: 0, LocalBytes: 0},
		"stencil": {Registers: 32, PrivateBytes: 576, SpillBytes: 1260, LocalBytes: 1028},
	})
}

func TestNVIDIALogs(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want map[string]Footprint
	}{
		"of a cached build": {"\n", nil},
		"of a build whose assembly is cached": {
			"(): Warning: Function k is a kernel, so overriding noinline attribute. The function may be inlined when called.\n\n\n", nil,
		},
		"with a function that is not inlined": {`ptxas info    : Compiling entry function 'k' for 'sm_70'
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for k
    48 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, 512+16 bytes smem, 376 bytes cmem[0]
`, map[string]Footprint{"k": {Registers: 24, PrivateBytes: 48, SpillBytes: 0, LocalBytes: 528}}},
		"with the function last": {`ptxas info    : Compiling entry function 'k' for 'sm_70'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers
`, map[string]Footprint{"k": {Registers: 24, PrivateBytes: 0, SpillBytes: 0, LocalBytes: 0}}},
		"cut off":             {"ptxas info    : Compiling entry function 'k' for 'sm_90a'\n", map[string]Footprint{"k": {}}},
		"of nothing":          {"ptxas info    : Used 24 registers\n    1 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\n", nil},
		"of another compiler": {"warning: kernel k  compiled SIMD16 allocated 128 regs and spilled around 217\n", nil},
	} {
		t.Run(name, func(t *testing.T) { wantFootprints(t, NVIDIA(c.log), c.want) })
	}
}

// TestIntel has the lines of two versions of Intel's graphics compiler.
func TestIntel(t *testing.T) {
	log := `warning: kernel matmul  compiled SIMD16 allocated 128 regs and spilled around 217
[bmg-g21] warning: in kernel 'reduce': compiled SIMD32 allocated 256 regs and spilled around 2
warning: [RetryManager] Start recompilation of the kernel
`
	wantFootprints(t, Intel(log), map[string]Footprint{"matmul": {Registers: 128}, "reduce": {Registers: 256}})
	wantFootprints(t, Intel("ptxas info    : Used 24 registers\n"), nil)
}

// pack writes a MessagePack document.
func pack(v any) []byte {
	var b []byte
	switch v := v.(type) {
	case int:
		if v >= 0 && v < 128 {
			return []byte{byte(v)}
		}
		return binary.BigEndian.AppendUint32([]byte{0xce}, uint32(v))
	case string:
		b = append([]byte{0xd9, byte(len(v))}, v...)
	case []any:
		b = []byte{0x90 | byte(len(v))}
		for _, item := range v {
			b = append(b, pack(item)...)
		}
	case map[string]any:
		b = binary.BigEndian.AppendUint16([]byte{0xde}, uint16(len(v)))
		for key, value := range v {
			b = append(append(b, pack(key)...), pack(value)...)
		}
	}
	return b
}

// codeObject writes an ELF file of AMD's, with a segment that has another note and that of the metadata.
func codeObject(metadata []byte) []byte {
	note := func(name string, kind uint32, content []byte) []byte {
		padded := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)+1))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		b = binary.LittleEndian.AppendUint32(b, kind)
		return append(append(b, padded([]byte(name+"\x00"))...), padded(bytes.Clone(content))...)
	}
	notes := append(note("GNU", 3, []byte{1, 2, 3, 4, 5}), note("AMDGPU", amdMetadata, metadata)...)
	const header, segment = 64, 56
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	put(elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT), 64, 2},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_AMDGPU), Version: uint32(elf.EV_CURRENT), Phoff: header, Ehsize: header, Phentsize: segment, Phnum: 1,
	})
	put(elf.Prog64{Type: uint32(elf.PT_NOTE), Off: header + segment, Filesz: uint64(len(notes)), Memsz: uint64(len(notes)), Align: 4})
	b.Write(notes)
	return b.Bytes()
}

func TestAMD(t *testing.T) {
	kernel := func(name string, vgprs, spilled, private, local int) map[string]any {
		return map[string]any{
			".name": name, ".symbol": name + ".kd", ".sgpr_count": 40, ".sgpr_spill_count": 3, ".vgpr_count": vgprs, ".vgpr_spill_count": spilled,
			".private_segment_fixed_size": private, ".group_segment_fixed_size": local, ".args": []any{map[string]any{".size": 8}},
		}
	}
	program := codeObject(pack(map[string]any{
		"amdhsa.version": []any{1, 2},
		"amdhsa.kernels": []any{kernel("matmul", 256, 16, 68, 65536), kernel("plain", 4, 0, 0, 0), map[string]any{".name": "old"}},
	}))
	got, err := AMD(program)
	if err != nil {
		t.Fatal(err)
	}
	wantFootprints(t, got, map[string]Footprint{
		"matmul": {Registers: 256, SpillBytes: 64, PrivateBytes: 68, LocalBytes: 65536},
		"plain":  {Registers: 4, SpillBytes: 0, PrivateBytes: 0, LocalBytes: 0},
		"old":    {},
	})
	for what, c := range map[string]struct {
		binary []byte
		want   string
	}{
		"PTX":                 {[]byte("//\n// Generated by NVIDIA NVVM Compiler\n"), "no ELF file"},
		"an empty binary":     {nil, "no ELF file"},
		"metadata of another": {codeObject(pack(map[string]any{"amdhsa.version": []any{1, 2}})), "no list amdhsa.kernels"},
		"no map":              {codeObject(pack("text")), "no list amdhsa.kernels"},
		"a damaged document":  {codeObject(pack(map[string]any{"amdhsa.kernels": []any{1}})[:8]), "cut off"},
		"a cut note":          {program[:len(program)-8], "no metadata"},
	} {
		if _, err := AMD(c.binary); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestMessagePack(t *testing.T) {
	for document, want := range map[string]any{
		"\x7f": int64(127), "\xe0": int64(-32), "\xcc\xff": int64(255), "\xcd\x01\x00": int64(256), "\xcf\x00\x00\x00\x01\x00\x00\x00\x00": int64(1 << 32),
		"\xd0\x80": int64(-128), "\xd1\xff\xfe": int64(-2), "\xd3\xff\xff\xff\xff\xff\xff\xff\xff": int64(-1),
		"\xc0": nil, "\xc2": false, "\xc3": true,
		"\xa2ab": "ab", "\xda\x00\x01x": "x",
		"\x92\x01\xa1b": []any{int64(1), "b"}, "\xdc\x00\x01\x05": []any{int64(5)}, "\x81\xa1a\x90": map[string]any{"a": []any(nil)},
	} {
		if got, err := readMessagePack([]byte(document)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %v; want %#v", document, got, err, want)
		}
	}
	for _, document := range []string{
		"", "\xcd\x01", "\xa5ab", "\x92\x01", "\x81\x01\x02", "\xc1", "\xca\x3f\x80\x00\x00", "\xd4\x01\x01", "\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff\xa1a\x01",
		"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", strings.Repeat("\x91", maxDepth+2),
	} {
		if got, err := readMessagePack([]byte(document)); err == nil {
			t.Errorf("%q: %#v, want an error", document, got)
		}
	}
}

func FuzzAMD(f *testing.F) {
	f.Add(codeObject(pack(map[string]any{"amdhsa.kernels": []any{map[string]any{".name": "k", ".vgpr_count": 4}}})))
	f.Fuzz(func(t *testing.T, program []byte) {
		all, err := AMD(program)
		for name, footprint := range all {
			for q, v := range footprint {
				if err != nil || !Is(q) || v < 0 || math.IsNaN(v) {
					t.Errorf("%s: %s is %v, %v", name, q, v, err)
				}
			}
		}
	})
}

// TestOccupancy has values of the vendors' occupancy calculators.
func TestOccupancy(t *testing.T) {
	nvidia := func(architecture string) hardware.Device {
		return hardware.Device{Name: "card", Architecture: architecture, Wavefront: 32}
	}
	amd := func(architecture string) hardware.Device {
		return hardware.Device{Architecture: architecture, Wavefront: 64}
	}
	for _, c := range []struct {
		device           hardware.Device
		items            int
		registers, local float64
		want             float64
	}{
		{nvidia("sm_90"), 256, 32, 0, 1},
		{nvidia("sm_90"), 256, 33, 0, 48. / 64},          // 40 registers: 12 warps for each scheduler
		{nvidia("sm_90"), 256, 255, 0, 8. / 64},          // one work-group
		{nvidia("sm_90"), 32, 32, 0, 32. / 64},           // 32 work-groups
		{nvidia("sm_90"), 1024, 32, 115 << 10, 32. / 64}, // with the reserved KiB, not two of 116 KiB
		{nvidia("sm_90"), 1024, 32, 113 << 10, 1},
		{nvidia("sm_90"), 1024, 128, 0, 0}, // such a work-group cannot be launched
		{nvidia("sm_75"), 1024, 64, 0, 1},
		{nvidia("sm_86"), 1024, 32, 0, 32. / 48},
		{nvidia("sm_60"), 128, 64, 0, 32. / 64},
		{amd("gfx906"), 256, 24, 0, 1},
		{amd("gfx906"), 256, 25, 0, 36. / 40},
		{amd("gfx906"), 64, 256, 0, 4. / 40},
		{amd("gfx906"), 128, 24, 0, 32. / 40}, // 16 barriers
		{amd("gfx90a"), 256, 128, 32 << 10, 8. / 32},
		{amd("gfx942"), 256, 64, 0, 1},
	} {
		if got, err := OccupancyOf(c.device, c.items, c.registers, c.local); err != nil || got != c.want {
			t.Errorf("%s, %d work-items, %v registers, %v B: %v, %v; want %v", c.device.Architecture, c.items, c.registers, c.local, got, err, c.want)
		}
	}
	for _, d := range []hardware.Device{{Name: "CPU"}, {Architecture: "gfx1100", Wavefront: 32}, {Architecture: "sm_90"}} {
		if got, err := OccupancyOf(d, 64, 1, 0); err == nil {
			t.Errorf("%+v: %v", d, got)
		}
	}
}

func TestOf(t *testing.T) {
	got := Of([]Footprint{{Registers: 10, SpillBytes: 8, Occupancy: 0.5}, {Registers: 30, Occupancy: 0.75, LocalBytes: 4}})
	if want := (Footprint{Registers: 30, Occupancy: 0.5}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
