package space

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
)

// A Table lists the combinations of values of some parameters that a restriction allows. A value that a parameter does not have
// allows nothing.
type Table struct {
	Name   string    // of its file, for messages
	Names  []string  // of the parameters
	Values [][]Value // by parameter: the values that occur
	Cells  []byte    // by combination, then by parameter: the index of the value in 2 bytes, the lower one first
}

// ReadTable reads a table of JSON lines: an array of names of parameters, and then an array of their values for each combination. The
// error names the line.
func ReadTable(name string, from io.Reader) (*Table, error) {
	t := &Table{Name: name}
	var known []map[any]int // by parameter: the index of each value
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	number := 1
	fail := func(format string, args ...any) (*Table, error) {
		return nil, fmt.Errorf("line %d: %w", number, fmt.Errorf(format, args...))
	}
	for ; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if t.Names == nil {
			if err := json.Unmarshal(lines.Bytes(), &t.Names); err != nil || len(t.Names) == 0 {
				return fail("want an array of names of parameters")
			}
			t.Values = make([][]Value, len(t.Names))
			for range t.Names {
				known = append(known, map[any]int{})
			}
			continue
		}
		var row []Value
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil || len(row) != len(t.Names) {
			return fail("want an array of %d values, as the first line has names", len(t.Names))
		}
		for i, v := range row {
			if _, err := NormalizeValue(v); err != nil {
				return fail("%s: %w", t.Names[i], err)
			}
			index, ok := known[i][plain(v)]
			if !ok {
				if index = len(t.Values[i]); index > math.MaxUint16 {
					return fail("%s has more than %d values", t.Names[i], index)
				}
				known[i][plain(v)], t.Values[i] = index, append(t.Values[i], v)
			}
			t.Cells = binary.LittleEndian.AppendUint16(t.Cells, uint16(index))
		}
	}
	if err := lines.Err(); err != nil {
		return fail("%w", err)
	}
	if t.Names == nil {
		return nil, errors.New("it is empty; want an array of names of parameters in its first line")
	}
	return t, nil
}

// Len is the number of combinations.
func (t *Table) Len() int { return len(t.Cells) / 2 / len(t.Names) }

func (t *Table) String() string {
	return fmt.Sprintf("%s, a table of %d combinations", t.Name, t.Len())
}

// Digest is a hash of the combinations.
func (t *Table) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %#v", t.Names, t.Values)
	h.Write(t.Cells)
	return fmt.Sprintf("table %x", h.Sum(nil))
}

// check returns an error for a name that is none of a parameter.
func (t *Table) check(p *Parameters) error {
	for _, name := range t.Names {
		if _, ok := p.Index(name); !ok {
			return fmt.Errorf("%s: no parameter is named %s%s", t.Name, name, nearest.Hint(name, p.Names()))
		}
	}
	return nil
}

// rows returns the combinations in ascending order, by the indices of values in the lists of some parameters, which are those of the
// columns. Of a parameter's values that are the same number, it is the first one, as home says.
func (t *Table) rows(columns []int, parameters []Parameter) (rows [][]uint16, home [][]uint16) {
	digits := make([][]int, len(columns)) // by column and index in the table; -1: the parameter does not have the value
	for i, column := range columns {
		first := map[any]int{}
		home = append(home, nil)
		for digit, v := range parameters[i].Values {
			if _, twice := first[plain(v)]; !twice {
				first[plain(v)] = digit
			}
			home[i] = append(home[i], uint16(first[plain(v)]))
		}
		for _, v := range t.Values[column] {
			digit, ok := first[plain(v)]
			if !ok {
				digit = -1
			}
			digits[i] = append(digits[i], digit)
		}
	}
next:
	for cells := t.Cells; len(cells) > 0; cells = cells[2*len(columns):] {
		row := make([]uint16, len(columns))
		for i, column := range columns {
			digit := digits[i][binary.LittleEndian.Uint16(cells[2*column:])]
			if digit < 0 {
				continue next
			}
			row[i] = uint16(digit)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, slices.Compare)
	return rows, home
}

// table returns the nodes of a table, one for each parameter in their order. They follow an automaton, in which combinations of values
// from which the same goes on have one state: a node is the state after its parameter and 1, or 0 if no combination goes on so.
func (b *nodes) table(t *Table) (states []*node) {
	place := func(column int) int { return b.parameters.index[t.Names[column]] }
	columns := make([]int, len(t.Names))
	for i := range columns {
		columns[i] = i
	}
	slices.SortFunc(columns, func(x, y int) int { return place(x) - place(y) })
	var parameters []Parameter
	levels, made := make([]level, len(columns)), make([]map[string]uint32, len(columns))
	for i, column := range columns {
		parameters = append(parameters, b.parameters.list[place(column)])
		levels[i].first, made[i] = []uint32{0}, map[string]uint32{}
	}
	rows, home := t.rows(columns, parameters)
	var state func(rows [][]uint16, at int) uint32 // from which some rows go on at a column
	state = func(rows [][]uint16, at int) uint32 {
		if at == len(columns) {
			return 0
		}
		var key []byte // the edges
		var digits []uint16
		var to []uint32
		for len(rows) > 0 {
			n := 1
			for n < len(rows) && rows[n][at] == rows[0][at] {
				n++
			}
			digits, to = append(digits, rows[0][at]), append(to, state(rows[:n], at+1))
			key = binary.LittleEndian.AppendUint16(key, digits[len(digits)-1])
			key = binary.LittleEndian.AppendUint32(key, to[len(to)-1])
			rows = rows[n:]
		}
		l := &levels[at]
		number, ok := made[at][string(key)]
		if !ok {
			number = uint32(len(l.first) - 1)
			made[at][string(key)] = number
			l.digits, l.to = append(l.digits, digits...), append(l.to, to...)
			l.first = append(l.first, uint32(len(l.digits)))
		}
		return number
	}
	before := b.constant(expression.Int, uint64(state(rows, 0))+1)
	for i := range columns {
		compute := func(args []uint64) (uint64, error) {
			if args[0] > 0 {
				if edge, ok := levels[i].find(uint32(args[0]-1), home[i][args[1]]); ok {
					return uint64(levels[i].to[edge]) + 1, nil
				}
			}
			return 0, nil
		}
		before = b.intern(node{
			Operation: expression.Operation{Code: opaqueCode, Kind: expression.Int},
			args:      []*node{before, b.digit(place(columns[i]))}, opaque: &opaque{compute: compute},
		})
		states = append(states, before)
	}
	return states
}

// WriteTable writes the first n configurations in the form of [ReadTable], until an error of interrupted.
func (s *Space) WriteTable(to io.Writer, n int, interrupted func() error) error {
	w := bufio.NewWriter(to)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	err := e.Encode(s.Parameters().Names())
	row := make([]json.RawMessage, s.Parameters().Len())
	for i := 0; i < n && err == nil; i++ {
		configuration := s.At(i)
		for k := range row {
			row[k], _ = MarshalValue(configuration.At(k)) // which cannot fail
		}
		err = cmp.Or(interrupted(), e.Encode(row))
	}
	return cmp.Or(err, w.Flush())
}
