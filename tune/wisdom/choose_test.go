package wisdom

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// The devices of the lookup's tests.
var (
	h100   = hardware.Device{Name: "NVIDIA H100", Vendor: "NVIDIA Corporation", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "570.1", Architecture: "sm_90"}
	a100   = hardware.Device{Name: "NVIDIA A100", Vendor: "NVIDIA Corporation", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "570.1", Architecture: "sm_80"}
	mi250  = hardware.Device{Name: "MI250 (gfx90a)", Vendor: "AMD", Type: "gpu", Platform: "AMD APP", Driver: "3590", Architecture: "gfx90a"}
	epyc   = hardware.Device{Name: "EPYC", Vendor: "AMD", Type: "cpu", Platform: "PoCL", Driver: "6.0"}
	xeon   = hardware.Device{Name: "Xeon", Vendor: "Intel", Type: "cpu", Platform: "PoCL", Driver: "6.0"}
	newer  = with(h200, func(d *hardware.Device) { d.Driver = "580.2" })
	onPoCL = with(h200, func(d *hardware.Device) { d.Platform, d.Driver = "PoCL", "6.0" })
)

func with(d hardware.Device, change func(*hardware.Device)) hardware.Device {
	change(&d)
	return d
}

// at is a record of the configuration x. Its time is 1 ms.
func at(x int, d hardware.Device, size ...int) Record {
	return Record{Device: d, ProblemSize: size, Configuration: map[string]space.Value{"x": x}, Time: 1, Objective: 1, Verified: true, SourceDigest: "d1"}
}

func (r Record) took(ms float64) Record  { r.Time, r.Objective = ms, ms; return r }
func (r Record) of(source string) Record { r.SourceDigest = source; return r }
func (r Record) unverified() Record      { r.Verified = false; return r }
func (r Record) on(day int) Record       { r.Date = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC); return r }
func (r Record) with(k any) Record {
	r.Constants = map[string]space.Value{"k": k, "label": "x", "seed": 0}
	return r
}
func fileOf(records ...Record) *File {
	return &File{Key: "k", Parameters: []string{"x"}, Objective: score.Objective{Name: "time"}, Records: records}
}

