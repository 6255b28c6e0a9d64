package source

import (
	"regexp"
	"strings"
)

var (
	assignment = regexp.MustCompile(` (\w+) = ([^=;,][^;,]*)`)
	comparison = regexp.MustCompile(`([^;{}&|?,=<>]*) [<>](?: =)? ([A-Za-z_]\w*)`)
	indexWord  = regexp.MustCompile(`get_(?:global|group)_id \( [012]|\w+`)
	element    = regexp.MustCompile(` (\w+) \[ (\w+)( \])?`)
	// product matches an index of the work-group with its factors, and the sign of one that is more than names and numbers.
	product = regexp.MustCompile(` get_group_id \( ([012]) \)((?: \* (?:get_local_size \( [012] \)|\( \w+(?: \* \w+)* \)|\w+))+)( \*| \(| \[)?`)
	factor  = regexp.MustCompile(`[A-Za-z_]\w*(?: \( [012] \))?|\d\w*`)
)

// readIndices sets Bounds, Elements and PerGroup.
func (f *Function) readIndices(body []string) {
	axes := map[string]int{} // of the variables that a global index sets
	axis := func(expression string) (axis int) {
		axis = -1
		for _, w := range indexWord.FindAllString(expression, -1) {
			of, known := axes[w]
			if strings.HasSuffix(w[:len(w)-1], "( ") {
				of, known = int(w[len(w)-1]-'0'), true
			}
			if known && axis >= 0 && of != axis {
				return -1 // several
			} else if known {
				axis = of
			}
		}
		return axis
	}
	for _, m := range assignment.FindAllStringSubmatch(f.code, -1) {
		whole := strings.Count(m[2], "(") <= strings.Count(m[2], ")") // else it is the first of several, as of a vector
		if of := axis(m[2]); of >= 0 && whole {
			axes[m[1]] = of
		}
	}
	bounds := map[string]string{} // of these variables
	for _, m := range comparison.FindAllStringSubmatch(f.code, -1) {
		of := axis(m[1])
		if of < 0 || strings.HasSuffix(m[1], " -") { // a->b
			continue
		}
		f.Bounds[of] = append(f.Bounds[of], m[2])
		if words := strings.Fields(m[1]); len(words) == 1 || words[len(words)-2] == "(" {
			bounds[words[len(words)-1]] = m[2]
		}
	}
	text := " " + strings.Join(body, " ")
	f.Elements = map[string]string{}
	for _, m := range element.FindAllStringSubmatch(text, -1) {
		bound := bounds[m[2]]
		if known, again := f.Elements[m[1]]; m[3] == "" || again && known != bound {
			bound = ""
		}
		f.Elements[m[1]] = bound
	}
	for _, m := range product.FindAllStringSubmatch(text, -1) {
		factors := factor.FindAllString(m[2], -1)
		if m[3] != "" {
			factors = append(factors, "?")
		}
		if of := &f.PerGroup[m[1][0]-'0']; *of == nil || len(factors) < len(*of) {
			*of = factors // others also skip rows of a buffer
		}
	}
}

func isName(word string) bool { return isWord(rune(word[0])) && (word[0] < '0' || word[0] > '9') }
