package space

import "fmt"

// An EmptyError says that the restrictions leave no configuration, and which of them took
// the last.
type EmptyError struct {
	Index       int // the restriction, in the order of the list
	Restriction Restriction
	Alone       bool // it leaves nothing even without the others
}

func (e *EmptyError) Error() string {
	if e.Alone {
		return fmt.Sprintf("the space is empty: no configuration satisfies restrictions[%d], %s", e.Index, e.Restriction)
	}
	return fmt.Sprintf("the space is empty: restrictions[%d], %s, refuses every configuration that the restrictions before it leave", e.Index, e.Restriction)
}

// explainEmpty finds the first restriction with which nothing is left.
func explainEmpty(parameters *Parameters, checks []check, environment map[string]any) error {
	satisfiable := func(checks []check) bool {
		s, err := construct(parameters, checks, environment)
		return err != nil || s.length > 0
	}
	for i := range checks {
		if !satisfiable(checks[:i+1]) {
			return &EmptyError{checks[i].index, checks[i].restriction, !satisfiable(checks[i : i+1])}
		}
	}
	return fmt.Errorf("the space is empty")
}