func TestChoose(t *testing.T) {
	same := Query{Device: h200, ProblemSize: []int{2048, 2048}, SourceDigest: "d1"}
	on := func(d hardware.Device) Query { q := same; q.Device = d; return q }
	deep := same
	deep.Constants = map[string]int{"k": 4096, "seed": 0}
	for _, test := range []struct {
		name    string
		query   Query
		records []Record
		want    int    // value of x
		text    string // of the choice
	}{
		{"the same device and size", same, []Record{at(1, h200, 1024, 2048), at(2, h200, 2048, 2048), at(3, h100, 2048, 2048).took(0.1)}, 2, "the same device and size 2048×2048"},
		{"the best of them", same, []Record{at(1, h200, 2048, 2048).took(2), at(2, h200, 2048, 2048).took(1), at(3, h200, 2048, 2048).took(3)}, 2, "the same device and size 2048×2048"},
		{"another card of the model", same, []Record{at(1, with(h200, func(d *hardware.Device) { d.UUID, d.PCI = "other", "" }), 2048, 2048), at(2, h100, 2048, 2048)}, 1, "the same device and size 2048×2048"},
		{"missing dimensions are 1", Query{Device: h200, ProblemSize: []int{64}}, []Record{at(1, h200, 64, 2), at(2, h200, 64, 1, 1)}, 2, "the same device and size 64×1×1"},
		{"spaces in names", on(with(h200, func(d *hardware.Device) { d.Name, d.Vendor = " NVIDIA H200 ", "NVIDIA Corporation " })), []Record{at(1, h200, 2048, 2048)}, 1, "the same device and size 2048×2048"},

		{"the nearest size", same, []Record{at(1, h200, 512, 512), at(2, h200, 4096, 2048), at(3, h200, 4096, 4096)}, 2, "the same device, nearest size 4096×2048"},
		{"not the nearest volume", same, []Record{at(1, h200, 16384, 256), at(2, h200, 1024, 1024)}, 2, "the same device, nearest size 1024×1024"},
		{"by ratio, not by difference", same, []Record{at(1, h200, 64, 64), at(2, h200, 8192, 8192)}, 2, "the same device, nearest size 8192×8192"},
		{"the smaller of two", same, []Record{at(1, h200, 4096, 4096), at(2, h200, 1024, 1024)}, 2, "the same device, nearest size 1024×1024"},
		{"the second dimension", same, []Record{at(1, h200, 1024, 1024), at(2, h200, 4096, 2048), at(3, h200, 2048, 1024)}, 3, "the same device, nearest size 2048×1024"},
		{"however far", same, []Record{at(1, h200, 1), at(2, h100, 2048, 2048)}, 1, "the same device, nearest size 1"},
		{"a device without vendor and type", same, []Record{at(1, hardware.Device{Name: "NVIDIA H200"}, 1024, 1024), at(2, h100, 2048, 2048)}, 1, "the same device, nearest size 1024×1024; the driver is not recorded"},
		{"another spelling of the vendor", on(with(mi250, func(d *hardware.Device) { d.Vendor = "Advanced Micro Devices, Inc." })), []Record{at(1, mi250, 2048, 2048), at(2, h200, 2048, 2048)}, 1, "the same device and size 2048×2048"},
		{"another spelling of the same vendor and type", on(with(mi250, func(d *hardware.Device) {
			d.Name, d.Vendor, d.Architecture = "MI300", "Advanced Micro Devices, Inc.", "gfx942"
		})), []Record{at(1, h200, 2048, 2048), at(2, mi250, 64)}, 2, "a device of the same vendor and type, nearest size 64: MI250 (gfx90a)"},
		{"the name of another vendor", same, []Record{at(1, with(h200, func(d *hardware.Device) { d.Vendor, d.Architecture = "Other", "" }), 2048, 2048), at(2, h100, 64)}, 2, "a device of the same architecture, nearest size 64: NVIDIA H100, sm_90"},

		{"the same architecture", same, []Record{at(1, a100, 2048, 2048), at(2, h100, 1024, 1024), at(3, epyc, 2048, 2048)}, 2, "a device of the same architecture, nearest size 1024×1024: NVIDIA H100, sm_90"},
		{"two devices: the newer record, not the better time", same, []Record{at(1, h100, 2048, 2048).took(1).on(1), at(2, with(h100, func(d *hardware.Device) { d.Name = "NVIDIA GH200" }), 2048, 2048).took(2).on(2)}, 2, "a device of the same architecture, nearest size 2048×2048: NVIDIA GH200, sm_90"},
		{"but the better one of each", same, []Record{at(1, h100, 2048, 2048).took(2).on(3), at(2, h100, 2048, 2048).took(1).on(2)}, 2, "a device of the same architecture, nearest size 2048×2048: NVIDIA H100, sm_90"},
		{"an unknown architecture is the same as no other", on(epyc), []Record{at(1, xeon, 2048, 2048), at(2, with(epyc, func(d *hardware.Device) { d.Name = "Ryzen" }), 64)}, 2, "a device of the same vendor and type, nearest size 64: Ryzen"},

		{"the same vendor and type", same, []Record{at(1, mi250, 2048, 2048), at(2, a100, 64, 64), at(3, epyc, 2048, 2048)}, 2, "a device of the same vendor and type, nearest size 64×64: NVIDIA A100"},
		{"the vendor alone is not enough", on(epyc), []Record{at(1, mi250, 2048, 2048), at(2, mi250, 1024), at(1, a100, 64)}, 1, "the best over all devices and sizes, on average 1.00 times the best time of the 2 of 3 for which it is recorded"},
		{"the default", on(epyc), []Record{at(1, mi250, 64).took(1), at(2, mi250, 64).took(1.5), at(1, a100, 64).took(4), at(2, a100, 64).took(1)}, 2, "the best over all devices and sizes, on average 1.22 times the best time of the 2 of 2 for which it is recorded"},
		{"nothing known of the device", on(hardware.Device{}), []Record{at(1, hardware.Device{Name: "D"}, 64)}, 1, "the best over all devices and sizes, on average 1.00 times the best time of the 1 of 1 for which it is recorded"},

		{"the driver at the same size", same, []Record{at(1, newer, 2048, 2048).took(0.5), at(2, h200, 2048, 2048)}, 2, "the same device and size 2048×2048"},
		{"another driver alone", on(newer), []Record{at(1, h200, 2048, 2048), at(2, newer, 4096, 4096)}, 1, "the same device and size 2048×2048; the driver was 570.1, and is 580.2"},
		{"the driver of another platform", on(onPoCL), []Record{at(1, h200, 2048, 2048)}, 1, "the same device and size 2048×2048; the platform was NVIDIA CUDA, and is PoCL"},
		{"the nearer size comes before the driver", same, []Record{at(1, newer, 1024, 1024), at(2, h200, 64, 64)}, 1, "the same device, nearest size 1024×1024; the driver was 580.2, and is 570.1"},
		{"the driver of two at one distance", same, []Record{at(1, newer, 1024, 1024).took(0.1), at(2, h200, 1024, 1024)}, 2, "the same device, nearest size 1024×1024"},

		{"the source at the same size", same, []Record{at(1, h200, 2048, 2048).of("d0").took(0.1), at(2, h200, 2048, 2048)}, 2, "the same device and size 2048×2048"},
		{"another source alone", same, []Record{at(1, h200, 2048, 2048).of("d0")}, 1, "the same device and size 2048×2048; the source has changed since the measurement"},
		{"an unknown source", same, []Record{at(1, h200, 2048, 2048).of("")}, 1, "the same device and size 2048×2048; the source is not recorded, and may have changed"},
		{"the source comes before the nearer size", same, []Record{at(1, h200, 1024, 1024).of("d0"), at(2, h200, 64, 64)}, 2, "the same device, nearest size 64×64"},
		{"the source comes before the driver", same, []Record{at(1, h200, 2048, 2048).of("d0"), at(2, newer, 2048, 2048)}, 2, "the same device and size 2048×2048; the driver was 580.2, and is 570.1"},
		{"any source", Query{Device: h200, ProblemSize: []int{2048, 2048}}, []Record{at(1, h200, 2048, 2048).of("d0").took(0.1), at(2, h200, 2048, 2048)}, 1, "the same device and size 2048×2048"},
		{"the default of the same source", on(epyc), []Record{at(1, mi250, 64).took(2), at(2, mi250, 64).of("d0"), at(2, a100, 64).of("d0")}, 1, "the best over all devices and sizes, on average 1.00 times the best time of the 1 of 1 for which it is recorded"},

		{"the constants at the same size", deep, []Record{at(1, h200, 2048, 2048).with(64).took(0.1), at(2, h200, 2048, 2048).with(4096)}, 2, "the same device and size 2048×2048"},
		{"the nearest constants", deep, []Record{at(1, h200, 2048, 2048).with(64).took(0.1), at(2, h200, 2048, 2048).with(1024), at(3, h200, 2048, 2048).with(32768)}, 2, "the same device, nearest size 2048×2048; k was 1024, and is 4096"},
		{"the smaller constants of two", deep, []Record{at(1, h200, 2048, 2048).with(8192).took(0.1), at(2, h200, 2048, 2048).with(2048)}, 2, "the same device, nearest size 2048×2048; k was 2048, and is 4096"},
		{"the nearer size comes before the constants", deep, []Record{at(1, h200, 1024, 1024).with(64), at(2, h200, 512, 512).with(4096)}, 1, "the same device, nearest size 1024×1024; k was 64, and is 4096"},
		{"the constants come before the driver", deep, []Record{at(1, newer, 2048, 2048).with(4096), at(2, h200, 2048, 2048).with(2048)}, 1, "the same device and size 2048×2048; the driver was 580.2, and is 570.1"},
		{"unknown constants are of the same size", deep, []Record{at(1, h200, 2048, 2048), at(2, h200, 2048, 2048).with(2048)}, 1, "the same device and size 2048×2048; k is not recorded"},
		{"but weaker than equal ones", deep, []Record{at(1, h200, 2048, 2048).took(0.1), at(2, h200, 2048, 2048).with(4096)}, 2, "the same device and size 2048×2048"},
		{"and than others", deep, []Record{at(1, h200, 1024, 1024).took(0.1), at(2, h200, 1024, 1024).with(1)}, 2, "the same device, nearest size 1024×1024; k was 1, and is 4096"},
		{"a number with a fraction is unknown", deep, []Record{at(1, h200, 2048, 2048).with(4096.5)}, 1, "the same device and size 2048×2048; k is not recorded"},
		{"constants that are not asked for: the newer record, not the better time", same, []Record{at(1, h200, 2048, 2048).with(64).took(0.1).on(1), at(2, h200, 2048, 2048).with(4096).on(2)}, 2, "the same device and size 2048×2048"},
		{"the default with constants", Query{Device: epyc, ProblemSize: []int{64}, Constants: deep.Constants}, []Record{at(1, mi250, 64).with(64)}, 1, "the best over all devices and sizes, on average 1.00 times the best time of the 1 of 1 for which it is recorded"},

		{"a verified record", same, []Record{at(1, h200, 2048, 2048).unverified().took(0.1), at(2, h200, 2048, 2048)}, 2, "the same device and size 2048×2048"},
		{"all at once", on(newer), []Record{at(1, h200, 64).of("d0").unverified()}, 1, "the same device, nearest size 64; the source has changed since the measurement; the driver was 570.1, and is 580.2; the output was not verified"},
	} {
		c, err := fileOf(test.records...).Choose(test.query)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if c.Record.Configuration["x"] != test.want || c.String() != test.text {
			t.Errorf("%s: x=%v, %s; want x=%d, %s", test.name, c.Record.Configuration["x"], c, test.want, test.text)
		}
		// The order of the file does not matter.
		slices.Reverse(test.records)
		if again, _ := fileOf(test.records...).Choose(test.query); again.String() != test.text || again.Record.Configuration["x"] != test.want {
			t.Errorf("%s: in reverse order x=%v, %s", test.name, again.Record.Configuration["x"], again)
		}
	}
}

