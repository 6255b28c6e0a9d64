package kernels_test

// fastKernels are the shapes of matmul_fast in every precision. What stands for cp.async
// here copies at once, which is a way in which cp.async may do it; sub_group is tested on
// devices that have the extension.
var fastKernels = []matmulKernel{
	fast("float", "registers", 8), fast("half", "registers", 3), fast("double", "registers", 3),
	fast("float", "local_memory", 6), fast("half", "local_memory", 3), fast("double", "local_memory", 3),
	fast("float", "async_copy", 4), fast("double", "async_copy", 2),
}

func fast(element, staging string, count int) matmulKernel {
	k := matmulKernel{
		name: "fast", count: count, element: element, sample: 200,
		narrow: map[string][]string{"staging": {staging}},
	}
	if staging == "async_copy" {
		k.prelude = copyAtOnce
	}
	return k
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
