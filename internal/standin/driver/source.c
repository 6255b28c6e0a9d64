#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

// failed appends a line to the build log, and returns false.
bool failed(Program *p, const char *what, const char *about) {
	char *log;
	if (asprintf(&log, "%sstandin: %s%s\n", p->log ? p->log : "", what, about) < 0)
		abort();
	free(p->log);
	p->log = log;
	return false;
}

const char *macro_of(const Program *p, const char *name) {
	for (int i = 0; i < p->macro_count; i++)
		if (strcmp(p->macros[i].name, name) == 0)
			return p->macros[i].value;
	return NULL;
}

// define keeps the first value of a macro: options come before the directives of the source.
static void define(Program *p, const char *name, size_t n, const char *value, size_t m) {
	char *own = strndup(name, n);
	if (macro_of(p, own))
		return free(own);
	p->macros = realloc(p->macros, (size_t)(p->macro_count + 1) * sizeof *p->macros);
	p->macros[p->macro_count].name = own;
	p->macros[p->macro_count++].value = strndup(value, m);
}

static bool find_macro(const Scope *s, const char *name, double *value) {
	static __thread int depth;
	const char *text = macro_of(s->data, name);
	char message[160];
	if (!text || depth > 20)
		return false;
	depth++;
	bool ok = evaluate(text, s, value, message);
	depth--;
	return ok;
}

static bool find_device(const Scope *s, const char *name, double *value) {
	const Device *d = s->data;
	const struct { const char *name; double value; } all[] = {{"device", d->index}, {"units", (double)number_of(d, 0x1002)},
		{"clock", (double)number_of(d, 0x100C)}, {"warp", (double)d->preferred_multiple}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].name, name) == 0)
			return *value = all[i].value, true;
	return false;
}

Scope program_scope(const Program *p) {
	static __thread Scope device;
	device = (Scope){find_device, p->device, NULL};
	return (Scope){find_macro, p, &device};
}

// next_word copies a word of the options, without its quotes, behind what the buffer holds already.
static const char *next_word(const char *at, char word[4096]) {
	size_t n = strlen(word);
	at += strspn(at, " \t\n");
	for (bool quoted = false; *at && (quoted || !isspace((unsigned char)*at)) && n < 4095; at++) {
		quoted ^= *at == '"';
		if (*at != '"')
			word[n++] = *at;
	}
	word[n] = 0;
	return at;
}

// read_options defines the macros of -D. It returns false for an option that no compiler of OpenCL C, or not NVRTC, has.
static bool read_options(Program *p) {
	for (const char *at = p->options;;) {
		char word[4096] = "";
		at = next_word(at, word);
		if (!word[0])
			return true;
		if (strcmp(word, "-D") == 0 || strcmp(word, "-I") == 0)
			at = next_word(at, word);
		char *equals = strchr(word, '=');
		size_t n = equals ? (size_t)(equals - word) : strlen(word);
		bool define_it = strncmp(word, "-D", 2) == 0 && n > 2, other = (strncmp(word, "-cl-", 4) == 0) != p->cuda && strncmp(word, "-cl-std=CLC++", 13) != 0;
		if (define_it)
			define(p, word + 2, n - 2, equals ? equals + 1 : "1", equals ? strlen(equals + 1) : 1);
		else if (!other && strncmp(word, "-I", 2) != 0 && strncmp(word, "-W", 2) != 0 && strcmp(word, "-w") != 0 && strcmp(word, "-g") != 0)
			return failed(p, p->cuda ? "nvrtc: error: unrecognized option found: " : "error: no such option: ", word);
	}
}

// read_directives defines the macros of #define, but for those with arguments.
static void read_directives(Program *p) {
	for (const char *at = p->source; (at = strstr(at, "#define"));) {
		at += 7 + strspn(at + 7, " \t");
		size_t n = 0;
		while (is_name(at[n]))
			n++;
		const char *value = at + n + strspn(at + n, " \t"), *comment;
		size_t m = strcspn(value, "\n");
		if ((comment = memmem(value, m, "//", 2)))
			m = (size_t)(comment - value);
		if (n > 0 && at[n] != '(' && strncmp(value, "ndtune_", 7) != 0) // the types of internal/cuda's prologue
			define(p, at, n, value, m);
	}
}

