package tutorials

import (
	"github.com/urfave/cli/v2"
)

// All returns the commands of the tutorials.
func All() []*cli.Command {
	return []*cli.Command{diffusionCommand(runDiffusion), matmulCommand(runBench)}
}
