package python

// The bounds of an evaluation: the items of one list, the operations and items in all, and the
// bytes of a text.
const (
	maxItems = 1_000_000
	maxSteps = 5_000_000
	maxText  = 1_000_000
)

// Eval computes the expression: an int, a float64, a bool, a string or a []any of them. The
// environment has such a value for every name that the expression reads. Errors are of type
// [*Error].
func (e *Expression) Eval(environment map[string]any) (v any, err error) {
	defer catch(e.source, &err)
	t := &translator{values: map[string]any{}}
	for _, name := range e.names {
		if v, ok := environment[name]; ok {
			if t.values[name], err = valueOf(v); err != nil {
				failf(0, "%s: %v", name, err)
			}
		}
	}
	return plain(t.translate(e.root, nil).constant), nil
}

// step counts work, so that an expression ends in time.
func (t *translator) step(column, n int) {
	if t.steps += n; t.steps > maxSteps {
		failf(column, "computing the expression takes more than %d operations", maxSteps)
	}
}

// iterate are the items of a list or the characters of a text.
func iterate(column int, v any) []any {
	switch v := v.(type) {
	case *list:
		return v.items
	case string:
		var items []any
		for _, c := range v {
			items = append(items, string(c))
		}
		return items
	}
	failf(column, "%s has no items", typeName(v))
	return nil
}

func subscriptOf(column int, of, index any) any {
	items := iterate(column, of)
	i, ok := integer(index)
	if !ok {
		failf(column, "an index is an integer, not %s", typeName(index))
	}
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		failf(column, "the index %v lies beyond the %d items", index, len(items))
	}
	return items[i]
}
