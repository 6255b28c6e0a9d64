package fleet

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// FuzzMessage: whatever is sent, it is a message or an error; a message is the same after it was sent on; its configurations are those of the
// problem, and its result can be kept in a log.
func FuzzMessage(f *testing.F) {
	p := newProblem(f, 3)
	some := space.Named{"i": 1}
	now := time.Unix(1e9, 0).UTC()
	result := tune.Result{Status: tune.Correct, Times: []float64{1.5, 1e-300}, Timestamp: now, Metrics: []score.MetricValue{{Name: "GB/s", Value: 3}},
		Readings: []hardware.Reading{{Quantity: hardware.Clock, Value: 1200}}}
	for i, m := range []versioned{
		Announcement{header: ours, Agent: "a", Machine: "m", Selector: "0:0", Device: gpu, Since: now, Refused: []Refusal{{"s", "why"}}, Silence: 1},
		search{header: ours, ID: "s", Device: gpu, Worker: worker.Options{Iterations: 3, Peaks: &hardware.Peaks{}}},
		work{header: ours, Key: "k.1", Values: some},
		answer{header: ours, Search: "s", Key: "k.1", Device: "m/0:0", Result: result},
		answer{header: ours, Turns: []tune.Turns{{Times: []float64{1, 2}}, {Reason: "why"}}, Failed: "no"},
		bestOf{header: ours, Values: some, Result: result},
		measurement{header: ours, Configurations: []space.Named{some, some}, Rounds: 7},
		measurement{header: ours, Configurations: []space.Named{some, some}, Probe: true},
	} {
		f.Add(byte(i), encode(m))
	}
	for _, text := range []string{`{"protocol":3}`, `{"protocol":3,"result":{"status":"well"}}`, `{"protocol":3,"result":{"status":"correct","times":[-1]}}`,
		`{"protocol":3,"values":{"i":1e400,"j":"x","k":[1],"l":{"a":"NaN"}}}`, `[`, "\xff", `{"protocol":3,"since":"0000-01-01T00:00:00Z","silence_ns":-1}`} {
		for i := range byte(7) {
			f.Add(i, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		switch kind % 7 {
		case 0:
			if a, good := sentOn[Announcement](t, data); good {
				if what, _ := a.Doing(); what == "" && a.Problem != "" {
					t.Errorf("%q does nothing", data)
				}
			}
		case 1:
			sentOn[search](t, data)
		case 2:
			if w, good := sentOn[work](t, data); good {
				c, err := p.Parameters().Configure(w.Values)
				if err == nil && (c.Int("i") < 0 || c.Int("i") > 2) {
					t.Errorf("%q: %s", data, c)
				}
			}
		case 3, 4:
			a, good := sentOn[answer](t, data)
			if !good {
				return
			}
			c, err := p.Parameters().Configure(some)
			if err != nil {
				t.Fatal(err)
			}
			r := a.resultOf(c, tune.Retest{})
			if r.Status == tune.Correct && len(r.Times) == 0 {
				t.Errorf("%q: a result without times", data)
			}
			var log bytes.Buffer
			header := record.Header{Parameters: []space.Parameter{p.Parameters().At(0)}, Objective: p.Objective()}
			if err := record.EncodeLog(&log, &record.Record{Header: header, Results: []tune.Result{r}}); err != nil {
				t.Fatalf("%q cannot be kept: %v", data, err)
			}
			if kept, err := record.Decode(log.Bytes()); err != nil || len(kept.Results) != 1 || kept.Results[0].Status != r.Status {
				t.Fatalf("%q is kept as %q: %v", data, log.Bytes(), err)
			}
		case 5:
			sentOn[bestOf](t, data)
		default:
			sentOn[measurement](t, data)
		}
	})
}

// sentOn decodes a message, and checks that it is the same when it is sent on.
func sentOn[T versioned](t *testing.T, data []byte) (m T, good bool) {
	m, err := decode[T](data)
	if err != nil {
		if string(data) == `{"protocol":3}` && !errors.Is(err, errOther) {
			t.Errorf("%q: %v", data, err)
		}
		return m, false
	}
	text := encode(m)
	again, err := decode[T](text)
	if err != nil {
		t.Fatalf("%q is sent on as %q: %v", data, text, err)
	}
	if !bytes.Equal(encode(again), text) {
		t.Fatalf("%q is sent on as %q, and that as %q", data, text, encode(again))
	}
	return m, true
}
