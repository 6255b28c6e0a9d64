#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define NEED(handle, kind, code) do { if (!live(handle, kind)) return code; } while (0)
#define MAKES(condition, code) do { if (condition) return *status = (code), NULL; } while (0) // in a function that makes an object
#define WAIT unsigned n, Event *const *events
#define GIVE size_t room, void *value, size_t *needed

void destroy(void *object) {
	Mem *m = object;
	Program *p = object;
	if (m->object.kind == MEM && m->whole == m) {
		free(m->data);
		lock();
		m->context->devices[0]->allocated -= m->size;
		unlock();
	} else if (p->object.kind == PROGRAM) {
		forget_build(p);
		free(p->source), free(p->options), free(p->names);
	}
}

static int give(const void *data, size_t size, GIVE) {
	if (value && room < size)
		return INVALID_VALUE;
	if (value)
		memcpy(value, data, size);
	if (needed)
		*needed = size;
	return SUCCESS;
}

// A Fact is an answer to a query; a size of 0 says that it is a text.
typedef struct { uint32_t param; const void *data; size_t size; } Fact;
#define GIVE_ONE(param, ...) give_one(param, (const Fact[]){__VA_ARGS__, {0, NULL, 0}}, room, value, needed)

static int give_one(uint32_t param, const Fact *facts, GIVE) {
	while (facts->data && facts->param != param)
		facts++;
	return facts->data ? give(facts->data, facts->size ? facts->size : strlen(facts->data) + 1, room, value, needed) : INVALID_VALUE;
}

bool spoiled;

// Platforms and devices.

API int clGetPlatformIDs(unsigned room, Platform **to, unsigned *count) {
	load_profiles();
	for (int i = 0; to && i < platform_count && i < (int)room; i++)
		to[i] = platforms[i];
	if (count)
		*count = (unsigned)platform_count;
	return platform_count ? SUCCESS : -1001;
}

static bool is_device(const Device *d) { return d && d->magic == DEVICE_MAGIC; }

static int query(const Device *d, bool of_platform, uint32_t param, GIVE) {
	const Answer *a = answer_of(d, of_platform, param);
	return a ? give(a->data, a->size, room, value, needed) : INVALID_VALUE;
}

API int clGetPlatformInfo(Platform *p, uint32_t param, GIVE) {
	return p && p->magic == PLATFORM_MAGIC ? query(p->devices[0], true, param, room, value, needed) : INVALID_PLATFORM;
}

API int clGetDeviceIDs(Platform *p, uint64_t type, unsigned room, Device **to, unsigned *count) {
	unsigned found = 0;
	for (int i = 0; i < p->n; i++)
		if (number_of(p->devices[i], 0x1000) & type || (type == 1 && i == 0)) {
			if (to && found < room)
				to[found] = p->devices[i];
			found++;
		}
	if (count)
		*count = found;
	return found ? SUCCESS : DEVICE_NOT_FOUND;
}

API int clGetDeviceInfo(Device *d, uint32_t param, GIVE) {
	static const size_t hour = 3600000000000;
	if (is_device(d) && param == 0x1025 && !says(d, "waits", "")) // its clock is ahead of the host's, by the launches that only it has seen
		return GIVE_ONE(param, {0x1025, &hour, 8});
	return is_device(d) ? query(d, false, param, room, value, needed) : INVALID_DEVICE;
}

// says returns a statement about a device, such as «device refuses profiling», or NULL.
const Statement *says(const Device *d, const char *verb, const char *rest) {
	Scope scope = program_scope(&(Program){.device = (Device *)d});
	char message[160];
	int at = 0;
	const Statement *s;
	while ((s = next_statement(&d->statements, &at, "device", verb, scope.outer, message, NULL)) && strncmp(s->rest, rest, strlen(rest)) != 0)
		;
	return s;
}

// Contexts and queues.

