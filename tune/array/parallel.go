package array

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// chunkScalars is the length of the pieces that large arrays are worked on in.
// The data of a fill depends on it: each chunk has its own random sequence.
const chunkScalars = 1 << 16

// forChunks calls do for consecutive chunks of [0, n), on all cores at once and
// in no particular order, and returns when all are done.
func forChunks(n int, do func(chunk, from, to int)) {
	chunks := (n + chunkScalars - 1) / chunkScalars
	var next atomic.Int64
	work := func() {
		for {
			c := int(next.Add(1)) - 1
			if c >= chunks {
				return
			}
			do(c, c*chunkScalars, min((c+1)*chunkScalars, n))
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), chunks) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
}
