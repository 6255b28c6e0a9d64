package record

import (
	"strings"

	"github.com/ndtune/ndtune/tune"
)

// Kernel Tuner has three kinds of failures, and writes the name of one where the value of
// the objective would stand, in its cache files and in T4. Readers know no others.
const (
	compilationFailed = "CompilationFailedConfig"
	runtimeFailed     = "RuntimeFailedConfig"
	invalidConfig     = "InvalidConfig"

	// errorValue is what old versions write as the time of any failure.
	errorValue = 1e20
)

// errorName is the name of a failure.
func errorName(s tune.Status) string {
	switch s {
	case tune.Compile:
		return compilationFailed
	case tune.Constraints:
		return invalidConfig
	}
	return runtimeFailed // of a timeout and a wrong output too
}

// statusOfError is the status of a failure by the name that Kernel Tuner, in whatever
// version, gives it. Some versions write an empty name.
func statusOfError(name string) tune.Status {
	for _, known := range []struct {
		part   string
		status tune.Status
	}{
		{"compil", tune.Compile},
		{"invalid", tune.Constraints},
		{"constraint", tune.Constraints},
		{"timeout", tune.Timeout},
		{"correctness", tune.Correctness},
		{"verif", tune.Correctness},
	} {
		if strings.Contains(strings.ToLower(name), known.part) {
			return known.status
		}
	}
	return tune.Runtime
}
