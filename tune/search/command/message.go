package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Version is the version of the protocol.
const Version = 1

// A message goes to the program. Exactly one member is set.
type message struct {
	Hello          *hello                `json:"hello,omitempty"`
	Ask            int                   `json:"ask,omitempty"`
	Tell           []outcome             `json:"tell,omitempty"`
	Configurations []space.Configuration `json:"configurations,omitzero"` // the reply to sample, neighbours and nearest; may be empty, but not nil
	Valid          []bool                `json:"valid,omitzero"`          // the reply to valid
}

// hello describes the search.
type hello struct {
	Protocol       int         `json:"protocol"`
	Parameters     []parameter `json:"parameters"`
	Configurations int         `json:"configurations"` // that are valid
	Objectives     []objective `json:"objectives"`
	Seed           uint64      `json:"seed"`
	MaxEvals       *int        `json:"max_evals"` // nil: unknown
	Evaluators     int         `json:"evaluators"`
}

type parameter struct {
	Name   string            `json:"name"`
	Values []json.RawMessage `json:"values"`
}

type objective struct {
	Name      string `json:"name"`
	Direction string `json:"direction"`
}

// An outcome is a result as the program is told it.
type outcome struct {
	Configuration any        `json:"configuration"`
	Status        string     `json:"status"`
	Objective     *float64   `json:"objective"`            // nil: it failed
	Objectives    []*float64 `json:"objectives,omitempty"` // of several
}

// invalid is the status of a configuration that the restrictions exclude.
const invalid = "constraints"

func newHello(s *space.Space, o Options) *hello {
	h := &hello{Protocol: Version, Configurations: s.Len(), Seed: o.Seed, Evaluators: max(1, o.Evaluators)}
	if o.Budget > 0 {
		h.MaxEvals = &o.Budget
	}
	for i := range s.Parameters().Len() {
		p := s.Parameters().At(i)
		q := parameter{Name: p.Name}
		for _, v := range p.Values {
			text, _ := space.MarshalValue(v) // which cannot fail
			q.Values = append(q.Values, text)
		}
		h.Parameters = append(h.Parameters, q)
	}
	for _, each := range o.Objective.All() {
		direction := "minimize"
		if each.Maximize {
			direction = "maximize"
		}
		h.Objectives = append(h.Objectives, objective{each.Name, direction})
	}
	return h
}

// outcomeOf returns what the program is told of an observation.
func (c *Strategy) outcomeOf(o search.Observation) outcome {
	told := outcome{Configuration: c.space.At(o.Index), Status: o.Status}
	if told.Status == "" {
		told.Status = map[bool]string{true: "correct", false: "failed"}[o.Valid]
	}
	all := c.options.Objective.All()
	figures := append([]float64{o.Objective}, o.More...)
	values := make([]*float64, len(all))
	for k, each := range all {
		if k < len(figures) && o.Valid && !math.IsNaN(figures[k]) && !math.IsInf(figures[k], 0) {
			if each.Maximize {
				figures[k] = -figures[k]
			}
			values[k] = &figures[k]
		}
	}
	told.Objective = values[0]
	if len(all) > 1 {
		told.Objectives = values
	}
	return told
}

// values are those of a configuration, as the program gives them.
type values map[string]json.RawMessage

// An answer comes from the program. Exactly one member is set, and By only beside Neighbours.
type answer struct {
	Ready   *int      `json:"ready"`
	Propose *[]values `json:"propose"`
	End     *bool     `json:"end"`

	Sample     *int      `json:"sample"`
	Valid      *[]values `json:"valid"`
	Neighbours *values   `json:"neighbours"`
	By         string    `json:"by"`
	Nearest    *values   `json:"nearest"`

	text string // for messages
}

const answers = "a JSON object with one of the members ready, propose, end, sample, valid, neighbours or nearest"