func TestChooseMaximises(t *testing.T) {
	f := fileOf(at(1, h200, 64).took(10), at(2, h200, 64).took(20), at(2, a100, 64).took(5), at(1, a100, 64).took(8))
	f.Objective = score.Objective{Name: "GB/s", Maximize: true}
	if c, err := f.Choose(Query{Device: h200, ProblemSize: []int{64}}); err != nil || c.Record.Configuration["x"] != 2 {
		t.Errorf("%v, %v", c, err)
	}
	o, err := f.Overall("")
	if err != nil || o.Configuration["x"] != 2 || math.Abs(o.Slowdown-math.Sqrt(8./5)) > 1e-12 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestChooseRefuses(t *testing.T) {
	f := fileOf(at(1, h200, 64))
	for _, size := range [][]int{nil, {0}, {-1}, {1, 1, 1, 1}} {
		if _, err := f.Choose(Query{Device: h200, ProblemSize: size}); err == nil || !strings.Contains(err.Error(), "not one to three positive numbers") {
			t.Errorf("%v: %v", size, err)
		}
	}
	if _, err := fileOf().Choose(Query{Device: h200, ProblemSize: []int{64}}); err == nil || err.Error() != "the wisdom about k has no records" {
		t.Error(err)
	}
	if _, err := fileOf().Overall(""); err == nil {
		t.Error("the best over nothing")
	}
}

// TestOverallNeedsEvidence: a configuration that won once, and is recorded nowhere else, is not the best over all.
func TestOverallNeedsEvidence(t *testing.T) {
	var records []Record
	for size := range 6 {
		records = append(records, at(100+size, h200, 64<<size).took(1), at(1, h200, 64<<size).took(1.1))
	}
	for size := range 4 {
		records = append(records, at(2, h200, 64<<size).took(1.05))
	}
	o, err := fileOf(records...).Overall("")
	if err != nil || o.Configuration["x"] != 2 || o.Recorded != 4 || o.Of != 6 || math.Abs(o.Slowdown-1.05) > 1e-12 {
		t.Errorf("more than half of the sizes: %+v, %v", o, err)
	}
	o, err = fileOf(records[:len(records)-1]...).Overall("")
	if err != nil || o.Configuration["x"] != 1 || o.Recorded != 6 {
		t.Errorf("half of them: %+v, %v", o, err)
	}
}

// TestNearerIsAnOrder compares random sizes.
func TestNearerIsAnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	size := func() []int {
		s := make([]int, 1+random.IntN(3))
		for i := range s {
			s[i] = 1 << random.IntN(12)
			if random.IntN(2) == 0 {
				s[i] = 1 + random.IntN(1<<40)
			}
		}
		return s
	}
	for range 20000 {
		q, a, b, c := size(), size(), size(), size()
		if Nearer(q, a, a) != 0 || Nearer(q, a, b) != -Nearer(q, b, a) || Nearer(q, q, a) > 0 {
			t.Fatal(q, a, b)
		}
		if Nearer(q, a, b) <= 0 && Nearer(q, b, c) <= 0 && Nearer(q, a, c) > 0 {
			t.Fatal(q, a, b, c)
		}
	}
}

