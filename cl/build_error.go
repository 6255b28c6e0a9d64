package cl

import "strings"

// BuildError is a program that did not build.
type BuildError struct {
	Device  *Device // the one on which it failed, or the first of several
	Options string
	Log     string // all that the compiler said, at any length
	Err     error  // the *Error of the call; its Status is mostly BuildProgramFailure
}

// Error returns the call and its status, the options, the device, and the whole log.
func (e *BuildError) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	b.WriteString(" on ")
	b.WriteString(e.Device.String())
	if e.Options != "" {
		b.WriteString(" with ")
		b.WriteString(e.Options)
	}
	if log := strings.TrimSpace(e.Log); log != "" {
		b.WriteString(":\n")
		b.WriteString(log)
	}
	return b.String()
}

// Unwrap returns the *Error of the call.
func (e *BuildError) Unwrap() error { return e.Err }

// buildError finds the device on which the build failed, and its log.
func (p *Program) buildError(cause *Error, options string, devices []*Device) *BuildError {
	e := &BuildError{Device: devices[0], Options: options, Err: cause}
	for _, d := range devices {
		if status, err := p.BuildStatus(d); err == nil && status == BuildFailed {
			e.Device = d
			break
		}
	}
	e.Log, _ = p.BuildLog(e.Device) // no log is what there is then
	return e
}
