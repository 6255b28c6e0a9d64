#include "standin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The kernels that it knows by name, with their operations: see ../README.md. Those with empty parentheses have their arguments at
// fixed places.
static const struct { const char *kernel, *operation; } ours[] = {
	{"saxpy", "axpy(y, a, x)"}, {"vector_add", "add(out, a, b)"}, {"copy", "copy(out, in) over 1e18"}, {"diffuse_kernel", "stencil(u_new, u)"},
	{"matmul_kernel", "product(C, A, B)"}, {"ndtune_timer_probe", "nothing()"}, {"ndtune_cxx_probe", "nothing()"},
	{"ndtune_target", "nothing()"}, {"ndtune_evict", "increment(numbers, 1)"}, {"ndtune_verify", "verify()"}, {"ndtune_address", "address()"},
	{"ndtune_poison", "nothing()"}, {"peak_fill", "peak_fill()"}, {"peak_count", "peak_count()"}, {"peak_sum", "peak_sum()"},
	{"peak_copy", "peak_copy()"}, {"peak_read", "peak_read()"}, {"peak_arithmetic", "peak_arithmetic()"}};

static bool told(const Program *p, const char *kernel) {
	for (int i = 0; i < p->statements.n; i++)
		if (strcmp(p->statements.list[i].subject, kernel) == 0 && strcmp(p->statements.list[i].verb, "is") == 0)
			return true;
	return false;
}

static const char *operation_of(const char *kernel) {
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(ours[i].kernel, kernel) == 0)
			return ours[i].operation;
	return strncmp(kernel, "ndtune_fresh_", 13) == 0 ? "nothing()" : NULL;
}

bool known(const Program *p, const char *kernel) { return told(p, kernel) || operation_of(kernel); }

#define EACH(X) X(RAW, uint8_t) X(CHAR, int8_t) X(UCHAR, uint8_t) X(SHORT, int16_t) X(USHORT, uint16_t) X(INT, int32_t) X(UINT, uint32_t) \
	X(LONG, int64_t) X(ULONG, uint64_t) X(HALF, _Float16) X(FLOAT, float) X(DOUBLE, double)
#define GET(scalar, type) case scalar: return (double)((const type *)data)[i];
#define SET(scalar, type) case scalar: ((type *)data)[i] = scalar < HALF ? (type)(int64_t)v : (type)v; break;

static double get(const void *data, Scalar t, size_t i) {
	switch (t) { EACH(GET) }
	return 0;
}

static void set(void *data, Scalar t, size_t i, double v) {
	switch (t) { EACH(SET) }
}

static bool find_launch(const Scope *scope, const char *name, double *value) {
	const Launch *l = scope->data;
	const Signature *s = l->kernel->signature;
	for (size_t i = 0; i < 3; i++) {
		char global[] = {'g', 'l', 'o', 'b', 'a', 'l', '_', (char)('x' + i), 0};
		if (strcmp(name, global) == 0)
			return *value = (double)l->global[i], true;
		if (strncmp(name, "local_", 6) == 0 && strcmp(name + 6, global + 7) == 0)
			return *value = (double)l->local[i], true;
	}
	for (int i = 0; i < s->n; i++)
		if (s->params[i].kind == NUMBER && strcmp(s->params[i].name, name) == 0 && l->kernel->args[i].set)
			return *value = get(l->kernel->args[i].bytes, s->params[i].scalar, 0), true;
	if (strcmp(name, "launch") == 0)
		return *value = l->kernel->launches, true;
	*value = (double)(l->global[0] * l->global[1] * l->global[2]);
	return strcmp(name, "items") == 0;
}

Scope launch_scope(const Launch *l, const Scope *outer) { return (Scope){find_launch, l, outer}; }

// An Operand is an argument of an operation: a buffer, or a number.
typedef struct {
	Mem *mem; // NULL: a number
	void *data;
	Scalar type;
	size_t lanes, n; // n: scalars
	double number;
} Operand;

typedef struct {
	const Launch *launch;
	const Scope *scope;
	Operand at[8];
	int n;
	size_t over; // scalars
	bool said;   // over
	char name[32];
} Operation;

static Operand buffer(const Launch *l, int i) {
	const Param *p = &l->kernel->signature->params[i];
	Mem *m = l->kernel->args[i].mem;
	return (Operand){m, m ? m->data : NULL, p->scalar, (size_t)p->lanes, m ? m->size / scalar_size(p->scalar) : 0, 0};
}

