package diffusion

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkAdvance is the CPU reference on one thread and on all cores. Bytes are those that a
// step must move: one float read and one written a cell.
func BenchmarkAdvance(b *testing.B) {
	for _, n := range []int{256, 1024, 4096} {
		for _, threads := range []int{1, 0} {
			name := fmt.Sprintf("%dx%d/one thread", n, n)
			if threads == 0 {
				name = fmt.Sprintf("%dx%d/all cores", n, n)
			}
			b.Run(name, func(b *testing.B) {
				f := NewField(n, n, 1)
				b.SetBytes(int64(8 * f.InnerCells()))
				b.ResetTimer()
				t, err := Advance(context.Background(), f, b.N, testDT, threads)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(t.UpdatesPerSecond()/1e6, "Mupdates/s")
			})
		}
	}
}

// BenchmarkSimulation is the naive kernel on the test device.
func BenchmarkSimulation(b *testing.B) {
	d := testDevice(b)
	for _, n := range []int{256, 1024} {
		b.Run(fmt.Sprintf("%dx%d", n, n), func(b *testing.B) {
			p := bundled(b, "naive", n, n, nil)
			f := NewField(n, n, 1)
			s, err := NewSimulation(d, p, someConfigurations(b, d, p, 1)[0], f)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.SetBytes(int64(8 * f.InnerCells()))
			b.ResetTimer()
			t, err := s.Advance(context.Background(), b.N)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(t.UpdatesPerSecond()/1e6, "Mupdates/s")
		})
	}
}