API Context *clCreateContext(const intptr_t *properties, unsigned n, Device *const *devices, void *callback, void *data, int *status) {
	(void)properties, (void)data;
	MAKES(callback || n == 0 || n > MOST, INVALID_VALUE);
	for (unsigned i = 0; i < n; i++)
		MAKES(!is_device(devices[i]), INVALID_DEVICE);
	MAKES(says(devices[0], "refuses", "contexts"), OUT_OF_RESOURCES);
	Context *c = create(CONTEXT, sizeof *c, NULL);
	memcpy(c->devices, devices, n * sizeof *devices);
	c->n = (int)n;
	return *status = SUCCESS, c;
}

API int clReleaseContext(Context *c) { return release(c, CONTEXT, INVALID_CONTEXT); }

API Queue *clCreateCommandQueue(Context *c, Device *d, uint64_t properties, int *status) {
	MAKES(!live(c, CONTEXT), INVALID_CONTEXT);
	MAKES(!is_device(d), INVALID_DEVICE);
	MAKES((properties & ~number_of(d, 0x102A)) != 0 || (properties & 2 && says(d, "refuses", "profiling")), INVALID_QUEUE_PROPERTIES);
	Queue *q = create(QUEUE, sizeof *q, c);
	q->device = d, q->profiling = properties & 2;
	return *status = SUCCESS, q;
}

API int clReleaseCommandQueue(Queue *q) { return release(q, QUEUE, INVALID_QUEUE); }

API int clFlush(Queue *q) {
	NEED(q, QUEUE, INVALID_QUEUE);
	return q->device->lost ? OUT_OF_RESOURCES : SUCCESS;
}

API int clFinish(Queue *q) {
	NEED(q, QUEUE, INVALID_QUEUE);
	if (q->hung)
		hang();
	wait_until(q->ready);
	return q->device->lost ? OUT_OF_RESOURCES : SUCCESS;
}

// Buffers.

// new_memory returns memory of a context, or of an object in it, or NULL if there is no room.
Mem *new_memory(Context *c, void *owner, size_t size) {
	if (spoiled)
		abort();
	Device *d = c->devices[0];
	const Statement *less = says(d, "has", "");
	uint64_t limit = less ? strtoull(less->rest, NULL, 0) : number_of(d, 0x101F);
	lock();
	bool room = d->allocated + size <= limit && !d->lost;
	d->allocated += room ? size : 0;
	unlock();
	if (!room)
		return NULL;
	Mem *m = create(MEM, sizeof *m, owner);
	m->context = c, m->whole = m, m->size = size, m->data = calloc(1, size + SLACK);
	if (size <= 1 << 20)
		memset(m->data, 0xA5, size); // undefined
	return m;
}

API Mem *clCreateBuffer(Context *c, uint64_t flags, size_t size, const void *data, int *status) {
	MAKES(!live(c, CONTEXT), INVALID_CONTEXT);
	MAKES(size == 0 || size > number_of(c->devices[0], 0x1010), INVALID_BUFFER_SIZE);
	Mem *m = new_memory(c, c, size);
	MAKES(!m, c->devices[0]->lost ? OUT_OF_RESOURCES : ALLOCATION_FAILURE);
	if (flags & 0x20)
		memcpy(m->data, data, size);
	return *status = SUCCESS, m;
}

API Mem *clCreateSubBuffer(Mem *whole, uint64_t flags, uint32_t type, const size_t *region, int *status) {
	(void)flags;
	MAKES(!live(whole, MEM), INVALID_MEM);
	MAKES(type != 0x1220 || whole->whole != whole || region[0] > whole->size || region[1] == 0 || region[1] > whole->size - region[0], INVALID_VALUE);
	MAKES(region[0] * 8 % (number_of(whole->context->devices[0], 0x1019) | !number_of(whole->context->devices[0], 0x1019)) != 0, MISALIGNED_OFFSET);
	Mem *m = create(MEM, sizeof *m, whole);
	m->context = whole->context, m->whole = whole, m->data = whole->data + region[0], m->size = region[1];
	return *status = SUCCESS, m;
}

