package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

//go:embed binaries.h.tmpl
var binariesC string

//go:embed binaries.py.tmpl
var binariesPython string

//go:embed binaries.go.tmpl
var binariesGo string

// The functions for binaries are a part of the header and of the module, and a file of the package.
var (
	_ = template.Must(headerTemplate.New("binaries").Parse(binariesC))
	_ = template.Must(moduleTemplate.New("binaries").Parse(binariesPython))
)

// binariesMagic is the first line of a file of binaries. The programs follow, each a line of the fields of its key,
// the number of bytes and the checksum, with a tab after each but the last; then the bytes and a line feed. The checksum
// is the CRC-32 (IEEE) of the key, with the tab after each field, and the bytes, in hexadecimal digits.
const binariesMagic = "ndtune binaries 1\n"

// maxBinaryLine and maxBinary are the most bytes of the line of a program and of a program that readers take.
const (
	maxBinaryLine = 8 << 10
	maxBinary     = 1 << 30
)

// A Binary is a built program. It is used only if all fields of the key are those of the application: any other driver,
// for example, may not know its format.
type Binary struct {
	BinaryKey
	Data []byte // as the driver returned it
}

// A BinaryKey tells a program from others. The texts have no spaces around them.
type BinaryKey struct {
	Device, Vendor, Platform, Driver string // as in hardware.Device
	Source                           string // SHA-256 of the source, in hexadecimal digits
	Options                          string // of the compiler
}

// text returns the key as it stands in a file.
func (k BinaryKey) text() string {
	return strings.Join([]string{k.Device, k.Vendor, k.Platform, k.Driver, k.Source, k.Options, ""}, "\t")
}

// check returns an error if a key cannot stand in a file.
func (k BinaryKey) check() error {
	for _, field := range []string{k.Device, k.Vendor, k.Platform, k.Driver, k.Source, k.Options} {
		if strings.ContainsFunc(field, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("%q has a control character, and the line of a binary can have none", field)
		}
	}
	if n := len(k.text()); n > maxBinaryLine-32 {
		return fmt.Errorf("the names and the options have %d bytes, and the line of a binary has at most %d", n, maxBinaryLine-32)
	}
	return nil
}

func checksum(key string, data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(key)), crc32.IEEETable, data)
}

// DecodeBinaries reads a file of binaries. A damaged program ends the file: those before it are returned with the error.
func DecodeBinaries(data []byte) (list []Binary, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(binariesMagic))
	if !ok {
		return nil, fmt.Errorf("it is not a file of binaries that begins with %q", strings.TrimSpace(binariesMagic))
	}
	for len(rest) > 0 {
		line, _, ends := bytes.Cut(rest[:min(len(rest), maxBinaryLine)], []byte{'\n'})
		fields := strings.Split(string(line), "\t")
		if !ends || len(fields) != 8 {
			return list, fmt.Errorf("program %d is damaged: it begins with no line of 8 fields", len(list)+1)
		}
		after := rest[len(line)+1:]
		size, err := strconv.Atoi(fields[6])
		sum, sumErr := strconv.ParseUint(fields[7], 16, 32)
		b := Binary{BinaryKey: BinaryKey{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]}}
		switch {
		case err != nil || sumErr != nil || size < 1 || size > maxBinary:
			return list, fmt.Errorf("program %d is damaged: %q is no size and checksum", len(list)+1, fields[6:])
		case len(after) < size+1 || after[size] != '\n':
			return list, fmt.Errorf("program %d is damaged: its end is missing", len(list)+1)
		case checksum(b.text(), after[:size]) != uint32(sum):
			return list, fmt.Errorf("program %d is damaged: its checksum is another", len(list)+1)
		}
		b.Data, rest = after[:size], after[size+1:]
		list = append(list, b)
	}
	return list, nil
}

// encodeBinaries writes a file of binaries.
func encodeBinaries(w io.Writer, list []Binary) error {
	_, err := io.WriteString(w, binariesMagic)
	for _, b := range list {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%d\t%08x\n%s\n", b.text(), len(b.Data), checksum(b.text(), b.Data), b.Data)
		}
	}
	return err
}

// ReadBinaries reads the sound programs of the file at path. There are none if it is missing or empty. A file of another
// kind or version is an error.
func ReadBinaries(path string) ([]Binary, error) {
	data, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, nil
	}
	var list []Binary
	if err == nil {
		list, err = DecodeBinaries(data)
	}
	if bytes.HasPrefix(data, []byte(binariesMagic)) {
		return list, nil
	}
	return nil, fmt.Errorf("read binaries from %s: %w", path, err)
}

