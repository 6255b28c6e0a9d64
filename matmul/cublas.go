package matmul

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ndtune/ndtune/internal/library"
)

// The constants of cublas_api.h (NVIDIA cuBLAS documentation, section 2.2) and library_types.h.
const (
	cublasOpN = 0

	cudaFloat, cudaDouble, cudaHalf = 0, 1, 2 // CUDA_R_32F, CUDA_R_64F, CUDA_R_16F

	computeFloat  = 68 // CUBLAS_COMPUTE_32F
	computeDouble = 70 // CUBLAS_COMPUTE_64F
	computeTF32   = 77 // CUBLAS_COMPUTE_32F_FAST_TF32

	defaultAlgorithm = ^uintptr(0) // CUBLAS_GEMM_DEFAULT, which is -1
)

// A gemmType holds the types of cublasGemmEx for a precision: of the elements and of the sums.
type gemmType struct{ element, compute uintptr }

var gemmTypes = map[Precision]gemmType{
	Half: {cudaHalf, computeFloat}, TF32: {cudaFloat, computeTF32}, Float: {cudaFloat, computeFloat}, Double: {cudaDouble, computeDouble},
}

const installCuBLAS = "NVIDIA's CUDA toolkit has it, or pip install nvidia-cublas-cu12 nvidia-cuda-runtime-cu12 " +
	"and --library with the folder site-packages that then holds them"

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
	*library.Library
	cuda   *cudaRuntime
	handle uintptr
	gemmType
	about string
}

// openCuBLAS loads cuBLAS and CUDA's runtime, and chooses the card. Nothing is released before the
// process ends.
func openCuBLAS(e Entrant) (*cublas, error) {
	var missing, broken []string
	for _, release := range cudaReleases() {
		search := func(name string) (*library.Library, error) { return librarySearch{[]string{name}, e.Libraries}.open() }
		// If the linker does not search the folder of cuBLAS and cublasLt, cuBLAS finds cublasLt
		// only if it is loaded.
		_, _ = search(release.lt)
		blas, err := search(release.blas)
		if errors.Is(err, errNotThere) {
			missing = append(missing, release.blas)
			continue
		}
		if err != nil {
			broken = append(broken, err.Error())
			continue
		}
		cudart, err := search(release.runtime)
		if err != nil {
			broken = append(broken, blas.Path+" is there, but not its runtime, "+err.Error())
			continue
		}
		return newCuBLAS(blas, cudart, e)
	}
	if len(broken) > 0 {
		return nil, &MissingError{strings.Join(broken, "; ")}
	}
	return nil, &MissingError{fmt.Sprintf("%s: %v (%s)", strings.Join(missing, ", "), errNotThere, installCuBLAS)}
}

func newCuBLAS(blas, cudart *library.Library, e Entrant) (*cublas, error) {
	blas.StatusText = "cublasGetStatusString" // since cuBLAS 11.4
	cudart.StatusText = "cudaGetErrorString"
	b := &cublas{Library: blas, cuda: &cudaRuntime{cudart}, gemmType: gemmTypes[e.Precision]}
	card, err := b.cuda.choose(e.PCI)
	if err != nil {
		return nil, err
	}
	if err := b.Call("cublasCreate_v2", uintptr(unsafe.Pointer(&b.handle))); err != nil {
		return nil, err
	}
	var version int32
	if err := b.Call("cublasGetVersion_v2", b.handle, uintptr(unsafe.Pointer(&version))); err != nil {
		return nil, err
	}
	b.about = fmt.Sprintf("version %d.%d.%d, card %s, %s", version/10000, version/100%100, version%100, card, b.Path) +
		environmentOf("NVIDIA_TF32_OVERRIDE")
	return b, nil
}

func (b *cublas) multiplier() *multiplier { return &multiplier{b.about, b.prepare} }

// A gemm holds the sizes in a call of a library with column-major matrices that multiplies row-major
// ones. A row-major matrix has the memory layout of its column-major transpose, and Cᵀ = Bᵀ·Aᵀ. So B
// is the first operand, and no matrix is transposed.
type gemm struct{ m, n, k, leadingB, leadingA, leadingC uintptr }

