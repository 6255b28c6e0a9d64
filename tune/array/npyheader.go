package array

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// npyDict is what the header of a .npy file says.
type npyDict struct {
	descr   string
	fortran bool
	shape   []int
}

// parseNPYHeader reads the Python dict of a header:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. The keys may
// come in any order; all three must be there, once.
func parseNPYHeader(s string) (npyDict, error) {
	var d npyDict
	p := &pyText{s}
	if !p.take("{") {
		return d, errors.New("it is no Python dict")
	}
	seen := map[string]bool{}
	for !p.take("}") {
		key, err := p.str()
		if err != nil {
			return d, fmt.Errorf("a key: %w", err)
		}
		if seen[key] {
			return d, fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		if !p.take(":") {
			return d, fmt.Errorf("no colon after %q", key)
		}
		switch key {
		case "descr":
			if strings.HasPrefix(p.rest, "[") {
				return d, errors.New("the array holds structures (a list of fields), not numbers")
			}
			d.descr, err = p.str()
		case "fortran_order":
			d.fortran, err = p.boolean()
		case "shape":
			d.shape, err = p.tuple()
		default:
			err = errors.New("no such key is known")
		}
		if err != nil {
			return d, fmt.Errorf("%q: %w", key, err)
		}
		if !p.take(",") && !strings.HasPrefix(p.rest, "}") {
			return d, fmt.Errorf("no comma after %q", key)
		}
	}
	p.skip()
	if p.rest != "" {
		return d, errors.New("something stands after the dict")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return d, fmt.Errorf("%q is missing", key)
		}
	}
	return d, nil
}

// pyText is the rest of a text that Python literals are read from. Each method
// leaves it at the next thing that is not space.
type pyText struct{ rest string }

func (p *pyText) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take reads token when it comes next.
func (p *pyText) take(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	p.skip()
	return ok
}

// str reads a string in single or double quotes; those with escapes are refused.
func (p *pyText) str() (string, error) {
	p.skip()
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", errors.New("a string is expected")
	}
	text, rest, ok := strings.Cut(p.rest[1:], p.rest[:1])
	if !ok || strings.ContainsAny(text, "\\\n") {
		return "", errors.New("a string has no end or holds escapes")
	}
	p.rest = rest
	p.skip()
	return text, nil
}

func (p *pyText) boolean() (bool, error) {
	switch {
	case p.take("True"):
		return true, nil
	case p.take("False"):
		return false, nil
	}
	return false, errors.New("a bool is expected, True or False")
}

// tuple reads a tuple of integers that are not negative. The empty one is not nil.
func (p *pyText) tuple() ([]int, error) {
	if !p.take("(") {
		return nil, errors.New("a tuple is expected")
	}
	list := []int{}
	for !p.take(")") {
		end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 {
			return nil, errors.New("a whole number is expected")
		}
		n, err := strconv.Atoi(p.rest[:end])
		if err != nil {
			return nil, fmt.Errorf("%s is too large", p.rest[:end])
		}
		list = append(list, n)
		p.rest = p.rest[end:]
		if !p.take(",") && !strings.HasPrefix(p.rest, ")") {
			return nil, errors.New("no comma in a tuple")
		}
	}
	return list, nil
}
