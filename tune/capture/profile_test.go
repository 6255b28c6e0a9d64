package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// profileOf is the profile of two processes, each of which has written the report in shapes.
func profileOf(t *testing.T) *Profile {
	t.Helper()
	p := &Profile{Program: []string{"./shapes"}}
	if err := p.readReports([]string{"testdata/shapes", "testdata", "testdata/shapes"}); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReport(t *testing.T) {
	p := profileOf(t)
	if len(p.Launches) != 3 || p.Transfers != 2*611 || p.Kernels() != 2*(5198+2*3004+5508) {
		t.Fatalf("read %+v", p)
	}
	first := p.Launches[0]
	want := Launches{Kernel: "scale", Hash: "1C116D69", OptionsHash: "CCA23CF4", Global: []int{256}, Local: []int{64}}
	if !first.Is(want) || first.Calls != 4 || first.Total != 2*64005 || first.Min != 3004 || first.Mean() != 3004 ||
		first.Device != "pthread-skylake-avx512-AMD EPYC" {
		t.Errorf("the costliest is %+v", first)
	}
	if p.Launches[2].Kernel != "other" || p.Launches[2].Local != nil {
		t.Errorf("the cheapest is %+v", p.Launches[2])
	}
}

func TestReportOfOddShapes(t *testing.T) {
	p := &Profile{}
	err := p.addReport(strings.NewReader(`Host Performance Timing Results:
  f$00000000_0000_00000000 GWO[ NULL ] GWS[ 1 ] LWS[ NULL ],      1,         13400,   42.25%,         13400,         13400,         13400
Device Performance Timing Results for A (B) (2CUs, 2596MHz):
  f$A3905236_0001_00000000 GWO[ 1, 0 ] GWS[ 16 x 32 ] LWS[ 4 x 4 ],      1,         14702,   46.35%,         14702,         14702,         14702
  f$A3905236_0000_00000000 GWO[ 0, 0 ] GWS[ 16 x 32 ] LWS[ 4 x 4 ],      1,             0,   -nan%,             0,             0,             0
  f$A3905236_0000_00000000 GWO[ NULL ] GWS[ 16 x 32 ] LWS[ 4 x 4 ],      2,             8,   inf%,             4,             3,             5
Device Performance Timing Results for C:
  f$A3905236_0000_00000000 GWO[ NULL ] GWS[ 16 x 32 ] LWS[ 4 x 4 ],      1,             9,   inf%,             9,             9,             9
`))
	if err != nil || len(p.Launches) != 3 || !slices.Equal(p.Launches[0].Offset, []int{1, 0}) || p.Launches[0].Device != "A (B)" ||
		p.Launches[0].Cost != 14702 || p.Launches[1].Calls != 3 || p.Launches[1].Total != 8 || p.Launches[2].Device != "C" {
		t.Errorf("read %+v (%v)", p.Launches, err)
	}
}

func TestChoose(t *testing.T) {
	p := profileOf(t)
	for _, c := range []struct {
		part  float64
		names []string
		want  string
	}{
		{0.6, nil, "scale[256]"}, {0.9, nil, "scale[256] other[256]"}, {0.9, []string{"other"}, "other[256]"}, {0.9, []string{"none"}, ""},
	} {
		n := p.Choose(c.part, c.names...)
		var got []string
		for _, l := range p.missing() {
			got = append(got, l.Kernel+fmt.Sprint(l.Global))
		}
		if strings.Join(got, " ") != c.want || n != len(got) {
			t.Errorf("%v %v chooses %d: %v, want %s", c.part, c.names, n, got, c.want)
		}
	}
}

func TestProfileIsKept(t *testing.T) {
	folder := t.TempDir()
	p := profileOf(t)
	p.find(Launches{Kernel: "scale", Hash: "1C116D69", OptionsHash: "CCA23CF4", Global: []int{64}, Local: []int{64}}).Folder = "scale"
	p.find(Launches{Kernel: "unseen"}).Folder = "unseen"
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, ProfileFile))
	if err != nil || info.Mode()&0o077 != 0 {
		t.Errorf("others may read it: %v (%v)", info.Mode(), err)
	}
	again, err := ReadProfile(folder)
	if err != nil || len(again.Launches) != 4 || again.Launches[1].Folder != "scale" || again.Launches[3].Folder != "unseen" {
		t.Errorf("read %+v (%v)", again, err)
	}
	again.Launches[0].Folder = "../elsewhere"
	if err := again.Write(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadProfile(folder); err == nil {
		t.Error("a folder elsewhere is accepted")
	}
}
