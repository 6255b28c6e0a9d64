// Package floors says which package of this module may import which. Its test holds the
// code to it.
package floors

// Floors are the packages by floor, from the ground up. An import points strictly down.
// docs/architecture.md says what each room is for.
var Floors = [][]string{
	{"internal/each", "internal/nearest", "internal/excerpt", "internal/floors", "internal/golden", "internal/figure", "internal/browser", "internal/files", "internal/standin", "internal/standin/screen", "internal/natsserver", "internal/library"},
	{"internal/picture", "internal/markdown", "internal/cuda", "kernels", "tune/process", "tune/hardware", "tune/array", "tune/source", "tune/search/gaussian", "tune/expression"},
	{"cl", "tune/space", "tune/footprint", "tune/observe"},
	{"tune/score"},
	{"tune/definition"},
	{"tune/search", "tune/problem"},
	{"tune", "tune/search/command"},
	{"tune/device", "tune/record", "tune/loop"},
	{"tune/capture", "tune/device/peak", "tune/compare", "tune/wisdom"},
	{"tune/spec", "tune/worker", "tune/simulate", "tune/report", "tune/export", "tune/check"},
	{"diffusion", "matmul", "tune/live", "tune/scaffold", "tune/fleet", "internal/foreign"},
	{"tune/session"},
	{"cmd/ndtune/internal/ui"},
	{"cmd/ndtune/internal/flags"},
	{"cmd/ndtune/internal/job"},
	{"cmd/ndtune/internal/commands", "cmd/ndtune/internal/tutorials"},
	{"cmd/ndtune"},
}
