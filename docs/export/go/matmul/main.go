// Matmul multiplies matrices with the tuned kernel: go run ./go/matmul 512 512 512
package main

import (
	"log"
	"math"
	"math/rand/v2"

	"github.com/ndtune/ndtune/cl"

	"example.com/programs/exported/matmul"
	"example.com/programs/go/program"
)

func matrix(random *rand.Rand, rows, columns int) []float32 {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = 2*random.Float32() - 1
	}
	return values
}

func main() {
	m := program.Argument(1, 512)
	n, k := program.Argument(2, m), program.Argument(3, m)
	p, choice := program.Open(func(d program.Device) (matmul.Choice, int, error) {
		choice, err := matmul.Choose(matmul.Device(d), int64(m), int64(n), int64(k))
		return choice, choice.Level, err
	})
	p.Build(matmul.Source, choice.Options, matmul.Kernels)

	random := rand.New(rand.NewPCG(1, 1))
	a, b, c := matrix(random, m, k), matrix(random, k, n), matrix(random, m, n)
	buffers := map[string]any{"A": program.Buffer(p, a), "B": program.Buffer(p, b), "C": program.Buffer(p, c)}
	for range program.Runs + 1 {
		for _, l := range program.Must(matmul.Launches(choice, buffers)) {
			program.Launch(p, l.Kernel, l.Offset, l.Global, l.Local, l.Arguments)
		}
		p.Finish()
	}
	program.Check(p.Queue.Read(buffers["C"].(*cl.Buffer), 0, cl.Bytes(c)))
	for part := range 5 { // five rows
		row := (m - 1) * part / 4
		for j, got := range c[row*n:][:n] {
			want := 0.0
			for i, left := range a[row*k:][:k] {
				want += float64(left) * float64(b[i*n+j])
			}
			if !(math.Abs(float64(got)-want) <= 1e-6*float64(k+16)+1e-6*math.Abs(want)) {
				log.Fatalf("C[%d][%d] is %g, not %g", row, j, got, want)
			}
		}
	}
	p.Report("matmul", choice.Record.Device.Name, choice.Matched, choice.Options, choice.Record.Time)
}
