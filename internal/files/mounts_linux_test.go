package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMounts needs places that not even root may write to. It runs itself again where it may mount some: in
// namespaces of its own.
func TestMounts(t *testing.T) {
	const inside = "NDTUNE_TEST_MOUNTS"
	if os.Getenv(inside) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestMounts$", "-test.v")
		again.Env = append(os.Environ(), inside+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		output, err := again.CombinedOutput()
		if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
			t.Skipf("no namespaces of mounts: %v", err)
		}
		if err != nil {
			t.Fatalf("%s", output)
		}
		return
	}
	mount := func(source, target, kind string, flags uintptr, options string) {
		t.Helper()
		if err := unix.Mount(source, target, kind, flags, options); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	}
	readOnly := func(path string) {
		t.Helper()
		mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"disk", "locked"} {
		if err := os.Mkdir(at(name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	mount("none", at("disk"), "tmpfs", 0, "size=8k")
	for _, name := range []string{"mounted", "fixed", "full", "locked/mounted", "disk/full"} {
		put(t, at(name), "before", 0o666)
	}
	mount(at("mounted"), at("mounted"), "", unix.MS_BIND, "")
	mount(at("disk/full"), at("full"), "", unix.MS_BIND, "")
	mount(at("fixed"), at("fixed"), "", unix.MS_BIND, "")
	readOnly(at("fixed"))
	mount(at("locked"), at("locked"), "", unix.MS_BIND, "")
	mount(at("mounted"), at("locked/mounted"), "", unix.MS_BIND, "")
	readOnly(at("locked"))

	for _, path := range []string{"mounted", "locked/mounted"} {
		err := Check(at(path))
		if err == nil {
			err = Write(at(path), text(path))
		}
		if got, _ := os.ReadFile(at(path)); err != nil || string(got) != path {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"fixed", "locked/new"} {
		if err := Check(at(path)); !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// What is written in place and does not fit is kept beside it.
	err := Write(at("full"), text(strings.Repeat("x", 9000)))
	if kept, _ := filepath.Glob(at(".full.*")); len(kept) != 1 || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "what it should hold is in "+kept[0]) {
		t.Errorf("kept %v: %v", kept, err)
	}
	if names, _ := filepath.Glob(at("*/.*")); names != nil {
		t.Error("left behind:", names)
	}
}
