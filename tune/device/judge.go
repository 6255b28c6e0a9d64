package device

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/task"
)

// maxSentence is how many bytes of a command's standard output become the reason of a result.
const maxSentence = 1000

// judgeByCommand hands the buffers and images to the problem's command. An error that is no *Failure says that the
// command itself does not work, which is no configuration's fault.
func (t *trial) judgeByCommand(ctx context.Context, command *task.Command) error {
	folder, err := os.MkdirTemp(t.scratch, "ndtune-verify-")
	if err != nil {
		return fmt.Errorf("make a folder for verify.command: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := t.writeBuffers(folder); err != nil {
		return err
	}
	ended, err := process.Command{
		Args: append(command.Args[:len(command.Args):len(command.Args)], folder), Dir: command.Dir,
		Timeout: command.Timeout, Output: maxSentence,
	}.Run(ctx)
	if err != nil {
		return fmt.Errorf("verify.command: %w", err)
	}
	sentence := strings.Join(strings.Fields(ended.Stdout), " ")
	switch {
	case ended.Status == 0:
		return nil
	case ended.Status == 1 && sentence != "":
		if ended.More {
			sentence += " …"
		}
		return fail(tune.Correctness, "%s", sentence)
	}
	fault := fmt.Sprintf("exit status %d", ended.Status)
	if ended.Status == 1 {
		fault += " without a sentence on standard output"
	}
	if printed := strings.TrimSpace(ended.Stderr); printed != "" {
		fault += "\n" + printed
	}
	return fmt.Errorf("verify.command: %s neither accepts nor refuses the outputs (exit status 0, or 1 with a reason): %s",
		strings.Join(command.Args, " "), fault)
}

// writeBuffers writes what a command gets: the outputs as the last launch left them, the initial content
// of all buffers and images, and the configuration.
func (t *trial) writeBuffers(folder string) error {
	outputs, inputs := filepath.Join(folder, "outputs"), filepath.Join(folder, "inputs")
	for _, f := range []string{outputs, inputs} {
		if err := os.Mkdir(f, 0o700); err != nil {
			return fmt.Errorf("make a folder for verify.command: %w", err)
		}
	}
	for i, info := range t.session.infos {
		if !info.Kind.HasContent() {
			continue
		}
		content, err := t.problem.Content(i, t.variant.Elements[i])
		if err != nil {
			return err
		}
		if err := writeArray(inputs, info, t.variant.Pixels[i], content); err != nil {
			return err
		}
		if !info.Output {
			continue
		}
		holder := t.variant.Holders[i]
		out, err := t.session.read(holder, nil)
		if err != nil {
			return fail(tune.Runtime, "%v", err)
		}
		if err := writeArray(outputs, info, t.variant.Pixels[holder], out); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(t.problem.Values(t.variant.Configuration), "", "  ")
	if err != nil {
		return fmt.Errorf("encode the configuration for verify.command: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, "configuration.json"), append(text, '\n'), 0o600)
}

// writeArray writes the content of an argument. The shape of an image has its sizes in reverse, as x comes first; structs are rows of
// bytes.
func writeArray(folder string, info launch.Argument, pixels []int, a *array.Array) error {
	shape := slices.Clone(pixels)
	slices.Reverse(shape)
	if a.Struct != nil {
		shape, a = []int{a.Len(), a.Struct.Size}, &array.Array{Type: a.Type, Bytes: a.Bytes}
	}
	return array.WriteNPY(OutputPath(folder, info), a, shape)
}

// OutputPath returns the path of the file of an argument in a folder.
func OutputPath(folder string, a launch.Argument) string { return filepath.Join(folder, a.Name+".npy") }
