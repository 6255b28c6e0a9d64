// Package each makes lists of lists, counts in them, and joins them.
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

// AppendNew appends the items that a list does not have, each once.
func AppendNew[T comparable](list []T, items ...T) []T {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// Indices returns the indices of the items for which a condition holds.
func Indices[T any](items []T, holds func(T) bool) (indices []int) {
	for i, item := range items {
		if holds(item) {
			indices = append(indices, i)
		}
	}
	return indices
}
