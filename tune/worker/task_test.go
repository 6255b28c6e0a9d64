package worker

import "testing"

func TestQueue(t *testing.T) {
	a, b, c, d := &task{}, &task{deaths: 1}, &task{}, &task{deaths: 1}
	q := queue{}
	if q.next(true) != nil || q.next(false) != nil {
		t.Error("an empty queue gave a task")
	}
	q.add(a)
	q.add(b)
	q.add(c)
	q.first(d)
	for i, want := range []*task{a, c, nil} {
		if got := q.next(false); got != want {
			t.Errorf("a worker that has done something, %d: %+v", i, got)
		}
	}
	for i, want := range []*task{d, b, nil} {
		if got := q.next(true); got != want {
			t.Errorf("a fresh worker, %d: %+v", i, got)
		}
	}
	if q.len() != 0 {
		t.Errorf("%d are left", q.len())
	}
}
