// Package expression holds the language of the expressions in specifications.
//
// The language is expr-lang (https://expr-lang.org) with its computing builtins and functions
// of its own: div(a, b), the integer quotient rounded towards zero as in a kernel, and others
// that compute as Python does. «/» is always a float division; «//», which would begin a
// comment, is refused. An expression can use only the values that it is
// given: it has no access to the clock, the environment or files.
//
// expr-lang parses an expression and checks its types. Then the expression is lowered into nodes:
// operations on numbers, conditions and texts. A node has a kind, is computed at once
// if its arguments are constants, is printed as it was written, and has a program that computes
// it on words of 64 bits. [Expression.Eval] runs programs, and package space constructs search
// spaces from nodes. An expression that has other parts (a list that is not constant, a predicate,
// a variable) has no nodes, and the VM of expr-lang computes it.
//
// Package export turns nodes into rules that C and Python programs compute, with the same values.
//
// # Reasons
//
// An expression is parsed once and lowered into operations on 64-bit words, which compute two to three times as fast as expr-lang's VM,
// and from which tune/space constructs spaces. The VM computes only expressions with lists, predicates or variables, and supplies the
// message if an operation fails. FuzzAgainstVM compares the two.
package expression
