package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/process"
)

// A commandJudge is the problem's command that judges outputs. It stays for all configurations, and gets arrays in files that stay, too.
type commandJudge struct {
	program process.Program
	folder  string
	inputs  map[string]string // by argument: the type and the sizes of what was written
}

// newCommandJudge makes the folders of a command, within another folder ("": that of the system for temporary files).
func newCommandJudge(command *definition.Command, within string) (*commandJudge, error) {
	folder, err := os.MkdirTemp(within, "ndtune-verify-")
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Join(folder, "inputs"), 0o700), os.Mkdir(filepath.Join(folder, "outputs"), 0o700))
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for verify.command: %w", err)
	}
	return &commandJudge{folder: folder, inputs: map[string]string{}, program: process.Program{
		Args: command.Args, Dir: command.Dir, Timeout: command.Timeout,
		Wanted: `{"correct": true}, {"correct": false, "reason": "…"} or {"error": "…"}`,
	}}, nil
}

// close ends the command and removes its files. It does nothing on nil.
func (j *commandJudge) close() {
	if j != nil {
		j.program.Close(false)
		_ = os.RemoveAll(j.folder) // temporary files, of no use to anyone
	}
}

// judgeByCommand hands the buffers and images to the problem's command. An error that is no *Failure says that the
// command itself does not work, which is no configuration's fault.
func (t *trial) judgeByCommand(ctx context.Context, command *definition.Command) (err error) {
	if t.outside == nil {
		if t.outside, err = newCommandJudge(command, t.scratch); err != nil {
			return err
		}
	}
	question := t.problem.Values(t.variant.Configuration)
	if question["inputs"], question["outputs"], err = t.writeBuffers(t.outside); err != nil {
		return err
	}
	var answer struct {
		Correct *bool  `json:"correct"`
		Reason  string `json:"reason"`
	}
	program := &t.outside.program
	switch err = program.Ask(ctx, &answer, question); {
	case err != nil:
	case answer.Correct == nil:
		err = fmt.Errorf("its answer does not say whether the outputs are correct; want %s", program.Wanted)
	case *answer.Correct:
		return nil
	default:
		return fail(tune.Correctness, "%s", cmp.Or(answer.Reason, "verify.command says so, without a reason"))
	}
	return fmt.Errorf("verify.command: %s: %w", program, err)
}

// writeBuffers writes the outputs as the last launch left them, and the initial content of all buffers and images unless it is there.
// It returns the paths of the files by argument name.
func (t *trial) writeBuffers(j *commandJudge) (inputs, outputs map[string]string, err error) {
	inputs, outputs = map[string]string{}, map[string]string{}
	for i, info := range t.session.infos {
		if !info.Kind.HasContent() {
			continue
		}
		is := fmt.Sprint(info.Element, t.variant.Elements[i], t.variant.Pixels[i])
		if !t.problem.Definition().Verify.NoInputs {
			inputs[info.Name] = filepath.Join(j.folder, "inputs", info.Name+".npy")
		}
		if inputs[info.Name] != "" && j.inputs[info.Name] != is {
			content, err := t.problem.Content(i, t.variant.Elements[i])
			if err == nil {
				err = writeArray(inputs[info.Name], t.variant.Pixels[i], content)
			}
			if err != nil {
				return nil, nil, err
			}
			j.inputs[info.Name] = is
		}
		if !info.Output {
			continue
		}
		if outputs[info.Name], err = t.writeOutput(filepath.Join(j.folder, "outputs"), i); err != nil {
			return nil, nil, err
		}
	}
	return inputs, outputs, nil
}

// writeOutput writes an output as the last launch left it, and returns the path of the file.
func (t *trial) writeOutput(folder string, i int) (path string, err error) {
	holder, info := t.variant.Holders[i], t.session.infos[i]
	out, err := t.session.read(holder, t.session.scratch)
	if err != nil {
		return "", fail(tune.Runtime, "%v", err)
	}
	t.session.scratch = out.Bytes
	path = filepath.Join(folder, info.Name+".npy")
	return path, writeArray(path, t.variant.Pixels[holder], out)
}

// writeArray writes the content of an argument. The shape of an image has its sizes in reverse, as x comes first; structs are rows of
// bytes.
func writeArray(path string, pixels []int, a *array.Array) error {
	shape := slices.Clone(pixels)
	slices.Reverse(shape)
	if a.Struct != nil {
		shape, a = []int{a.Len(), a.Struct.Size}, &array.Array{Type: a.Type, Bytes: a.Bytes}
	}
	return array.WriteNPY(path, a, shape)
}
