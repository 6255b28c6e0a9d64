package cl_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

const childVariable = "NDTUNE_TEST_CHILD"

// child lists the devices and says which error came of it.
func child() {
	for _, kind := range []cl.DeviceType{cl.DeviceAll, cl.DeviceAccelerator} {
		_, err := cl.Devices(kind)
		for name, target := range map[string]error{
			"ErrNoLoader": cl.ErrNoLoader, "ErrNoPlatform": cl.ErrNoPlatform, "ErrNoDevice": cl.ErrNoDevice,
		} {
			if errors.Is(err, target) {
				fmt.Println(kind, name)
			}
		}
		fmt.Println(kind, err)
	}
}

func runChild(t *testing.T, env ...string) string {
	t.Helper()
	c := exec.Command(must(os.Executable())(t))
	c.Env = append(append(os.Environ(), childVariable+"=1"), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func expect(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("%q is missing in:\n%s", w, out)
		}
	}
}

func TestMissingLibrary(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.so")
	out := runChild(t, cl.LibraryVariable+"="+missing)
	expect(t, out, "all ErrNoLoader", missing, cl.LibraryVariable)
}

func TestLibraryThatIsNone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names a library of Linux")
	}
	out := runChild(t, cl.LibraryVariable+"=libc.so.6")
	expect(t, out, "all ErrNoLoader", "clGetPlatformIDs", "libc.so.6")
}

func TestNoPlatform(t *testing.T) {
	newRig(t)
	if runtime.GOOS != "linux" || os.Getenv(cl.LibraryVariable) != "" {
		t.Skip("needs an ICD loader that heeds OCL_ICD_VENDORS")
	}
	out := runChild(t, "OCL_ICD_VENDORS="+t.TempDir())
	if strings.HasPrefix(out, "all <nil>") {
		t.Skip("the ICD loader does not heed OCL_ICD_VENDORS")
	}
	expect(t, out, "all ErrNoPlatform", "Debian, Ubuntu:", "Fedora:", "Windows:")
}

func TestNoDevice(t *testing.T) {
	testDevice(t)
	if devices, err := cl.Devices(cl.DeviceAccelerator); err == nil {
		t.Skipf("there is an accelerator: %s", devices[0])
	}
	out := runChild(t)
	expect(t, out, "accelerator ErrNoDevice", "apt install")
}
