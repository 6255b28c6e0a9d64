// Package python reads the Python expressions of tuning files (T1): it parses them and lowers
// them into nodes of package expression. That package computes nodes without names at once, and
// prints the other nodes in the language of specifications.
//
// It executes nothing as Python. An expression is literals, names, operators, comparisons,
// conditional expressions, comprehensions and calls of a few functions that compute;
// everything else is an [Error] that names the construct and its place. The semantics are Python's: //
// and % round down, / is a true division, a comparison may be chained, True is 1. An integer
// beyond 64 bits is an error, not another number. Lists and comprehensions are unrolled.
package python
