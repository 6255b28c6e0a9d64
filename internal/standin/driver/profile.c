#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Platform *platforms[MOST];
Device *cuda_devices[MOST];
int platform_count, cuda_count;

static void broken(const char *file, int line, const char *why) {
	fprintf(stderr, "standin: %s:%d: %s\n", file, line, why);
	exit(99);
}

static void append(Answer *a, const void *data, size_t n) {
	a->data = realloc(a->data, a->size + n + 8);
	memcpy(a->data + a->size, data, n);
	a->size += n;
}

// answer reads «PARAM TYPE VALUE…».
static bool answer(Device *d, bool of_platform, char *text) {
	char type[16], *end;
	unsigned param;
	int used = 0;
	if (sscanf(text, "%x %15s%n", &param, type, &used) < 2)
		return false;
	text += used + (text[used] == ' ');
	d->answers = realloc(d->answers, (size_t)(d->n + 1) * sizeof *d->answers);
	Answer *a = &d->answers[d->n++];
	*a = (Answer){of_platform, param, 0, NULL};
	if (strcmp(type, "text") == 0)
		append(a, text, strlen(text) + 1);
	size_t width = strcmp(type, "u32") == 0 || strcmp(type, "bool") == 0 ? 4 : strcmp(type, "bytes") == 0 ? 1 : 8;
	for (char *word = a->size ? NULL : strtok(text, " "); word; word = strtok(NULL, " ")) {
		unsigned long long v = strtoull(word, &end, width == 1 ? 16 : 0);
		if (*end)
			return false;
		append(a, &v, width); // little endian
	}
	return a->size > 0;
}

// add_number adds an answer for a device of CUDA.
static void add_number(Device *d, unsigned param, unsigned long long value) {
	char text[64];
	snprintf(text, sizeof text, "%#x u64 %llu", param, value);
	answer(d, false, text);
}

// attribute reads «NUMBER VALUE», which cuDeviceGetAttribute answers. Some of them are queries of OpenCL as well.
static bool attribute(Device *d, const char *text) {
	static const struct { unsigned attribute, query, divisor; } same[] = {{1, 0x1004, 1}, {8, 0x1023, 1}, {13, 0x100C, 1000}, {16, 0x1002, 1}, {38, 0x101E, 1}};
	unsigned number;
	unsigned long long value;
	if (sscanf(text, "%u %llu", &number, &value) != 2)
		return false;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (same[i].attribute == number)
			add_number(d, same[i].query, value / same[i].divisor);
	return add_number(d, number, value), true;
}

static bool line_of(Device *d, char *text) {
	int major, minor;
	if (sscanf(text, "platform CUDA %d.%d", &major, &minor) == 2)
		return d->cuda = 1000 * major + 10 * minor, true;
	if (strncmp(text, "attribute ", 10) == 0)
		return attribute(d, text + 10);
	if (strncmp(text, "platform ", 9) == 0)
		return answer(d, true, text + 9);
	if (strncmp(text, "device ", 7) == 0)
		return answer(d, false, text + 7);
	if (strncmp(text, "standin ", 8) == 0)
		return add_statements(&d->statements, text + 8) == NULL;
	return sscanf(text, "kernel preferred_multiple %zu", &d->preferred_multiple) == 1 || sscanf(text, "kernel max_size %zu", &d->kernel_max_size) == 1;
}

const Answer *answer_of(const Device *d, bool of_platform, uint32_t param) {
	for (int i = 0; i < d->n; i++)
		if (d->answers[i].of_platform == of_platform && d->answers[i].param == param)
			return &d->answers[i];
	return NULL;
}

uint64_t number_of(const Device *d, uint32_t param) {
	const Answer *a = answer_of(d, false, param);
	uint64_t v = 0;
	if (a)
		memcpy(&v, a->data, a->size < 8 ? a->size : 8);
	return v;
}

static bool same_platform(const Device *d, const Device *other) {
	for (uint32_t param = 0x0901; param <= 0x0903; param++) { // version, name, vendor
		const Answer *a = answer_of(d, true, param), *b = answer_of(other, true, param);
		if (!a || !b || a->size != b->size || memcmp(a->data, b->data, a->size) != 0)
			return false;
	}
	return true;
}

static void load_profile(const char *path) {
	static int devices;
	FILE *f = fopen(path, "r");
	if (!f || platform_count == MOST || cuda_count == MOST)
		broken(path, 0, f ? "too many platforms" : "no such profile");
	Device *d = calloc(1, sizeof *d);
	d->magic = DEVICE_MAGIC, d->index = devices++, d->clock = 1000000000;
	char *line = NULL;
	size_t room = 0;
	for (int number = 1; getline(&line, &room, f) >= 0; number++) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] && line[0] != '#' && !line_of(d, line))
			broken(path, number, "not a line of a profile");
	}
	free(line);
	fclose(f);
	const char *faults = getenv("STANDIN_FAULTS"), *wrong = faults ? add_statements(&d->statements, faults) : NULL;
	if (wrong)
		broken("STANDIN_FAULTS", 0, wrong);
	if (d->cuda) {
		cuda_devices[cuda_count++] = d;
		return;
	}
	int p = 0;
	while (p < platform_count && !same_platform(d, platforms[p]->devices[0]))
		p++;
	if (p == platform_count) {
		platforms[platform_count++] = calloc(1, sizeof **platforms);
		platforms[p]->magic = PLATFORM_MAGIC;
	}
	d->platform = platforms[p];
	d->platform->devices[d->platform->n++] = d;
}

void load_profiles(void) {
	static bool loaded;
	const char *list = getenv("STANDIN_PROFILES");
	lock();
	char *copy = strdup(loaded || !list ? "" : list);
	for (char *rest = copy, *path; (path = strsep(&rest, ":"));)
		if (*path)
			load_profile(path);
	free(copy);
	loaded = true;
	unlock();
}
