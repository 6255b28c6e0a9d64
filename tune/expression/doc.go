// Package expression holds the language of the expressions in specifications.
//
// The language is expr-lang (https://expr-lang.org) with its computing builtins and functions
// of its own: div(a, b), the integer quotient rounded towards zero as in a kernel, and others
// that compute as Python does. «/» is always a float division; «//», which would begin a
// comment, is refused. An expression cannot reach anything but the values handed to it: there
// is no clock, no environment, no file.
//
// expr-lang parses an expression, checks its types, and computes it. Besides, an expression is
// lowered into nodes: few operations on numbers, conditions and texts, each with the program
// that computes it on words of 64 bits, and with the bounds of its result. Package space
// constructs search spaces from them. An expression that has other parts (a list that is not
// constant, a predicate, a variable) has no nodes, and only expr-lang computes it.
package expression
