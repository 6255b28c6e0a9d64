// Package space holds the search space of a tuning problem: parameters with their
// values, configurations, and the restrictions that say which configurations are valid.
//
// Its types: [Parameters] and [Restriction]s make a [Space] of [Configuration]s.
//
// A [Space] is the ordered list of all configurations that satisfy the restrictions, in
// the order of an odometer whose last parameter turns fastest. Configurations are
// addressed by their index, so that a search strategy can work on plain integers.
//
// The package knows nothing of kernels, devices or time. The language of restrictions is that
// of package expression.
//
// # Reasons
//
// A space is never a list. Parameters that restrictions tie together form a group, and each group is a decision diagram that is built
// one parameter at a time. A node stands for the values of the partly evaluated restrictions, not for the values chosen so far: the
// choices 2, 8 and 4, 4 lead to one node if only their product counts. The operands of a sum or a product are combined in the order in
// which their values become known, so that there are few nodes; intervals show early that a limit cannot be met. Every node knows how
// many configurations follow it, so a configuration is found by its index in one walk.
//
// Construction counts the bytes of nodes, edges and kept results, and ends beyond 1 GiB with an error that names the expressions that
// make the nodes different. A restriction in Go that does not list its parameters is called for every configuration. Workers need no
// space.
package space