func TestChoiceAsJSON(t *testing.T) {
	for level := SameSize; level <= BestOverall; level++ {
		if text, err := json.Marshal(level); err != nil || len(text) < 5 || strings.Contains(fmt.Sprint(level), "Level") {
			t.Errorf("%d: %s, %v, %v", int(level), text, err, level)
		}
	}
}

// FuzzDecode reads anything. A file that is read can be written and read again, and every choice is one of
// its records.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(kernelLauncher))
	f.Add([]byte(header + `{"config":[32,4.0],"problem_size":[64],"environment":{"device_name":"D"},"time":0.5,"objective":3}` + "\n\ngarbage\r\n{}"))
	f.Add([]byte(strings.Replace(header, `"k"}`, `"k","ndtune":{"objective":"GB/s","direction":"maximize"}}`, 1)))
	f.Add([]byte(encoded(f, mustLog(f, run(f, []int{64, 64}, 3, 1, 2), Source{}))))
	f.Add([]byte("\xef\xbb\xbf" + header))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Decode(data)
		if err != nil {
			return
		}
		text := encoded(t, w)
		back := mustDecode(t, text)
		if fmt.Sprint(back.Records) != fmt.Sprint(w.Records) || len(back.Skipped) != len(w.Skipped) {
			t.Fatalf("%q: written and read again, it is %+v", data, back)
		}
		merged := &File{Key: w.Key, Parameters: w.Parameters, Objective: w.Objective}
		if err := merged.Merge(w); err != nil {
			t.Fatal(err)
		}
		again := mustDecode(t, encoded(t, merged))
		if len(again.Skipped) > 0 || len(again.Records) != len(merged.Records) {
			t.Fatalf("%q: merged, it is %q", data, encoded(t, merged))
		}
		for _, d := range []hardware.Device{h200, epyc, {Name: "D"}} {
			c, err := w.Choose(Query{Device: d, ProblemSize: []int{64, 64}, SourceDigest: "d1"})
			if (err != nil) != (len(w.Records) == 0) {
				t.Fatalf("%q: %v", data, err)
			}
			if err == nil && !slices.ContainsFunc(w.Records, func(r Record) bool { return fmt.Sprint(r) == fmt.Sprint(c.Record) }) {
				t.Fatalf("%q: it chose %+v", data, c)
			}
		}
	})
}

