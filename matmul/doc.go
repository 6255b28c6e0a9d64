// Package matmul compares implementations of matrix multiplication, C = A·B in several precisions, over the size:
// a loop on one CPU thread ([Multiply]), tuned kernels in OpenCL C and CUDA C, OpenBLAS and cuBLAS. The libraries are
// optional; they are loaded at run time.
//
// Each implementation, an [Entrant], runs in its own process ([Process]), so that a library that crashes
// or hangs costs one measurement only. A [Bench] selects the entrants and tunes kernels. A [Sweep]
// measures the sizes from small to large within its time limit. [Tables] and [Wins] show the results.
// The package does not time wrong results, does not extrapolate, and gives the reason for each missing
// measurement.
//
// # Times
//
// Matrices are row-major and have normally distributed numbers. The multiplication alone
// is timed by the device's events, or by the host's clock on the CPU and on drivers with unusable
// timestamps. A round trip copies A and B to the device, multiplies, and copies C back to ordinary
// memory. It is timed by the host's clock, with buffers and kernel made before. The CPU has no round
// trips.
//
// # Checks
//
// A check involves every element of a result with N² operations instead of N³, and computes 256 elements
// in double precision; see [Matrices.Check]. The errors of a result are measured with other numbers,
// too; see [Matrices.Errors].
//
// # Processes
//
// A process is the program itself, with NDTUNE_MATMUL in its environment. Its main function first calls
// [Main], which then serves and does not return. Both sides write JSON, one message a line, on the
// process's standard input and output. Other lines, printed by libraries, are ignored; standard error
// is kept to explain the end of the process.
//
// # Reasons
//
// OpenBLAS and cuBLAS are loaded at run time, and nothing else needs them. Each entrant runs in a process of its own: a crash of a
// vendor's library loses one measurement, and none shares OpenCL's or CUDA's libraries with another. cuBLAS is called with A and B exchanged, because it
// takes column-major matrices: the memory of a row-major matrix is that of its transpose, and Cᵀ = Bᵀ·Aᵀ.
package matmul
