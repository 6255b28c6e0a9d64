package tune

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// failures watches for a run in which everything fails for one reason.
type failures struct {
	limit int
	cause string // of all so far, numbers left out
	first Result
	count int
	over  bool // something succeeded, or failed for another reason
}

// add takes a result and returns the one cause of all once there are limit of them.
func (f *failures) add(r Result) string {
	// A configuration that the device cannot run costs nothing and says nothing of others.
	if f.over || r.Status == Constraints {
		return ""
	}
	cause := string(r.Status) + ": " + fault(r.Reason)
	if r.Status == Correct || (f.count > 0 && cause != f.cause) {
		f.over = true
		return ""
	}
	if f.count == 0 {
		f.cause, f.first = cause, r
	}
	if f.count++; f.count < f.limit {
		return ""
	}
	return fmt.Sprintf("the first %d configurations all failed for one reason (%s, at %s): %s",
		f.count, f.first.Status, f.first.Configuration, f.first.Reason)
}

// maxFault bounds how much of a reason is compared, in bytes.
const maxFault = 4 << 10

// fault leaves out of a reason what differs between two reports of one fault: numbers,
// addresses, and paths, since compilers name temporary files by chance.
func fault(reason string) string {
	if len(reason) > maxFault {
		reason = reason[:maxFault]
	}
	words := strings.FieldsFunc(reason, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune("=()[],;«»", c)
	})
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		return strings.ContainsAny(word, "0123456789/\\") || word == "NaN" || strings.HasSuffix(word, "Inf")
	}), " ")
}
