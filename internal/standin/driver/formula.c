#include "standin.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A formula is arithmetic in C's notation on doubles: numbers, names, + - * / %, comparisons, && || !, ?:, parentheses, min, max,
// abs and div, the quotient of integers; / is exact.

typedef struct {
	const char *at;
	const Scope *scope;
	char *message;
	bool failed;
} Reader;

static const struct { const char *token; int level; } operators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 3}, {">=", 3},
	{"<", 3}, {">", 3}, {"+", 4}, {"-", 4}, {"*", 5}, {"/", 5}, {"%", 5}};

static double conditional(Reader *);

static double fail(Reader *r, const char *what, const char *about) {
	if (!r->failed)
		snprintf(r->message, 160, "%s%.100s", what, about);
	r->failed = true;
	return 0;
}

static bool take(Reader *r, const char *token) {
	r->at += strspn(r->at, " \t\n");
	size_t n = strlen(token);
	if (strncmp(r->at, token, n) != 0)
		return false;
	r->at += n;
	return true;
}

static double call(Reader *r, const char *name) {
	double a = conditional(r), b = take(r, ",") ? conditional(r) : 0;
	if (!take(r, ")"))
		return fail(r, "no ) after the arguments of ", name);
	return strcmp(name, "min") == 0 ? fmin(a, b) : strcmp(name, "max") == 0 ? fmax(a, b) : strcmp(name, "div") == 0 ? trunc(a / b) :
		strcmp(name, "abs") == 0 ? fabs(a) : fail(r, "no function ", name);
}

static double operand(Reader *r) {
	if (take(r, "(")) {
		double v = conditional(r);
		return take(r, ")") ? v : fail(r, "no ) before ", r->at);
	}
	if (take(r, "!"))
		return !operand(r);
	if (take(r, "-"))
		return -operand(r);
	if (isdigit((unsigned char)*r->at) || (*r->at == '.' && isdigit((unsigned char)r->at[1]))) {
		char *end;
		double v = strtod(r->at, &end);
		r->at = end + strspn(end, "fFuUlLhH"); // the suffixes of C
		return v;
	}
	char name[128];
	size_t n = 0;
	while ((isalnum((unsigned char)*r->at) || *r->at == '_') && n + 1 < sizeof name)
		name[n++] = *r->at++;
	name[n] = 0;
	if (n == 0)
		return fail(r, "no formula: ", *r->at ? r->at : "it ends too early");
	if (take(r, "("))
		return call(r, name);
	double v = 0;
	for (const Scope *s = r->scope; s; s = s->outer)
		if (s->find(s, name, &v))
			return v;
	char quoted[140];
	snprintf(quoted, sizeof quoted, "'%s'", name);
	return fail(r, "use of undeclared identifier ", quoted); // Clang's words
}

static double apply(const char *token, double a, double b) {
	bool equals = token[1] == '=';
	const double all[] = {['|'] = a || b, ['&'] = a && b, ['='] = a == b, ['!'] = a != b, ['<'] = equals ? a <= b : a < b,
		['>'] = equals ? a >= b : a > b, ['+'] = a + b, ['-'] = a - b, ['*'] = a * b, ['/'] = a / b, ['%'] = fmod(a, b)};
	return all[(int)token[0]];
}

// binary reads operators of a level and those above it, by precedence climbing.
static double binary(Reader *r, int level) {
	double v = operand(r);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (operators[i].level >= level && take(r, operators[i].token)) {
			v = apply(operators[i].token, v, binary(r, operators[i].level + 1));
			i = (size_t)-1;
		}
	return v;
}

static double conditional(Reader *r) {
	double v = binary(r, 1);
	if (!take(r, "?"))
		return v;
	double yes = conditional(r);
	if (!take(r, ":"))
		return fail(r, "no : after ?", "");
	double no = conditional(r);
	return v ? yes : no;
}

bool evaluate(const char *formula, const Scope *scope, double *value, char message[160]) {
	Reader r = {formula, scope, message, false};
	*value = conditional(&r);
	if (take(&r, "") && *r.at && !r.failed)
		fail(&r, "no formula from here on: ", r.at);
	return !r.failed;
}

double number_or(const char *formula, const Scope *scope, double otherwise) {
	char message[160];
	double v;
	return evaluate(formula, scope, &v, message) ? v : otherwise;
}
