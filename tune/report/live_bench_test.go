package report

import (
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// BenchmarkFollow is what the live page costs for each update: a report of so many results, where
// what matters is not found out anew, and its part of ten rows.
func BenchmarkFollow(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list := []space.Parameter{{Name: "x"}, {Name: "y", Values: []space.Value{1, 2, 4, 8}}}
			for i := range n / 4 {
				list[0].Values = append(list[0].Values, i)
			}
			s := mustSpace(b, list)
			var results []tune.Result
			for i := range s.Len() {
				r := oneOfEach(s.At(0), 0)
				r.Configuration, r.Objective = s.At(i), 1+float64(i*7919%n)
				r.Times = []float64{r.Objective, r.Objective, r.Objective, r.Objective, r.Objective, r.Objective, r.Objective}
				results = append(results, r)
			}
			f := Follow("r", record.Header{Parameters: list, Objective: score.Objective{Name: "time"}}, "ndtune test")
			if _, err := f.Report(results[:n-10], false, created); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r, err := f.Report(results, false, created)
				if err == nil {
					_, err = r.Part(n-10, Progress{})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
