package search

// A queue is a sequence whose elements can be looked at before they are taken.
type queue struct {
	next   func() (int, bool) // the sequence
	looked []int
}

// take is the next element; false at the end.
func (q *queue) take() (int, bool) {
	if len(q.looked) == 0 {
		return q.next()
	}
	i := q.looked[0]
	q.looked = q.looked[1:]
	return i, true
}

// more looks at another element behind those that were looked at; false at the end.
func (q *queue) more() (int, bool) {
	i, ok := q.next()
	if ok {
		q.looked = append(q.looked, i)
	}
	return i, ok
}

// clear forgets what was looked at.
func (q *queue) clear() { q.looked = nil }
