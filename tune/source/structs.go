package source

import (
	"slices"
	"strings"
)

// A Struct is the declaration of a struct.
type Struct struct {
	Names  []string // the name after struct, and those that a typedef gives
	Fields []Field
	Union  bool
	Packed bool
	Odd    string // the reason why the layout is not that of the fields, "" if it is
}

// A Field is a field of a [Struct].
type Field struct {
	Name, Type string
	Counts     []string // the lengths of an array, by dimension
}

// Structs returns the structs and unions that a source declares, in its order. It knows no types: a type is the text of
// the declaration.
func Structs(text string) (all []Struct) {
	words := tokens(text)
	for i, w := range words {
		if w != "struct" && w != "union" {
			continue
		}
		s := Struct{Union: w == "union"}
		open := s.attributes(words, i+1)
		if open < len(words) && words[open] != "{" {
			s.Names = append(s.Names, words[open])
			open = s.attributes(words, open+1)
		}
		if open >= len(words) || words[open] != "{" {
			continue
		}
		end := closing(words, open)
		s.readFields(words[open+1 : max(open+1, end-1)])
		at := s.attributes(words, end)
		if i > 0 && words[i-1] == "typedef" {
			for ; at < len(words) && words[at] != ";"; at = s.attributes(words, at+1) {
				if isWord(rune(words[at][0])) {
					s.Names = append(s.Names, words[at])
				}
			}
		}
		switch {
		case s.Union:
			s.Odd = "it is a union"
		case s.Packed:
			s.Odd = "its attributes change the layout"
		}
		if len(s.Names) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// attributes skips attributes, and notes the ones that change a layout.
func (s *Struct) attributes(words []string, at int) int {
	for at+1 < len(words) && slices.Contains([]string{"attribute", "align", "alignas"}, strings.Trim(words[at], "_")) && words[at+1] == "(" {
		end := closing(words, at+1)
		s.Packed = s.Packed || slices.ContainsFunc(words[at:end], changesLayout)
		at = end
	}
	return at
}

func changesLayout(attribute string) bool {
	name := strings.Trim(attribute, "_")
	return slices.Contains([]string{"packed", "aligned", "align", "alignas"}, name)
}

// readFields reads the declarations between the braces of a struct.
func (s *Struct) readFields(words []string) {
	for len(words) > 0 {
		end := 0
		for end < len(words) && words[end] != ";" {
			if words[end] == "{" {
				s.Odd = "it contains another declaration"
				return
			}
			end++
		}
		s.readDeclaration(words[:end])
		words = words[min(end+1, len(words)):]
	}
}

// readDeclaration reads fields of one type: float a, b[4].
func (s *Struct) readDeclaration(words []string) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "const" || w == "volatile" || w == "struct" })
	first := 1 // the declarators are after the words of the type
	for first+1 < len(words) && isWord(rune(words[first][0])) && isWord(rune(words[first+1][0])) {
		first++
	}
	if len(words) < 2 {
		return
	}
	typ := strings.Join(words[:first], " ")
	for _, declarator := range arguments(slices.Concat([]string{"("}, words[first:], []string{")"}), 0) {
		f := Field{Type: typ}
		for i := 0; i < len(declarator); i++ {
			switch w := declarator[i]; {
			case w == "*":
				s.Odd = "it contains a pointer"
			case w == ":":
				s.Odd = "it contains bit fields"
				i++
			case w == "[":
				end := closing(declarator, i)
				f.Counts = append(f.Counts, strings.Join(declarator[i+1:max(i+1, end-1)], " "))
				i = end - 1
			case strings.Trim(w, "_") == "attribute":
				i = s.attributes(declarator, i) - 1
			case isWord(rune(w[0])) && f.Name == "":
				f.Name = w
			}
		}
		s.Fields = append(s.Fields, f)
	}
}
