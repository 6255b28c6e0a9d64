package tune

// A Status says what became of a configuration, in the words of the T4 format
// (https://github.com/auto-tuning-hub).
type Status string

// The statuses.
const (
	Correct     Status = "correct"     // measured; verified where the problem has a verification
	Compile     Status = "compile"     // the kernel does not build
	Runtime     Status = "runtime"     // the launch failed
	Correctness Status = "correctness" // the output is wrong
	Timeout     Status = "timeout"     // building or running took too long
	Constraints Status = "constraints" // the device cannot run it, or it breaks a restriction
)

// Statuses are all statuses in the order in which tables list them.
func Statuses() []Status {
	return []Status{Correct, Constraints, Compile, Runtime, Correctness, Timeout}
}

// Text is the status for people, after a number of configurations: «3 did not compile».
func (s Status) Text() string {
	switch s {
	case Constraints:
		return "beyond the device's limits"
	case Compile:
		return "did not compile"
	case Runtime:
		return "failed to run"
	case Correctness:
		return "gave wrong output"
	case Timeout:
		return "timed out"
	}
	return string(s)
}
