// Package spec reads specification files: YAML that says which kernel is tuned, over which
// parameters, and how its output is verified. docs/spec.md is the reference of the format.
//
// The package looks after the form: keys, types, positions, and the files that a
// specification names. What the values mean is checked by [problem.New]; errors of
// either kind come out alike, all at once, each with its file, line, column and field.
//
// It does not guess. An unknown key, a number that two versions of YAML read differently
// and a file that is not where it was looked for are refused, never skipped, before any
// device is touched.
package spec
