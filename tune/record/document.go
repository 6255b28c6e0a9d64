package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A document is the top level of a T4 or a cache file.
type document map[string]json.RawMessage

// decodeJSON reads a T4 file or a cache file, whichever it is.
func decodeJSON(data []byte) (*Record, error) {
	doc, err := readDocument(quoteNotFinite(cutTornWord(data)))
	switch {
	case err != nil:
		return nil, err
	case doc["cache"] != nil:
		return decodeCache(doc)
	case doc["results"] != nil:
		return decodeT4(doc)
	}
	return nil, errUnknownFormat
}

var errUnknownFormat = errors.New("neither a run log nor a T4 file nor a Kernel Tuner cache file")

// readDocument takes the top level apart. Kernel Tuner appends to a cache file and closes
// it at the end of a run: a cache that ends before it is closed is taken as it is, without
// an entry that is torn. What does not show by its end that it holds results is not called a damaged record.
func readDocument(data []byte) (doc document, err error) {
	err = json.Unmarshal(data, &doc)
	syntax, is := errors.AsType[*json.SyntaxError](err)
	if is && syntax.Offset == int64(len(data)) {
		if closed, ok := closeCache(data); ok {
			err = json.Unmarshal(closed, &doc)
			return doc, err
		}
		err = errors.New("the file ends too early")
	}
	if err == nil {
		return doc, nil
	}
	for _, name := range []string{"tune_params", "metadata", "results", "cache"} {
		if is && bytes.Contains(data, []byte(`"`+name+`":`)) {
			return nil, fmt.Errorf("after %d bytes: %w", syntax.Offset, err)
		}
	}
	return nil, errUnknownFormat
}

// closeCache closes a cache after its last whole entry, or before the first one.
func closeCache(data []byte) (closed []byte, ok bool) {
	begin := bytes.Index(data, []byte(`"cache":`))
	if begin < 0 {
		return nil, false
	}
	for range 4 { // an entry that is torn may have braces in texts
		end := bytes.LastIndexAny(data, "{}") + 1
		if end <= begin {
			break
		}
		data = data[:end]
		for _, braces := range []string{"}", "}}"} {
			if closed = append(slices.Clip(data), braces...); json.Valid(closed) {
				return closed, true
			}
		}
		data = data[:end-1]
	}
	return nil, false
}

// quoteNotFinite puts the NaN, Infinity and -Infinity that Python writes, which JSON does
// not know, into the form of this package.
func quoteNotFinite(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out []byte
	inText := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inText && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			inText = !inText
		case !inText:
			if word, text := notFinite(data[i:]); word != "" {
				out = append(out, text...)
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// cutTornWord cuts off the beginning of such a word at the end of a file.
func cutTornWord(data []byte) []byte {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasSuffix(data, []byte(word)) {
			return data
		}
		for n := len(word) - 1; n > 0; n-- {
			if bytes.HasSuffix(data, []byte(word[:n])) {
				return data[:len(data)-n]
			}
		}
	}
	return data
}

func notFinite(data []byte) (word, text string) {
	for _, w := range [][2]string{{"NaN", `"NaN"`}, {"Infinity", `"+Inf"`}, {"-Infinity", `"-Inf"`}} {
		if bytes.HasPrefix(data, []byte(w[0])) {
			return w[0], w[1]
		}
	}
	return "", ""
}
