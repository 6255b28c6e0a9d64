// Package space holds the search space of a tuning problem: parameters with their
// values, configurations, the expressions of a specification in compiled form, and the
// restrictions that say which configurations are valid.
//
// A [Space] is the ordered list of all configurations that satisfy the restrictions, in
// the order of an odometer whose last parameter turns fastest. Configurations are
// addressed by their index, so that a search strategy can work on plain integers.
//
// The package knows nothing of kernels, devices or time, and it refuses expressions that
// could reach anything but the values handed to them: there is no clock, no environment,
// no file behind a restriction.
package space
