package matmul

import (
	"fmt"
	"strings"
	"unsafe"
)

// Directions of cudaMemcpy (CUDA Runtime API, cudaMemcpyKind).
const (
	hostToDevice = 1
	deviceToHost = 2
)

// A cudaRuntime is the part of CUDA's runtime that a multiplication needs. The current card is
// that of the thread of the operating system.
type cudaRuntime struct {
	setDevice    func(device int32) int32
	deviceOfPCI  func(device *int32, pci string) int32
	pciOfDevice  func(text *byte, length, device int32) int32
	malloc       func(memory *uintptr, bytes uintptr) int32
	free         func(memory uintptr) int32
	memcpy       func(to, from, bytes uintptr, kind int32) int32
	eventCreate  func(event *uintptr) int32
	eventRecord  func(event, stream uintptr) int32
	eventWait    func(event uintptr) int32
	eventElapsed func(ms *float32, from, to uintptr) int32
	eventDestroy func(event uintptr) int32
	errorString  func(status int32) string
}

func newCudaRuntime(handle uintptr, path string) (*cudaRuntime, error) {
	c := &cudaRuntime{}
	return c, bind(handle, path, map[string]any{
		"cudaSetDevice": &c.setDevice, "cudaDeviceGetByPCIBusId": &c.deviceOfPCI, "cudaDeviceGetPCIBusId": &c.pciOfDevice,
		"cudaMalloc": &c.malloc, "cudaFree": &c.free, "cudaMemcpy": &c.memcpy,
		"cudaEventCreate": &c.eventCreate, "cudaEventRecord": &c.eventRecord, "cudaEventSynchronize": &c.eventWait,
		"cudaEventElapsedTime cudaEventElapsedTime_v2": &c.eventElapsed, "cudaEventDestroy": &c.eventDestroy,
		"cudaGetErrorString": &c.errorString,
	})
}

// check is the error of a status.
func (c *cudaRuntime) check(call string, status int32) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (status %d)", call, c.errorString(status), status)
}

// choose makes a card the current one, by its PCI address or the first, and gives its address.
func (c *cudaRuntime) choose(pci string) (string, error) {
	device := int32(0)
	if pci != "" {
		if err := c.check("look for the card "+pci+": cudaDeviceGetByPCIBusId", c.deviceOfPCI(&device, pci)); err != nil {
			return "", err
		}
	}
	if err := c.check("cudaSetDevice", c.setDevice(device)); err != nil {
		return "", err
	}
	text := make([]byte, 32)
	if err := c.check("cudaDeviceGetPCIBusId", c.pciOfDevice(&text[0], int32(len(text)), device)); err != nil {
		return "", err
	}
	address, _, _ := strings.Cut(string(text), "\x00")
	return address, nil
}

func (c *cudaRuntime) allocate(bytes int) (uintptr, error) {
	var memory uintptr
	err := c.check(fmt.Sprintf("cudaMalloc of %d bytes", bytes), c.malloc(&memory, uintptr(bytes)))
	return memory, err
}

func (c *cudaRuntime) upload(to uintptr, content []float32) error {
	return c.check("cudaMemcpy", c.memcpy(to, uintptr(unsafe.Pointer(&content[0])), uintptr(4*len(content)), hostToDevice))
}

// record puts an event behind what was enqueued so far.
func (c *cudaRuntime) record() (uintptr, error) {
	var event uintptr
	if err := c.check("cudaEventCreate", c.eventCreate(&event)); err != nil {
		return 0, err
	}
	if err := c.check("cudaEventRecord", c.eventRecord(event, 0)); err != nil {
		_ = c.eventDestroy(event)
		return 0, err
	}
	return event, nil
}

func (c *cudaRuntime) wait(event uintptr) error {
	return c.check("cudaEventSynchronize", c.eventWait(event))
}

// between is the time between two events in milliseconds.
func (c *cudaRuntime) between(from, to uintptr) (float64, error) {
	var ms float32
	err := c.check("cudaEventElapsedTime", c.eventElapsed(&ms, from, to))
	return float64(ms), err
}