// columnMajor returns the sizes for C (m × n) = A (m × k) · B (k × n).
func columnMajor(m, n, k int) gemm {
	return gemm{m: uintptr(n), n: uintptr(m), k: uintptr(k), leadingB: uintptr(n), leadingA: uintptr(k), leadingC: uintptr(n)}
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
	return b.Call("cublasGemmEx", b.handle, cublasOpN, cublasOpN, g.m, g.n, g.k,
		uintptr(alpha), o.buffers[1], t.element, g.leadingB, o.buffers[0], t.element, g.leadingA,
		uintptr(beta), o.buffers[2], t.element, g.leadingC, t.compute, defaultAlgorithm)
}

// run enqueues all multiplications, with events in between that have their times.
func (o *onCard) run(times int) ([]float64, error) {
	cuda := o.blas.cuda
	events := make([]uintptr, 0, times+1)
	defer func() {
		for _, e := range events {
			_ = cuda.Call("cudaEventDestroy", e)
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
	if err := cuda.Call("cudaEventSynchronize", events[times]); err != nil {
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
	return o.blas.cuda.Call("cudaMemcpy", uintptr(unsafe.Pointer(&c[0])), o.buffers[2], uintptr(len(c)), deviceToHost)
}

func (o *onCard) close() {
	for _, buffer := range o.buffers {
		if buffer != 0 {
			_ = o.blas.cuda.Call("cudaFree", buffer) // an earlier error was reported
		}
	}
}

// Directions of cudaMemcpy (CUDA Runtime API, cudaMemcpyKind).
const (
	hostToDevice = 1
	deviceToHost = 2
)

// A cudaRuntime is CUDA's runtime. The current card belongs to the thread of the operating system.
type cudaRuntime struct{ *library.Library }

// choose makes the card of a PCI address, or the first card, the current one, and returns its address.
func (c *cudaRuntime) choose(pci string) (string, error) {
	device := int32(0)
	if pci != "" {
		if err := c.Call("cudaDeviceGetByPCIBusId", uintptr(unsafe.Pointer(&device)), uintptr(unsafe.Pointer(library.CString(pci)))); err != nil {
			return "", fmt.Errorf("look for the card %s: %w", pci, err)
		}
	}
	if err := c.Call("cudaSetDevice", uintptr(device)); err != nil {
		return "", err
	}
	text := make([]byte, 32)
	if err := c.Call("cudaDeviceGetPCIBusId", uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), uintptr(device)); err != nil {
		return "", err
	}
	address, _, _ := strings.Cut(string(text), "\x00")
	return address, nil
}

func (c *cudaRuntime) allocate(bytes int) (uintptr, error) {
	var memory uintptr
	if err := c.Call("cudaMalloc", uintptr(unsafe.Pointer(&memory)), uintptr(bytes)); err != nil {
		return 0, fmt.Errorf("allocate %d bytes: %w", bytes, err)
	}
	return memory, nil
}

func (c *cudaRuntime) upload(to uintptr, content []byte) error {
	return c.Call("cudaMemcpy", to, uintptr(unsafe.Pointer(&content[0])), uintptr(len(content)), hostToDevice)
}

// record enqueues an event.
func (c *cudaRuntime) record() (uintptr, error) {
	var event uintptr
	if err := c.Call("cudaEventCreate", uintptr(unsafe.Pointer(&event))); err != nil {
		return 0, err
	}
	const stream = 0 // the default one
	if err := c.Call("cudaEventRecord", event, stream); err != nil {
		_ = c.Call("cudaEventDestroy", event)
		return 0, err
	}
	return event, nil
}

// between returns the time between two events in milliseconds.
func (c *cudaRuntime) between(from, to uintptr) (float64, error) {
	var ms float32
	elapsed := "cudaEventElapsedTime"
	if c.Find(elapsed) == 0 {
		elapsed = "cudaEventElapsedTime_v2" // the name in newer libraries
	}
	err := c.Call(elapsed, uintptr(unsafe.Pointer(&ms)), from, to)
	return float64(ms), err
}
