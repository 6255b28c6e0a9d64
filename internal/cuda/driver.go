package cuda

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/ndtune/ndtune/internal/library"
)

// DriverVariable is the environment variable for a library to load instead of the driver's libcuda: a path, or a name that the
// system's linker finds. If it is set and the library cannot be loaded, no other is tried.
const DriverVariable = "NDTUNE_CUDA_LIBRARY"

// openFirst opens the library that an environment variable names, or else the first of some that there is.
func openFirst(variable string, names ...string) (l *library.Library, err error) {
	if own := os.Getenv(variable); own != "" {
		if l, err = library.Open(own); err != nil {
			err = fmt.Errorf("%s names %s, which cannot be loaded: %w", variable, own, err)
		}
		return l, err
	}
	for _, name := range names {
		if l, err = library.Open(name); err == nil {
			break
		}
	}
	return l, err
}

// A function is one of the driver; its address is 0 if the library lacks it.
type function struct {
	name    string
	address uintptr
	driver  *driver
}

// call returns the result of the function. The directive makes the compiler allocate the variables that arguments point to on the heap,
// where they do not move, and keep them alive until the call returns; it applies to pointers that are converted in the argument list
// itself: f.call(uintptr(unsafe.Pointer(p))).
//
//go:uintptrescapes
func (f *function) call(args ...uintptr) int32 {
	if f.address == 0 {
		return notSupported
	}
	result, _, _ := purego.SyscallN(f.address, args...)
	return int32(result)
}

// functions are those of the driver, by the names that the library exports.
type functions struct {
	cuInit, cuDriverGetVersion, cuGetErrorName, cuGetErrorString                            function
	cuDeviceGetCount, cuDeviceGet, cuDeviceGetName, cuDeviceGetUuid_v2, cuDeviceTotalMem_v2 function
	cuDeviceGetAttribute                                                                    function

	cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease_v2   function
	cuCtxSetCurrent, cuCtxSynchronize                                                       function
	cuStreamCreate, cuStreamDestroy_v2, cuStreamQuery, cuStreamSynchronize                  function
	cuStreamWaitEvent                                                                       function
	cuEventCreate, cuEventRecord, cuEventSynchronize, cuEventElapsedTime, cuEventDestroy_v2 function
	cuMemAlloc_v2, cuMemFree_v2, cuIpcOpenMemHandle_v2, cuIpcCloseMemHandle                 function
	cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoDAsync_v2                        function
	cuModuleLoadData, cuModuleUnload, cuModuleGetFunction, cuModuleGetGlobal_v2             function
	cuFuncGetAttribute, cuFuncSetAttribute, cuLaunchKernel                                  function
}

// A driver is the platform.
type driver struct {
	functions
	cuda    int // its version: 13000 for 13.0
	handle  uintptr
	devices []uintptr // handles
}

const install = `CUDA C needs the driver of an NVIDIA GPU, which brings libcuda.so.1 (Windows: nvcuda.dll):
  Debian, Ubuntu: apt install nvidia-driver (Ubuntu: nvidia-driver-…)
  Fedora:         dnf install xorg-x11-drv-nvidia-cuda (RPM Fusion)
  Windows:        NVIDIA's driver
A container must be started with the GPU (docker run --gpus all). ` + DriverVariable + ` names another library.`

var driverNames = map[string]string{"windows": "nvcuda.dll"}

// load loads the driver, and opens no device.
func load() (*driver, *library.Library, error) {
	l, err := openFirst(DriverVariable, cmp.Or(driverNames[runtime.GOOS], "libcuda.so.1"))
	if err != nil {
		return nil, nil, fmt.Errorf("no CUDA: %w\n%s", err, install)
	}
	d := &driver{}
	v := reflect.ValueOf(&d.functions).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		*(*function)(v.Field(i).Addr().UnsafePointer()) = function{name, l.Find(name), d}
	}
	d.cuda = int(get[int32](new(task), &d.cuDriverGetVersion))
	newestMajor = d.cuda / 1000
	return d, l, nil
}

// Installed loads the driver, and reports whether it is there. It opens no device, and takes no time where there is none.
func Installed() bool {
	_, _, err := load()
	return err == nil
}

// open opens the driver and lists its devices.
func open() (*driver, error) {
	d, l, err := load()
	if err != nil {
		return nil, err
	}
	t := new(task)
	t.run(&d.cuInit, 0)
	for i := range get[int32](t, &d.cuDeviceGetCount) {
		d.devices = append(d.devices, handleOf(&device{driver: d, number: get[int32](t, &d.cuDeviceGet, uintptr(i))}))
	}
	switch {
	case t.failed != nil:
		return nil, fmt.Errorf("no CUDA: %s: %s: %s\n%s", l.Path, t.failed.Call, t.failed.Text, install)
	case len(d.devices) == 0:
		return nil, fmt.Errorf("no CUDA: %s finds no device\n%s", l.Path, install)
	}
	d.handle = handleOf(d)
	return d, nil
}

// words returns the text of a result, by one of the functions that have texts.
func (d *driver) words(f *function, result int32) string {
	var words uintptr
	if f.call(uintptr(result), uintptr(unsafe.Pointer(&words))) != 0 {
		return fmt.Sprintf("CUDA's result %d", result)
	}
	return text(words)
}

const notReady, notSupported = 600, 801

// statuses are those of CUDA's results; of any other, it is outOfResources. After deviceLost, all functions fail until the process ends.
var statuses = map[int32]int32{
	1: invalidValue, 2: allocationFailure, notReady: profilingNotAvailable, 500: invalidKernelName, // not found
	200: invalidBinary, 209: invalidBinary, 218: invalidBinary, 222: invalidBinary, 300: invalidBinary, // for another device or driver
	700: deviceLost, 714: deviceLost, 715: deviceLost, 716: deviceLost, 717: deviceLost, 718: deviceLost, 719: deviceLost,
}
