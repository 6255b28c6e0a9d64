// Package space holds the search space of a tuning problem: parameters with their
// values, configurations, and the restrictions that say which configurations are valid.
//
// A [Space] is the ordered list of all configurations that satisfy the restrictions, in
// the order of an odometer whose last parameter turns fastest. Configurations are
// addressed by their index, so that a search strategy can work on plain integers.
//
// The package knows nothing of kernels, devices or time. The language of restrictions is that
// of package expression.
package space
