package report

import (
	"math/rand/v2"
)

// A forest is a random forest for regression (L. Breiman, «Random forests», Machine Learning
// 45, 2001): trees on bootstrap samples, each split the best over a random third of the
// features, and the mean of the trees. Features are ranks.
type forest struct {
	trees []tree
	bags  [][]bool // by tree: the rows that it was fitted to
}

// A tree is its nodes, the root first.
type tree []treeNode

type treeNode struct {
	feature     int32 // -1: a leaf
	limit       uint16
	left, right int32 // rank ≤ limit, rank > limit
	value       float64
}

const (
	forestTrees = 100
	forestLeaf  = 5 // a node of fewer rows is not split: Breiman's choice for regression
)

func growForest(x [][]uint16, y []float64, random *rand.Rand) *forest {
	f := &forest{}
	g := newGrower(x, y, random)
	for range forestTrees {
		bag, rows := make([]bool, len(y)), make([]int32, len(y))
		for i := range rows {
			rows[i] = int32(random.IntN(len(y)))
			bag[rows[i]] = true
		}
		g.tree = nil
		g.grow(rows)
		f.trees, f.bags = append(f.trees, g.tree), append(f.bags, bag)
	}
	return f
}

// A grower makes trees. Its histograms are by rank.
type grower struct {
	x        [][]uint16
	y        []float64
	random   *rand.Rand
	tried    int // features a split
	features []int
	count    []float64
	sum      []float64
	tree     tree
}

func newGrower(x [][]uint16, y []float64, random *rand.Rand) *grower {
	g := &grower{x: x, y: y, random: random, tried: max(1, (len(x)+2)/3)}
	ranks := 0
	for j := range x {
		g.features = append(g.features, j)
		for _, r := range x[j] {
			ranks = max(ranks, int(r)+1)
		}
	}
	g.count, g.sum = make([]float64, ranks), make([]float64, ranks)
	return g
}

// grow adds a node for these rows and all below it, and returns its place.
func (g *grower) grow(rows []int32) int32 {
	place := int32(len(g.tree))
	mean := 0.0
	for _, i := range rows {
		mean += g.y[i]
	}
	mean /= float64(len(rows))
	g.tree = append(g.tree, treeNode{feature: -1, value: mean})
	if len(rows) < forestLeaf {
		return place
	}
	feature, limit := g.split(rows, mean)
	if feature < 0 {
		return place
	}
	middle := 0
	for i, row := range rows {
		if g.x[feature][row] <= limit {
			rows[i], rows[middle] = rows[middle], rows[i]
			middle++
		}
	}
	left := g.grow(rows[:middle])
	right := g.grow(rows[middle:])
	node := &g.tree[place]
	node.feature, node.limit, node.left, node.right = int32(feature), limit, left, right
	return place
}

// split is the feature and the rank that leave the least variance: of a random part of the
// features, and of all where these cannot be split. It is -1 where nothing can be.
func (g *grower) split(rows []int32, mean float64) (feature int, limit uint16) {
	g.random.Shuffle(len(g.features), func(i, j int) { g.features[i], g.features[j] = g.features[j], g.features[i] })
	feature = -1
	most := 1e-12 // of what rounding would give
	for k, j := range g.features {
		if k >= g.tried && feature >= 0 {
			break
		}
		if gain, at := g.splitOf(j, rows, mean); gain > most {
			most, feature, limit = gain, j, at
		}
	}
	return feature, limit
}

// splitOf is the best limit of a feature, and by how much it lowers the sum of squares.
func (g *grower) splitOf(j int, rows []int32, mean float64) (gain float64, limit uint16) {
	low, top := uint16(len(g.count)-1), uint16(0)
	for _, i := range rows {
		r := g.x[j][i]
		low, top = min(low, r), max(top, r)
		g.count[r]++
		g.sum[r] += g.y[i] - mean
	}
	n, count, sum := float64(len(rows)), 0.0, 0.0
	for r := int(low); r < int(top); r++ {
		if g.count[r] == 0 {
			continue
		}
		count += g.count[r]
		sum += g.sum[r]
		if d := sum * sum * n / (count * (n - count)); d > gain { // the other side's sum is -sum
			gain, limit = d, uint16(r)
		}
	}
	for r := int(low); r <= int(top); r++ {
		g.count[r], g.sum[r] = 0, 0
	}
	return gain, limit
}

func (t tree) predict(row []uint16) float64 {
	n := &t[0]
	for n.feature >= 0 {
		if row[n.feature] <= n.limit {
			n = &t[n.left]
		} else {
			n = &t[n.right]
		}
	}
	return n.value
}

func (f *forest) predict(row []uint16) float64 {
	sum := 0.0
	for _, t := range f.trees {
		sum += t.predict(row)
	}
	return sum / float64(len(f.trees))
}

// fit is R² of the rows, each predicted by the trees that have not seen it.
func (f *forest) fit(x [][]uint16, y []float64) float64 {
	row := make([]uint16, len(x))
	var seen []float64
	wrong := 0.0
	for i := range y {
		for j := range x {
			row[j] = x[j][i]
		}
		sum, n := 0.0, 0.0
		for k, t := range f.trees {
			if !f.bags[k][i] {
				sum += t.predict(row)
				n++
			}
		}
		if n == 0 {
			continue
		}
		seen = append(seen, y[i])
		wrong += (y[i] - sum/n) * (y[i] - sum/n)
	}
	return 1 - wrong/(variance(seen)*float64(len(seen)))
}
