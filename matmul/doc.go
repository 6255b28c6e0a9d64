// Package matmul compares ways to multiply matrices, C = A·B in float32, over their size: a
// loop on one thread of the CPU ([Multiply]), tuned OpenCL kernels, and the libraries that are
// there, OpenBLAS and cuBLAS, which are loaded at run time and never needed.
//
// Each of them, an [Entrant], multiplies in a process of its own ([Process]): a library that
// crashes or hangs costs one measurement and none of the others. A [Bench] plans who takes part and
// has kernels tuned; a [Sweep] goes through the sizes, from small to large, for as long as its time
// limit lets it; [Tables] and [Wins] show the results. The package times nothing
// whose result is wrong, extrapolates nothing, and says of every measurement that is missing
// why it is.
//
// # What is timed
//
// All matrices are square, N × N, row-major, of normally distributed numbers. The
// multiplication alone is timed by the device's events (by the host's clock on the CPU, and
// where a driver's timestamps are unusable). A round trip copies A and B to the device,
// multiplies, and copies C back, by the host's clock, from and to ordinary memory, with
// buffers and kernel made before. On the CPU there is nothing to copy.
//
// # What is right
//
// Every element of a result takes part in a check that costs N² operations instead of N³, and
// 256 of them are computed in double precision: see [Matrices.Check].
//
// # In a process of its own
//
// A process is the program started again with NDTUNE_MATMUL in its environment: [Main], which
// the program's main function calls first, then serves and never returns. Both sides write
// JSON, one message a line, on the process's standard input and output. What a library prints
// there is passed over; what it prints to standard error is kept to explain its end.
package matmul
