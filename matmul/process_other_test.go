//go:build !linux

package matmul

// misbehave does nothing where no test needs it.
func misbehave() {}
