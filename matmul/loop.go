package matmul

// Multiply computes C = A·B on one thread: A is m × k, B is k × n, C is m × n, all row-major.
//
// It is the three nested loops of any introduction, in the order i, k, j: with the sum over k
// innermost, as the formula has it, B would be read down its columns, a cache line for each
// element. It is neither blocked nor vectorised (the Go compiler does not vectorise), so that
// it stands for a loop as one writes it, not for what a CPU can do; OpenBLAS does that.
func Multiply(c, a, b []float32, m, n, k int) {
	for i := range m {
		row := c[i*n : (i+1)*n]
		clear(row)
		for p := range k {
			factor := a[i*k+p]
			for j, v := range b[p*n : (p+1)*n] {
				row[j] += factor * v
			}
		}
	}
}
