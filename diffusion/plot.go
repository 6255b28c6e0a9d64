package diffusion

// A Phase is one row of a picture: the field at a moment, as the device and as the CPU
// computed it.
type Phase struct {
	Name   string // «after 1000 steps»
	Device *Field // nil: left out
	CPU    *Field // nil: left out
}
