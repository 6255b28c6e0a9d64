package matmul

// A Comparison is from which size on one entrant is faster than another.
type Comparison struct {
	From     int // the smallest N from which on it is faster at every size; 0: at none
	Smallest int // both were measured from this N
	Largest  int // to this N; 0: at no size
}

// Compare says from which size on an entrant is faster than another, of the sizes at which
// both were measured: alone, or with both transfers.
func Compare(cells []Cell, entrant, over string, withTransfers bool) Comparison {
	var c Comparison
	others := map[int]*Measurement{}
	for _, cell := range cells {
		if cell.Entrant == over && cell.Measurement != nil {
			others[cell.N] = cell.Measurement
		}
	}
	for _, cell := range cells { // ascending
		other := others[cell.N]
		if cell.Entrant != entrant || cell.Measurement == nil || other == nil {
			continue
		}
		mine, its := cell.Measurement.Time(), other.Time()
		if withTransfers {
			mine, its = cell.Measurement.WithTransfers(), other.WithTransfers()
		}
		switch {
		case mine >= its:
			c.From = 0
		case c.From == 0:
			c.From = cell.N
		}
		if c.Smallest == 0 {
			c.Smallest = cell.N
		}
		c.Largest = cell.N
	}
	return c
}
