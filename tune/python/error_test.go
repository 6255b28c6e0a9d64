package python

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// What is outside of the language is named, with its column.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"", `in "", column 1: the expression is empty`},
		{"x is 3", `in "x is 3", column 3: "is" compares identities; write == or !=`},
		{"x == None", `in "x == None", column 6: None is no value of a parameter`},
		{"x &&  y", `column 3: "&&" is no operator of Python; write and`},
		{"x || y", `column 3: "||" is no operator of Python; write or`},
		{"!x", `column 1: "!" is no operator of Python; write not`},
		{"x = 3", `column 3: "=" is an assignment; write == to compare`},
		{"(x = 3)", `column 4: "=" is an assignment; write == to compare`},
		{"(x := 3)", `column 4: ":=" is an assignment, which is not allowed`},
		{"x += 1", `column 3: "+=" is an assignment, which is not allowed`},
		{"x @ y", `column 3: "@" multiplies matrices, which there are none of here`},
		{"x; y", `column 2: ";" parts statements; this is one expression`},
		{"x # comment", `column 3: a comment is not allowed in an expression`},
		{"x $ y", `column 3: the character '$' is not allowed here`},
		{"é + ß $", `column 7: the character '$' is not allowed here`},
		{"1j", `column 1: the imaginary number 1j is not allowed`},
		{"010", `column 1: 010 has a leading zero; write 0o… for an octal number`},
		{"1__0", `column 1: 1__0 is not a number`},
		{"1_", `column 1: 1_ is not a number`},
		{"0x", `column 1: 0x is not a number`},
		{"1.2.3", `column 1: 1.2.3 is not a number`},
		{"3abc", `column 1: 3abc is not a number`},
		{"2 * 1e999", `column 5: 1e999 is beyond the range of a float`},
		{`"open`, `column 1: the text is not closed; a " is missing`},
		{`"""x"""`, `column 1: a text in triple quotes is not allowed`},
		{`f"{x}"`, `column 1: a formatted text (f"…") is not allowed`},
		{`b"x"`, `column 1: bytes (b"…") are not allowed`},
		{`"\q"`, `column 2: the escape \q is not allowed in a text`},
		{"(1", `column 3: expected ")" to close the parenthesis, found the end`},
		{"[1, 2", `column 6: expected "," or "]" after an item, found the end`},
		{"1 2", `column 3: expected an operator or the end, found "2"`},
		{"x +", `column 4: expected a value, found the end`},
		{"1 + not x", `column 5: expected a value, found "not"`},
		{"1, 2", `column 2: a tuple stands in parentheses`},
		{"x for x in y", `column 3: a comprehension stands in brackets or parentheses`},
		{"{1: 2}", `column 3: a dictionary is not allowed`},
		{"{}", `column 1: a dictionary is not allowed`},
		{"{x for x in y}", `column 1: a set comprehension is not allowed; write a list`},
		{"x[1:2]", `column 4: a slice is not allowed`},
		{"x[1, 2]", `column 4: a subscript of several values is not allowed`},
		{"x.real", `column 2: the attribute .real is not allowed`},
		{`"a".upper()`, `column 4: the method .upper() is not allowed`},
		{"math.pi", `column 1: math.pi stands alone; only functions of math are known, and they are called`},
		{"f(x)(y)", `column 5: only a function that has a name can be called`},
		{"max(*x)", `column 5: unpacking (*) is not allowed`},
		{"max(x, key=y)", `column 8: the argument key= of max is given by name, which is not allowed`},
		{"[a for a, b in c]", `column 8: the variable of a comprehension is one name`},
		{"lambda: 1", `column 1: a lambda has one argument here, as in lambda p: p["block_size_x"] > 1`},
		{"lambda x, y: 1", `column 1: a lambda has one argument here, as in lambda p: p["block_size_x"] > 1`},
		{"max(lambda p: 1)", `column 5: a lambda can only be the whole expression`},
		{"lambda p: p > 1", `column 11: p stands alone; name a parameter, as in p["block_size_x"]`},
		{"lambda p: p[0] > 1", `column 13: p is indexed by the name of a parameter, as in p["block_size_x"]`},
		{"p['a b']", `column 3: "a b" is not the name of a parameter`},
		{"yield x", `column 1: yield is not allowed`},
		{"\xff", `column 1: the expression is not valid UTF-8`},
		{strings.Repeat("(", 300), "is nested deeper than 200 levels"},
		{strings.Repeat("-", 300) + "1", "is nested deeper than 200 levels"},
		{strings.Repeat("not ", 300) + "1", "is nested deeper than 200 levels"},
		{strings.Repeat("1 if 1 else ", 300) + "1", "is nested deeper than 200 levels"},
		{strings.Repeat("2**", 300) + "1", "is nested deeper than 200 levels"},
		{strings.Repeat("[", 300), "is nested deeper than 200 levels"},
		{"0" + strings.Repeat("+1", 2000), "more than 1000 operators stand in a row"},
		{strings.Repeat("9", 2000), "a number of 2000 characters is more than the 1000 that are read"},

		// found when it is computed
		{"1 // 0", `in "1 // 0", column 3: division by zero`},
		{"1.5 % 0", `column 5: division by zero`},
		{"0 ** -1", `column 3: division by zero`},
		{"(-8) ** 0.5", `column 6: the result is no real number`},
		{"10.0 ** 400", `column 6: the result is beyond the floats`},
		{"2 ** 5000", `column 3: the result is beyond the integers of 64 bits`},
		{"1 << 5000", `column 3: the result is beyond the integers of 64 bits`},
		{"1 << -1", `column 3: the shift is negative`},
		{"nothing + 1", `column 1: nothing is named nothing`},
		{`1 + "a"`, `column 3: "+" does not apply to an integer and a text`},
		{`"%d" % 3`, `column 6: formatting a text with % is not allowed`},
		{`1 < "a"`, `column 3: "<" does not apply to an integer and a text`},
		{"1 in 2", `column 3: an integer has no items to look among`},
		{"-[1]", `column 1: "-" does not apply to a list`},
		{"[1, 2][2]", `column 7: the index 2 lies beyond the 2 items`},
		{"[1]['a' + 'b']", `column 4: an index is an integer, not a text`},
		{"{1, 2}", `column 1: a set can only stand behind in; write a list`},
		{"summ(1)", `column 1: the function summ is not known; did you mean "sum"?`},
		{"open('x')", `column 1: the function open is not known; known are abs, all, any,`},
		{"np.arange(3)", `column 3: the method .arange() is not allowed`},
		{"round(2.5, 1)", `column 1: round to a number of digits is not allowed; round(x) is the nearest integer`},
		{"abs()", `column 1: abs needs an argument`},
		{"abs(1, 2)", `column 1: abs has 2 arguments; it takes at most 1`},
		{"min([])", `column 1: min of nothing`},
		{"range(1.5)", `column 7: range takes integers, not a float`},
		{"range(1, 2, 0)", `column 1: the step of a range is not 0`},
		{"range(10**9)", `column 1: the range has 1000000000 items, more than 1000000`},
		{"[0] * 10**9", `column 5: the list would have 1000001 items, more than 1000000`},
		{"'ab' * 10**9", `column 6: the text would have 2000002 bytes, more than 1000000`},
		{"[i for i in range(10**6) for j in range(10**6)]", `takes more than 5000000 operations`},
		{"[1 for i in range(2000) for j in range(1000)]", `the comprehension makes more than 1000000 items`},
		{"len(3)", `column 1: an integer has no items`},
		{"int('3')", `column 1: int does not apply to a text`},
		{"[1, 1e308 * 10]", `column 11: +Inf is not a finite number`},
		{"math.sqrt(-1)", `column 1: the result is no real number`},
		{"[i for i in 3]", `column 13: an integer has no items`},
	} {
		e, err := Parse(c.source)
		if err == nil {
			_, err = e.Eval(nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", excerpt.Of(c.source), err, c.want)
		}
	}
}