static bool read_statements(Program *p) {
	const char *wrong = NULL;
	for (const char *at = p->source; !wrong && (at = strstr(at, "standin: "));) {
		at += 9;
		size_t n = strcspn(at, "\n");
		const char *end = memmem(at, n, "*/", 2);
		char *text = strndup(at, end ? (size_t)(end - at) : n);
		wrong = add_statements(&p->statements, text);
		free(text);
	}
	Statements *of_device = &p->device->statements, *all = &p->statements;
	all->list = realloc(all->list, (size_t)(all->n + of_device->n + 1) * sizeof *all->list);
	memcpy(all->list + all->n, of_device->list, (size_t)of_device->n * sizeof *all->list);
	all->n += of_device->n;
	return !wrong || failed(p, "error: no statement: ", wrong);
}

// uncommented returns the source with blanks in place of comments.
static char *uncommented(const char *source) {
	char *text = strdup(source);
	for (char *at = text, *end; *at; at++) {
		if (at[0] == '/' && at[1] == '/')
			end = at + strcspn(at, "\n");
		else if (at[0] == '/' && at[1] == '*')
			end = (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
		else
			continue;
		memset(at, ' ', (size_t)(end - at));
	}
	return text;
}

static const struct { const char *name; size_t size; } scalars[] = {[RAW] = {"?", 1}, [CHAR] = {"char", 1}, {"uchar", 1}, {"short", 2},
	{"ushort", 2}, {"int", 4}, {"uint", 4}, {"long", 8}, {"ulong", 8}, {"half", 2}, {"float", 4}, {"double", 8}};
// The sizes of other types of C++.
static const struct { const char *name, *is; } aliases[] = {{"size_t", "ulong"}, {"bool", "uchar"}, {"int8_t", "char"}, {"uint8_t", "uchar"},
	{"int16_t", "short"}, {"uint16_t", "ushort"}, {"int32_t", "int"}, {"uint32_t", "uint"}, {"int64_t", "long"}, {"uint64_t", "ulong"}, {"__half", "half"}};

size_t scalar_size(Scalar s) { return scalars[s].size; }

// read_type sets the scalar and the lanes of a type such as uint4, which may be a macro.
static void read_type(const Program *p, Param *to) {
	const char *type = to->type, *value;
	for (int i = 0; i < 8 && (value = macro_of(p, type)); i++)
		type = value;
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		type = strcmp(aliases[i].name, type) == 0 ? aliases[i].is : type;
	size_t n = strcspn(type, "0123456789 ");
	int lanes = atoi(type + n);
	to->lanes = lanes == 3 ? 4 : lanes > 0 ? lanes : 1;
	for (int i = CHAR; i <= DOUBLE; i++)
		if (strlen(scalars[i].name) == n && strncmp(scalars[i].name, type, n) == 0)
			to->scalar = (Scalar)i;
}

// The words of a declaration that are neither its type nor its name, and what they say.
static const struct { const char *word; uint32_t address, access, qualifier; } words[] = {
	{"global", 0x119B, 0, 0}, {"local", 0x119C, 0, 0}, {"constant", 0x119D, 0, 0}, {"const", 0, 0, 1}, {"restrict", 0, 0, 2}, {"restrict__", 0, 0, 2}, {"volatile", 0, 0, 4},
	{"read_only", 0, 0x11A0, 0}, {"write_only", 0, 0x11A1, 0}, {"read_write", 0, 0x11A2, 0}, {"struct", 0, 0, 0}, {"unsigned", 0, 0, 0}, {"signed", 0, 0, 0}};
enum { WORDS = sizeof words / sizeof *words };

// read_param reads a declaration such as «__global const float *restrict x».
static void read_param(const Program *p, Param *to, const char *text, const char *end) {
	*to = (Param){.address = 0x119E, .access = 0x11A3};
	bool pointer = false, without_sign = false;
	while (text < end) {
		pointer |= *text == '*' || *text == '[';
		size_t n = 0, i = 0;
		while (text + n < end && is_name(text[n]))
			n++;
		size_t skip = n > 2 && strncmp(text, "__", 2) == 0 ? 2 : 0;
		while (i < WORDS && (strlen(words[i].word) != n - skip || strncmp(words[i].word, text + skip, n - skip) != 0))
			i++;
		without_sign |= n == 8 && strncmp(text, "unsigned", 8) == 0;
		if (n > 0 && i < WORDS) {
			to->address = words[i].address ? words[i].address : to->address;
			to->access = words[i].access ? words[i].access : to->access;
			to->qualifier |= words[i].qualifier;
		} else if (n > 0) {
			char *part = to->type[0] ? to->name : to->type;
			snprintf(part, sizeof to->name, "%.*s", (int)(n < 60 ? n : 60), text);
		}
		text += n > 0 ? n : 1;
	}
	if (without_sign && !to->name[0]) // «unsigned n»
		strcpy(to->name, to->type), strcpy(to->type, "int");
	read_type(p, to);
	if (without_sign && (to->scalar == CHAR || to->scalar == SHORT || to->scalar == INT || to->scalar == LONG))
		to->scalar++;
	to->kind = !pointer ? NUMBER : to->address == 0x119C ? LOCAL : GLOBAL;
	if (strncmp(to->type, "image", 5) == 0)
		to->kind = IMAGE, to->address = 0x119B, to->access = to->access == 0x11A3 ? 0x11A0 : to->access;
	else if (strcmp(to->type, "sampler_t") == 0)
		to->kind = SAMPLER;
	if (pointer)
		strcat(to->type, "*");
	else
		to->qualifier = 0; // those of a value, which nobody can ask for
}

static bool read_required(Program *p, Signature *s, const char *attributes, const char *end) {
	const char *at = memmem(attributes, (size_t)(end - attributes), "reqd_work_group_size", 20);
	Scope scope = program_scope(p);
	for (int i = 0; at && i < 3; i++) {
		at += strcspn(at, i == 0 ? "(" : ",") + 1;
		char *text = strndup(at, strcspn(at, i < 2 ? "," : ")")), message[160];
		double v;
		bool ok = evaluate(text, &scope, &v, message);
		free(text);
		if (!ok)
			return failed(p, "error: reqd_work_group_size: ", message);
		s->required[i] = (size_t)v;
	}
	return true;
}

// size_of sets a size of a kernel by a statement such as «k uses 4 * block_size_x».
static bool size_of(Program *p, const char *kernel, const char *verb, size_t *to) {
	Scope scope = program_scope(p);
	char message[160] = "";
	int at = 0;
	double v = 0;
	const Statement *s = next_statement(&p->statements, &at, kernel, verb, &scope, message, NULL);
	if (s && (message[0] || !evaluate(s->rest, &scope, &v, message)))
		return failed(p, "error: ", message);
	if (s)
		*to = (size_t)v;
	return true;
}

// read_bounds reads the first number of __launch_bounds__.
static bool read_bounds(Program *p, Signature *s, const char *from, const char *to) {
	const char *at = memmem(from, (size_t)(to - from), "__launch_bounds__", 17);
	if (!at)
		return true;
	at += 17 + strspn(at + 17, " (");
	Scope scope = program_scope(p);
	char message[160], text[200];
	double v;
	snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ",)"), at);
	if (!evaluate(text, &scope, &v, message))
		return failed(p, "error: __launch_bounds__: ", message);
	return s->max_size = s->bounds = (size_t)v, true;
}

