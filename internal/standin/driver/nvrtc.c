// NVRTC, CUDA's compiler. Its machine code is the source with its options. The PTX has the declarations only.
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define PROGRAM_OF(p) do { if (!live(p, PROGRAM) || !(p)->cuda) return RTC_INVALID_PROGRAM; } while (0)

enum { RTC_OK, RTC_INVALID_INPUT = 3, RTC_INVALID_PROGRAM, RTC_INVALID_OPTION, RTC_COMPILATION, RTC_NAMES_TOO_LATE = 8, RTC_LOWERED_TOO_EARLY, RTC_NO_NAME };

API const char *nvrtcGetErrorString(int status) {
	static const char *all[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
		"NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
		"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID"};
	return status >= 0 && status < (int)(sizeof all / sizeof *all) ? all[status] : "NVRTC_ERROR unknown";
}

API int nvrtcVersion(int *major, int *minor) {
	load_profiles();
	int version = cuda_count ? cuda_devices[0]->cuda : 13000;
	return *major = version / 1000, *minor = version % 1000 / 10, RTC_OK;
}

API int nvrtcCreateProgram(Program **to, const char *source, const char *name, int headers, const char *const *texts, const char *const *names) {
	static Device none; // of a machine without a card
	(void)name, (void)texts, (void)names;
	if (!source || headers != 0)
		return RTC_INVALID_INPUT;
	load_profiles();
	Program *p = *to = create(PROGRAM, sizeof *p, NULL);
	p->cuda = true, p->device = cuda_count ? cuda_devices[0] : &none, p->status = -1;
	p->source = strdup(source), p->options = strdup(""), p->names = strdup("");
	return RTC_OK;
}

API int nvrtcDestroyProgram(Program **p) {
	PROGRAM_OF(*p);
	int status = release(*p, PROGRAM, RTC_INVALID_PROGRAM);
	*p = NULL;
	return status;
}

static void add_text(char **to, const char *text, const char *end) {
	char *all;
	if (asprintf(&all, "%s%s%s", *to, text, end) < 0)
		abort();
	free(*to);
	*to = all;
}

API int nvrtcAddNameExpression(Program *p, const char *expression) {
	PROGRAM_OF(p);
	if (p->status != -1)
		return RTC_NAMES_TOO_LATE;
	return add_text(&p->names, expression, ";"), RTC_OK;
}

static const Signature *named(const Program *p, const char *expression) {
	for (int i = 0; i < p->kernel_count; i++)
		if (strcmp(p->kernels[i].expression[0] ? p->kernels[i].expression : p->kernels[i].name, expression) == 0)
			return &p->kernels[i];
	return NULL;
}

// refused adds a line to the log of a program whose build fails.
static int refused(Program *p, const char *format, const char *about, size_t number) {
	char line[400];
	snprintf(line, sizeof line, format, about, number);
	p->log = p->log ? p->log : strdup("");
	add_text(&p->log, line, "\n");
	p->status = -2;
	return RTC_COMPILATION;
}

API int nvrtcCompileProgram(Program *p, int n, const char *const *options) {
	PROGRAM_OF(p);
	if (spoiled)
		abort();
	for (int i = 0; i < n; i++) { // quoted, as next_word reads them
		add_text(&p->options, i > 0 ? " \"" : "\"", options[i]);
		add_text(&p->options, "\"", "");
	}
	int status = build(p);
	if (status != SUCCESS)
		return status == INVALID_OPTIONS ? RTC_INVALID_OPTION : RTC_COMPILATION;
	for (const char *name = p->names; *name; name += strcspn(name, ";") + 1) {
		char expression[128];
		snprintf(expression, sizeof expression, "%.*s", (int)strcspn(name, ";"), name);
		if (!named(p, expression))
			return refused(p, "__nv_name_map(2): error: identifier \"%s\" is undefined", expression, 0);
	}
	for (int i = 0; i < p->kernel_count; i++) // what ptxas says
		if (p->kernels[i].local > 48 << 10)
			return refused(p, "ptxas error   : Entry function '%s' uses too much shared data (0x%zx bytes, 0xc000 max)", p->kernels[i].symbol, p->kernels[i].local);
	return RTC_OK;
}

