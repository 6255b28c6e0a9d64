package peak

import (
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
)

// The content of buffers, in which all numbers differ; see peak_fill.
const (
	contentFactor = 2654435769
	contentOffset = 12345
)

// content fills and checks buffers, with the kernels of kernels/peak/content.cl.
type content struct {
	meter  *Meter
	result *cl.Buffer // one number
}

func (m *Meter) openContent() (*content, error) {
	result, err := m.Context.NewBuffer(cl.ReadWrite, 4)
	if err != nil {
		return nil, err
	}
	return &content{m, result}, nil
}

func (c *content) release() { c.result.Release() }

// longestLoop bounds the numbers of a work-item: llvmpipe silently ends loops after 65535 rounds.
const longestLoop = 1 << 14

// run launches a kernel over n numbers, and waits.
func (c *content) run(name string, n int, arguments ...any) error {
	var defines []define
	if c.meter.isCPU() {
		defines = append(defines, define{"contiguous", ""})
	}
	k, err := c.meter.kernel("content.cl", name, defines...)
	if err != nil {
		return err
	}
	if err := k.SetArgs(arguments...); err != nil {
		return err
	}
	units := max(1, c.meter.Info.ComputeUnits)
	local, groups := 64, max(1, min(n/64, 64*units))
	if c.meter.isCPU() {
		local, groups = 1, max(4*units, n/longestLoop+1)
	}
	_, err = c.meter.once(k, device.Line(groups, local))
	return err
}

// fill sets number i of the first n numbers of a buffer to i·factor + offset.
func (c *content) fill(b *cl.Buffer, n int, factor, offset uint32) error {
	return c.run("peak_fill", n, b, uint32(n), factor, offset)
}

// check returns an error unless the first n numbers of a buffer are those that fill makes.
func (c *content) check(b *cl.Buffer, n int, factor, offset uint32) error {
	right, err := c.reduce(func() error { return c.run("peak_count", n, b, uint32(n), factor, offset, c.result) })
	if err == nil && int(right) != n {
		err = fmt.Errorf("the result is wrong: of %d numbers %d are right", n, right)
	}
	return err
}

// total returns the sum of the first n numbers of a buffer, modulo 2^32.
func (c *content) total(b *cl.Buffer, n int) (uint32, error) {
	return c.reduce(func() error { return c.run("peak_sum", n, b, uint32(n), c.result) })
}

func (c *content) reduce(run func() error) (uint32, error) {
	var result [1]uint32
	q := c.meter.Queue
	if err := q.Write(c.result, 0, cl.Bytes(result[:])); err != nil {
		return 0, err
	}
	if err := run(); err != nil {
		return 0, err
	}
	if err := q.Read(c.result, 0, cl.Bytes(result[:])); err != nil {
		return 0, fmt.Errorf("read a result: %w", err)
	}
	return result[0], nil
}

// contentTotal returns the sum of the first n numbers of the content, modulo 2^32.
func contentTotal(n int) uint32 {
	pairs := uint64(n) * uint64(n-1) / 2 // n is at most 2^31: it does not overflow
	return uint32(pairs)*contentFactor + uint32(n)*contentOffset
}
