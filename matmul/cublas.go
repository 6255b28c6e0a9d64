package matmul

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// The constants of cublas_api.h (NVIDIA cuBLAS documentation, section 2.2) and library_types.h.
const (
	cublasOpN = 0

	cudaFloat, cudaDouble, cudaHalf = 0, 1, 2 // CUDA_R_32F, CUDA_R_64F, CUDA_R_16F

	computeFloat  = 68 // CUBLAS_COMPUTE_32F
	computeDouble = 70 // CUBLAS_COMPUTE_64F
	computeTF32   = 77 // CUBLAS_COMPUTE_32F_FAST_TF32

	defaultAlgorithm = -1 // CUBLAS_GEMM_DEFAULT
)

// A gemmType holds the types of cublasGemmEx for a precision: of the elements and of the sums.
type gemmType struct{ element, compute int32 }

var gemmTypes = map[Precision]gemmType{
	Half: {cudaHalf, computeFloat}, TF32: {cudaFloat, computeTF32}, Float: {cudaFloat, computeFloat}, Double: {cudaDouble, computeDouble},
}

const installCuBLAS = "NVIDIA's CUDA toolkit has it, or pip install nvidia-cublas-cu12 nvidia-cuda-runtime-cu12 and --library with the folder site-packages that then holds them"

// A cudaRelease holds the file names of one version of cuBLAS, of cublasLt, which cuBLAS needs, and of
// CUDA's runtime.
type cudaRelease struct{ blas, lt, runtime string }

// cudaReleases returns the supported releases, the newest first.
func cudaReleases() []cudaRelease {
	if runtime.GOOS == "windows" {
		return []cudaRelease{
			{"cublas64_13.dll", "cublasLt64_13.dll", "cudart64_13.dll"},
			{"cublas64_12.dll", "cublasLt64_12.dll", "cudart64_12.dll"},
			{"cublas64_11.dll", "cublasLt64_11.dll", "cudart64_110.dll"},
		}
	}
	return []cudaRelease{
		{"libcublas.so.13", "libcublasLt.so.13", "libcudart.so.13"},
		{"libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12"},
		{"libcublas.so.11", "libcublasLt.so.11", "libcudart.so.11.0"},
		{"libcublas.so", "libcublasLt.so", "libcudart.so"},
	}
}

// A cublas is the library cuBLAS with a handle for one card.
type cublas struct {
	cuda   *cudaRuntime
	handle uintptr
	gemmType
	card string // its PCI address
	path string

	create         func(handle *uintptr) int32
	version        func(handle uintptr, version *int32) int32
	gemmEx         func(handle uintptr, transA, transB, m, n, k int32, alpha unsafe.Pointer, a uintptr, typeA, lda int32, b uintptr, typeB, ldb int32, beta unsafe.Pointer, c uintptr, typeC, ldc, compute, algorithm int32) int32
	versionText    string
	statusOfCuBLAS func(status int32) string // nil before cuBLAS 11.4
}

// openCuBLAS loads cuBLAS and CUDA's runtime, and chooses the card. Nothing is released before the
// process ends.
func openCuBLAS(e Entrant) (*cublas, error) {
	var missing, broken []string
	for _, release := range cudaReleases() {
		search := func(name string) (uintptr, string, error) {
			return librarySearch{[]string{name}, e.Libraries}.open()
		}
		// If the linker does not search the folder of cuBLAS and cublasLt, cuBLAS finds cublasLt
		// only if it is loaded.
		_, _, _ = search(release.lt)
		blas, path, err := search(release.blas)
		if errors.Is(err, errNotThere) {
			missing = append(missing, release.blas)
			continue
		}
		if err != nil {
			broken = append(broken, err.Error())
			continue
		}
		cudart, cudartPath, err := search(release.runtime)
		if err != nil {
			broken = append(broken, path+" is there, but not its runtime, "+err.Error())
			continue
		}
		cuda, err := newCudaRuntime(cudart, cudartPath)
		if err != nil {
			return nil, err
		}
		return newCuBLAS(blas, path, cuda, e)
	}
	if len(broken) > 0 {
		return nil, &MissingError{strings.Join(broken, "; ")}
	}
	return nil, &MissingError{fmt.Sprintf("%s: %v (%s)", strings.Join(missing, ", "), errNotThere, installCuBLAS)}
}

func newCuBLAS(handle uintptr, path string, cuda *cudaRuntime, e Entrant) (*cublas, error) {
	b := &cublas{cuda: cuda, gemmType: gemmTypes[e.Precision], path: path}
	if err := bind(handle, path, map[string]any{
		"cublasCreate_v2": &b.create, "cublasGetVersion_v2": &b.version,
		"cublasGemmEx": &b.gemmEx,
	}); err != nil {
		return nil, err
	}
	if lookup(handle, "cublasGetStatusString") != 0 {
		if err := bind(handle, path, map[string]any{"cublasGetStatusString": &b.statusOfCuBLAS}); err != nil {
			return nil, err
		}
	}
	var err error
	if b.card, err = cuda.choose(e.PCI); err != nil {
		return nil, err
	}
	if err := b.check("cublasCreate", b.create(&b.handle)); err != nil {
		return nil, err
	}
	var version int32
	if err := b.check("cublasGetVersion", b.version(b.handle, &version)); err != nil {
		return nil, err
	}
	b.versionText = fmt.Sprintf("%d.%d.%d", version/10000, version/100%100, version%100)
	return b, nil
}

