package files

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

var maps = struct {
	sync.Mutex
	of map[string][][]byte // by path
}{of: map[string][][]byte{}}

// Map returns the content of a large file below /dev/shm, where processes hand each other data, without a copy, until [Unmap]. Whoever
// names such a file does not change it meanwhile; what this process writes to the bytes stays its own. It returns nil for all other files.
func Map(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return mapped(f, int(info.Size()), unix.MAP_PRIVATE)
}

// MapNew replaces a file like those of [Map] by a new one of a size in bytes, and returns its content, which can be written until [Unmap];
// nil if there is no room, or for all other files.
func MapNew(path string, size int) []byte {
	if !inMemory(path, size) {
		return nil
	}
	_ = os.Remove(path) // somebody may have mapped the old one
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil
	}
	defer f.Close()
	if unix.Fallocate(int(f.Fd()), 0, 0, int64(size)) != nil { // else a write without room would end the process
		return nil
	}
	return mapped(f, size, unix.MAP_SHARED|unix.MAP_POPULATE)
}

func inMemory(path string, size int) bool {
	return strings.HasPrefix(path, "/dev/shm/") && size >= 1<<20
}

func mapped(f *os.File, size, flags int) []byte {
	if !inMemory(f.Name(), size) {
		return nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil
	}
	maps.Lock()
	defer maps.Unlock()
	maps.of[f.Name()] = append(maps.of[f.Name()], data)
	return data
}

// Unmap ends the use of what was mapped from a file; "" stands for all files.
func Unmap(path string) {
	maps.Lock()
	defer maps.Unlock()
	for at, all := range maps.of {
		if at != path && path != "" {
			continue
		}
		for _, data := range all {
			_ = unix.Munmap(data)
		}
		delete(maps.of, at)
	}
}
