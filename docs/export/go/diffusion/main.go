// Diffusion makes a step of diffusion with the tuned kernel: go run ./go/diffusion 1024 1024
package main

import (
	"log"
	"math"
	"math/rand/v2"

	"github.com/ndtune/ndtune/cl"

	"example.com/programs/exported/diffusion"
	"example.com/programs/go/program"
)

func main() {
	nx := program.Argument(1, 1024)
	ny := program.Argument(2, nx)
	p, choice := program.Open(func(d program.Device) (diffusion.Choice, int, error) {
		choice, err := diffusion.Choose(diffusion.Device(d), int64(nx), int64(ny))
		return choice, choice.Level, err
	})
	p.Build(diffusion.Source, choice.Options, diffusion.Kernels)

	u, stepped, random := make([]float32, nx*ny), make([]float32, nx*ny), rand.New(rand.NewPCG(1, 1))
	for i := range u {
		u[i] = random.Float32()
	}
	// The kernel leaves the edges as they are.
	buffers := map[string]any{"u": program.Buffer(p, u), "u_new": program.Buffer(p, u)}
	for range program.Runs + 1 {
		for _, l := range program.Must(diffusion.Launches(choice, buffers)) {
			program.Launch(p, l.Kernel, l.Offset, l.Global, l.Local, l.Arguments)
		}
		p.Finish()
	}
	program.Check(p.Queue.Read(buffers["u_new"].(*cl.Buffer), 0, cl.Bytes(stepped)))
	for i, got := range stepped {
		x, y, want := i%nx, i/nx, float64(u[i])
		if x > 0 && x+1 < nx && y > 0 && y+1 < ny {
			want += 0.225 * (float64(u[i-1]) + float64(u[i+1]) + float64(u[i-nx]) + float64(u[i+nx]) - 4*want)
		}
		if !(math.Abs(float64(got)-want) <= 1e-6) {
			log.Fatalf("u_new[%d][%d] is %g, not %g", y, x, got, want)
		}
	}
	p.Report("diffusion", choice.Record.Device.Name, choice.Matched, choice.Options, choice.Record.Time)
}
