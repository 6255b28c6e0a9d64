package cl

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingFunction(t *testing.T) {
	f := &function{name: "clNobodyHasThis"}
	_, createErr := f.create(0)
	for name, err := range map[string]error{"run": f.run(0), "create": createErr} {
		if !errors.Is(err, ErrMissingFunction) || !strings.Contains(err.Error(), "clNobodyHasThis") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := api.clGetEventInfo.made(0, Success); err == nil {
		t.Error("no object and no error")
	}
}

func TestFunctionNewerThanThePlatform(t *testing.T) {
	if err := api.clEnqueueFillBuffer.on(11); !errors.Is(err, ErrMissingFunction) || !strings.Contains(err.Error(), "needs OpenCL 1.2, the platform has 1.1") {
		t.Errorf("%v", err)
	}
	for _, version := range []int{0, 12, 30} {
		if err := api.clEnqueueFillBuffer.on(version); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// Before OpenCL 2.1, SPIR-V is an extension, whose function the platform looks up.
func TestSPIRVAsAnExtension(t *testing.T) {
	d, c := queueContext(t)
	if f := d.platform.extension("clNobodyHasThis"); f.addr != 0 {
		t.Errorf("%s has the function %s", d.platform, f.name)
	}
	module, err := os.ReadFile(filepath.Join("..", "tune", "device", "testdata", "affine.spv"))
	if err != nil {
		t.Fatal(err)
	}
	c.version = 20
	info, err := d.Info()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.NewProgramFromIL(module)
	switch takes := strings.Contains(info.ILVersion, "SPIR-V"); {
	case takes && d.platform.extension("clCreateProgramWithILKHR").addr != 0:
		if err == nil {
			err = p.Build("")
		}
		if err != nil {
			t.Error(err)
		}
	case err == nil:
		t.Error("a device without SPIR-V takes a module")
	}
	p.Release()
}

// The end of a box is one more than the largest place that any of its bytes has.
func TestRectEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		region := [3]int{1 + random.IntN(5), 1 + random.IntN(4), 1 + random.IntN(3)}
		r := Rect{Origin: [3]int{random.IntN(4), random.IntN(4), random.IntN(4)}}
		row := region[0]
		if random.IntN(2) == 0 {
			r.RowPitch = region[0] + random.IntN(4)
			row = r.RowPitch
		}
		slice := row * region[1]
		if random.IntN(2) == 0 {
			r.SlicePitch = slice + random.IntN(9)
			slice = r.SlicePitch
		}
		last := 0
		for z := range region[2] {
			for y := range region[1] {
				for x := range region[0] {
					last = max(last, (r.Origin[2]+z)*slice+(r.Origin[1]+y)*row+r.Origin[0]+x)
				}
			}
		}
		if end, ok := r.end(region); !ok || end != uint64(last+1) {
			t.Fatalf("%+v, %v: %d, want %d", r, region, end, last+1)
		}
	}
}