// mangle sets the symbol of a kernel: as C++ has it, but for the types of templates.
static void mangle(Signature *s, bool plain) {
	static const char codes[] = {[RAW] = 'z', [CHAR] = 'c', 'h', 's', 't', 'i', 'j', 'l', 'm', 'e', 'f', 'd', 0};
	char *at = s->symbol, *end = at + sizeof s->symbol - 8;
	if (plain) {
		strcpy(at, s->name);
		return;
	}
	at += sprintf(at, s->expression[0] ? "_Z%zu%sI%08xEv" : "_Z%zu%s", strlen(s->name), s->name, (unsigned)hash_of(0, s->expression, strlen(s->expression)));
	for (int i = 0; i < s->n && at < end; i++)
		at += sprintf(at, "%s%s%c", s->params[i].kind == GLOBAL ? "P" : "", s->params[i].qualifier & 1 ? "K" : "", codes[s->params[i].scalar]);
	if (s->n == 0)
		strcpy(at, "v");
}

// read_kernel reads «… void NAME(PARAMETER, …)» behind a qualifier, and returns where it ends, or NULL if the build fails. What is
// no kernel is passed over. For an instance of a template, it has the name expression.
const char *read_kernel(Program *p, const char *attributes, const char *expression, bool plain) {
	const char *type = strstr(attributes, "void");
	if (is_name(*attributes) || !type || strcspn(attributes, ";{#") < (size_t)(type - attributes))
		return attributes;
	const char *name = type + 4 + strspn(type + 4, " \t\n");
	if (strncmp(name, "__launch_bounds__", 17) == 0 && strchr(name, ')'))
		name = strchr(name, ')') + 1, name += strspn(name, " \t\n");
	size_t n = 0;
	while (is_name(name[n]))
		n++;
	const char *at = name + n + strspn(name + n, " \t\n"), *from = at + 1;
	Signature s = {.max_size = p->device->kernel_max_size ? p->device->kernel_max_size : (size_t)number_of(p->device, 0x1004)};
	snprintf(s.name, sizeof s.name, "%.*s", (int)n, name);
	snprintf(s.expression, sizeof s.expression, "%s", expression);
	const char *base = strstr(expression, "::") ? strstr(expression, "::") + 2 : expression;
	if (expression[0] && (strncmp(base, s.name, n) != 0 || is_name(base[n])))
		return attributes;
	for (int i = 0; i < p->kernel_count; i++)
		if (strcmp(p->kernels[i].name, s.name) == 0 && strcmp(p->kernels[i].expression, expression) == 0)
			return attributes;
	if (n == 0 || *at != '(')
		return attributes;
	for (int depth = 0; *at; at++) {
		depth += (*at == '(') - (*at == ')');
		bool ends = depth == 0 || (depth == 1 && *at == ',');
		if (ends && s.n < 32 && strspn(from, " \t\n") < (size_t)(at - from))
			read_param(p, &s.params[s.n++], from, at);
		if (ends)
			from = at + 1;
		if (depth == 0)
			break;
	}
	s.n -= s.n == 1 && strcmp(s.params[0].type, "void") == 0;
	mangle(&s, plain);
	if (!known(p, s.name)) {
		failed(p, "error: it does not know what this kernel computes, and no statement says it (NAME is fill(out, 1)): ", s.name);
		return NULL;
	}
	if (!read_required(p, &s, attributes, type) || !read_bounds(p, &s, attributes, name) || !size_of(p, s.name, "uses", &s.local) || !size_of(p, s.name, "allows", &s.max_size))
		return NULL;
	p->kernels = realloc(p->kernels, (size_t)(p->kernel_count + 1) * sizeof *p->kernels);
	p->kernels[p->kernel_count++] = s;
	return at;
}

