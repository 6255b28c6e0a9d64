package cl

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
)

// The stand-in reports what a process has not released, and the use of what it has.
func TestStandInReports(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("the drivers of the system report nothing")
	}
	if os.Getenv("NDTUNE_TEST_LEAVES") != "" {
		_, c := queueContext(t)
		b, err := c.NewBuffer(ReadWrite, 16)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.NewBuffer(ReadWrite, 16); err != nil { // never released
			t.Fatal(err)
		}
		b.Release()
		if err := openCL.clReleaseMemObject.run(b.id); !errors.Is(err, InvalidMemObject) {
			t.Errorf("released twice: %v", err)
		}
		return
	}
	folder := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run", "^TestStandInReports$")
	child.Env = append(os.Environ(), "NDTUNE_TEST_LEAVES=1", standin.ReportVariable+"="+folder)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, err := standin.Report(folder)
	if err != nil {
		t.Fatal(err)
	}
	left := all[strconv.Itoa(child.Process.Pid)]
	if len(left.Objects) != 1 || left.Objects["memory"] != 1 || left.Misuses != 1 {
		t.Errorf("%+v, want one memory object and one misuse", all)
	}
}

// It refuses callbacks, which could not be called in Go.
func TestStandInRefusesCallbacks(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("the drivers of the system take callbacks")
	}
	d, c := queueContext(t)
	if _, err := openCL.clCreateContext.create(0, 1, uintptr(0), 1, 0); !errors.Is(err, InvalidValue) {
		t.Errorf("a context with a callback: %v", err)
	}
	p, err := c.NewProgram("kernel void saxpy(global float *y, global float *x, float a) {}")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if err := openCL.clBuildProgram.run(p.id, 0, 0, 0, 1, 0); !errors.Is(err, InvalidValue) {
		t.Errorf("a build for %s with a callback: %v", d, err)
	}
}
