// Package kernels holds the OpenCL kernels that come with ndtune and the specs
// that tune them, embedded. For each kernel, diffusion/diffuse_tiled.cl say,
// the spec of the same name stands beside it: diffusion/diffuse_tiled.yaml. Where
// there is a diffusion/diffuse_tiled.cu, too, it is the same kernel in CUDA C, with the
// same parameters, which the other one explains. Of
// matmul/matmul_tensor.cl there are two, by precision: matmul_tf32.yaml and
// matmul_half.yaml. matmul/matmul_hopper.cl takes floats, tf32 and halves with one. What kernels include ends in .h.
//
// A kernel here is right for every configuration of its spec and for every
// problem size that its opening comment allows, also where the size is no
// multiple of the block; what a device cannot run, its limits refuse, not the spec.
package kernels

import "embed"

// FS holds the folders of the bundled kernels: copy, the copy of a buffer, which shows what
// the memory of a device gives; diffusion, one explicit step of the diffusion equation in
// two dimensions; matmul, the multiplication of matrices of float.
// matmul/matmul_reference.cl is what its others are compared with; and peak, what the peaks of a
// device are measured with, which has no specs: tune/device/peak launches it.
//
//go:embed copy diffusion matmul peak
var FS embed.FS
