package spec

import "strings"

// A position is a place in a file, from 1.
type position struct{ line, column int }

// locate finds the place of a field, or of the nearest field that holds it.
func (d *document) locate(field string) position {
	for field != "" {
		if at, ok := d.at[field]; ok {
			return at
		}
		field = outer(field)
	}
	return d.at[""]
}

// outer is the field that holds a field: «arguments[0].size» → «arguments[0]» →
// «arguments» → «».
func outer(field string) string { return field[:max(0, strings.LastIndexAny(field, ".["))] }