API int clReleaseMemObject(Mem *m) { return release(m, MEM, INVALID_MEM); }

// Commands. All are carried out when they are enqueued. Where times are real, they end later.

// begin checks the queue and what a command waits for. waited is the status of that.
static int begin(Queue *q, WAIT, int *waited) {
	NEED(q, QUEUE, INVALID_QUEUE);
	*waited = q->hung;
	for (unsigned i = 0; i < n; i++) {
		NEED(events[i], EVENT, INVALID_WAIT_LIST);
		*waited = events[i]->status == 0 ? *waited : events[i]->status < 0 ? EVENTS_FAILED : 1;
		q->ready = events[i]->ready > q->ready ? events[i]->ready : q->ready;
	}
	return (n == 0) != (events == NULL) ? INVALID_WAIT_LIST : q->device->lost ? OUT_OF_RESOURCES : SUCCESS;
}

// end makes the event of a command that took ns.
static int end(Queue *q, Event **to, int status, uint64_t ns, bool blocks) {
	Device *d = q->device;
	const Statement *clock = says(d, "clock", "");
	lock();
	uint64_t start = d->clock + 4000, stop = d->clock = start + ns, now = host_now();
	unlock();
	q->ready = (q->ready > now ? q->ready : now) + (q->profiling && !says(d, "waits", "") ? 0 : ns);
	q->hung |= status == 1;
	if (to) {
		Event *e = *to = create(EVENT, sizeof *e, NULL);
		bool zero = clock && strcmp(clock->rest, "zero") == 0, equal = clock && strcmp(clock->rest, "equal") == 0;
		bool reversed = clock && strcmp(clock->rest, "reversed") == 0;
		stop += clock && strcmp(clock->rest, "late") == 0 ? 100000000000000 : 0;
		e->status = status, e->ready = q->ready, e->profiled = q->profiling && (!clock || strcmp(clock->rest, "none") != 0);
		for (uint64_t i = 0; i < 4 && !zero; i++)
			e->times[i] = i == 3 && !equal ? (reversed ? start - 1 : stop) : start - 2000 + 1000 * (i < 2 ? i : 2);
	}
	if (blocks && status == 1)
		hang();
	if (blocks)
		wait_until(q->ready);
	return blocks && status < 0 ? status : SUCCESS;
}

static bool inside(const Mem *m, size_t offset, size_t size) { return size > 0 && offset <= m->size && size <= m->size - offset; }

static int transfer(Queue *q, Mem *m, unsigned blocks, size_t offset, size_t size, void *to, const void *from, WAIT, Event **event) {
	int waited, err = begin(q, n, events, &waited);
	if (err)
		return err;
	NEED(m, MEM, INVALID_MEM);
	if (!inside(m, offset, size) || (!to && !from))
		return INVALID_VALUE;
	if (waited == 0)
		memcpy(to ? to : m->data + offset, to ? m->data + offset : from, size);
	return end(q, event, waited, size / 10, blocks);
}

API int clEnqueueReadBuffer(Queue *q, Mem *m, unsigned blocks, size_t offset, size_t size, void *to, WAIT, Event **event) {
	return transfer(q, m, blocks, offset, size, to, NULL, n, events, event);
}

API int clEnqueueWriteBuffer(Queue *q, Mem *m, unsigned blocks, size_t offset, size_t size, const void *from, WAIT, Event **event) {
	return transfer(q, m, blocks, offset, size, NULL, from, n, events, event);
}

API int clEnqueueCopyBuffer(Queue *q, Mem *from, Mem *to, size_t at, size_t start, size_t size, WAIT, Event **event) {
	NEED(from, MEM, INVALID_MEM);
	if (!inside(from, at, size))
		return INVALID_VALUE;
	if (live(to, MEM) && from->data + at < to->data + start + size && to->data + start < from->data + at + size)
		return COPY_OVERLAP;
	return transfer(q, to, false, start, size, NULL, from->data + at, n, events, event);
}

// Events.

