package diffusion

import (
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// CommonConfiguration returns the configuration of a bundled diffusion kernel that was not tuned: one
// that is likely to be good on devices of this kind.
func CommonConfiguration(path string, d hardware.Device) map[string]space.Value {
	switch path {
	case "diffusion/diffuse_stencil.yaml":
		return commonStencil(d)
	case "diffusion/diffuse_temporal.yaml":
		return commonTemporal(d)
	}
	// 256 work-items, in rows of 64, and a few cells for each.
	return map[string]space.Value{"block_size_x": 64, "block_size_y": 4, "tile_size_x": 1, "tile_size_y": 4}
}

// commonStencil has vectors of the widest access of a GPU, or of the registers of a CPU.
func commonStencil(d hardware.Device) map[string]space.Value {
	common := map[string]space.Value{
		"block_size_x": 64, "block_size_y": 4, "vector_width": 4, "rows": 2, "walk": "streaming", "unroll_rows": 2,
		"skip_checks": "item", "neighbours": "cached",
	}
	if d.Type == "cpu" {
		common["block_size_x"], common["vector_width"], common["rows"], common["unroll_rows"] = 8, 16, 1, 1
	}
	return common
}

// commonTemporal makes eight steps a launch: on a CPU in strips of 512 columns, which its second
// cache holds; on NVIDIA in strips of a warp; elsewhere of 64 work-items, a wavefront of AMD's, or
// two.
func commonTemporal(d hardware.Device) map[string]space.Value {
	common := map[string]space.Value{
		"time_steps": 8, "rows_kept_in": "registers", "block_size_x": 64, "block_size_y": 1, "vector_width": 4, "vectors": 1,
		"rows": 64, "ahead": 1, "arithmetic": "diagonal", "unroll_rows": 2, "skip_checks": "group", "neighbours": "local_memory",
		"staging": "registers",
	}
	switch {
	case d.Type == "cpu":
		common["rows_kept_in"], common["arithmetic"], common["neighbours"] = "cache", "plain", "shifted"
		common["block_size_x"], common["vector_width"], common["vectors"] = 1, 16, 32
		common["rows"], common["unroll_rows"] = 256, 1
	case strings.Contains(d.Vendor, "NVIDIA"):
		common["block_size_x"], common["block_size_y"], common["neighbours"] = 32, 4, "shuffle_nv"
		common["rows"], common["ahead"], common["unroll_rows"] = 32, 4, 4
	}
	return common
}