// AddBinaries adds programs to the file at path, which it makes if necessary. Those of the same key are replaced, and
// those of other sources are removed: no application of this kernel can use them. So are damaged ones. A file of another
// kind or version is an error, and stays.
func AddBinaries(ctx context.Context, path string, list []Binary) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	release, err := files.Hold(ctx, path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	old, err := ReadBinaries(path)
	if err != nil {
		return err
	}
	old = slices.DeleteFunc(old, func(b Binary) bool {
		return slices.ContainsFunc(list, func(n Binary) bool { return n.Source != b.Source || n.BinaryKey == b.BinaryKey })
	})
	return files.Write(path, func(w io.Writer) error { return encodeBinaries(w, append(old, list...)) })
}

// BuildBinaries builds the programs that an exported kernel chooses on a device: one for each size of the records that are
// of this device. There are none if no record is. Build builds the program of a configuration with options that are equal to
// its own.
func BuildBinaries(identity hardware.Device, p *problem.Problem, f *wisdom.File, size []problem.Expr, records []*record.Record,
	build func(at *problem.Problem, c space.Configuration, options string) ([]byte, error)) ([]Binary, error) {
	t, err := newTable(p, f, size)
	if err != nil {
		return nil, err
	}
	without, err := t.withoutSizes(p)
	if err != nil {
		return nil, err
	}
	kept := *f
	kept.Records = nil
	for _, e := range t.Records {
		kept.Records = append(kept.Records, e.Record)
	}
	var list []Binary
	for _, r := range records {
		choice, err := kept.Choose(wisdom.Query{
			Device: identity, ProblemSize: r.Header.ProblemSize, SourceDigest: p.KernelDigest(), Constants: t.constantsAt(r.Header.Constants),
		})
		if err != nil {
			return nil, err
		}
		if choice.Level != wisdom.SameSize {
			continue
		}
		at, macros, err := t.sized(r.Header.Constants)
		if err != nil {
			return nil, fmt.Errorf("the record at %s: %w", figure.Sizes(r.Header.ProblemSize), err)
		}
		c, err := at.Parameters().Configure(choice.Record.Configuration)
		if err != nil {
			return nil, err
		}
		options, err := without.ProgramOptions(c, choice.Record.Device)
		if err != nil {
			return nil, err
		}
		k := BinaryKey{
			strings.TrimSpace(identity.Name), strings.TrimSpace(identity.Vendor), strings.TrimSpace(identity.Platform), strings.TrimSpace(identity.Driver),
			t.SourceDigest(), options + macros,
		}
		if err := k.check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(b Binary) bool { return b.BinaryKey == k }) {
			continue
		}
		data, err := build(at, c, k.Options)
		if err == nil && (len(data) == 0 || len(data) > maxBinary) {
			err = fmt.Errorf("the driver has no binary of 1 to %d bytes of the program", maxBinary)
		}
		if err != nil {
			return nil, fmt.Errorf("%s at %s: %w", c, figure.Sizes(r.Header.ProblemSize), err)
		}
		list = append(list, Binary{k, data})
	}
	return list, nil
}

// constantsAt returns the constants that the choice depends on, with the sizes of a record.
func (t *table) constantsAt(recorded []problem.Constant) map[string]int {
	values := map[string]int{}
	for _, of := range t.Constants {
		values[of.Name] = of.Value
	}
	for _, s := range t.Sizes {
		if _, asked := values[s.Name]; asked {
			values[s.Name] = 0
			if i := slices.IndexFunc(recorded, func(c problem.Constant) bool { return c.Name == s.Name }); i >= 0 {
				values[s.Name], _ = recorded[i].Number().(int)
			}
		}
	}
	return values
}

// sized returns the problem at the sizes of a record, which are among its constants, and their options.
func (t *table) sized(constants []problem.Constant) (at *problem.Problem, macros string, err error) {
	d := t.problem.Definition()
	d.Verify, d.Baseline = nil, nil
	d.Constants = slices.Clone(d.Constants)
	for _, s := range t.Sizes {
		named := func(c problem.Constant) bool { return c.Name == s.Name }
		from := slices.IndexFunc(constants, named)
		if from < 0 {
			return nil, "", fmt.Errorf("it does not tell the constant %s; a run log does", s.Name)
		}
		value := constants[from].Number()
		if d.Constants[slices.IndexFunc(d.Constants, named)].Value = value; s.Macro != "" {
			macros += fmt.Sprintf(" -D %s="+s.Format, s.Macro, value)
		}
	}
	at, err = problem.New(d)
	return at, macros, err
}

// SourceDigest returns the SHA-256 of the source in hexadecimal digits.
func (t *table) SourceDigest() string {
	sum := sha256.Sum256([]byte(strings.Join(t.Source, "")))
	return hex.EncodeToString(sum[:])
}

// SourceCRC returns the CRC-32 of the source.
func (t *table) SourceCRC() uint32 { return crc32.ChecksumIEEE([]byte(strings.Join(t.Source, ""))) }
