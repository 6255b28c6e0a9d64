package capture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
)

// recorded is the folder of a launch among the recorded captures.
func recorded(scene, launch string) string {
	return filepath.Join("testdata/captures", scene, "Replay", launch)
}

// copied returns a copy of a recorded launch, which a test may change.
func copied(t testing.TB, from string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "launch")
	if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestReadBuffersAndLocalMemory(t *testing.T) {
	l, err := Read(recorded("local", "Enqueue_0_sums"))
	if err != nil {
		t.Fatal(err)
	}
	if l.Kernel != "sums" || l.Options != "" || !strings.HasPrefix(l.Source, "__kernel void sums(") ||
		!slices.Equal(l.Global, []int{2048}) || !slices.Equal(l.Local, []int{64}) || !slices.Equal(l.Offset, []int{0}) || len(l.Arguments) != 3 {
		t.Errorf("read %+v", l)
	}
	input, output := l.Arguments[0].Memory, l.Arguments[2].Memory
	if input == nil || output == nil || input.Bytes != 8192 || output.Bytes != 128 || input.Number == output.Number ||
		l.Arguments[0].Value != nil || l.Arguments[1].Local != 256 || l.Arguments[1].Memory != nil {
		t.Errorf("read the arguments %+v", l.Arguments)
	}
	for i, changes := range map[int]bool{0: false, 2: true} {
		before, after, err := l.Content(i)
		if err != nil || len(before) != l.Arguments[i].Memory.Bytes || (string(before) != string(after)) != changes {
			t.Errorf("argument %d: %d and %d bytes, %v", i, len(before), len(after), err)
		}
	}
}

func TestReadEverythingElse(t *testing.T) {
	read := func(scene, launch string) *Launch {
		t.Helper()
		l, err := Read(recorded(scene, launch))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := read("image", "Enqueue_0_shrink")
	if want := (Image{Size: [3]int{48, 32, 1}, Pixel: 4, Type: 0x10D2, Order: 0x10B5}); *l.Arguments[0].Memory.Image != want {
		t.Errorf("the image is %+v", l.Arguments[0].Memory.Image)
	}
	if want := (definition.Sampler{Coordinates: "normalized", Addressing: "clamp_to_edge", Filter: "nearest"}); *l.Arguments[1].Sampler != want {
		t.Errorf("the sampler is %+v", l.Arguments[1].Sampler)
	}
	if l = read("alias", "Enqueue_0_combine"); l.Arguments[1].Memory.Number != l.Arguments[2].Memory.Number || l.Options != "-DFACTOR=2" {
		t.Errorf("the aliases are %+v and %+v", l.Arguments[1].Memory, l.Arguments[2].Memory)
	}
	if l = read("driver", "Enqueue_0_series"); l.Local != nil || l.Arguments[0].Type != "float*" {
		t.Errorf("the local size is %v, the first argument of the type %q", l.Local, l.Arguments[0].Type)
	}
	if l = read("offset", "Enqueue_0_mark"); !slices.Equal(l.Offset, []int{5, 7}) || string(l.Arguments[1].Value) != "\x30\x00\x00\x00" {
		t.Errorf("the offset is %v, the width %q", l.Offset, l.Arguments[1].Value)
	}
	if l = read("spirv", "Enqueue_0_polynomial"); l.Source != "" || len(l.SPIRV) == 0 {
		t.Errorf("the source is %q, and SPIR-V of %d bytes", l.Source, len(l.SPIRV))
	}
	if l = read("failing", "Enqueue_0_nothing"); len(l.Arguments) != 0 {
		t.Errorf("the arguments are %+v", l.Arguments)
	}
}

func TestReadOrigin(t *testing.T) {
	folder := copied(t, recorded("buffers", "Enqueue_0_product"))
	want := Origin{Launches: Launches{Device: "a CPU", Hash: "C0BD5D3E", OptionsHash: "4CE865DE", Calls: 3, Cost: 22.5, Min: 5}}
	text, err := json.Marshal(want)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, OriginFile), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l, err := Read(folder); err != nil || !reflect.DeepEqual(l.Origin, want) {
		t.Errorf("read %+v (%v)", l, err)
	}
}

