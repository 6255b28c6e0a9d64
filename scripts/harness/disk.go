//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Disk is a small one, in a mount namespace of its own, that lives as long as a program that holds it.
type Disk struct {
	holder *Program
	path   string
}

// NewDisk mounts a disk of some MiB at a path. The output of its program goes to a folder.
func NewDisk(folder, path string, size int) (*Disk, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	const mount = `mount -t tmpfs -o size="$2"m none "$1" && echo ready && exec sleep 36000`
	holder, err := Launch(folder, "disk", nil, "unshare", "-rm", "sh", "-c", mount, "sh", path, fmt.Sprint(size))
	if err != nil {
		return nil, err
	}
	for !strings.Contains(holder.Output(), "ready") {
		if holder.Over() {
			return nil, errors.New("the small disk cannot be mounted: " + holder.Output())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &Disk{holder, path}, nil
}

// Close removes the disk, when nothing uses it any more.
func (d *Disk) Close() { d.holder.Kill() }

// Enter is the beginning of a command that sees the disk.
func (d *Disk) Enter() []string {
	return []string{"nsenter", "--preserve-credentials", "-U", "-m", "-t", fmt.Sprint(d.holder.Process.Pid)}
}

// Inside returns the path of a file on the disk, for processes that do not see it.
func (d *Disk) Inside(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root", d.holder.Process.Pid), d.path, name)
}

// filler is the name of the file that fills a disk.
const filler = "filler"

// Fill writes a file until there is no room for a byte.
func (d *Disk) Fill() error {
	f, err := os.Create(d.Inside(filler))
	if err != nil {
		return err
	}
	for size := 1 << 20; size > 0; { // ever smaller pieces
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return f.Close()
}

// MakeRoom undoes Fill.
func (d *Disk) MakeRoom() error {
	if err := os.Remove(d.Inside(filler)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
