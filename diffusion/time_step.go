package diffusion

import "fmt"

// MaxTimeStep is the longest time step for which the scheme is stable, in units of (cell
// width)² / D.
const MaxTimeStep = 0.25

// checkTimeStep refuses a time step for which the scheme is unstable, or not a step forward.
func checkTimeStep(dt float32) error {
	if dt > 0 && dt <= MaxTimeStep {
		return nil
	}
	return fmt.Errorf("dt = %v: the scheme is stable for time steps above 0 and up to %v", dt, MaxTimeStep)
}
