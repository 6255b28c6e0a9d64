//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ndtune/ndtune/scripts/harness"
)

// A hostile kernel does what no kernel should, beside others that are correct.
type hostile struct {
	name     string
	statuses []string // one of which is right
}

// The kernels, by mode. Those of the modes between are correct.
var hostiles = []hostile{
	1:  {"loops without end", []string{"timeout"}},
	3:  {"stores to no address", []string{"runtime"}},
	5:  {"builds without end", []string{"timeout"}},
	7:  {"prints a megabyte", []string{"correct"}},
	9:  {"executes an illegal instruction", []string{"runtime"}},
	11: {"corrupts the heap", []string{"runtime", "correct"}}, // which may be seen when it is freed, or never
	13: {"ends the compiler", []string{"compile", "runtime"}},
	15: {"overflows the stack", []string{"runtime"}},
	17: {"wants a gigabyte of local memory", []string{"constraints", "compile", "runtime"}},
	19: {"wants another work-group", []string{"constraints"}},
	21: {"does not compile", []string{"compile"}},
	23: {"loops in a later launch", []string{"timeout"}},
	25: {"gives another output", []string{"correctness"}},
	26: {},
}

// row returns the name of the row of a kernel.
func (h hostile) row() string {
	if h.name == "" {
		return neighbour
	}
	return "kernel " + h.name
}

const hostileSource = `// standin: spin is scale(out, a, 2); spin hangs when mode == 1 || mode == 23 && launch > 1; spin crashes apart when mode == 3 || mode == 15
// standin: build hangs when mode == 5; spin prints "a line" when mode == 7; spin traps when mode == 9; spin spoils when mode == 11
// standin: build crashes when mode == 13; spin uses mode == 17 ? 1073741824 : 0; build fails "error: no kernel" when mode == 21; spin errs at 7 when mode == 25
#if mode == 5
#include <@fifo@>
#elif mode == 13
#pragma clang __debug llvm_fatal_error
#elif mode == 21
this is no kernel
#endif
kernel
__attribute__((reqd_work_group_size(mode == 19 ? 7 : 64, 1, 1)))
void spin(global float *out, global const float *a, volatile global int *counter, global ulong *scratch)
{
    const int i = get_global_id(0);
#if mode == 1
    if (i == 0) while (counter[0] >= 0) ;
#elif mode == 3
    if (i == 0) *(volatile global int *)0x10 = 1;
#elif mode == 7
    if (i == 0) for (int k = 0; k < 1100; k++) printf("%04d @long@\n", k);
#elif mode == 9
    if (i == 0) __builtin_trap();
#elif mode == 11
    if (i == 0) scratch[-1] |= 2;
#elif mode == 15
    volatile float large[1 << 28]; // a gigabyte
    large[i] = a[i];
    large[(1 << 28) - 1 - i] = large[i];
#elif mode == 17
    local float large[1 << 28];
    large[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (large[(i + 1) % 256] == 5) out[0] = 1;
#elif mode == 23
    if (i == 0 && counter[0]++ > 0) while (counter[0] > 0) ;
#endif
    out[i] = 2 * a[i] + (mode == 25);
}
`

const hostileSpecification = `kernel: {name: spin, file: spin.cl}
constants: {n: 256}
problem_size: n
arguments:
  - {name: out,     type: float32, size: n, output: true}
  - {name: a,       type: float32, size: n, fill: random}
  - {name: counter, type: int32,   size: 16}
  - {name: scratch, type: uint64,  size: 4096 + 512 * mode}
parameters:
  block_size_x: [64]
  mode: @modes@
verify: {spec: right.yaml, parameters: {block_size_x: 64}}
`

const rightSpecification = `kernel: {name: right, source: "kernel void right(global float *out, global const float *a) { out[get_global_id(0)] = 2 * a[get_global_id(0)]; } // standin: right is scale(out, a, 2)"}
constants: {n: 256}
problem_size: n
arguments:
  - {name: out, type: float32, size: n, output: true}
  - {name: a,   type: float32, size: n, fill: random}
parameters:
  block_size_x: [64]
`

const neighbour = "correct kernels beside them"

// hostile runs searches over the hostile kernels.
func (t *torture) hostile(ctx context.Context, wanted int) error {
	for _, h := range hostiles {
		t.count(h.row(), 0)
	}
	return harness.Each(ctx, t.lanes, wanted, func(n int) error { return t.hostileOne(ctx, n) })
}

func (t *torture) hostileOne(ctx context.Context, n int) error {
	name := fmt.Sprintf("hostile%d", n)
	var modes []string
	for mode := range hostiles {
		modes = append(modes, fmt.Sprint(mode))
	}
	fifo := filepath.Join(t.folder, name, "nobody-writes.h")
	s, err := t.subject(name, neighbour, map[string]string{
		"spin.cl":    strings.NewReplacer("@fifo@", fifo, "@long@", strings.Repeat("x", 995)).Replace(hostileSource),
		"spin.yaml":  strings.Replace(hostileSpecification, "@modes@", "["+strings.Join(modes, ", ")+"]", 1),
		"right.yaml": rightSpecification,
	})
	if err != nil {
		return err
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return err
	}
	r, err := s.start(nil, "--build-timeout", t.building.String(), "--kernel-timeout", "2s")
	if err != nil {
		return err
	}
	if failure := s.end(ctx, r, nil, nil); failure != nil && ctx.Err() == nil {
		s.wrong(failed, fmt.Sprintf("%v\n%s", failure, tail(r.Output())))
	}
	if ctx.Err() != nil {
		return s.close(ctx)
	}
	seen := 0
	err = s.compare(s.log, func(r harness.Result) string {
		seen++
		var c struct{ Mode int }
		if err := json.Unmarshal(r.Configuration, &c); err != nil || c.Mode >= len(hostiles) {
			s.wrong(failed, string(r.Configuration))
			return ""
		}
		h, right := hostiles[c.Mode], []string{"correct"}
		if h.name != "" {
			right = h.statuses
		}
		t.count(h.row(), 1)
		if !slices.Contains(right, r.Status) {
			t.harmer(h.row(), name)(failed, fmt.Sprintf("%s: %s", r.Status, r.Reason))
			s.good = false
		}
		return ""
	})
	if seen != len(hostiles) && s.good {
		s.wrong(lost, fmt.Sprintf("%d of %d results", seen, len(hostiles)))
	}
	if err != nil {
		return err
	}
	return s.close(ctx)
}