// UnmarshalJSON implements [json.Unmarshaler].
func (a *answer) UnmarshalJSON(text []byte) error {
	type members answer
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	*a = answer{}
	if err := d.Decode((*members)(a)); err != nil {
		return err
	}
	given := 0
	for _, member := range []bool{a.Ready != nil, a.Propose != nil, a.End != nil, a.Sample != nil, a.Valid != nil, a.Neighbours != nil, a.Nearest != nil} {
		if member {
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("it has %d of them", given)
	case a.End != nil && !*a.End || a.By != "" && a.Neighbours == nil:
		return errors.New("end is always true, and by belongs to neighbours")
	}
	a.text = string(text)
	return nil
}

// maxSample is the largest sample that a program can ask for.
const maxSample = 10_000

// reply answers a question of the program about the space.
func (c *Strategy) reply(a answer) (message, error) {
	p := c.space.Parameters()
	switch {
	case a.Sample != nil:
		if *a.Sample < 1 || *a.Sample > maxSample {
			return message{}, fmt.Errorf("a sample has 1 to %d configurations", maxSample)
		}
		return c.configurations(c.sample(*a.Sample)), nil
	case a.Valid != nil:
		valid := make([]bool, len(*a.Valid))
		for k, v := range *a.Valid {
			row, err := rowOf(p, v)
			if err != nil {
				return message{}, err
			}
			_, valid[k] = c.space.Find(row)
		}
		return message{Valid: valid}, nil
	case a.Nearest != nil:
		row, err := rowOf(p, *a.Nearest)
		if err != nil {
			return message{}, err
		}
		i, valid := c.space.Find(row)
		if !valid {
			i = c.space.Nearest(each.Of(row, func(place int) float64 { return float64(place) }))
		}
		return c.configurations([]int{i}), nil
	}
	by, known := map[string]space.Neighbourhood{"": space.Adjacent, "adjacent": space.Adjacent, "Hamming": space.Hamming}[a.By]
	if !known {
		return message{}, fmt.Errorf("by is adjacent or Hamming, not %s", a.By)
	}
	row, err := rowOf(p, *a.Neighbours)
	if err != nil {
		return message{}, err
	}
	i, valid := c.space.Find(row)
	if !valid {
		return message{}, errors.New("only a valid configuration has neighbours: ask for the nearest one first")
	}
	return c.configurations(c.space.Neighbours(i, by)), nil
}

func (c *Strategy) configurations(indices []int) message {
	list := make([]space.Configuration, len(indices))
	for k, i := range indices {
		list[k] = c.space.At(i)
	}
	return message{Configurations: list}
}

// sample draws configurations uniformly from those that were not proposed.
func (c *Strategy) sample(n int) []int {
	drawn := c.space.Sample(min(n+len(c.proposed), c.space.Len()), c.rng)
	drawn = slices.DeleteFunc(drawn, func(i int) bool { _, seen := c.proposed[i]; return seen })
	return drawn[:min(n, len(drawn))]
}

// rowOf returns the place of each value in the list of its parameter. The configuration need not be valid.
func rowOf(p *space.Parameters, given values) ([]int, error) {
	row := make([]int, p.Len())
	for k := range row {
		name := p.At(k).Name
		raw, ok := given[name]
		if !ok {
			return nil, fmt.Errorf("it has no value for the parameter %s", name)
		}
		v, err := space.ParseValue(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if row[k] = slices.IndexFunc(p.At(k).Values, func(listed space.Value) bool { return space.SameValue(listed, v) }); row[k] < 0 {
			var listed []string
			for _, v := range p.At(k).Values {
				text, _ := space.MarshalValue(v)
				listed = append(listed, string(text))
			}
			return nil, fmt.Errorf("%s=%s is not among its values, %s", name, raw, excerpt.Of(strings.Join(listed, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := p.Index(name); !known {
			return nil, fmt.Errorf("no parameter is named %s%s", name, nearest.Hint(name, p.Names()))
		}
	}
	return row, nil
}
