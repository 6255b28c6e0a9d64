// Package include puts the files that an OpenCL source includes in place of its
// #include "…" directives, so that one text holds all that is compiled: it can be sent to
// another process, and digested. It knows the directives of the preprocessor, not the
// language, and evaluates no condition.
package include