API int clWaitForEvents(WAIT) {
	int status = n > 0 ? SUCCESS : INVALID_VALUE;
	for (unsigned i = 0; i < n; i++) {
		NEED(events[i], EVENT, INVALID_EVENT);
		if (events[i]->status > 0)
			hang();
		wait_until(events[i]->ready);
		status = events[i]->status < 0 ? EVENTS_FAILED : status;
	}
	return status;
}

API int clGetEventInfo(Event *e, uint32_t param, GIVE) {
	NEED(e, EVENT, INVALID_EVENT);
	int state = e->status == 0 && host_now() < e->ready ? 1 : e->status;
	return GIVE_ONE(param, {0x11D3, &state, 4});
}

API int clGetEventProfilingInfo(Event *e, uint32_t param, GIVE) {
	NEED(e, EVENT, INVALID_EVENT);
	if (!e->profiled || e->status != 0 || host_now() < e->ready)
		return NO_PROFILING_INFO;
	return param >= 0x1280 && param <= 0x1283 ? give(&e->times[param - 0x1280], 8, room, value, needed) : INVALID_VALUE;
}

API int clReleaseEvent(Event *e) { return release(e, EVENT, INVALID_EVENT); }

// Programs. Each is built for one device.

API Program *clCreateProgramWithSource(Context *c, unsigned n, const char **texts, const size_t *lengths, int *status) {
	MAKES(!live(c, CONTEXT), INVALID_CONTEXT);
	MAKES(n != 1 || !texts || !texts[0], INVALID_VALUE);
	Program *p = create(PROGRAM, sizeof *p, c);
	p->context = c, p->device = c->devices[0], p->status = -1, p->options = strdup("");
	p->source = strndup(texts[0], lengths && lengths[0] ? lengths[0] : strlen(texts[0]));
	return *status = SUCCESS, p;
}

API int clBuildProgram(Program *p, unsigned n, Device *const *devices, const char *options, void *callback, void *data) {
	NEED(p, PROGRAM, INVALID_PROGRAM);
	if (spoiled)
		abort();
	if (callback || data)
		return INVALID_VALUE;
	if (p->object.users > 1)
		return INVALID_OPERATION; // it has kernels
	p->device = n > 0 ? devices[0] : p->device;
	if (options && options[0])
		free(p->options), p->options = strdup(options);
	return build(p);
}

API int clGetProgramBuildInfo(Program *p, Device *d, uint32_t param, GIVE) {
	NEED(p, PROGRAM, INVALID_PROGRAM);
	if (!is_device(d))
		return INVALID_DEVICE;
	return GIVE_ONE(param, {0x1181, &p->status, 4}, {0x1183, p->log ? p->log : "", 0});
}

API int clGetProgramInfo(Program *p, uint32_t param, GIVE) {
	NEED(p, PROGRAM, INVALID_PROGRAM);
	size_t sizes[MOST] = {0}, n = (size_t)p->context->n, built = 0;
	char names[4096] = "";
	while (built < n && p->context->devices[built] != p->device)
		built++;
	sizes[built] = p->binary ? strlen(p->binary) : 0;
	for (int i = 0; i < p->kernel_count && strlen(names) + 130 < sizeof names; i++)
		strcat(strcat(names, i > 0 ? ";" : ""), p->kernels[i].name);
	if (param == 0x1166 && value && ((char **)value)[built] && p->binary)
		memcpy(((char **)value)[built], p->binary, sizes[built]);
	if (param == 0x1166 || (param == 0x1168 && p->status != 0))
		return param == 0x1166 ? SUCCESS : INVALID_EXECUTABLE;
	return GIVE_ONE(param, {0x1163, p->context->devices, n * sizeof(Device *)}, {0x1165, sizes, n * sizeof *sizes}, {0x1168, names, 0});
}

API int clReleaseProgram(Program *p) { return release(p, PROGRAM, INVALID_PROGRAM); }

// Kernels.

