package diffusion

// stepRows computes rows from up to, not including, to of one step: u_new of u, fields of rows
// of nx cells. Edges are left alone; rows must lie within 1 ≤ from ≤ to ≤ ny − 1.
func stepRows(uNew, u []float32, nx, from, to int, dt float32) {
	if nx < 3 {
		return
	}
	for y := from; y < to; y++ {
		row := y * nx
		stepRow(uNew[row+1:row+nx-1], u[row-nx+1:row-1], u[row:row+nx], u[row+nx+1:row+2*nx-1], dt)
	}
}

// stepRow computes the inner cells of a row. The row itself has one cell more on either side
// than the results, and the cells above and below.
//
// The sums are associated as in the kernels, and the conversions forbid the compiler to fuse
// operations, so that results are the same on every processor.
func stepRow(result, above, row, below []float32, dt float32) {
	n := len(result)
	above, below = above[:n], below[:n]
	left, centre := row[0], row[1]
	rights := row[2:][:n]
	for x := range result {
		right := rights[x]
		around := left + right + above[x] + below[x]
		result[x] = centre + float32(dt*float32(around-float32(4*centre)))
		left, centre = centre, right
	}
}