static double number(const Launch *l, int i) { return get(l->kernel->args[i].bytes, l->kernel->signature->params[i].scalar, 0); }

static bool operand(const Launch *l, const Scope *scope, const char *text, Operand *to, char message[160]) {
	const Signature *s = l->kernel->signature;
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->params[i].name, text) == 0 && s->params[i].kind == GLOBAL) {
			*to = buffer(l, i);
			snprintf(message, 160, "the buffer %.60s is null, or of a type that it does not know", text);
			return to->mem && to->type != RAW;
		}
	for (int i = 0; i < l->kernel->program->symbol_count; i++) {
		const Symbol *of = &l->kernel->program->symbols[i];
		if (strcmp(of->param.name, text) == 0 && of->mem)
			return *to = (Operand){of->mem, of->mem->data, of->param.scalar, (size_t)of->param.lanes, of->size / scalar_size(of->param.scalar), 0}, true;
	}
	*to = (Operand){0};
	return evaluate(text, scope, &to->number, message);
}

// parse_operation reads «scale(out, in, 2) over n».
static bool parse_operation(const char *text, Operation *o, char message[160]) {
	size_t n = strcspn(text, "("), lanes = 1;
	snprintf(o->name, sizeof o->name, "%.*s", (int)n, text);
	const char *from = text + n, *to = from;
	for (int depth = 0; *to; to++) {
		depth += (*to == '(') - (*to == ')');
		if (depth > 1 || (depth == 1 && *to != ',' && *to != '('))
			continue;
		const char *start = from + 1 + strspn(from + 1, " ");
		if (to > start && o->n < 8) {
			char one[200];
			snprintf(one, sizeof one, "%.*s", (int)(to - start), start);
			if (!operand(o->launch, o->scope, one, &o->at[o->n++], message))
				return false;
		}
		from = to;
		if (depth == 0)
			break;
	}
	if (o->n > 0 && o->at[0].mem)
		lanes = o->at[0].lanes;
	double over = number_or("items", o->scope, 0) * (double)lanes * number_or("per_item", o->scope, 1);
	const char *says = strstr(to, "over ");
	o->said = says != NULL;
	if (says && !evaluate(says + 5, o->scope, &over, message))
		return false;
	o->over = over < 1e18 ? (size_t)over : (size_t)1e18;
	return true;
}

// verify does what tune/device/verify_kernel.cl does: it counts a doubt.
static void verify(const Launch *l, const Scope *scope) {
	unsigned char *out = buffer(l, 0).data, *want = buffer(l, 1).data;
	const char *integer = macro_of(l->kernel->program, "INTEGER");
	int bits = (int)number_or("FLOAT", scope, 0);
	Scalar t = bits == 16 ? HALF : bits == 32 ? FLOAT : bits == 64 ? DOUBLE : CHAR;
	while (!bits && strcmp(integer, (const char *[]){"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"}[t - CHAR]) != 0)
		t++;
	Scalar of_tolerance = bits == 64 ? DOUBLE : FLOAT;
	double absolute = get(l->kernel->args[3].bytes, bits ? of_tolerance : ULONG, 0), relative = bits ? get(l->kernel->args[4].bytes, of_tolerance, 0) : 0;
	bool three = macro_of(l->kernel->program, "VECTOR3") != NULL;
	size_t width = scalar_size(t);
	for (size_t i = 0, n = (size_t)number(l, 2); i < n; i++) {
		double x = get(out, t, i), y = get(want, t, i);
		bool same = memcmp(out + i * width, want + i * width, width) == 0 && !isnan(x), near = isfinite(x) && isfinite(y);
		near = near && (bits ? fabs(x - y) < absolute + relative * fabs(y) : fabs(x - y) <= absolute && fabs(x) + fabs(y) < 0x1p52);
		if (same || near || (three && i % 4 == 3))
			continue;
		++*(uint32_t *)buffer(l, 5).data;
		return;
	}
}

