package device

import (
	"context"

	"github.com/ndtune/ndtune/tune/array"
)

// A Stage is a part of an evaluation that can take long, or forever.
type Stage string

// The stages, in order. Reference comes once for all configurations, mostly.
const (
	StageBuild       Stage = "build"        // compiling, or fetching what was compiled; making buffers
	StageReference   Stage = "reference"    // making the right output; StageBuild goes on after it
	StageFirstLaunch Stage = "first launch" // in which some drivers go on compiling
	StageVerify      Stage = "verify"       // comparing the output, restoring the buffers
	StageMeasure     Stage = "measure"      // the warm-up and the timed launches
)

// A Supervisor follows an evaluation and has a say in it: the process above a worker. Its
// methods are called by the goroutine that evaluates.
type Supervisor interface {
	// Begin is called as a stage begins, with the number of launches that are waited for
	// together (0 where none is). In StageMeasure it is called for each batch.
	Begin(stage Stage, launches int)

	// Timing is called before a configuration is timed. It returns when nothing else uses
	// the device, which then stays so until the evaluation ends.
	Timing(ctx context.Context) error

	// Reference is asked for right outputs that another evaluator of the problem has made,
	// by a key for what they depend on; nil means that there are none. Made hands on those
	// that were made here. The arrays are not changed by either side.
	Reference(ctx context.Context, key string) (map[string]*array.Array, error)
	Made(key string, outputs map[string]*array.Array)
}

// unsupervised is the Supervisor of an evaluator that has its process and its device to
// itself.
type unsupervised struct{}

func (unsupervised) Begin(Stage, int)             {}
func (unsupervised) Timing(context.Context) error { return nil }
func (unsupervised) Reference(context.Context, string) (map[string]*array.Array, error) {
	return nil, nil
}
func (unsupervised) Made(string, map[string]*array.Array) {}
