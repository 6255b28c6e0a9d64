package matmul

import (
	"fmt"
	"strings"

	"github.com/ebitengine/purego"
)

// bind makes Go functions, given by pointers, of the functions of a library, by their names. A
// name may be several, with spaces between them, of which the first that is there counts.
func bind(handle uintptr, path string, functions map[string]any) error {
	for names, to := range functions {
		address := uintptr(0)
		for _, name := range strings.Fields(names) {
			if address = lookup(handle, name); address != 0 {
				break
			}
		}
		if address == 0 {
			return fmt.Errorf("%s has no function %s", path, strings.Join(strings.Fields(names), " or "))
		}
		purego.RegisterFunc(to, address)
	}
	return nil
}