API Kernel *clCreateKernel(Program *p, const char *name, int *status) {
	MAKES(!live(p, PROGRAM), INVALID_PROGRAM);
	MAKES(p->status != 0, INVALID_EXECUTABLE);
	int i = 0;
	while (i < p->kernel_count && strcmp(p->kernels[i].name, name) != 0)
		i++;
	MAKES(i == p->kernel_count, INVALID_KERNEL_NAME);
	Kernel *k = create(KERNEL, sizeof *k, p);
	k->program = p, k->signature = &p->kernels[i];
	return *status = SUCCESS, k;
}

API int clReleaseKernel(Kernel *k) { return release(k, KERNEL, INVALID_KERNEL); }

API int clSetKernelArg(Kernel *k, unsigned i, size_t size, const void *value) {
	NEED(k, KERNEL, INVALID_KERNEL);
	if ((int)i >= k->signature->n)
		return INVALID_ARG_INDEX;
	const Param *p = &k->signature->params[i];
	Argument a = {.set = true, .size = size};
	size_t wanted = p->kind != NUMBER ? 8 : p->scalar == RAW ? size : scalar_size(p->scalar) * (size_t)p->lanes;
	if (p->kind == LOCAL ? size == 0 : size > sizeof a.bytes || size != wanted)
		return INVALID_ARG_SIZE;
	if ((p->kind == LOCAL) != (value == NULL) && p->kind != GLOBAL)
		return INVALID_ARG_VALUE;
	if (value)
		memcpy(a.bytes, value, size);
	if (p->kind == GLOBAL && value)
		memcpy(&a.mem, value, sizeof a.mem);
	if (a.mem)
		NEED(a.mem, MEM, INVALID_MEM);
	k->args[i] = a;
	return SUCCESS;
}

API int clGetKernelInfo(Kernel *k, uint32_t param, GIVE) {
	NEED(k, KERNEL, INVALID_KERNEL);
	return GIVE_ONE(param, {0x1191, &k->signature->n, 4});
}

API int clGetKernelArgInfo(Kernel *k, unsigned i, uint32_t param, GIVE) {
	NEED(k, KERNEL, INVALID_KERNEL);
	if ((int)i >= k->signature->n)
		return INVALID_ARG_INDEX;
	const Param *p = &k->signature->params[i];
	return GIVE_ONE(param, {0x1196, &p->address, 4}, {0x1197, &p->access, 4}, {0x1198, p->type, 0}, {0x1199, &p->qualifier, 8}, {0x119A, p->name, 0});
}

static size_t local_of(const Kernel *k) {
	size_t bytes = k->signature->local;
	for (int i = 0; i < k->signature->n; i++)
		bytes += k->signature->params[i].kind == LOCAL ? k->args[i].size : 0;
	return bytes;
}

API int clGetKernelWorkGroupInfo(Kernel *k, Device *d, uint32_t param, GIVE) {
	NEED(k, KERNEL, INVALID_KERNEL);
	if (!is_device(d))
		return INVALID_DEVICE;
	const Signature *s = k->signature;
	size_t local = local_of(k), none = 0;
	return GIVE_ONE(param, {0x11B0, &s->max_size, 8}, {0x11B1, s->required, 24}, {0x11B2, &local, 8}, {0x11B3, &d->preferred_multiple, 8}, {0x11B4, &none, 8});
}

// size fills in and checks the NDRange of a launch.
static int size(Launch *l, const size_t *global, const size_t *local) {
	const Signature *s = l->kernel->signature;
	const Answer *most = answer_of(l->device, false, 0x1005);
	size_t items = 1;
	for (int i = 0; i < 3; i++) {
		bool there = i < l->dimensions;
		l->global[i] = there ? global[i] : 1;
		l->local[i] = !there ? 1 : local ? local[i] : s->required[0] ? s->required[i] : 1;
		items *= l->local[i];
		if (l->local[i] == 0 || (s->required[0] && l->local[i] != s->required[i]) || (l->global[i] % l->local[i] != 0 && !number_of(l->device, 0x1065)))
			return INVALID_GROUP_SIZE;
		if (most && most->size >= 24 && l->local[i] > ((const size_t *)most->data)[i])
			return INVALID_ITEM_SIZE;
	}
	return items > s->max_size || items > number_of(l->device, 0x1004) ? INVALID_GROUP_SIZE : local_of(l->kernel) > number_of(l->device, 0x1023) ? OUT_OF_RESOURCES : SUCCESS;
}