// peak does what the kernels of kernels/peak do, the arithmetic with factors of 1.
static void peak(const Launch *l, const Scope *scope, const char *name) {
	Operand first = buffer(l, 0), in = l->kernel->signature->n > 1 ? buffer(l, 1) : first;
	uint32_t *data = first.data, *from = in.data, factor = 0, offset = 0, n = (uint32_t)number(l, strcmp(name, "peak_copy") == 0 || strcmp(name, "peak_read") == 0 ? 2 : 1);
	size_t block = (size_t)number_or("block_size_x", scope, 1), items = (size_t)number_or("items", scope->outer, 1), lanes = (size_t)number_or("lanes", scope, 1);
	double sum = 0, c = number_or("chains", scope, 1) * (double)lanes;
	if (strcmp(name, "peak_fill") == 0 || strcmp(name, "peak_count") == 0)
		factor = (uint32_t)number(l, 2), offset = (uint32_t)number(l, 3);
	uint32_t *result = strcmp(name, "peak_sum") == 0 ? buffer(l, 2).data : strcmp(name, "peak_count") == 0 ? buffer(l, 4).data : NULL;
	if (strcmp(name, "peak_fill") == 0)
		for (uint32_t i = 0; i < n; i++)
			data[i] = i * factor + offset;
	else if (result)
		for (uint32_t i = 0; i < n; i++)
			*result += name[5] == 's' ? data[i] : data[i] == i * factor + offset;
	else if (strcmp(name, "peak_copy") == 0)
		memcpy(data, from, fmin((double)in.mem->size, (double)n * (double)(block * items * in.lanes * 4)));
	else if (strcmp(name, "peak_read") == 0 && number(l, 3) != 0)
		for (size_t i = 0; i < n * block; i++)
			for (size_t k = data[i] = 0; k < items * in.lanes; k++)
				data[i] += from[(i / block * block * items + k / in.lanes * block + i % block) * in.lanes + k % in.lanes];
	else if (strcmp(name, "peak_arithmetic") == 0)
		sum = c * (number(l, 3) + number(l, 4)) + c * (c - 1) / 2;
	for (size_t i = 0; sum > 0 && i < l->global[0] && i < first.n; i++)
		((float *)data)[i] = (float)sum;
}

static void stencil(const Operation *o) {
	size_t nx = (size_t)number_or("nx", o->scope, 0), ny = (size_t)number_or("ny", o->scope, 0), n = nx * ny;
	float dt = (float)number_or("dt", o->scope, 0.225), *from = malloc(n * 4), *to = malloc(n * 4), *swap;
	memcpy(from, o->at[1].data, n * 4);
	memcpy(to, o->at[1].data, n * 4);
	for (int steps = (int)number_or("time_steps", o->scope, 1); steps > 0; steps--, swap = from, from = to, to = swap)
		for (size_t y = 1; y + 1 < ny; y++)
			for (size_t i = y * nx + 1; i + 1 < (y + 1) * nx; i++)
				to[i] = from[i] + dt * (from[i - 1] + from[i + 1] + from[i - nx] + from[i + nx] - 4 * from[i]);
	for (size_t y = 1; y + 1 < ny && nx > 2; y++)
		memcpy((float *)o->at[0].data + y * nx + 1, from + y * nx + 1, (nx - 2) * 4);
	free(from);
	free(to);
}

static void product(const Operation *o) {
	double size = number_or("size", o->scope, 0);
	size_t m = (size_t)number_or("m", o->scope, size), n = (size_t)number_or("n", o->scope, size), k = (size_t)number_or("k", o->scope, size);
	double *b = malloc((k * n + n) * sizeof *b), *row = b + k * n;
	for (size_t i = 0; i < k * n; i++)
		b[i] = get(o->at[2].data, o->at[2].type, i);
	for (size_t i = 0; i < m; i++) {
		memset(row, 0, n * sizeof *row);
		for (size_t l = 0; l < k; l++) {
			double x = get(o->at[1].data, o->at[1].type, i * k + l);
			for (size_t j = 0; j < n; j++)
				row[j] += x * b[l * n + j];
		}
		for (size_t j = 0; j < n; j++)
			set(o->at[0].data, o->at[0].type, i * n + j, row[j]);
	}
	free(b);
}

// element computes an element of an elementwise operation.
static double element(const char *name, const Operand *at, size_t i) {
	double out = get(at[0].data, at[0].type, i), a = at[1].mem ? get(at[1].data, at[1].type, i) : at[1].number, b = at[2].mem ? get(at[2].data, at[2].type, i) : at[2].number;
	switch (name[0] << 8 | name[1]) {
	case 'f' << 8 | 'i': // fill
	case 'c' << 8 | 'o': return a; // copy
	case 'i' << 8 | 'n': return name[2] == 'd' ? b + (double)i * a : out + a; // index, increment
	case 's' << 8 | 'c': return a * b; // scale
	case 'a' << 8 | 'd': return a + b; // add
	default: return out + a * b; // axpy
	}
}

