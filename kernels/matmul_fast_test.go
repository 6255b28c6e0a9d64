package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// fastKernels are the shapes of matmul_fast, and the kernels for tensor cores, in every
// precision. What stands for cp.async here copies at once, which is a way in which cp.async
// may do it. The instructions of tensor cores are made from what the PTX ISA says of them.
// staging=sub_group needs a device with the extension.
var fastKernels = []matmulKernel{
	fast("float", "registers", 4, 70), fast("half", "registers", 2, 20), fast("double", "registers", 2, 20),
	fast("float", "local_memory", 4, 70), fast("half", "local_memory", 2, 20), fast("double", "local_memory", 2, 20),
	fast("float", "async_copy", 2, 60), fast("double", "async_copy", 2, 20),
	{name: "tf32", sample: 200, element: "float", tf32: true, prelude: copyAtOnce + warpsInLocalMemory},
	{name: "half", sample: 200, element: "half", prelude: copyAtOnce + warpsInLocalMemory},
	double("m8n8k4", "1"), double("m16n8k8", "1"), double("m16n8k16", "2"), // m16n8k4 differs from the first only in the instruction
	precision("fp32", 0), precision("tf32x1", 0), precision("tf32x3", 0), precision("fp16", 0),
}

// precision is matmul_precision with one value of the parameter of this name.
func precision(value string, count int) matmulKernel {
	return matmulKernel{
		name: "precision", count: count, element: "float", sample: 40, tf32: value == "tf32x1", halves: value == "fp16", close: true,
		narrow: map[string][]string{"precision": {value}}, prelude: copyAtOnce + warpsInLocalMemory,
	}
}

// double is matmul_double with one instruction, and so many work-groups that share a tile.
func double(instruction, split string) matmulKernel {
	return matmulKernel{
		name: "double", sample: 200, element: "double",
		narrow:  map[string][]string{"instruction": {instruction}, "split_k": {split}},
		prelude: copyAtOnce + sharesInConstantMemory + doublesInLocalMemory,
	}
}

func fast(element, staging string, count, sample int) matmulKernel {
	k := matmulKernel{
		name: "fast", count: count, element: element, sample: sample,
		narrow: map[string][]string{"staging": {staging}},
	}
	if staging == "async_copy" {
		k.prelude = copyAtOnce
	}
	return k
}

// TestFastPrecision: halves, which are summed as floats, are held against the peak of floats.
func TestFastPrecision(t *testing.T) {
	d := hardware.Device{Peaks: &hardware.Peaks{Figures: map[string]hardware.Peak{hardware.PeakMemoryCopy: {Value: 1}, hardware.PeakFloat32: {Value: 1}}}}
	for element, lacks := range map[string]string{"half": "", "float": "", "double": "float64"} {
		err := load(t, "matmul/matmul_fast.yaml", map[string]string{"element": element}, nil).LimitKnown(d)
		if (err == nil) != (lacks == "") || err != nil && !strings.Contains(err.Error(), lacks) {
			t.Errorf("%s: %v", element, err)
		}
	}
}

// TestTF32Tolerance multiplies long, thin matrices, whose few terms no average evens out: what
// rounding the numbers does stays within the tolerance of the specification, and well below a term.
func TestTF32Tolerance(t *testing.T) {
	const size = 700
	random := rand.New(rand.NewPCG(7, 8))
	for _, k := range []int{1, 2, 8, 30} {
		a, b := make([]float64, size*k), make([]float64, size*k)
		for i := range a {
			a[i], b[i] = float64(float32(random.NormFloat64())), float64(float32(random.NormFloat64()))
		}
		roundedA, roundedB := slices.Clone(a), slices.Clone(b)
		roundToTF32(roundedA)
		roundToTF32(roundedB)
		largest := 0.0
		for row := range size {
			for column := range size {
				off := 0.0
				for i := range k {
					off += a[row*k+i]*b[column*k+i] - roundedA[row*k+i]*roundedB[column*k+i]
				}
				largest = max(largest, math.Abs(off))
			}
		}
		p := load(t, "matmul/matmul_tf32.yaml", map[string]string{"k": strconv.Itoa(k)}, nil)
		v, err := p.Variant(sampled(t, p, 1, 1)[0], noDevice)
		if err != nil {
			t.Fatal(err)
		}
		if allowed := v.Tolerance.Absolute; largest > allowed || allowed > 0.1 {
			t.Errorf("k = %d: off by %v, allowed are %v", k, largest, allowed)
		}
	}
}

// roundToTF32 rounds floats to 11 significant bits, halves away from zero.
func roundToTF32(numbers []float64) {
	for i, v := range numbers {
		bits := math.Float32bits(float32(v)) + 1<<12
		numbers[i] = float64(math.Float32frombits(bits &^ (1<<13 - 1)))
	}
}