static int give_text(const char *text, size_t *size, char *to) {
	if (size)
		*size = strlen(text) + 1;
	if (to)
		strcpy(to, text);
	return RTC_OK;
}

API int nvrtcGetProgramLogSize(Program *p, size_t *size) {
	PROGRAM_OF(p);
	return give_text(p->log ? p->log : "", size, NULL);
}

API int nvrtcGetProgramLog(Program *p, char *to) {
	PROGRAM_OF(p);
	return give_text(p->log ? p->log : "", NULL, to);
}

// code_of returns the machine code: that of OpenCL, or nothing if the architecture is one of PTX only.
static const char *code_of(const Program *p) { return p->status == 0 && strstr(p->options, "=sm_") ? p->binary : ""; }

API int nvrtcGetCUBINSize(Program *p, size_t *size) {
	PROGRAM_OF(p);
	*size = *code_of(p) ? strlen(p->binary) + 1 : 0;
	return RTC_OK;
}

API int nvrtcGetCUBIN(Program *p, char *to) {
	PROGRAM_OF(p);
	return *code_of(p) ? give_text(p->binary, NULL, to) : RTC_INVALID_PROGRAM;
}

// ptx_of returns the declarations of a program, as NVRTC writes them.
static char *ptx_of(const Program *p) {
	static const char *types[] = {[CHAR] = "u8", "u8", "u16", "u16", "u32", "u32", "u64", "u64", NULL, "f32", "f64"};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fprintf(out, "//\n// Generated by the stand-in\n//\n\n.version 9.0\n.target sm_%d\n.address_size 64\n\n", (int)(10 * number_of(p->device, 75) + number_of(p->device, 76)));
	for (int i = 0; i < p->symbol_count; i++)
		fprintf(out, ".const .align 4 .b8 %s[%zu];\n", p->symbols[i].param.name, p->symbols[i].size);
	fprintf(out, "%s", p->dynamic ? ".extern .shared .align 16 .b8 dynamic[];\n" : "");
	for (int i = 0; p->status == 0 && i < p->kernel_count; i++) {
		const Signature *s = &p->kernels[i];
		fprintf(out, "\n%s .entry %s(\n", s->expression[0] ? ".weak" : ".visible", s->symbol);
		for (int j = 0; j < s->n; j++) {
			const Param *a = &s->params[j];
			size_t bytes = a->scalar == RAW ? 8 : scalar_size(a->scalar) * (size_t)a->lanes;
			bool whole = a->kind == NUMBER && (a->lanes > 1 || !types[a->scalar]);
			if (whole)
				fprintf(out, "\t.param .align %zu .b8 %s_param_%d[%zu]", bytes, s->symbol, j, bytes);
			else
				fprintf(out, "\t.param .%s %s_param_%d", a->kind == NUMBER ? types[a->scalar] : "u64", s->symbol, j);
			fprintf(out, j + 1 < s->n ? ",\n" : "\n");
		}
		fprintf(out, ")\n");
		if (s->required[0])
			fprintf(out, ".reqntid %zu, %zu, %zu\n", s->required[0], s->required[1], s->required[2]);
		else if (s->bounds)
			fprintf(out, ".maxntid %zu, 1, 1\n", s->bounds);
		fprintf(out, "{\n%s", s->local ? "" : "\tret;\n}\n");
		if (s->local)
			fprintf(out, "\t// demoted variable\n\t.shared .align 4 .b8 tile[%zu];\n\tret;\n}\n", s->local);
	}
	fclose(out);
	return text;
}

static int give_ptx(Program *p, size_t *size, char *to) {
	PROGRAM_OF(p);
	char *text = p->status == 0 ? ptx_of(p) : strdup("");
	give_text(text, size, to);
	free(text);
	return RTC_OK;
}

API int nvrtcGetPTXSize(Program *p, size_t *size) { return give_ptx(p, size, NULL); }
API int nvrtcGetPTX(Program *p, char *to) { return give_ptx(p, NULL, to); }

API int nvrtcGetLoweredName(Program *p, const char *expression, const char **to) {
	PROGRAM_OF(p);
	if (p->status == -1)
		return RTC_LOWERED_TOO_EARLY;
	const Signature *s = named(p, expression);
	return s ? *to = s->symbol, RTC_OK : RTC_NO_NAME;
}