// check returns the error of a status of cuBLAS.
func (b *cublas) check(call string, status int32) error {
	switch {
	case status == 0:
		return nil
	case b.statusOfCuBLAS != nil:
		return fmt.Errorf("%s: %s", call, b.statusOfCuBLAS(status))
	}
	return fmt.Errorf("%s: status %d", call, status)
}

func (b *cublas) multiplier() *multiplier {
	about := fmt.Sprintf("version %s, card %s, %s", b.versionText, b.card, b.path) + environmentOf("NVIDIA_TF32_OVERRIDE")
	return &multiplier{about, b.prepare}
}

// A gemm holds the sizes in a call of a library with column-major matrices that multiplies row-major
// ones. A row-major matrix has the memory layout of its column-major transpose, and Cᵀ = Bᵀ·Aᵀ. So B
// is the first operand, and no matrix is transposed.
type gemm struct{ m, n, k, leadingB, leadingA, leadingC int32 }

// columnMajor returns the sizes for C (m × n) = A (m × k) · B (k × n).
func columnMajor(m, n, k int) gemm {
	return gemm{m: int32(n), n: int32(m), k: int32(k), leadingB: int32(n), leadingA: int32(k), leadingC: int32(n)}
}

// prepare copies the matrices to the card.
func (b *cublas) prepare(m *Matrices, _ Candidates) (*prepared, error) {
	o := &onCard{blas: b, matrices: m}
	for i, content := range [][]byte{m.A, m.B, m.C} {
		var err error
		if o.buffers[i], err = b.cuda.allocate(len(content)); err == nil {
			err = b.cuda.upload(o.buffers[i], content)
		}
		if err != nil {
			o.close()
			return nil, err
		}
	}
	return &prepared{run: o.run, roundTrip: o.roundTrip, fetch: o.fetch, close: o.close}, nil
}

// An onCard is a multiplication on an NVIDIA card.
type onCard struct {
	blas     *cublas
	matrices *Matrices
	buffers  [3]uintptr // A, B, C
}

func (o *onCard) multiply() error {
	b, t := o.blas, o.blas.gemmType
	one, zero := float32(1), float32(0)
	alpha, beta := unsafe.Pointer(&one), unsafe.Pointer(&zero)
	if t.compute == computeDouble {
		one, zero := 1.0, 0.0
		alpha, beta = unsafe.Pointer(&one), unsafe.Pointer(&zero)
	}
	g := columnMajor(o.matrices.M, o.matrices.N, o.matrices.K)
	return b.check("cublasGemmEx", b.gemmEx(b.handle, cublasOpN, cublasOpN, g.m, g.n, g.k,
		alpha, o.buffers[1], t.element, g.leadingB, o.buffers[0], t.element, g.leadingA,
		beta, o.buffers[2], t.element, g.leadingC, t.compute, defaultAlgorithm))
}

// run enqueues all multiplications, with events in between that have their times.
func (o *onCard) run(times int) ([]float64, error) {
	cuda := o.blas.cuda
	events := make([]uintptr, 0, times+1)
	defer func() {
		for _, e := range events {
			_ = cuda.eventDestroy(e)
		}
	}()
	for i := range times + 1 {
		if i > 0 {
			if err := o.multiply(); err != nil {
				return nil, err
			}
		}
		e, err := cuda.record()
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if err := cuda.wait(events[times]); err != nil {
		return nil, err
	}
	took := make([]float64, times)
	for i := range took {
		var err error
		if took[i], err = cuda.between(events[i], events[i+1]); err != nil {
			return nil, err
		}
	}
	return took, nil
}

func (o *onCard) roundTrip() error {
	for i, content := range [][]byte{o.matrices.A, o.matrices.B} {
		if err := o.blas.cuda.upload(o.buffers[i], content); err != nil {
			return err
		}
	}
	if err := o.multiply(); err != nil {
		return err
	}
	return o.fetch() // the stream is in order
}

func (o *onCard) fetch() error {
	c := o.matrices.C
	return o.blas.cuda.check("cudaMemcpy", o.blas.cuda.memcpy(uintptr(unsafe.Pointer(&c[0])), o.buffers[2], uintptr(len(c)), deviceToHost))
}

func (o *onCard) close() {
	for _, buffer := range o.buffers {
		if buffer != 0 {
			_ = o.blas.cuda.free(buffer) // an earlier error was reported
		}
	}
}

// Directions of cudaMemcpy (CUDA Runtime API, cudaMemcpyKind).
const (
	hostToDevice = 1
	deviceToHost = 2
)

// A cudaRuntime holds the functions of CUDA's runtime that a multiplication needs. The current card
// belongs to the thread of the operating system.
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

// check returns the error of a status.
func (c *cudaRuntime) check(call string, status int32) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (status %d)", call, c.errorString(status), status)
}

// choose makes the card of a PCI address, or the first card, the current one, and returns its address.
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

func (c *cudaRuntime) upload(to uintptr, content []byte) error {
	return c.check("cudaMemcpy", c.memcpy(to, uintptr(unsafe.Pointer(&content[0])), uintptr(len(content)), hostToDevice))
}

// record enqueues an event.
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

// between returns the time between two events in milliseconds.
func (c *cudaRuntime) between(from, to uintptr) (float64, error) {
	var ms float32
	err := c.check("cudaEventElapsedTime", c.eventElapsed(&ms, from, to))
	return float64(ms), err
}
