package observe

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/ndtune/ndtune/internal/library"
	"github.com/ndtune/ndtune/tune/hardware"
)

// LibraryVariable is the environment variable for another library than NVIDIA's libnvidia-ml.so.1: a path, or
// a name that the system's linker finds.
const LibraryVariable = "NDTUNE_NVML_LIBRARY"

// Numbers of NVML's interface (https://docs.nvidia.com/deploy/nvml-api).
const (
	nvmlNotSupported = 3
	nvmlNoPermission = 4

	nvmlClockSM        = 1
	nvmlClockMemory    = 2
	nvmlTemperatureGPU = 0

	nvmlFieldPowerInstant = 186
)

// nvmlFieldValue is nvmlFieldValue_t. Value is a union of numbers of up to 8 bytes.
type nvmlFieldValue struct {
	FieldID   uint32
	ScopeID   uint32
	Timestamp int64 // microseconds
	Latency   int64 // microseconds
	ValueType uint32
	Return    int32
	Value     [8]byte
}

// number returns the value by its type: a float, or an integer that is not negative.
func (v *nvmlFieldValue) number() float64 {
	at := unsafe.Pointer(&v.Value)
	switch v.ValueType {
	case 0:
		return *(*float64)(at)
	case 1:
		return float64(*(*uint32)(at))
	}
	return float64(*(*uint64)(at)) // the rest of a shorter one is 0
}

// nvml is the library, initialized.
type nvml struct{ *library.Library }

// loadNVML loads the library and initializes it.
func loadNVML() (*nvml, error) {
	name := "libnvidia-ml.so.1"
	if runtime.GOOS == "windows" {
		name = "nvml.dll"
	}
	if given := os.Getenv(LibraryVariable); given != "" {
		name = given
	}
	opened, err := library.Open(name)
	if err != nil {
		return nil, fmt.Errorf("NVIDIA's management library %s, which belongs to the driver, cannot be loaded: %w", name, err)
	}
	n := &nvml{opened}
	n.StatusText = "nvmlErrorString"
	if !n.has("nvmlInit_v2", "nvmlShutdown", "nvmlErrorString") {
		return nil, fmt.Errorf("%s is not NVIDIA's management library: it lacks nvmlInit_v2, nvmlShutdown or nvmlErrorString", name)
	}
	if err := n.Call("nvmlInit_v2"); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *nvml) shutdown() { _ = n.Call("nvmlShutdown") }

// has reports whether the library, which may be an old one, has functions.
func (n *nvml) has(functions ...string) bool {
	return !slices.ContainsFunc(functions, func(name string) bool { return n.Find(name) == 0 })
}

// device returns the handle of a device, by its UUID or else by its PCI address.
func (n *nvml) device(d hardware.Device) (handle uintptr, how string, err error) {
	var errs []error
	for _, id := range []struct{ function, known, text string }{
		{"nvmlDeviceGetHandleByUUID", d.UUID, "GPU-" + d.UUID},
		{"nvmlDeviceGetHandleByPciBusId_v2", d.PCI, d.PCI},
	} {
		if id.known == "" {
			continue
		}
		err := n.Call(id.function, uintptr(unsafe.Pointer(library.CString(id.text))), uintptr(unsafe.Pointer(&handle)))
		if err == nil {
			return handle, id.text, nil
		}
		errs = append(errs, fmt.Errorf("look for the device %s: %w", id.text, err))
	}
	if errs == nil {
		errs = []error{errors.New("the device reports neither a UUID nor a PCI address by which NVIDIA's management library could find it")}
	}
	return 0, "", errors.Join(errs...)
}

// openNVML returns the gauges of an NVIDIA GPU.
func openNVML(d hardware.Device) (gauges, error) {
	n, err := loadNVML()
	if err != nil {
		return gauges{}, err
	}
	device, how, err := n.device(d)
	if err != nil {
		n.shutdown()
		return gauges{}, err
	}
	g := gauges{where: "NVML, " + how, close: n.shutdown}
	g.add(hardware.Power, "instantaneous power", sensorLag, func() (float64, error) { return n.powerInstant(device) })
	reasons := "nvmlDeviceGetCurrentClocksEventReasons"
	if !n.has(reasons) {
		reasons = "nvmlDeviceGetCurrentClocksThrottleReasons" // the old name
	}
	const none = -1
	for _, r := range []struct {
		quantity, source string
		lag              time.Duration
		unit             float64 // so many of the function are one
		function         string
		which            int
	}{
		{hardware.Energy, "total energy counter", 0, 1e3, "nvmlDeviceGetTotalEnergyConsumption", none},
		{hardware.Power, "power usage", averageLag, 1e3, "nvmlDeviceGetPowerUsage", none},
		{hardware.Clock, "SM clock", 0, 1, "nvmlDeviceGetClockInfo", nvmlClockSM},
		{hardware.MemoryClock, "memory clock", 0, 1, "nvmlDeviceGetClockInfo", nvmlClockMemory},
		{hardware.Temperature, "GPU temperature", 0, 1, "nvmlDeviceGetTemperature", nvmlTemperatureGPU},
		{hardware.Throttled, "clocks event reasons", 0, 1, reasons, none},
	} {
		g.add(r.quantity, r.source, r.lag, func() (float64, error) {
			var number uint64 // of 32 or 64 bits: NVIDIA's platforms are little-endian
			var err error
			if r.which == none {
				err = n.Call(r.function, device, uintptr(unsafe.Pointer(&number)))
			} else {
				err = n.Call(r.function, device, uintptr(r.which), uintptr(unsafe.Pointer(&number)))
			}
			if r.quantity == hardware.Throttled {
				number &= slowed
			}
			return float64(number) / r.unit, err
		})
	}
	return g, nil
}

// powerInstant returns the instantaneous power in watts.
func (n *nvml) powerInstant(device uintptr) (float64, error) {
	const function = "nvmlDeviceGetFieldValues"
	v := &nvmlFieldValue{FieldID: nvmlFieldPowerInstant}
	if err := n.Call(function, device, 1, uintptr(unsafe.Pointer(v))); err != nil {
		return 0, err
	}
	if err := n.Check(function+"(NVML_FI_DEV_POWER_INSTANT)", v.Return); err != nil {
		return 0, err
	}
	return v.number() / 1e3, nil
}

// The reasons for which a device slows itself down, beside those that a user chose.
var slowReasons = []struct {
	bit  uint64
	text string
}{
	{0x04, "power cap"},
	{0x08, "hardware slow-down"},
	{0x20, "temperature, by software"},
	{0x40, "temperature, by hardware"},
	{0x80, "power brake"},
}

// slowed has the bits of all slowReasons.
var slowed = func() (bits uint64) {
	for _, r := range slowReasons {
		bits |= r.bit
	}
	return bits
}()

// reasonsOf returns the texts of bits.
func reasonsOf(bits float64) []string {
	var texts []string
	if math.IsNaN(bits) {
		return nil
	}
	for _, r := range slowReasons {
		if uint64(bits)&r.bit != 0 {
			texts = append(texts, r.text)
		}
	}
	return texts
}
