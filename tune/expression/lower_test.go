package expression

import "testing"

// TestRoot: which expressions have nodes.
func TestRoot(t *testing.T) {
	for source, want := range map[string]bool{
		"a * b <= device.local_memory": true, `s == "x" and a in [1, b]`: true, "true_div(a, zero) > f": true, "power(a, 2) > 3": true,
		"compare(a, f) == 0": true, "sqrt(a) < 2": true, "a in 1..b": true,
		"power(2, floor_mod(a, 4)) > 3": true, "power(a, abs(b)) > 3": true, "power(2, floor_mod(a, b)) > 3": false, "power(a, b) > 3": false, "len([a, b]) > 1": false, "let x = a; x > 1": true, "mixed > a": false, `s startsWith "x"`: false,
	} {
		e, err := Compile(source, testScope())
		if err != nil {
			t.Fatal(err)
		}
		if root, _ := e.Root(); (root != nil) != want {
			t.Errorf("%s has nodes: %v, want %v", source, root != nil, want)
		}
	}
}
