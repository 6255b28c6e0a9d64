package tune

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHeadline bounds a [Headline], in runes.
const maxHeadline = 300

// Headline returns the most informative line of a failure's reason: the first error of a build log,
// else the first line.
func Headline(s Status, reason string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(reason, "\uFFFD")), "\n")
	line := lines[0]
	if s == Compile {
		for _, l := range lines[1:] {
			if strings.Contains(strings.ToLower(l), "error") {
				line = l
				break
			}
		}
	}
	line = strings.TrimSpace(line)
	if line == "" {
		return "no reason is given"
	}
	if utf8.RuneCountInString(line) > maxHeadline {
		line = string([]rune(line)[:maxHeadline]) + "…"
	}
	return line
}

// CauseOf returns a key by which failures are grouped: failures with one key are alike. It is the
// status and the [Headline] without the words in which two reports of one fault differ: numbers,
// addresses, and paths, because compilers name temporary files at random.
func CauseOf(s Status, reason string) string {
	words := strings.FieldsFunc(Headline(s, reason), func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune("=()[],;:«»", c)
	})
	words = slices.DeleteFunc(words, func(word string) bool {
		return strings.ContainsAny(word, "0123456789/\\") || word == "NaN" || strings.HasSuffix(word, "Inf")
	})
	return string(s) + ": " + strings.Join(words, " ")
}

// EqualOutputs returns the number of results that were compared with a reference and are wrong, and how many of them have one and the
// same output. Results of a log do not count.
func EqualOutputs(results []Result) (equal, wrong int) {
	counts := map[uint64]int{}
	for i := range results {
		if digest := results[i].Outputs; digest != 0 {
			wrong++
			counts[digest]++
			equal = max(equal, counts[digest])
		}
	}
	return equal, wrong
}

// failures detects a run in which everything fails for one reason.
type failures struct {
	limit int
	cause string // of all so far
	first Result
	count int
	over  bool // something succeeded, or failed for another reason
}

// add adds a result. Once limit results all have one cause, it returns a description of the cause.
func (f *failures) add(r Result) string {
	// A configuration that the device cannot run costs nothing and says nothing of others.
	if f.over || r.Status == Constraints {
		return ""
	}
	cause := CauseOf(r.Status, r.Reason)
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
