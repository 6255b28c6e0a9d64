package record

import "github.com/ndtune/ndtune/tune"

// A Record is a run read back, whatever the format that it came from.
type Record struct {
	Header  Header
	Results []tune.Result // in the order of arrival, each configuration once
}