// read_kernels reads the kernels of OpenCL C.
static bool read_kernels(Program *p, const char *text) {
	bool ok = true;
	for (const char *at = text, *start; ok && (at = strstr(at, "kernel")); at = ok ? at : text) {
		start = at - text >= 2 && strncmp(at - 2, "__", 2) == 0 ? at - 2 : at;
		at += 6;
		if (start == text || !is_name(start[-1]))
			ok = (at = read_kernel(p, at, "", true)) != NULL;
	}
	return ok;
}

// The kernels of CUDA C.

// bind_template defines the parameters of a template as macros, with the values of a name expression such as «add<float, 128>».
static void bind_template(Program *p, const char *from, const char *to, const char *expression) {
	char *list = strndup(from, (size_t)(to - from)), *values = strdup(expression), *more, *rest, *name;
	list[strcspn(list, ">")] = 0;
	strtok_r(list, "<", &more), strtok_r(values, "<", &rest);
	for (char *value, *given; (name = strtok_r(NULL, ",", &more)) && (value = strtok_r(NULL, ",>", &rest));) {
		if ((given = strstr(name, " =")))
			*given = 0;
		name = strrchr(name, ' ') + 1, value += strspn(value, " ");
		define(p, name, strlen(name), value, strlen(value));
	}
	free(list), free(values);
}

