package observe

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/ndtune/ndtune/tune/hardware"
)

// LibraryVariable is the environment variable for another library than NVIDIA's libnvidia-ml.so.1: a path, or
// a name that the system's linker finds.
const LibraryVariable = "NDTUNE_NVML_LIBRARY"

// Numbers of NVML's interface (https://docs.nvidia.com/deploy/nvml-api).
const (
	nvmlSuccess      = 0
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

// number returns the value by its type.
func (v *nvmlFieldValue) number() (float64, error) {
	at := unsafe.Pointer(&v.Value)
	switch v.ValueType {
	case 0:
		return *(*float64)(at), nil
	case 1:
		return float64(*(*uint32)(at)), nil
	case 2, 3: // unsigned long has 4 bytes on Windows, and the rest is 0
		return float64(*(*uint64)(at)), nil
	case 4:
		return float64(*(*int64)(at)), nil
	case 5:
		return float64(*(*int32)(at)), nil
	case 6:
		return float64(*(*uint16)(at)), nil
	}
	return 0, fmt.Errorf("its value has the unknown type %d", v.ValueType)
}

// nvml holds functions of the library. Those that an older library lacks are nil.
type nvml struct {
	name string

	initialize  func() int32
	shutdown    func() int32
	errorString func(code int32) string
	byUUID      func(uuid string, device *uintptr) int32
	byPCI       func(address string, device *uintptr) int32
	energy      func(device uintptr, millijoules *uint64) int32
	powerUsage  func(device uintptr, milliwatts *uint32) int32
	clock       func(device uintptr, kind uint32, mhz *uint32) int32
	temperature func(device uintptr, sensor uint32, celsius *uint32) int32
	reasons     func(device uintptr, bits *uint64) int32
	fields      func(device uintptr, n int32, values *nvmlFieldValue) int32

	// Settings: see [Control].
	supportedMemory func(device uintptr, count, clocks *uint32) int32
	supportedClocks func(device uintptr, memory uint32, count, clocks *uint32) int32
	lockClock       func(device uintptr, least, most uint32) int32
	resetClock      func(device uintptr) int32
	lockMemory      func(device uintptr, least, most uint32) int32
	resetMemory     func(device uintptr) int32
	powerLimit      func(device uintptr, milliwatts *uint32) int32
	powerLimits     func(device uintptr, least, most *uint32) int32
	setPowerLimit   func(device uintptr, milliwatts uint32) int32

	applicationClock func(device uintptr, kind uint32, mhz *uint32) int32 // see [Ceilings]
}

// loadNVML loads the library and initializes it.
func loadNVML() (*nvml, error) {
	name := nvmlName
	if given := os.Getenv(LibraryVariable); given != "" {
		name = given
	}
	handle, err := openLibrary(name)
	if err != nil {
		return nil, fmt.Errorf("NVIDIA's management library %s, which belongs to the driver, cannot be loaded: %w", name, err)
	}
	n := &nvml{name: name}
	for _, f := range []struct {
		to    any
		names string // the newest first
	}{
		{&n.initialize, "nvmlInit_v2"},
		{&n.shutdown, "nvmlShutdown"},
		{&n.errorString, "nvmlErrorString"},
		{&n.byUUID, "nvmlDeviceGetHandleByUUID"},
		{&n.byPCI, "nvmlDeviceGetHandleByPciBusId_v2"},
		{&n.energy, "nvmlDeviceGetTotalEnergyConsumption"},
		{&n.powerUsage, "nvmlDeviceGetPowerUsage"},
		{&n.clock, "nvmlDeviceGetClockInfo"},
		{&n.temperature, "nvmlDeviceGetTemperature"},
		{&n.reasons, "nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons"},
		{&n.fields, "nvmlDeviceGetFieldValues"},
		{&n.supportedMemory, "nvmlDeviceGetSupportedMemoryClocks"},
		{&n.supportedClocks, "nvmlDeviceGetSupportedGraphicsClocks"},
		{&n.lockClock, "nvmlDeviceSetGpuLockedClocks"},
		{&n.resetClock, "nvmlDeviceResetGpuLockedClocks"},
		{&n.lockMemory, "nvmlDeviceSetMemoryLockedClocks"},
		{&n.resetMemory, "nvmlDeviceResetMemoryLockedClocks"},
		{&n.powerLimit, "nvmlDeviceGetPowerManagementLimit"},
		{&n.powerLimits, "nvmlDeviceGetPowerManagementLimitConstraints"},
		{&n.setPowerLimit, "nvmlDeviceSetPowerManagementLimit"},
		{&n.applicationClock, "nvmlDeviceGetApplicationsClock"},
	} {
		for _, symbol := range strings.Fields(f.names) {
			if address := lookup(handle, symbol); address != 0 {
				purego.RegisterFunc(f.to, address)
				break
			}
		}
	}
	if n.initialize == nil || n.shutdown == nil || n.errorString == nil || n.byUUID == nil && n.byPCI == nil {
		return nil, fmt.Errorf("%s is not NVIDIA's management library: it lacks nvmlInit_v2, nvmlShutdown, nvmlErrorString or nvmlDeviceGetHandleBy…", name)
	}
	if err := n.check("nvmlInit_v2", n.initialize()); err != nil {
		return nil, err
	}
	return n, nil
}

// check returns the error of a status.
func (n *nvml) check(function string, status int32) error {
	if status == nvmlSuccess {
		return nil
	}
	return fmt.Errorf("%s of %s: %s (%d)", function, n.name, n.errorString(status), status)
}

// device returns the handle of a device, by its UUID or else by its PCI address.
func (n *nvml) device(d hardware.Device) (handle uintptr, how string, err error) {
	var errs []error
	if d.UUID != "" && n.byUUID != nil {
		id := "GPU-" + d.UUID
		err := n.check("nvmlDeviceGetHandleByUUID("+id+")", n.byUUID(id, &handle))
		if err == nil {
			return handle, id, nil
		}
		errs = append(errs, err)
	}
	if d.PCI != "" && n.byPCI != nil {
		err := n.check("nvmlDeviceGetHandleByPciBusId_v2("+d.PCI+")", n.byPCI(d.PCI, &handle))
		if err == nil {
			return handle, d.PCI, nil
		}
		errs = append(errs, err)
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
	g := gauges{where: "NVML, " + how, close: func() { n.shutdown() }}
	g.add(hardware.Energy, "total energy counter", 0, n.reader(n.energy != nil, "nvmlDeviceGetTotalEnergyConsumption", func() (float64, int32) {
		var millijoules uint64
		status := n.energy(device, &millijoules)
		return float64(millijoules) / 1e3, status
	}))
	g.add(hardware.Power, "instantaneous power", settleInstant, n.powerInstant(device))
	g.add(hardware.Power, "power usage", settleAverage, n.reader(n.powerUsage != nil, "nvmlDeviceGetPowerUsage", func() (float64, int32) {
		var milliwatts uint32
		status := n.powerUsage(device, &milliwatts)
		return float64(milliwatts) / 1e3, status
	}))
	clock := func(kind uint32) func() (float64, error) {
		return n.reader(n.clock != nil, "nvmlDeviceGetClockInfo", func() (float64, int32) {
			var mhz uint32
			status := n.clock(device, kind, &mhz)
			return float64(mhz), status
		})
	}
	g.add(hardware.Clock, "SM clock", 0, clock(nvmlClockSM))
	g.add(hardware.MemoryClock, "memory clock", 0, clock(nvmlClockMemory))
	g.add(hardware.Temperature, "GPU temperature", 0, n.reader(n.temperature != nil, "nvmlDeviceGetTemperature", func() (float64, int32) {
		var celsius uint32
		status := n.temperature(device, nvmlTemperatureGPU, &celsius)
		return float64(celsius), status
	}))
	g.add(hardware.Throttled, "clocks event reasons", 0, n.reader(n.reasons != nil, "nvmlDeviceGetCurrentClocksEventReasons", func() (float64, int32) {
		var bits uint64
		status := n.reasons(device, &bits)
		return float64(bits & slowed), status
	}))
	return g, nil
}

// reader returns a function that reads a number, or explains why it cannot.
func (n *nvml) reader(has bool, function string, read func() (float64, int32)) func() (float64, error) {
	if !has {
		return func() (float64, error) { return 0, fmt.Errorf("%s has no function %s", n.name, function) }
	}
	return func() (float64, error) {
		v, status := read()
		return v, n.check(function, status)
	}
}

// powerInstant returns the reader of the instantaneous power in watts.
func (n *nvml) powerInstant(device uintptr) func() (float64, error) {
	const function = "nvmlDeviceGetFieldValues(NVML_FI_DEV_POWER_INSTANT)"
	if n.fields == nil {
		return func() (float64, error) { return 0, fmt.Errorf("%s has no function %s", n.name, function) }
	}
	return func() (float64, error) {
		v := &nvmlFieldValue{FieldID: nvmlFieldPowerInstant}
		if err := n.check(function, n.fields(device, 1, v)); err != nil {
			return 0, err
		}
		if err := n.check(function, v.Return); err != nil {
			return 0, err
		}
		milliwatts, err := v.number()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", function, err)
		}
		return milliwatts / 1e3, nil
	}
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
