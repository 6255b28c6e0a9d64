package cl_test

import "testing"

// A launch of a kernel that does nothing, until its times are known: what a measurement
// costs beside the kernel itself.
func BenchmarkLaunch(b *testing.B) {
	r := newRig(b)
	k := r.kernel("// standin: nothing is nothing()\nkernel void nothing(global int *o, int n) { }", "nothing")
	r.check(k.SetArgs(r.buffer(make([]byte, 4)), int32(1)))
	global, local := []int{64}, []int{64}
	r.done(r.queue.EnqueueKernel(k, nil, global, local)) // some drivers compile at the first launch
	b.ReportAllocs()
	for b.Loop() {
		e, err := r.queue.EnqueueKernel(k, nil, global, local)
		r.check(err)
		r.check(e.Wait())
		_, err = e.Profile()
		r.check(err)
		e.Release()
	}
}

func BenchmarkSetArg(b *testing.B) {
	r := newRig(b)
	k := r.kernel("// standin: nothing is nothing()\nkernel void nothing(global int *o, int n) { }", "nothing")
	buffer := r.buffer(make([]byte, 4))
	for _, c := range []struct {
		name string
		i    int
		v    any
	}{{"buffer", 0, buffer}, {"int", 1, int32(1000)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.check(k.SetArg(c.i, c.v))
			}
		})
	}
}

func BenchmarkProfile(b *testing.B) {
	r := newRig(b)
	source := r.buffer(make([]byte, 4))
	e := r.event(r.queue.EnqueueCopy(source, r.buffer(make([]byte, 4)), 0, 0, 4))
	r.check(e.Wait())
	b.ReportAllocs()
	for b.Loop() {
		_, err := e.Profile()
		r.check(err)
	}
}

func BenchmarkRead4KiB(b *testing.B) {
	r := newRig(b)
	buffer := r.buffer(make([]byte, 4096))
	data := make([]byte, 4096)
	b.ReportAllocs()
	b.SetBytes(4096)
	for b.Loop() {
		r.check(r.queue.Read(buffer, 0, data))
	}
}
