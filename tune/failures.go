package tune

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHeadline bounds a [Headline], in runes.
const maxHeadline = 300

// Headline returns the most informative line of a failure's reason, with a mark if there are others. It is what terminal, reports and
// comparisons show of a failure.
func Headline(s Status, reason string) string {
	line, others := headline(s, reason)
	if others {
		line += " […]"
	}
	return line
}

// headline returns the first error of a build log, else the first line.
func headline(s Status, reason string) (line string, others bool) {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(reason, "\uFFFD")), "\n")
	line = lines[0]
	isError := func(line string) bool { return strings.Contains(strings.ToLower(line), "error") }
	if at := slices.IndexFunc(lines[1:], isError); s == Compile && at >= 0 {
		line = lines[1+at]
	}
	line = strings.TrimSpace(line)
	if line == "" {
		return "no reason is given", false
	}
	if utf8.RuneCountInString(line) > maxHeadline {
		line = string([]rune(line)[:maxHeadline]) + "…"
	}
	return line, len(lines) > 1
}

// CauseOf returns a key by which failures are grouped: failures with one key are alike. It is the
// status and the line of [Headline] without the words in which two reports of one fault differ: numbers,
// addresses, and paths, because compilers name temporary files at random.
func CauseOf(s Status, reason string) string {
	line, _ := headline(s, reason)
	words := strings.FieldsFunc(line, func(c rune) bool {
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

// A Doubt is a reason why the environment, not the configuration, may have caused a failure.
type Doubt string

// The doubts.
const (
	NoSpace    Doubt = "a disk has no space left"
	HostMemory Doubt = "the host is out of memory"
	Killed     Doubt = "a worker was ended by a signal that ndtune did not send"
)

// doubtTexts are texts that operating systems, compilers and drivers print, in lower case.
var doubtTexts = []struct {
	text  string
	doubt Doubt
}{
	{"no space left on device", NoSpace},
	{"disk quota exceeded", NoSpace},
	{"not enough space on the disk", NoSpace},
	{"cl_out_of_host_memory", HostMemory},
	{"cannot allocate memory", HostMemory},
	{"std::bad_alloc", HostMemory},
	{"llvm error: out of memory", HostMemory},
}

// Fail makes a failure of a result, with the doubt that the reason raises.
func (r *Result) Fail(s Status, reason string) {
	r.Status, r.Reason, r.Doubt = s, reason, DoubtOf(reason)
}

// DoubtOf returns the doubt that the reason of a failure raises, or "".
func DoubtOf(reason string) Doubt {
	reason = strings.ToLower(reason)
	for _, t := range doubtTexts {
		if strings.Contains(reason, t.text) {
			return t.doubt
		}
	}
	return ""
}
