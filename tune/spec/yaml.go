package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func newDocument(f files, path string) *document {
	return &document{
		files: f, path: path,
		at: map[string]position{}, faulty: map[string]bool{},
		options: map[string]string{},
	}
}

// parse reads and parses the file.
func (d *document) parse() (*yaml.Node, Errors) {
	root, err := d.root()
	if err != nil {
		at := &Error{Err: err}
		errors.As(err, &at)
		at.File = d.path
		return nil, Errors{at}
	}
	return root, nil
}

// root is parse. It explains files that are no specification.
func (d *document) root() (*yaml.Node, error) {
	extension := strings.ToLower(filepath.Ext(d.path))
	if extension == ".jsonl" {
		return nil, errRunLog
	}
	text, err := d.text, error(nil)
	if text == nil {
		text, err = d.read(d.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.explain(d.path, err)
	} else if err != nil {
		return nil, fmt.Errorf("read the specification: %w", err)
	}
	if slices.Contains(sourceExtensions, extension) {
		return nil, errKernelSource
	}
	if bytes.HasPrefix(text, gzipMagic) {
		return nil, errCompressed
	}
	root, err := parseYAML(text)
	switch {
	case (err != nil || root.Kind == yaml.ScalarNode) && kernelQualifier.Match(text):
		return nil, errKernelSource
	case err != nil:
		return nil, err
	case hasKey(root, "results") && hasKey(root, "schema_version"):
		return nil, errRecord
	case hasKey(root, "ConfigurationSpace") || hasKey(root, "KernelSpecification"):
		return nil, errT1
	}
	return root, nil
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// parseYAML parses a text as one YAML document.
func parseYAML(text []byte) (root *yaml.Node, err error) {
	defer func() {
		// The parser panics on some texts that it did not foresee.
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("this cannot be read as YAML: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err == io.EOF {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, syntaxError(err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, &Error{Line: second.Line, Column: second.Column, Err: errors.New("a second document begins; a specification is one")}
	} else if err != io.EOF {
		return nil, syntaxError(err)
	}
	root = first.Content[0]
	if root.Kind == yaml.ScalarNode && root.Value == "" {
		return nil, errors.New("the file is empty")
	}
	if hasAlias(root) {
		if err := checkAliases(root); err != nil {
			return nil, syntaxError(err)
		}
	}
	return root, nil
}

// checkAliases has the decoder put the value in the place of each alias, which it refuses if a value contains itself, or if aliases
// multiply the values of a document.
func checkAliases(root *yaml.Node) error {
	var expanded any
	err := root.Decode(&expanded)
	if _, unread := errors.AsType[*yaml.TypeError](err); unread { // a value that has a type of its own here, or a key that stands twice
		return nil
	}
	return err
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// unfinished matches the errors whose lines the parser counts from 0.
var unfinished = regexp.MustCompile(`^did not find expected (<document start>|node content|key|'-' indicator|',' or)`)

// syntaxError takes the line from the parser's message, if that has one.
func syntaxError(err error) error {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	message := m[2]
	if unfinished.MatchString(message) {
		line++
	}
	if strings.Contains(message, "cannot start any token") {
		message += ` (YAML is indented with spaces, not with tabs; a text such as "add<float, {x}>" needs quotes)`
		line = max(line, 1)
	}
	return &Error{Line: line, Err: fmt.Errorf("not YAML: %s", message)}
}

// gzipMagic begins the files of gzip.
var gzipMagic = []byte{0x1f, 0x8b}

// sourceExtensions are the extensions of kernel sources.
var sourceExtensions = []string{".cl", ".ocl", ".opencl", ".clh", ".c", ".cc", ".cpp", ".cu", ".h"}

var kernelQualifier = regexp.MustCompile(`(?m)^\s*(__kernel|kernel\s+void|__global__)\b`)

var (
	errKernelSource = errors.New("this is a kernel's source; give the YAML specification that names it under kernel.file")
	errRunLog       = errors.New("this is a run log, not a specification")
	errRecord       = errors.New("this is a record of results (T4), not a specification")
	errCompressed   = errors.New("this file is compressed; a specification is plain text (records of results are for ndtune simulate and convert)")
	errT1           = errors.New("this is a T1 file; python -m ndtune t1 FILE, of the Python package, writes it as a specification")
)
