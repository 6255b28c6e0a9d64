// Package expression holds the language of the expressions in specifications.
//
// Its types: an [Expression] was parsed and checked, a [Node] is a part of it, a [Program] computes it.
//
// The language is expr-lang (https://expr-lang.org) with its computing builtins and functions
// of its own: div(a, b), the integer quotient rounded towards zero as in a kernel, and others
// that compute as Python does. «/» is always a float division; «//», which would begin a
// comment, is refused. An expression can use only the values that it is
// given: it has no access to the clock, the environment or files.
//
// expr-lang parses an expression and checks its types. Then the expression is lowered into nodes:
// operations on numbers, conditions and texts. A node has a kind, is computed at once
// if its arguments are constants, and has a program that computes
// it on words of 64 bits. [Expression.Eval] runs programs, and package space constructs search
// spaces from nodes. An expression that has other parts (a list that is not constant, a predicate, a part of a text, a value of which
// only the computation tells the kind) has no nodes: an interpreter computes its tree by the same operations. The interpreter also
// supplies the message if a program fails.
//
// Package export turns nodes into rules that C and Python programs compute, with the same values.
//
// # Reasons
//
// Programs on words compute two to three times as fast as expr-lang's VM, which wraps around where an integer overflows. FuzzAgainstVM
// compares values with those of the VM.
package expression
