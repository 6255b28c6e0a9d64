// Package diffusion is the model of the diffusion tutorial: heat that spreads over a metal
// sheet. It holds the temperature [Field], a CPU reference ([Advance]), the same steps on an
// OpenCL device ([Simulation]), and a picture of the two side by side ([Plot]).
//
// It refuses time steps for which the scheme is unstable, kernels that are not one of the
// diffusion steps (two buffers, u_new and u), and to guess: a field that does not have the
// size that the kernel was made for is an error. It tunes nothing and chooses no device.
//
// # The equation and its discretisation
//
// The temperature u(x, y, t) of a sheet follows the diffusion equation
//
//	∂u/∂t = D (∂²u/∂x² + ∂²u/∂y²)
//
// On a grid of nx × ny cells of width 1, with D = 1, central differences give each second
// derivative, u(x+1) − 2u(x) + u(x−1), with an error of the order of the squared width, and an
// explicit Euler step of length dt goes forward in time:
//
//	u'[y][x] = u[y][x] + dt · (u[y][x−1] + u[y][x+1] + u[y−1][x] + u[y+1][x] − 4 u[y][x])
//
// The outermost rows and columns are fixed: they keep the temperature that they have at first
// (Dirichlet conditions). A field with fewer than three rows or columns never changes.
//
// # Stability
//
// After von Neumann, one looks at what a step does to a single wave exp(i(k·x + l·y)): it is
// multiplied by
//
//	g(k, l) = 1 − 4 dt (sin²(k/2) + sin²(l/2))
//
// No wave grows where |g| ≤ 1 for all k and l. The worst is the chequerboard, k = l = π, with
// g = 1 − 8 dt, so that the step is stable for dt ≤ 1/4, [MaxTimeStep]. See K. W. Morton and
// D. F. Mayers, Numerical Solution of Partial Differential Equations, 2nd edition (Cambridge
// University Press, 2005), sections 2.7 and 3.1, where the condition in two dimensions reads
// D dt/dx² + D dt/dy² ≤ 1/2.
//
// For the same dt the new temperature is a mean of the five old ones, with the weights
// 1 − 4 dt ≥ 0 and four times dt. Hence the maximum principle: no cell ever becomes hotter
// than the hottest or colder than the coldest cell of the first field, but for rounding.
//
// # What is conserved
//
// What an inner cell gains from an inner neighbour, dt (u_neighbour − u_cell), that neighbour
// loses. Only the pairs of an edge cell and an inner cell beside it are one-sided, because the
// edge stays as it is. So a step changes the sum of the field by
//
//	dt · Φ,  Φ = Σ (u_edge − u_inner) over the 2 (nx−2) + 2 (ny−2) such pairs
//
// where Φ is the flux over the edges, and after n steps
//
//	|sum change| ≤ dt · Σ |Φ| over the steps + 8 ε n A
//
// The last term is that of rounding to float32: ε = 2⁻²⁴, and A is the largest Σ|u| of all the
// steps, which is the sum itself for temperatures above zero. It comes from the seven
// operations of a cell, each of which is off by ε times its result at most. Summed over all
// cells, where each value is the neighbour of four others, the three additions give 12 ε A, the
// subtraction 8 ε A and the product with dt 8 ε A, all three times dt ≤ 1/4; the last addition
// gives ε A. That is (1 + 28 dt) ε A ≤ 8 ε A a step.
//
// Where all edges have one temperature e and no cell is colder, as in the tutorial unless a hot
// point falls on an edge, Φ ≤ 0: heat only leaves, and never more than the excess of the first
// field, Σ (u − e).
//
// # Rounding, and agreement with a device
//
// The reference computes in float32 in the order of the bundled kernels,
// ((left + right) + above) + below, minus four times the centre. What is left to a compiler is
// whether it fuses the last product and sum into one operation with one rounding instead of two.
// A step thereby differs by ε·dt times the Laplacian and a last bit of the sum. Steps never
// amplify a difference (they are means), so that after n steps it is at most of the order of
// n ε u; in practice roundings cancel, and it is far less.
package diffusion
