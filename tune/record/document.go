package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A document is the top level of a T4 or a cache file.
type document struct {
	members map[string]json.RawMessage // but for the cache
	cache   []cacheEntry               // in order; nil where the file has none
	isCache bool
}

type cacheEntry struct {
	key string
	raw json.RawMessage
}

// decodeJSON reads a T4 file or a cache file, whichever it is.
func decodeJSON(data []byte) (*Record, error) {
	doc, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	switch {
	case doc.isCache:
		return decodeCache(doc)
	case doc.members["results"] != nil:
		return decodeT4(doc)
	}
	return nil, errUnknownFormat
}

var errUnknownFormat = errors.New("neither a run log nor a T4 file nor a Kernel Tuner cache file")

// readDocument takes the top level apart. Kernel Tuner appends to a cache file and closes
// it at the end of a run: a cache that ends before it is closed is taken as it is, without
// an entry that is torn.
func readDocument(data []byte) (*document, error) {
	d := json.NewDecoder(bytes.NewReader(quoteNotFinite(cutTornWord(data))))
	doc := &document{members: map[string]json.RawMessage{}}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errUnknownFormat
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, damaged(d, doc, err)
		}
		if key == "cache" {
			doc.isCache = true
			open, err := doc.readCache(d)
			if err != nil {
				return nil, damaged(d, doc, err)
			}
			if open {
				return doc, nil
			}
			continue
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, damaged(d, doc, err)
		}
		doc.members[key.(string)] = raw
	}
	if _, err := d.Token(); err != nil && !(doc.isCache && isEnd(err)) {
		return nil, damaged(d, doc, err)
	}
	return doc, nil
}

// readCache reads the entries of a cache and says whether it ended before it was closed.
func (doc *document) readCache(d *json.Decoder) (open bool, err error) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false, errors.Join(errors.New("the cache is not an object"), err)
	}
	for d.More() {
		key, err := d.Token()
		if err == nil {
			e := cacheEntry{key: key.(string)}
			if err = d.Decode(&e.raw); err == nil {
				doc.cache = append(doc.cache, e)
				continue
			}
		}
		if isEnd(err) {
			return true, nil
		}
		return false, fmt.Errorf("cache entry %d: %w", len(doc.cache)+1, err)
	}
	if _, err := d.Token(); err != nil {
		return isEnd(err), nil
	}
	return false, nil
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// damaged is the error of a file that is JSON at first. What does not show by then that it
// holds results is not called a damaged record.
func damaged(d *json.Decoder, doc *document, err error) error {
	if !doc.isCache && doc.members["tune_params"] == nil && doc.members["metadata"] == nil && doc.members["results"] == nil {
		return errUnknownFormat
	}
	if isEnd(err) {
		err = errors.New("the file ends too early")
	}
	return fmt.Errorf("after %d bytes: %w", d.InputOffset(), err)
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