// An alteration changes a captured launch in a folder.
type alteration func(folder string) error

func write(name, content string) alteration {
	return func(folder string) error { return os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666) }
}

func remove(name string) alteration {
	return func(folder string) error { return os.RemoveAll(filepath.Join(folder, name)) }
}

func rename(from, to string) alteration {
	return func(folder string) error { return os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)) }
}

func link(target, name string) alteration {
	return func(folder string) error {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			return err
		}
		return os.Symlink(target, filepath.Join(folder, name))
	}
}

// grow makes a file larger without writing it.
func grow(name string, size int64) alteration {
	return func(folder string) error { return os.Truncate(filepath.Join(folder, name), size) }
}

func all(alterations ...alteration) alteration {
	return func(folder string) error {
		for _, a := range alterations {
			if err := a(folder); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestDamagedCaptures: damaged, truncated and hostile captures are refused with a sentence that names the file.
func TestDamagedCaptures(t *testing.T) {
	const (
		before = "Pre/Enqueue_0000_Kernel_sums_Arg_0_Buffer_0000.bin"
		after  = "Post/Enqueue_0000_Kernel_sums_Arg_2_Buffer_0001.bin"
		whole  = ": it is missing, so the capture is not whole: did the application end while this launch was captured?"
		shrink = "Pre/Enqueue_0000_Kernel_shrink_Arg_0_Image_0000_48x32x1_32bpp.raw"
	)
	sums, image, combine := recorded("local", "Enqueue_0_sums"), recorded("image", "Enqueue_0_shrink"), recorded("alias", "Enqueue_0_combine")
	for name, c := range map[string]struct {
		of    string // default: sums
		alter alteration
		want  string // behind the folder
	}{
		"no capture":       {alter: remove("kernelName.txt"), want: ": there is no kernelName.txt; a captured launch is a folder such as Replay/Enqueue_0_NAME"},
		"no options":       {alter: remove("buildOptions.txt"), want: "/buildOptions.txt" + whole},
		"no sizes":         {alter: remove("worksizes.txt"), want: "/worksizes.txt" + whole},
		"no source":        {alter: remove("kernel.cl"), want: ": the program has no source, since the application loads it as a binary of its device or links it"},
		"an empty source":  {alter: write("kernel.cl", "\x00"), want: ": the program has no source"},
		"a source of NULs": {alter: write("kernel.cl", "a\x00b"), want: "/kernel.cl: it is no text: it has NUL characters"},
		"no SPIR-V":        {alter: all(remove("kernel.cl"), write("kernel.spv", "ELF")), want: "/kernel.spv: it is no SPIR-V module"},
		"options of NULs":  {alter: write("buildOptions.txt", "-D\x00A"), want: "/buildOptions.txt: it is no text"},
		"options that are a folder": {alter: all(remove("buildOptions.txt"), func(folder string) error {
			return os.Mkdir(filepath.Join(folder, "buildOptions.txt"), 0o777)
		}), want: "/buildOptions.txt: it is a folder, not a file"},
		"options that are huge":  {alter: grow("buildOptions.txt", 1<<20+1), want: "/buildOptions.txt: it has 1048577 bytes, more than the 1048576 that such a file may have"},
		"a huge source":          {alter: grow("kernel.cl", 1<<30), want: "/kernel.cl: it has 1073741824 bytes"},
		"a name that is a path":  {alter: write("kernelName.txt", "../../etc/passwd"), want: `/kernelName.txt: "../../etc/passwd" is no name of a kernel`},
		"a name of two lines":    {alter: write("kernelName.txt", "a\nb"), want: `/kernelName.txt: "a\nb" is no name of a kernel`},
		"a name that is endless": {alter: write("kernelName.txt", strings.Repeat("a", 2000)), want: "/kernelName.txt: \"" + strings.Repeat("a", 120) + "…"},
		"a link to a file":       {alter: link("/etc/passwd", "kernel.cl"), want: "/kernel.cl: it is not a regular file"},
		"a link to a folder":     {alter: link("/etc", "Pre"), want: "/Pre: "},
		"a link to memory":       {alter: link("kernel.cl", before), want: "/" + before + ": it is not a regular file"},

		"two lines of sizes":    {alter: write("worksizes.txt", "64\n64\n"), want: "/worksizes.txt: want three lines, each with a number for each of one to three dimensions"},
		"four dimensions":       {alter: write("worksizes.txt", "1 1 1 1\n1 1 1 1\n0 0 0 0\n"), want: "/worksizes.txt: want three lines"},
		"no dimension":          {alter: write("worksizes.txt", "\n\n\n"), want: "/worksizes.txt: want three lines"},
		"other dimensions":      {alter: write("worksizes.txt", "64 64\n64\n0 0\n"), want: "/worksizes.txt: want 2 numbers, found 1"},
		"sizes in words":        {alter: write("worksizes.txt", "many\n64\n0\n"), want: `/worksizes.txt: "many" is no number from 0 to 1099511627776`},
		"a negative size":       {alter: write("worksizes.txt", "-64\n64\n0\n"), want: `/worksizes.txt: "-64" is no number`},
		"a size beyond 64 bits": {alter: write("worksizes.txt", "99999999999999999999\n64\n0\n"), want: `/worksizes.txt: "99999999999999999999" is no number`},
		"an immense launch":     {alter: write("worksizes.txt", "1000000000 1000000000\n1 1\n0 0\n"), want: "/worksizes.txt: a launch of [1000000000 1000000000] work-items cannot be measured"},
		"an empty launch":       {alter: write("worksizes.txt", "64 0\n1 1\n0 0\n"), want: "/worksizes.txt: a launch of [64 0] work-items cannot be measured"},
		"half a local size":     {alter: write("worksizes.txt", "64 64\n8 0\n0 0\n"), want: "/worksizes.txt: the local size [8 0] is 0 in some dimensions only"},

		"no argument":             {alter: remove("Local1.txt"), want: "/Argument1.bin" + whole},
		"an empty argument":       {of: image, alter: write("Argument1.bin", ""), want: "/Argument1.bin" + whole},
		"an argument too many":    {alter: write("Argument9.bin", "1234"), want: "/Argument3.bin" + whole},
		"a million arguments":     {alter: write("Argument1000000.bin", "1234"), want: "/Argument1000000.bin: a kernel has at most 1024 arguments"},
		"an endless index":        {alter: rename("Local1.txt", "Local99999999999999999999.txt"), want: "/Argument1.bin" + whole},
		"a huge argument":         {alter: grow("Argument0.bin", 1<<21), want: "/Argument0.bin: it has 2097152 bytes"},
		"local memory and value":  {alter: write("Argument1.bin", "1234"), want: "/Local1.txt: argument 1 is local memory or NULL here, and has a value in another file"},
		"local memory in words":   {alter: write("Local1.txt", "some"), want: `/Local1.txt: "some" is no number`},
		"no local memory":         {alter: write("Local1.txt", "0"), want: "/Argument1.bin" + whole},
		"no size of local memory": {alter: write("Local1.txt", ""), want: "/Local1.txt: want 1 numbers, found 0"},
		"fewer types":             {alter: write("ArgumentDataTypes.txt", "float*\n"), want: "/ArgumentDataTypes.txt: the kernel has 1 arguments, but the capture has 3, so it is not whole"},

		"no memory before":       {alter: remove("Pre"), want: "/Pre" + whole},
		"no memory after":        {alter: remove("Post"), want: "/Post" + whole},
		"memory that is a file":  {alter: all(remove("Post"), write("Post", "")), want: "/Post: "},
		"no file before":         {alter: remove(before), want: "/Pre: the content of argument 0 is missing, so the capture is not whole"},
		"no file after":          {alter: remove(after), want: "/Post: the content of argument 2 is missing, so the capture is not whole"},
		"a truncated file":       {alter: grow(after, 100), want: "/" + after + ": it has 100 bytes of allocation 1, but before the launch there were 128 of allocation 1"},
		"an empty file":          {alter: grow(before, 0), want: "/" + before + ": it is empty"},
		"a file too large":       {alter: grow(before, MaxBytes+1), want: "/" + before + ": it has 4294967297 bytes, more than the 4294967296 that such a file may have"},
		"files too large":        {alter: all(grow(before, MaxBytes), grow("Post"+before[3:], MaxBytes)), want: "/Pre: the buffers and images of the launch have more than 4294967296 bytes"},
		"another allocation":     {alter: rename(after, after[:len(after)-5]+"7.bin"), want: "7.bin: it has 128 bytes of allocation 7, but before the launch there were 128 of allocation 1"},
		"memory twice":           {alter: write(before[:len(before)-5]+"3.bin", "1234"), want: "3.bin: " + before + " is the content of argument 0, too"},
		"memory of no argument":  {alter: write("Pre/Enqueue_0000_Kernel_sums_Arg_7_Buffer_0007.bin", "1234"), want: "Buffer_0007.bin: it is the content of an argument that the capture does not have"},
		"memory of local memory": {alter: write("Pre/Enqueue_0000_Kernel_sums_Arg_1_Buffer_0007.bin", "1234"), want: "Buffer_0007.bin: it is the content of an argument that the capture does not have"},
		"memory of another kind": {alter: rename(before, strings.Replace(before, "Buffer", "Image", 1)), want: "Image_0000.bin: it is the content of an argument that the capture does not have"},
		"a handle that is NULL":  {alter: write("Argument0.bin", "\x00\x00\x00\x00\x00\x00\x00\x00"), want: "/Argument0.bin: argument 0 is NULL, but has the content of a buffer"},
		"aliases of two sizes": {of: combine, alter: all(grow("Pre/Enqueue_0000_Kernel_combine_Arg_2_Buffer_0001.bin", 8), grow("Post/Enqueue_0000_Kernel_combine_Arg_2_Buffer_0001.bin", 8)),
			want: "Arg_2_Buffer_0001.bin: allocation 1 has 8 bytes here and 4096 in another argument"},

		"an image of no pixels":  {of: image, alter: write("Image_MetaData_0.txt", "0\n32\n1\n4\n0\n0\n4306\n4277\n4337"), want: "/Image_MetaData_0.txt: an image of [0 32 1] pixels of 4 bytes is empty or too large"},
		"an immense image":       {of: image, alter: write("Image_MetaData_0.txt", "1000000000\n1000000000\n1000000000\n16\n0\n0\n4306\n4277\n4337"), want: "/Image_MetaData_0.txt: an image of [1000000000 1000000000 1000000000] pixels"},
		"half of the metadata":   {of: image, alter: write("Image_MetaData_0.txt", "48\n32\n1\n"), want: "/Image_MetaData_0.txt: want 9 numbers, found 3"},
		"an image cut off":       {of: image, alter: grow(shrink, 100), want: "/" + shrink + ": it has 100 bytes, but the image has [48 32 1] pixels of 4 bytes"},
		"a sampler of lies":      {of: image, alter: write("Sampler1.txt", "CL_SAMPLER_LOD_MIN = 1.00, "), want: `/Sampler1.txt: "CL_SAMPLER_LOD_MIN = 1.00" is no property of a sampler that is known`},
		"a sampler of odd words": {of: image, alter: write("Sampler1.txt", "CL_SAMPLER_FILTER_MODE = bicubic"), want: `"CL_SAMPLER_FILTER_MODE = bicubic" is no property`},

		"a sub-buffer":        {alter: write(OriginFile, `{"memory": {"2": "sub-buffer"}}`), want: ": argument 2 of the kernel is a sub-buffer, a part of another buffer; only buffers and images of their own can be captured"},
		"SVM":                 {alter: write(OriginFile, `{"memory": {"0": "svm"}}`), want: ": argument 0 of the kernel is shared virtual memory (SVM); only"},
		"USM":                 {alter: write(OriginFile, `{"memory": {"0": "usm"}}`), want: ": argument 0 of the kernel is unified shared memory (USM); only"},
		"a pipe":              {alter: write(OriginFile, `{"memory": {"0": "pipe"}}`), want: ": argument 0 of the kernel is a pipe; only"},
		"another kind":        {alter: write(OriginFile, `{"memory": {"0": "tape"}}`), want: ": argument 0 of the kernel is no buffer; only"},
		"a pointer into SVM":  {alter: write("SVM_Arg_Offset_0.txt", "1024\n"), want: "/SVM_Arg_Offset_0.txt: the argument points into shared virtual memory (SVM or USM)"},
		"no offset":           {alter: write("SVM_Arg_Offset_0.txt", "?"), want: `/SVM_Arg_Offset_0.txt: "?" is no number`},
		"an origin of no use": {alter: write(OriginFile, "[1, 2]"), want: "/ndtune.json: json: cannot unmarshal array"},
		"half an origin":      {alter: write(OriginFile, `{"device": "CP`), want: "/ndtune.json: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			of := sums
			if c.of != "" {
				of = c.of
			}
			folder := copied(t, of)
			if err := c.alter(folder); err != nil {
				t.Fatal(err)
			}
			l, err := Read(folder)
			if err == nil {
				t.Fatalf("read %+v", l)
			}
			got, named := strings.CutPrefix(filepath.ToSlash(err.Error()), filepath.ToSlash(folder))
			if !named || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "read a captured launch: ") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestMemoryThatChanges: what lies in the files of a capture may change after it was read.
func TestMemoryThatChanges(t *testing.T) {
	folder := copied(t, recorded("local", "Enqueue_0_sums"))
	l, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alter alteration
		want  string
	}{
		{grow(l.Arguments[0].Memory.files[0], 10), "the size of the content of argument 0 has changed"},
		{grow(l.Arguments[0].Memory.files[0], 1<<30), "it has 1073741824 bytes, more than the 8192"},
		{link("/etc/passwd", l.Arguments[0].Memory.files[0]), "it is not a regular file"},
		{remove("."), "no such file"},
	} {
		if err := c.alter(folder); err != nil {
			t.Fatal(err)
		}
		if content, _, err := l.Content(0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %d bytes, %v, want %q", len(content), err, c.want)
		}
	}
}

// FuzzRead replaces a file of a capture, and adds another one.
func FuzzRead(f *testing.F) {
	seeds := []string{recorded("local", "Enqueue_0_sums"), recorded("image", "Enqueue_0_shrink"), recorded("spirv", "Enqueue_0_polynomial")}
	var names [][]string
	for i, seed := range seeds {
		var of []string
		err := filepath.WalkDir(seed, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				name, _ := filepath.Rel(seed, path)
				content, failed := os.ReadFile(path)
				if of, err = append(of, name), failed; len(content) < 1<<10 {
					f.Add(uint8(i), uint8(len(of)-1), content, "Argument7.bin")
				}
			}
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
		names = append(names, of)
	}
	f.Add(uint8(0), uint8(3), []byte("4096 4096 1\n0 0 0\n0 0 0"), "Pre/Enqueue_0000_Kernel_sums_Arg_0_Buffer_0009.bin")
	f.Fuzz(func(t *testing.T, seed, file uint8, content []byte, added string) {
		of := int(seed) % len(seeds)
		folder := copied(t, seeds[of])
		if name := filepath.FromSlash(added); filepath.IsLocal(name) {
			_ = os.WriteFile(filepath.Join(folder, name), content, 0o666) // some names are those of no file
		}
		if err := write(names[of][int(file)%len(names[of])], string(content))(folder); err != nil {
			t.Fatal(err)
		}
		l, err := Read(folder)
		if err != nil {
			if !strings.Contains(err.Error(), folder) {
				t.Errorf("the error names no file of the capture: %v", err)
			}
			return
		}
		d := len(l.Global)
		if d < 1 || d > 3 || l.Local != nil && len(l.Local) != d || len(l.Offset) != d || len(l.Arguments) > maxArguments || (l.Source == "") != (l.SPIRV != nil) {
			t.Fatalf("read %+v", l)
		}
		for i, a := range l.Arguments {
			kinds := 0
			for _, is := range []bool{a.Value != nil, a.Local > 0, a.Memory != nil} {
				if is {
					kinds++
				}
			}
			if kinds != 1 {
				t.Fatalf("argument %d is %+v", i, a)
			}
			if a.Memory == nil {
				continue
			}
			before, after, err := l.Content(i)
			if err != nil || len(before) == 0 || len(before) != len(after) {
				t.Fatalf("argument %d: %d and %d bytes, %v", i, len(before), len(after), err)
			}
		}
	})
}
