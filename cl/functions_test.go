package cl

import (
	"errors"
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
	if err := openCL.clGetEventInfo.made(0, Success); err == nil {
		t.Error("no object and no error")
	}
}

func TestFunctionNewerThanThePlatform(t *testing.T) {
	err := openCL.clCreateImage.on(11)
	if !errors.Is(err, ErrMissingFunction) || !strings.Contains(err.Error(), "needs OpenCL 1.2, the platform has 1.1") {
		t.Errorf("%v", err)
	}
	for _, version := range []int{0, 12, 30} {
		if err := openCL.clCreateImage.on(version); err != nil {
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
