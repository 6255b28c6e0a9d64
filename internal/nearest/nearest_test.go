package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"block_size_x", "block_size_y", "restrictions", "u", "nx"}
	for _, c := range []struct{ name, want string }{
		{"restriction", "restrictions"},
		{"block_sise_x", "block_size_x"},
		{"BLOCK_SIZE_Y", "block_size_y"},
		{"nX", "nx"},
		{"v", ""},
		{"temperature", ""},
		{"", ""},
	} {
		if got := Name(c.name, known); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	if got := Hint("x", nil); got != "" {
		t.Errorf("Hint without candidates = %q", got)
	}
}