static bool run(const Operation *o, char message[160]) {
	// The names, and how many buffers and other arguments they have.
	static const struct { const char *name; int buffers, all; } all[] = {{"nothing", 0, 0}, {"verify", 0, 0}, {"address", 0, 0}, {"stencil", 2, 2},
		{"product", 3, 3}, {"set", 1, 3}, {"sum", 2, 2}, {"fill", 1, 2}, {"index", 1, 3}, {"copy", 2, 2}, {"scale", 2, 3}, {"add", 3, 3}, {"axpy", 1, 3}, {"increment", 1, 2}};
	const Launch *l = o->launch;
	const Operand *out = &o->at[0], *in = &o->at[1];
	size_t i = 0, n = o->over < out->n ? o->over : out->n;
	if (strncmp(o->name, "peak_", 5) == 0)
		return peak(l, o->scope, o->name), true;
	while (i < sizeof all / sizeof *all && strcmp(all[i].name, o->name) != 0)
		i++;
	bool fits = i < sizeof all / sizeof *all && o->n == all[i].all;
	for (int j = 0; fits && j < all[i].buffers; j++)
		fits = o->at[j].mem != NULL;
	if (!fits)
		return snprintf(message, 160, "no such operation, or other arguments than it has: %.60s", o->name), false;
	if (i == 1)
		verify(l, o->scope);
	else if (i == 2)
		memcpy(l->kernel->args[0].mem->data, &l->kernel->args[1].mem->data, 8);
	else if (i == 3)
		stencil(o);
	else if (i == 4)
		product(o);
	else if (i == 5 && in->number >= 0 && in->number < (double)out->n)
		set(out->data, out->type, (size_t)in->number, o->at[2].number);
	else if (i == 6) {
		double total = 0;
		for (size_t j = 0; j < (o->said && o->over < in->n ? o->over : in->n); j++)
			total += get(in->data, in->type, j);
		set(out->data, out->type, 0, total);
	} else if (i > 6) {
		for (int j = 1; j < o->n; j++)
			n = o->at[j].mem && o->at[j].n < n ? o->at[j].n : n;
		for (size_t j = 0; j < n; j++)
			set(out->data, out->type, j, element(o->name, o->at, j));
	}
	return true;
}

bool compute(const Launch *l, const Scope *scope, char message[160]) {
	const Program *p = l->kernel->program;
	const char *name = l->kernel->signature->name;
	int at = 0;
	for (const Statement *s; (s = next_statement(&p->statements, &at, name, "is", scope, message, NULL));) {
		Operation o = {.launch = l, .scope = scope};
		if (message[0] || !parse_operation(s->rest, &o, message) || !run(&o, message))
			return false;
	}
	Operation o = {.launch = l, .scope = scope};
	return told(p, name) || (parse_operation(operation_of(name), &o, message) && run(&o, message));
}

// The rates of a device without statements about its time, in bytes and operations a nanosecond.
enum { MEMORY_RATE = 20, CACHE_RATE = 80, OPERATION_RATE = 50 };

uint64_t duration(const Launch *l, const Scope *scope) {
	const char *name = l->kernel->signature->name;
	char message[160];
	int at = 0;
	double items = (double)(l->global[0] * l->global[1] * l->global[2]), ns = 2000 + items / 4;
	const Statement *s = next_statement(&l->kernel->program->statements, &at, name, "takes", scope, message, NULL);
	if (s && !message[0] && evaluate(s->rest, scope, &ns, message))
		return ns > 0 ? (uint64_t)ns : 0;
	if (strcmp(name, "peak_copy") == 0 || strcmp(name, "peak_read") == 0) {
		double bytes = number_or("items", scope->outer, 1) * (double)buffer(l, 1).lanes * 4 * (name[5] == 'c' ? 2 : 1); // of a work-item
		double whole = number(l, 2) * number_or("block_size_x", scope, 1) * bytes;
		ns = 2000 + items * bytes / (whole <= (double)number_of(l->device, 0x101E) ? CACHE_RATE : MEMORY_RATE);
	} else if (strcmp(name, "peak_arithmetic") == 0) {
		ns = 2000 + 2 * items * number(l, 4) * number_or("chains", scope, 1) * number_or("lanes", scope, 1) / OPERATION_RATE;
	} else if (strcmp(name, "ndtune_timer_probe") == 0) {
		ns = 60000;
	}
	return (uint64_t)ns;
}