// read_global reads a kernel behind __global__. Of a template, it reads the instances that name expressions ask for.
static const char *read_global(Program *p, const char *text, const char *at) {
	const char *head = at, *c = NULL, *end = at;
	while (head > text && !strchr(";{}", head[-1]))
		head--;
	for (const char *s = text; (s = strstr(s, "extern \"C\"")) && s < at; s += 10)
		c = s + 10 + strspn(s + 10, " \t\n");
	const char *template = memmem(head, (size_t)(at - head), "template", 8);
	if (!template)
		return read_kernel(p, at, "", c && (*c == '{' || c >= head));
	for (const char *name = p->names; *name && end; name += strcspn(name, ";") + 1) {
		char expression[128];
		int before = p->macro_count;
		snprintf(expression, sizeof expression, "%.*s", (int)strcspn(name, ";"), name);
		bind_template(p, template, at, expression);
		end = read_kernel(p, at, expression, false);
		while (p->macro_count > before)
			free(p->macros[--p->macro_count].name), free(p->macros[p->macro_count].value);
	}
	return end;
}

static bool read_globals(Program *p, const char *text) {
	for (const char *at = text; (at = strstr(at, "__global__"));)
		if (!(at = read_global(p, text, at + 10)))
			return false;
	return true;
}

// read_symbols reads declarations such as «__constant__ float filter[2 * radius + 1];».
static bool read_symbols(Program *p, const char *text, const char *word) {
	Scope scope = program_scope(p);
	for (const char *at = text; p->symbol_count < 16 && (at = strstr(at, word));) {
		const char *from = at += strlen(word), *end = from + strcspn(from, "[;=({");
		if (*end == '(' || *end == '{' || !*end || strncmp(from, "__", 2) == 0 || memchr(from, '&', (size_t)(end - from))) // a function, or «__device__ __constant__»
			continue;
		Symbol s = {0};
		read_param(p, &s.param, from, end);
		double size = (double)scalar_size(s.param.scalar) * s.param.lanes, v;
		for (; *end == '['; end += strcspn(end, "]") + 1) {
			char *count = strndup(end + 1, strcspn(end + 1, "]")), message[160];
			bool ok = evaluate(count, &scope, &v, message);
			free(count);
			if (!ok)
				return failed(p, "error: the size of a variable: ", message);
			size *= v;
		}
		s.size = (size_t)size;
		p->symbols[p->symbol_count++] = s;
	}
	return true;
}

// misbehave does what statements about the build say. It returns false if the build fails.
static bool misbehave(Program *p) {
	Scope scope = program_scope(p);
	for (const char **verb = (const char *[]){"prints", "complains", "waits", "hangs", "crashes", "traps", "logs", "fails", NULL}; *verb; verb++) {
		char message[160], text[512];
		int at = 0, count = 0;
		for (const Statement *s; (s = next_statement(&p->statements, &at, "build", *verb, &scope, message, &count));) {
			if (message[0])
				return failed(p, "error: ", message);
			if (perform(s, &scope, count))
				continue;
			unquoted(text, sizeof text, s->rest);
			failed(p, "", text);
			if (strcmp(*verb, "fails") == 0)
				return false;
		}
	}
	return true;
}

void forget_build(Program *p) {
	for (int i = 0; i < p->macro_count; i++)
		free(p->macros[i].name), free(p->macros[i].value);
	free(p->macros), free(p->statements.list), free(p->kernels), free(p->log), free(p->binary);
	p->macros = NULL, p->statements = (Statements){0}, p->kernels = NULL, p->log = p->binary = NULL;
	p->macro_count = p->kernel_count = p->symbol_count = 0;
}

int build(Program *p) {
	forget_build(p);
	p->status = -2;
	if (!read_options(p))
		return INVALID_OPTIONS;
	read_directives(p);
	if (!read_statements(p) || (!p->module && !misbehave(p)))
		return BUILD_FAILURE;
	char *text = uncommented(p->source);
	p->dynamic = strstr(text, "extern __shared__") != NULL;
	bool ok = read_kernels(p, text) && (!p->cuda || (read_globals(p, text) && read_symbols(p, text, "__constant__ ") && read_symbols(p, text, "__device__ ")));
	free(text);
	if (!ok)
		return BUILD_FAILURE;
	if (asprintf(&p->binary, "STANDIN\n%s\n%s%s%s", p->options, p->cuda ? p->names : "", p->cuda ? "\n" : "", p->source) < 0)
		abort();
	return p->status = SUCCESS;
}
