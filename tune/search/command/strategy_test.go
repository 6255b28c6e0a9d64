package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// TestMain lets the test binary be the program: «strategy wanders», or «strategy says LINE…».
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "strategy" {
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, maxTest)
		switch os.Args[2] {
		case "wanders":
			wander(lines)
		case "says":
			say(lines, os.Args[3:])
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// maxTest is the length of the longest line that the programs of the tests read.
const maxTest = 1 << 24

// say answers each line that wants an answer with the next text, and shows all lines that it gets. The text «exit» ends it, and «hang»
// makes it answer no more.
func say(lines *bufio.Scanner, texts []string) {
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		if strings.HasPrefix(lines.Text(), `{"tell"`) {
			continue
		}
		switch {
		case len(texts) == 0:
			continue
		case texts[0] == "exit":
			os.Exit(3)
		case texts[0] == "hang":
			select {}
		}
		fmt.Println(texts[0])
		if len(texts) > 1 {
			texts = texts[1:]
		}
	}
}

// wander is a walk: it proposes neighbours of the best configuration, configurations that are not valid or known, and samples.
func wander(lines *bufio.Scanner) {
	next := func() (m map[string]json.RawMessage) {
		if !lines.Scan() {
			os.Exit(0)
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		return m
	}
	ask := func(format string, args ...any) (all []json.RawMessage) {
		fmt.Printf(format+"\n", args...)
		if err := json.Unmarshal(next()["configurations"], &all); err != nil {
			panic(err)
		}
		return all
	}
	var hello struct{ Seed uint64 }
	if err := json.Unmarshal(next()["hello"], &hello); err != nil {
		panic(err)
	}
	fmt.Println(`{"ready": 1}`)
	rng := rand.New(rand.NewPCG(hello.Seed, 0))
	var best json.RawMessage
	least := 0.0
	for {
		m := next()
		if told, ok := m["tell"]; ok {
			var results []struct {
				Configuration json.RawMessage
				Objective     *float64
			}
			if err := json.Unmarshal(told, &results); err != nil {
				panic(err)
			}
			for _, r := range results {
				if r.Objective != nil && (best == nil || *r.Objective < least) {
					best, least = r.Configuration, *r.Objective
				}
			}
			continue
		}
		pool := ask(`{"sample": %d}`, 1+rng.IntN(3))
		if best != nil && rng.IntN(2) == 0 {
			pool = ask(`{"neighbours": %s, "by": "Hamming"}`, best)
		}
		if len(pool) == 0 || rng.IntN(5) == 0 {
			pool = ask(`{"nearest": {"a": %d, "b": %d.0, "c": "x"}}`, rng.IntN(6), rng.IntN(6))
		}
		choice := pool[rng.IntN(len(pool))]
		if rng.IntN(5) == 0 {
			choice = json.RawMessage(`{"a":0,"b":0,"c":"x"}`) // is not valid
		}
		fmt.Printf(`{"propose": [%s]}`+"\n", choice)
	}
}

func testSpace(t *testing.T) *space.Space {
	t.Helper()
	numbers := []space.Value{0, 1, 2, 3, 4, 5}
	p, err := space.NewParameters([]space.Parameter{{Name: "a", Values: numbers}, {Name: "b", Values: numbers}, {Name: "c", Values: []space.Value{"x", 2.0}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), p, []space.Restriction{{Expression: "(a + b) % 3 != 0"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func program(t *testing.T, args ...string) Options {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Args: append([]string{path, "strategy"}, args...), Objective: score.Objective{Name: "time"}, Seed: 1}
}

// TestAProgramKeepsTheContract searches a whole space, with results that come late.
func TestAProgramKeepsTheContract(t *testing.T) {
	s := testSpace(t)
	run := func(seed uint64) (all []int) {
		o := program(t, "wanders")
		o.Seed, o.Start = seed, []int{7, 3, 7}
		c, err := New(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		rng := rand.New(rand.NewPCG(seed, 1))
		seen := map[int]bool{}
		var due []int
		for {
			n := 1 + rng.IntN(4)
			proposed, err := search.Ask(t.Context(), c, n)
			if err != nil || len(proposed) > n {
				t.Fatalf("%v, %v", proposed, err)
			}
			for _, i := range proposed {
				if seen[i] || i < 0 || i >= s.Len() {
					t.Fatalf("%d is proposed", i)
				}
				seen[i] = true
			}
			all, due = append(all, proposed...), append(due, proposed...)
			if len(due) == 0 {
				return all
			}
			var told []search.Observation
			for range min(len(due), 1+rng.IntN(3)) {
				i := due[0]
				due = due[1:]
				told = append(told, search.Observation{Index: i, Valid: i%4 > 0, Objective: float64(i % 11), Status: "correct"})
			}
			c.Tell(told)
		}
	}
	first := run(1)
	if len(first) != s.Len() || first[0] != 7 || first[1] != 3 {
		t.Errorf("%d of %d, first %v", len(first), s.Len(), first[:2])
	}
	if !slices.Equal(first, run(1)) {
		t.Error("two searches with one seed differ")
	}
	if slices.Equal(first, run(2)) {
		t.Error("two searches with different seeds do not differ")
	}
}

// TestFaultyProgramsAreNamedWithTheirFault has the first and the second ask of a search.
func TestFaultyProgramsAreNamedWithTheirFault(t *testing.T) {
	const ready, good = `{"ready":1}`, `{"propose":[{"a":1,"b":0,"c":2}]}`
	for want, says := range map[string][]string{
		"it ended before it could say that it is ready: with exit status 3; it printed last: {\"hello\":":                                        {"exit"},
		`it answered {"end":true} to the hello; want {"ready":1}`:                                                                                {`{"end":true}`},
		`it speaks version 2 of the protocol, and this program speaks 1`:                                                                         {`{"ready":2}`},
		`it wrote on standard output, where its answer belongs, Hello!: want a JSON object with one of the members ready, propose, end, sample,`: {"Hello!"},
		`it wrote on standard output, where its answer belongs, {"ready":1} x: want a JSON object`:                                               {`{"ready":1} x`},
		`json: unknown field "proposal"`:                                                                          {ready, `{"proposal":[]}`},
		`where its answer belongs, {}: want a JSON object with one of the members`:                                {ready, `{}`},
		`it answered {"ready":1} to {"ask":1}`:                                                                    {ready, ready},
		`it ended before it could propose a configuration: with exit status 3`:                                    {ready, good, "exit"},
		`it proposed nothing, and no result is due: propose a configuration, or end the search with {"end":true}`: {ready, `{"propose":[]}`},
		`it proposed 2 configurations and was asked for at most 1`:                                                {ready, `{"propose":[{},{}]}`},
		`it proposed a configuration that cannot be: it has no value for the parameter b`:                         {ready, `{"propose":[{"a":1,"c":"x"}]}`},
		`it proposed a configuration that cannot be: a=7 is not among its values, 0, 1, 2, 3, 4, 5`:               {ready, `{"propose":[{"a":7,"b":0,"c":"x"}]}`},
		`it proposed a configuration that cannot be: c: [2] is not a number, a bool or a text`:                    {ready, `{"propose":[{"a":1,"b":0,"c":[2]}]}`},
		`no parameter is named bb; did you mean "b"?`:                                                             {ready, `{"propose":[{"a":1,"b":0,"c":"x","bb":1}]}`},
		`it proposed only configurations that it knows or that are not valid, 1000 times in a row: ask for {"sample":1} to get a new one, or end the search with {"end":true}`: {ready, `{"propose":[{"a":0,"b":0,"c":"x"}]}`},
		`it asked {"sample":0}: a sample has 1 to 10000 configurations`:            {ready, `{"sample":0}`},
		`only a valid configuration has neighbours: ask for the nearest one first`: {ready, `{"neighbours":{"a":0,"b":0,"c":"x"}}`},
		`by is adjacent or Hamming, not far`:                                       {ready, `{"neighbours":{"a":1,"b":0,"c":"x"},"by":"far"}`},
	} {
		c, err := New(t.Context(), testSpace(t), program(t, append([]string{"says"}, says...)...))
		for range 2 {
			if err == nil {
				var proposed []int
				if proposed, err = c.Consult(t.Context(), 1); len(proposed) > 0 {
					c.Tell([]search.Observation{{Index: proposed[0], Valid: true, Objective: 1}})
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "the strategy command ") {
			t.Errorf("%.50q: %v, want %s", says, err, want)
		}
		if c != nil {
			if _, again := c.Consult(t.Context(), 1); again == nil || again.Error() != err.Error() {
				t.Errorf("%.50q: then %v", says, again)
			}
			c.Close()
		}
	}
}

// TestAProgramThatHangs never says that it is ready, or never proposes.
func TestAProgramThatHangs(t *testing.T) {
	o := program(t, "says", "hang")
	o.Timeout = time.Millisecond
	soon, end := context.WithTimeout(t.Context(), 20*time.Second) // less than the default: the given time must count
	defer end()
	if _, err := New(soon, testSpace(t), o); err == nil || !strings.HasSuffix(err.Error(), "it did not say that it is ready within 1ms") {
		t.Error(err)
	}
	c, err := New(t.Context(), testSpace(t), program(t, "says", `{"ready":1}`, "hang"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Consult(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWhatAProgramIsTold shows the lines that a program gets.
func TestWhatAProgramIsTold(t *testing.T) {
	const a, b, excluded = `{"a":1,"b":0,"c":2.0}`, `{"a":1,"b":1,"c":"x"}`, `{"a":0,"b":0,"c":"x"}`
	o := program(t, "says", `{"ready":1}`, `{"valid":[`+a+`,`+excluded+`]}`, `{"propose":[`+a+`,`+excluded+`]}`, `{"propose":[`+a+`]}`,
		`{"propose":[`+a+`]}`, `{"propose":[`+b+`]}`, `{"end":true}`)
	var shown bytes.Buffer
	o.Output, o.Budget, o.Evaluators = &shown, 9, 4
	o.Objective = score.Objective{Name: "GB/s", Maximize: true, More: []score.Objective{{Name: "energy"}}}
	s := testSpace(t)
	c, err := New(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for step := range 5 {
		proposed, err := c.Consult(t.Context(), 2)
		if err != nil {
			t.Fatal(step, err)
		}
		all = append(all, proposed...)
		if step == 1 { // it has proposed what is due
			c.Tell([]search.Observation{{Index: all[0], Valid: true, Objective: -5, More: []float64{2}, Status: "correct"}})
		}
	}
	c.Tell([]search.Observation{{Index: all[1], Status: "compile"}})
	c.Close()
	want := `{"hello":{"protocol":1,"parameters":[{"name":"a","values":[0,1,2,3,4,5]},{"name":"b","values":[0,1,2,3,4,5]},{"name":"c","values":["x",2.0]}],"configurations":48,` +
		`"objectives":[{"name":"GB/s","direction":"maximize"},{"name":"energy","direction":"minimize"}],"seed":1,"max_evals":9,"evaluators":4}}
{"ask":2}
{"valid":[true,false]}
{"tell":[{"configuration":` + excluded + `,"status":"constraints","objective":null}]}
{"ask":2}
{"tell":[{"configuration":` + a + `,"status":"correct","objective":5,"objectives":[5,2]}]}
{"ask":2}
{"tell":[{"configuration":` + a + `,"status":"correct","objective":5,"objectives":[5,2]}]}
{"ask":2}
{"ask":2}
{"tell":[{"configuration":` + b + `,"status":"compile","objective":null,"objectives":[null,null]}]}
`
	if got := strings.ReplaceAll(shown.String(), "strategy: ", ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// FuzzAnswers reads lines of a program, and answers those that it understands.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{`{"ready":1}`, `{"propose":[{"a":1,"b":0,"c":"x"}]}`, `{"valid":[null,{"a":1e400}]}`, `{"neighbours":{"a":1,"b":0,"c":2}}`, `{"nearest":{"a":0,"b":0,"c":true}}`, `{"sample":3}`, "\xff{"} {
		f.Add([]byte(text))
	}
	p, err := space.NewParameters([]space.Parameter{{Name: "a", Values: []space.Value{0, 1, 2.5}}, {Name: "b", Values: []space.Value{0, 1}}, {Name: "c", Values: []space.Value{"x", 2.0}}})
	if err != nil {
		f.Fatal(err)
	}
	s, err := space.New(f.Context(), p, []space.Restriction{{Expression: "a != b"}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &Strategy{space: s, options: Options{Objective: score.Objective{Name: "time"}}, rng: rand.New(rand.NewPCG(1, 1)), proposed: map[int]*search.Observation{}}
		var a answer
		if json.Unmarshal(text, &a) != nil {
			return
		}
		if a.Propose != nil {
			proposed, _, err := c.enter(*a.Propose, 2)
			if err == nil && (len(proposed) > 2 || len(proposed) > 0 && (proposed[0] < 0 || proposed[0] >= s.Len())) {
				t.Errorf("%s: %v", text, proposed)
			}
			if _, err := json.Marshal(message{Tell: c.untold}); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		} else if a.Ready == nil && a.End == nil {
			if reply, err := c.reply(a); err == nil {
				if _, err := json.Marshal(reply); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	})
}