// TestLanguagesDoNotMix: of one card on two platforms, each has its own records. Those of kernel_launcher have no platform.
func TestLanguagesDoNotMix(t *testing.T) {
	cuda := with(h200, func(d *hardware.Device) { d.Platform, d.Driver = hardware.CUDA, "580.159.04, NVRTC 13.0" })
	unknown := with(h200, func(d *hardware.Device) { d.Platform = "" })
	both := fileOf(at(1, h200, 64, 64), at(2, cuda, 4096, 4096), at(3, h100, 64, 64))
	for _, c := range []struct {
		file *File
		on   hardware.Device
		want int // 0: none
	}{
		{both, h200, 1}, {both, cuda, 2}, {fileOf(at(1, h200, 64, 64)), cuda, 0}, {fileOf(at(2, cuda, 64, 64)), h200, 0},
		{fileOf(at(4, unknown, 64, 64)), cuda, 4}, {fileOf(at(4, unknown, 64, 64)), h200, 4}, {fileOf(at(2, cuda, 64, 64)), unknown, 2},
	} {
		choice, err := c.file.Choose(Query{Device: c.on, ProblemSize: []int{64, 64}})
		if c.want == 0 && (err == nil || !strings.Contains(err.Error(), "no records of the language")) || c.want != 0 && choice.Record.Configuration["x"] != c.want {
			t.Errorf("on %s: %v, %v; want %d", c.on.Platform, choice.Record.Configuration, err, c.want)
		}
	}
}
