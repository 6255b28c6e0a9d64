package cuda

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/library"
)

// A device is a GPU.
type device struct {
	*driver
	number int32
	known  sync.Map // answers to queries, which are asked once
}

// version is the query for the version of CUDA, which is no device's own, among what is known of a device.
const version = 0

// KnownOf returns what this process knows of the device with a handle, with which another one compiles for it.
func KnownOf(handle uintptr) map[uintptr][]byte {
	d := of[device](handle)
	known := map[uintptr][]byte{version: numbers(d.cuda)}
	d.known.Range(func(query, answer any) bool {
		known[query.(uintptr)] = answer.([]byte)
		return true
	})
	return known
}

// ForCompiling returns the functions for a device of which all is known. The driver, whose start takes long on a host with several cards,
// is not loaded: what needs a context fails.
func ForCompiling(known map[uintptr][]byte) Functions {
	g := &device{driver: new(driver)}
	for query, answer := range known {
		g.known.Store(query, answer)
	}
	g.cuda = g.first(version)
	newestMajor = g.cuda / 1000
	g.devices, g.handle = []uintptr{handleOf(g)}, handleOf(g.driver)
	return g.implemented()
}

// list answers with handles: the room for them, the address for them, which can be 0, and that for their number.
func list(to []uintptr, handles []uintptr) {
	if to[1] != 0 {
		copy(unsafe.Slice(at[uintptr](to[1]), to[0]), handles)
	}
	*at[uint32](to[2]) = uint32(len(handles))
}

func (d *driver) platformIDs(_ *task, a []uintptr) { list(a, []uintptr{d.handle}) }

func (d *driver) platformInfo(_ *task, a []uintptr) []byte {
	const platformVersion = 0x0901
	if a[1] == platformVersion {
		return terminated(d.version())
	}
	return terminated("CUDA")
}

func (d *driver) deviceIDs(t *task, a []uintptr) {
	const standard, gpu = 1 << 0, 1 << 2
	if a[1]&(standard|gpu) == 0 {
		t.fail(deviceNotFound, "")
	} else {
		list(a[2:], d.devices)
	}
}

func (d *driver) version() string { return fmt.Sprintf("CUDA %d.%d", d.cuda/1000, d.cuda%1000/10) }

var managementNames = map[string]string{"windows": "nvml.dll"}

// release returns the driver's own version, such as 580.159.04: from Linux, else from NVIDIA's management library, else that of CUDA.
func (d *driver) release() string {
	said, _ := os.ReadFile("/proc/driver/nvidia/version")
	if len(said) == 0 {
		said = make([]byte, 96)
		if l, err := library.Open(cmp.Or(managementNames[runtime.GOOS], "libnvidia-ml.so.1")); err == nil && l.Call("nvmlInit_v2") == nil {
			_ = l.Call("nvmlSystemGetDriverVersion", uintptr(unsafe.Pointer(&said[0])), uintptr(len(said)))
			_ = l.Call("nvmlShutdown")
		}
	}
	return cmp.Or(regexp.MustCompile(`\d+\.\d+(\.\d+)*`).FindString(string(said)), d.version())
}

// The numbers of CUDA's attributes of devices.
const (
	maxThreads, maxThreadsX, maxThreadsY, maxThreadsZ = 1, 2, 3, 4
	sharedMemory, constantMemory, warp, registers     = 8, 9, 10, 12
	clockKHz, multiprocessors, integrated             = 13, 16, 18
	pciBus, pciDevice, pciDomain, cache               = 33, 34, 50, 38
	major, minor, sharedMemoryOptIn                   = 75, 76, 97
)

// attribute returns an attribute of the device, 0 if it has none of that number.
func (d *device) attribute(number uintptr) int {
	return int(get[int32](new(task), &d.cuDeviceGetAttribute, number, uintptr(d.number)))
}

// architecture returns the name by which compilers know the device.
func (d *device) architecture() string {
	return fmt.Sprintf("sm_%d%d", d.first(0x4000), d.first(0x4001))
}

// first returns the first number of the answer to a query.
func (d *device) first(query uintptr) int {
	return int(binary.NativeEndian.Uint64(d.answer(new(task), query)))
}

// plain are the queries whose answers are attributes of the device.
var plain = map[uintptr][]uintptr{
	0x1002: {multiprocessors}, 0x1004: {maxThreads}, 0x1005: {maxThreadsX, maxThreadsY, maxThreadsZ},
	0x101E: {cache}, 0x1020: {constantMemory}, 0x1035: {integrated},
	0x4000: {major}, 0x4001: {minor}, 0x4002: {registers}, 0x4003: {warp}, // cl_nv_device_attribute_query
}

// known are the queries with one answer for all devices.
var known = map[uintptr][]byte{
	0x1000: numbers(1 << 2), // a GPU
	0x102C: terminated("NVIDIA Corporation"),
	0x103D: terminated("CUDA C++"),
	0x1030: terminated("cl_nv_device_attribute_query cl_nv_compiler_options cl_khr_device_uuid cl_khr_pci_bus_info cl_khr_fp64 cl_khr_fp16"),
	0x1025: numbers(1000),                                      // ns, the step of event times; of recent devices it is 32
	0x1019: numbers(8 * 512),                                   // bits, the alignment of parts of buffers: that of NVIDIA's OpenCL
	0x1016: numbers(0),                                         // images
	0x103A: numbers(1), 0x103B: numbers(1), 0x103C: numbers(1), // elements of a vector
	0x101B: numbers(0x3f), 0x1032: numbers(0x3f), 0x1033: numbers(0x3f), // arithmetic in single, double and half precision, by IEEE 754
}

func deviceInfo(t *task, a []uintptr) []byte { return of[device](a[0]).answer(t, a[1]) }

func (d *device) answer(t *task, query uintptr) []byte {
	if data, is := d.known.Load(query); is {
		return data.([]byte)
	}
	data := d.ask(t, query)
	if t.failed == nil && data != nil {
		d.known.Store(query, data)
	}
	return data
}

func (d *device) ask(t *task, query uintptr) (data []byte) {
	if list := plain[query]; list != nil {
		return numbers(each.Of(list, d.attribute)...)
	}
	switch query {
	case 0x102B:
		name := get[[256]byte](t, &d.cuDeviceGetName, 256, uintptr(d.number))
		return append(bytes.TrimRight(name[:], "\x00"), 0)
	case 0x102D:
		return terminated(d.release() + ", " + compilerVersion())
	case 0x102F:
		return terminated(d.version())
	case 0x100C:
		return numbers(d.attribute(clockKHz) / 1000)
	case 0x101F, 0x1010: // all memory, also for one buffer
		return numbers(get[int](t, &d.cuDeviceTotalMem_v2, uintptr(d.number)))
	case 0x1023:
		return numbers(max(d.attribute(sharedMemory), d.attribute(sharedMemoryOptIn)))
	case 0x106A:
		id := get[[16]byte](t, &d.cuDeviceGetUuid_v2, uintptr(d.number))
		return id[:]
	case 0x410F: // cl_khr_pci_bus_info: domain, bus, device and function, in 32 bits each
		for _, number := range []uintptr{pciDomain, pciBus, pciDevice} {
			data = binary.NativeEndian.AppendUint32(data, uint32(d.attribute(number)))
		}
		return append(data, 0, 0, 0, 0)
	}
	return known[query]
}