// copyAtOnce stands for cp.async where there is none.
const copyAtOnce = `
void copy_at_once(int bytes, __local void *to, __global const void *from, int there)
{
    for (int i = 0; i < bytes; i++) {
        ((__local uchar *)to)[i] = i < there ? ((__global const uchar *)from)[i] : 0;
    }
}
#define copy_async(bytes, to, from, there) copy_at_once(bytes, to, from, there)
#define close_group()
#define wait_for(groups)
#line 1
`

// warpsInLocalMemory stands for the instructions that 32 work-items of NVIDIA do together:
// each puts its registers where all can read them.
const warpsInLocalMemory = `
#define share_registers() __local uint shared[items][6];
#define together() barrier(CLK_LOCAL_MEM_FENCE)
#define first_of_warp (get_local_id(0) / 32 * 32)

uint tf32(float v) { return (as_uint(v) + 0x1000) & 0xffffe000; }

uint two_halves(float a, float b)
{
    ushort both[2];
    vstore_half_rte(a, 0, (half *)both);
    vstore_half_rte(b, 1, (half *)both);
    return (uint)both[1] << 16 | both[0];
}

#define read_matrices(r, base, at) \
    do { \
        shared[get_local_id(0)][0] = at; \
        together(); \
        for (int q = 0; q < 4; q++) { \
            r[q] = ((__local uint *)((base) + shared[first_of_warp + q * 8 + get_local_id(0) % 32 / 4][0]))[get_local_id(0) % 4]; \
        } \
        together(); \
    } while (0)

#define read_transposed(r, base, at) \
    do { \
        shared[get_local_id(0)][0] = at; \
        together(); \
        for (int q = 0; q < 4; q++) { \
            const int row = first_of_warp + q * 8 + get_local_id(0) % 4 * 2; \
            const int column = get_local_id(0) % 32 / 4; \
            r[q] = (uint)(base)[shared[row][0] + column] | (uint)(base)[shared[row + 1][0] + column] << 16; \
        } \
        together(); \
    } while (0)

// The value of a register that holds floats, or one of its two halves.
float whole_of(uint r, int i) { return as_float(r); }
float half_of(uint r, int i) { ushort h = i == 0 ? r & 0xffff : r >> 16; return vload_half(0, (const half *)&h); }

// a[row][term] is held by work-item 4 (row % 8) + term / each % 4, each of whose registers
// holds so many terms; rows from 8 on are in the odd registers, the second half of the
// terms in the third and fourth. b[term][column] likewise.
#define multiply_shared(d, a, b, terms, each, value) \
    do { \
        for (int i = 0; i < 4; i++) shared[get_local_id(0)][i] = a[i]; \
        for (int i = 0; i < 2; i++) shared[get_local_id(0)][4 + i] = b[i]; \
        together(); \
        for (int i = 0; i < 4; i++) { \
            const int row = get_local_id(0) % 32 / 4 + i / 2 * 8; \
            const int column = get_local_id(0) % 4 * 2 + i % 2; \
            for (int term = 0; term < terms; term++) { \
                const int holder = term / each % 4; \
                const int second = term / (4 * each); \
                d[i] += value(shared[first_of_warp + row % 8 * 4 + holder][row / 8 + 2 * second], term % each) \
                    * value(shared[first_of_warp + column * 4 + holder][4 + second], term % each); \
            } \
        } \
        together(); \
    } while (0)

#define multiply_tf32(d, a, b) multiply_shared(d, a, b, 8, 1, whole_of)
#define multiply_half(d, a, b) multiply_shared(d, a, b, 16, 2, half_of)
#line 1
`

// doublesInLocalMemory stands for the instructions for doubles. a[row][term] is held by work-item 4 (row % 8) + term % 4, rows from 8
// on in the odd registers, each four terms in the next two; b[term][column] by work-item 4 column + term % 4.
const doublesInLocalMemory = `
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define share_registers() __local double shared[items][12]
#define multiply_shared(d, a, b, slots) \
    do { \
        for (int i = 0; i < 2 * slots; i++) shared[get_local_id(0)][i] = a[i]; \
        for (int i = 0; i < slots; i++) shared[get_local_id(0)][8 + i] = b[i]; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (int i = 0; i < 4; i++) { \
            const int first = get_local_id(0) / 32 * 32; \
            const int row = get_local_id(0) % 32 / 4 + i / 2 * 8; \
            const int column = get_local_id(0) % 4 * 2 + i % 2; \
            for (int term = 0; term < 4 * slots; term++) { \
                d[i] += shared[first + row % 8 * 4 + term % 4][term / 4 * 2 + row / 8] * shared[first + column * 4 + term % 4][8 + term / 4]; \
            } \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
    } while (0)
#define multiply_m8n8k4(d, a, b) multiply_shared(d, a, b, 1)
#define multiply_m16n8k4(d, a, b) multiply_shared(d, a, b, 1)
#define multiply_m16n8k8(d, a, b) multiply_shared(d, a, b, 2)
#define multiply_m16n8k16(d, a, b) multiply_shared(d, a, b, 4)
#line 1
`
