package cl

// Where implementations differ from what the rest of the package may expect, gathered here.

// runsInCaller reports whether the platform runs commands in the thread that waits for them,
// without locks, as Oclgrind does: two threads that wait crash it. A wait behind the caller's
// back is then out of the question, so that transfers that would be waited for in a goroutine
// are done at once.
func (p *Platform) runsInCaller() bool { return p.String() == "Oclgrind" }

// binaryDevices returns the devices to which n binaries belong, of all the program's. PoCL 3.1
// leaves out the devices for which a program was not built, where the standard has an empty
// binary.
func (p *Program) binaryDevices(all []uintptr, n int) []uintptr {
	if built := p.built.Load(); n != len(all) && built != nil && n == len(*built) {
		return *built
	}
	return all
}
