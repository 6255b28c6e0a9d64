package worker

import (
	"time"

	"github.com/ndtune/ndtune/tune/space"
)

// A task is a configuration on its way through the pool.
type task struct {
	configuration space.Configuration
	values        values
	binary        []byte        // from the worker that built it, where it is needed
	build         time.Duration // what that took
	again         bool          // it is built once more, for the binary
	deaths        int           // of workers that were at it
	fresh         string        // a device.FreshOption, or ""
}

// builtTwice reports whether a worker that builds the task does what another has done.
func (t *task) builtTwice() bool { return t.build > 0 && t.binary == nil && !t.again }

// queue is a line of tasks.
type queue struct{ tasks []*task }

func (q *queue) add(t *task)   { q.tasks = append(q.tasks, t) }
func (q *queue) first(t *task) { q.tasks = append([]*task{t}, q.tasks...) }
func (q *queue) len() int      { return len(q.tasks) }

// next takes the first task that a worker may have: one at which a worker has died needs a
// worker that has done nothing yet, since the damage may be another task's.
func (q *queue) next(fresh bool) *task {
	for i, t := range q.tasks {
		if t.deaths == 0 || fresh {
			q.tasks = append(q.tasks[:i:i], q.tasks[i+1:]...)
			return t
		}
	}
	return nil
}
