// Package each makes lists of lists, and counts in them.
package each

import "slices"

// Of returns what a function makes of each item of a list; nil if there are none.
func Of[S, T any](items []S, make func(S) T) (values []T) {
	values = slices.Grow(values, len(items))
	for _, item := range items {
		values = append(values, make(item))
	}
	return values
}

// Count returns the number of items for which a condition holds.
func Count[T any](items []T, holds func(T) bool) (n int) {
	for _, item := range items {
		if holds(item) {
			n++
		}
	}
	return n
}