// harm writes what a statement says, behind a buffer or into the first output of a launch.
static void harm(const Launch *l, const Statement *s, const Scope *scope) {
	double at = number_or(s->rest + (strncmp(s->rest, "at ", 3) == 0 ? 3 : 0), scope, 0);
	for (int i = 0; i < l->kernel->signature->n; i++) {
		const Param *p = &l->kernel->signature->params[i];
		Mem *m = l->kernel->args[i].mem;
		if (!m || p->qualifier & 1)
			continue;
		if (s->verb[0] == 'o' && strcmp(s->rest, p->name) == 0)
			memset(m->data + m->size, 0x5A, 16);
		if (s->verb[0] == 'e') {
			size_t last = ((size_t)at + 1) * scalar_size(p->scalar) - 1;
			if (last < m->size)
				m->data[last] ^= 0xC0;
			return;
		}
	}
}

// misbehave does what statements about a launch say. It returns the status of the event, or sets that of the call.
static int misbehave(const Launch *l, const Scope *scope, int *of_call) {
	int of_event = SUCCESS;
	for (const char **verb = (const char *[]){"prints", "complains", "waits", "crashes", "traps", "spoils", "fails", "loses", "hangs", "errs", "overflows", NULL}; *verb; verb++) {
		int at = 0, count = 0;
		char message[160];
		for (const Statement *s; (s = next_statement(&l->kernel->program->statements, &at, l->kernel->signature->name, *verb, scope, message, &count));) {
			if (message[0])
				dprintf(2, "standin: %s: %s\n", s->when, message), *of_call = INVALID_OPERATION;
			else if (strcmp(*verb, "fails") == 0)
				*of_call = s->rest[0] ? atoi(s->rest) : OUT_OF_RESOURCES;
			else if (strcmp(*verb, "loses") == 0)
				of_event = -9999, l->device->lost = true;
			else if (strcmp(*verb, "hangs") == 0)
				of_event = 1;
			else if (strcmp(*verb, "spoils") == 0)
				spoiled = true;
			else if (!perform(s, scope, count))
				harm(l, s, scope);
		}
	}
	return of_event;
}

int carry_out(Launch *l, int *of_call, uint64_t *ns) {
	Kernel *k = l->kernel;
	k->launches++;
	Scope program = program_scope(k->program), scope = launch_scope(l, &program);
	char message[160] = "";
	if (!compute(l, &scope, message)) {
		dprintf(2, "standin: %s: %s\n", k->signature->name, message);
		return *of_call = INVALID_OPERATION, SUCCESS;
	}
	int status = misbehave(l, &scope, of_call);
	*ns = duration(l, &scope);
	return status;
}

API int clEnqueueNDRangeKernel(Queue *q, Kernel *k, unsigned dimensions, const size_t *offset, const size_t *global, const size_t *local, WAIT, Event **event) {
	(void)offset;
	int waited, err = begin(q, n, events, &waited);
	if (err)
		return err;
	NEED(k, KERNEL, INVALID_KERNEL);
	Launch l = {.kernel = k, .device = q->device, .dimensions = (int)dimensions};
	if (dimensions < 1 || dimensions > 3)
		return INVALID_WORK_DIMENSION;
	for (int i = 0; i < k->signature->n; i++)
		if (!k->args[i].set)
			return INVALID_KERNEL_ARGS;
	if ((err = size(&l, global, local)) || waited != 0)
		return err ? err : end(q, event, waited, 0, false);
	uint64_t ns = 0;
	int status = carry_out(&l, &err, &ns);
	return err ? err : end(q, event, status, ns, false);
}
