package source

import (
	"regexp"
	"slices"
	"strings"
)

// A Use is what a kernel does with the buffer of an argument, as far as the text shows it.
type Use struct {
	Written bool // an element is assigned
	Read    bool // it occurs otherwise
}

// flat returns the words of some code with blanks around them. What stands in square brackets comes after the rest, and [] stands in its
// place.
func flat(code []string) string {
	var text, inside strings.Builder
	for i := 0; i < len(code); i++ {
		if code[i] == "[" {
			end := closing(code, i)
			inside.WriteString(flat(code[i+1 : max(i+1, end-1)]))
			text.WriteString(" []")
			i = end - 1
			continue
		}
		text.WriteString(" " + code[i])
	}
	return text.String() + " ;" + inside.String()
}

// Use returns what the kernel does with the elements of a name, also through pointers that it sets to it: operators, vstore, atomic
// functions, copies of work-groups and functions that write images change them.
func (f *Function) Use(name string) (u Use) {
	const conversion = `(?: \( [^()]*\* \)| &| \()*`
	count := func(pattern string) int { return len(regexp.MustCompile(pattern).FindAllStringIndex(f.code, -1)) }
	names := []string{name}
	for i := 0; i < len(names); i++ {
		name := regexp.QuoteMeta(names[i])
		element := `(?: ` + name + `(?: \[\]| \. \w+| - > \w+)+|[;{})] \* ` + name + `)`
		assigned := count(element+` = [^=]`) + count(` (?:write_image\w*|async_work_group\w*) \(`+conversion+` `+name+` `) +
			count(` vstore\w* \( [^;]*,`+conversion+` `+name+` [^,;]*;`)
		updated := count(element+` (?:[-+*/%&|^] =|\+ \+|- -|< < =|> > =)`) + count(` atom\w* \(`+conversion+` `+name+` `)
		pointer := regexp.MustCompile(`\w \* (\w+) =`+conversion+` `+name+` `).FindAllStringSubmatch(f.code, -1)
		u.Written = u.Written || assigned+updated > 0
		u.Read = u.Read || count(` `+name+`\b`) > assigned+len(pointer)+count(`\w \* `+name+` =`)
		for _, m := range pointer {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return u
}
