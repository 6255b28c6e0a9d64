// The functions of CUDA's driver. An address of the device is one of the host.
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define ENTER(handle, kind) do { int wrong = entered(); if (wrong || !live(handle, kind)) return wrong ? wrong : CUDA_INVALID_HANDLE; } while (0)

// The results, with their names and descriptions.
#define RESULTS(X) X(OK, 0, "CUDA_SUCCESS", "no error") X(INVALID_VALUE, 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument") \
	X(OUT_OF_MEMORY, 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory") X(NOT_INITIALIZED, 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error") \
	X(NO_DEVICE, 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected") X(INVALID_DEVICE, 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal") \
	X(INVALID_IMAGE, 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid") X(INVALID_CONTEXT, 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context") \
	X(NO_BINARY, 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device") \
	X(INVALID_HANDLE, 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle") X(NOT_FOUND, 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found") \
	X(NOT_READY, 600, "CUDA_ERROR_NOT_READY", "device not ready") \
	X(ILLEGAL_ADDRESS, 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered") \
	X(LAUNCH_RESOURCES, 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch")
#define NUMBERED(name, number, ...) CUDA_##name = number,
enum { RESULTS(NUMBERED) };

#define NAMED(name, number, text, words) case number: return *to = text, CUDA_OK;
#define DESCRIBED(name, number, text, words) case number: return *to = words, CUDA_OK;
API int cuGetErrorName(int result, const char **to) { switch (result) { RESULTS(NAMED) default: return CUDA_INVALID_VALUE; } }
API int cuGetErrorString(int result, const char **to) { switch (result) { RESULTS(DESCRIBED) default: return CUDA_INVALID_VALUE; } }

static bool begun;
static int broken; // the error of an earlier launch, that every later call of this process gives
static Context *primary[MOST];
static int retained[MOST];
static __thread Context *current;

// hide forgets the devices that the variable CUDA_VISIBLE_DEVICES does not name by their numbers or UUIDs.
static void hide(void) {
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	int shown = 0;
	for (int i = 0; list && i < cuda_count; i++) {
		const Answer *id = answer_of(cuda_devices[i], false, 0x106A);
		char names[2][48], *copy = strdup(list);
		int at = snprintf(names[0], 48, "GPU-");
		for (size_t k = 0; id && k < id->size; k++)
			at += snprintf(names[0] + at, 48 - (size_t)at, k == 4 || k == 6 || k == 8 || k == 10 ? "-%02x" : "%02x", id->data[k]);
		snprintf(names[1], 48, "%d", i);
		bool found = false;
		for (char *rest = copy, *word; (word = strsep(&rest, ","));)
			found |= strcmp(word, names[0]) == 0 || strcmp(word, names[1]) == 0;
		free(copy);
		if (found)
			cuda_devices[shown++] = cuda_devices[i];
	}
	cuda_count = list ? shown : cuda_count;
}

// begin takes as long as STANDIN_INIT says, in ms for each device, and says so in a file of the folder STANDIN_STATE.
static void begin(void) {
	const char *folder = getenv("STANDIN_STATE"), *ms = getenv("STANDIN_INIT");
	load_profiles();
	if (!begun)
		hide();
	char path[4096];
	snprintf(path, sizeof path, "%s/cuInit", folder);
	FILE *f = begun || !folder ? NULL : fopen(path, "a");
	if (f) {
		fprintf(f, "cuInit %d\n", cuda_count);
		fclose(f);
	}
	if (!begun && ms)
		wait_until(host_now() + (uint64_t)atoi(ms) * (uint64_t)cuda_count * 1000000);
}

API int cuInit(unsigned flags) {
	begin();
	begun = true;
	return flags ? CUDA_INVALID_VALUE : cuda_count ? CUDA_OK : CUDA_NO_DEVICE;
}

// entered checks what every function needs that works in a context.
static int entered(void) {
	return !begun ? CUDA_NOT_INITIALIZED : broken ? broken : current && live(current, CONTEXT) ? CUDA_OK : CUDA_INVALID_CONTEXT;
}

static Device *here(void) { return current->devices[0]; }

// Devices.

#define DEVICE(i) do { if (!begun || (i) < 0 || (i) >= cuda_count) return begun ? CUDA_INVALID_DEVICE : CUDA_NOT_INITIALIZED; } while (0)

API int cuDriverGetVersion(int *to) {
	load_profiles();
	return *to = cuda_count ? cuda_devices[0]->cuda : 13000, CUDA_OK;
}

API int cuDeviceGetCount(int *to) { return begun ? *to = cuda_count, CUDA_OK : CUDA_NOT_INITIALIZED; }

API int cuDeviceGet(int *to, int i) { DEVICE(i); return *to = i, CUDA_OK; }

static int copy_answer(int i, uint32_t param, void *to, size_t room) {
	DEVICE(i);
	const Answer *a = answer_of(cuda_devices[i], false, param);
	memset(to, 0, room);
	memcpy(to, a ? a->data : to, a ? a->size < room ? a->size : room : 0);
	return a ? CUDA_OK : CUDA_INVALID_VALUE;
}

API int cuDeviceGetName(char *to, int room, int i) { return copy_answer(i, 0x102B, to, (size_t)room); }
API int cuDeviceGetUuid_v2(void *to, int i) { return copy_answer(i, 0x106A, to, 16); }
API int cuDeviceTotalMem_v2(size_t *to, int i) { return copy_answer(i, 0x101F, to, sizeof *to); }
API int cuDeviceGetAttribute(int *to, int number, int i) { return copy_answer(i, (uint32_t)number, to, sizeof *to); }

// Contexts: the primary one of each device.

API int cuDevicePrimaryCtxSetFlags_v2(int i, unsigned flags) { DEVICE(i); return flags < 64 ? CUDA_OK : CUDA_INVALID_VALUE; }

API int cuDevicePrimaryCtxRetain(Context **to, int i) {
	DEVICE(i);
	if (says(cuda_devices[i], "refuses", "contexts"))
		return CUDA_OUT_OF_MEMORY;
	lock();
	if (retained[i]++ == 0) {
		primary[i] = create(CONTEXT, sizeof **to, NULL);
		primary[i]->n = 1, primary[i]->devices[0] = cuda_devices[i];
	}
	*to = primary[i];
	unlock();
	return CUDA_OK;
}

API int cuDevicePrimaryCtxRelease_v2(int i) {
	DEVICE(i);
	lock();
	int status = retained[i] == 0 ? CUDA_INVALID_CONTEXT : --retained[i] > 0 ? CUDA_OK : release(primary[i], CONTEXT, CUDA_INVALID_CONTEXT);
	unlock();
	return status;
}

API int cuCtxSetCurrent(Context *c) {
	if (!begun || (c && !live(c, CONTEXT)))
		return begun ? CUDA_INVALID_CONTEXT : CUDA_NOT_INITIALIZED;
	return current = c, CUDA_OK;
}

// Streams. All commands are carried out at once. They end later on a device that waits, and if they take long.

// stream_of returns a stream of the current context, by default the first, or NULL.
static Queue *stream_of(Queue *q) {
	static Queue standard[MOST];
	if (q)
		return live(q, QUEUE) && q->object.needs == &current->object ? q : NULL;
	standard[here()->index].device = here();
	return &standard[here()->index];
}

#define STREAM(q) do { int wrong = entered(); if (wrong || !((q) = stream_of(q))) return wrong ? wrong : CUDA_INVALID_HANDLE; } while (0)

API int cuStreamCreate(Queue **to, unsigned flags) {
	ENTER(current, CONTEXT);
	Queue *q = *to = create(QUEUE, sizeof *q, current);
	q->device = here();
	return flags > 1 ? CUDA_INVALID_VALUE : CUDA_OK;
}

static int destroyed(void *object, Kind kind) {
	ENTER(object, kind);
	return release(object, kind, CUDA_INVALID_HANDLE);
}

API int cuStreamDestroy_v2(Queue *q) { return destroyed(q, QUEUE); }

// settle waits for what a stream has to do, and finds out what happened.
static int settle(bool hung, uint64_t ready) {
	if (hung)
		hang();
	wait_until(ready);
	return broken = here()->lost ? CUDA_ILLEGAL_ADDRESS : CUDA_OK;
}

API int cuStreamSynchronize(Queue *q) { STREAM(q); return settle(q->hung, q->ready); }

API int cuStreamQuery(Queue *q) {
	STREAM(q);
	return q->hung || host_now() < q->ready ? CUDA_NOT_READY : settle(false, 0);
}

API int cuCtxSynchronize(void) { ENTER(current, CONTEXT); return settle(current->hung, current->ready); }

API int cuStreamWaitEvent(Queue *q, Event *e, unsigned flags) {
	STREAM(q);
	ENTER(e, EVENT);
	q->hung |= e->status == 1;
	q->ready = e->ready > q->ready ? e->ready : q->ready;
	return flags ? CUDA_INVALID_VALUE : CUDA_OK;
}

static int end(Queue *q, uint64_t ns) {
	const uint64_t believed = 900000; // CUDA has no clock that may be ahead of the host's by more
	uint64_t now = host_now(), real = says(q->device, "waits", "") ? ns : ns > believed ? (ns - believed) * 2 / 3 : 0;
	q->clock += ns;
	q->ready = (q->ready > now ? q->ready : now) + real;
	current->ready = q->ready > current->ready ? q->ready : current->ready;
	current->hung |= q->hung;
	return CUDA_OK;
}

// Memory.

static Mem **memories;
static int memory_count;

static Mem *allocate(void *owner, size_t size) {
	Mem *m = size > 0 ? new_memory(current, owner, size) : NULL;
	if (!m)
		return NULL;
	lock();
	memories = realloc(memories, (size_t)(memory_count + 1) * sizeof *memories);
	memories[memory_count++] = m;
	unlock();
	return m;
}

// memory_at returns the memory that some bytes lie in, or NULL.
static Mem *memory_at(const void *address, size_t size) {
	const unsigned char *at = address;
	Mem *found = NULL;
	lock();
	for (int i = 0; i < memory_count && !found; i++)
		if (at >= memories[i]->data && size <= memories[i]->size && (size_t)(at - memories[i]->data) <= memories[i]->size - size)
			found = memories[i];
	unlock();
	return found;
}

static int free_memory(Mem *m) {
	lock();
	for (int i = 0; i < memory_count; i++)
		if (memories[i] == m)
			memories[i] = memories[--memory_count];
	unlock();
	return release(m, MEM, CUDA_INVALID_VALUE);
}

API int cuMemAlloc_v2(unsigned char **to, size_t size) {
	ENTER(current, CONTEXT);
	if (settle(false, 0))
		return broken;
	Mem *m = allocate(current, size);
	return m ? *to = m->data, CUDA_OK : size == 0 ? CUDA_INVALID_VALUE : CUDA_OUT_OF_MEMORY;
}

API int cuMemFree_v2(unsigned char *at) {
	ENTER(current, CONTEXT);
	Mem *m = memory_at(at, 1);
	int status = settle(false, 0);
	return status || !at ? status : m && m->data == at && m->object.needs == &current->object ? free_memory(m) : release(at, MEM, CUDA_INVALID_VALUE);
}

// copy copies if the addresses of the device are those of memory.
static int copy(void *to, const void *from, size_t size, Queue *q, bool valid) {
	STREAM(q);
	if (!to || !from || !valid)
		return CUDA_INVALID_VALUE;
	memmove(to, from, size);
	return end(q, size / 10);
}

API int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t size, Queue *q) { return copy(to, from, size, q, memory_at(to, size)); }
API int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t size, Queue *q) { return copy(to, from, size, q, memory_at(to, size) && memory_at(from, size)); }

API int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t size, Queue *q) {
	int failed = copy(to, from, size, q, memory_at(from, size));
	return failed ? failed : cuStreamSynchronize(q); // the host's memory is not pinned
}

// Modules, from the machine code of nvrtc.c.

API int cuModuleLoadData(Program **to, const char *image) {
	ENTER(current, CONTEXT);
	if (strncmp(image, "STANDIN\n", 8) != 0)
		return CUDA_INVALID_IMAGE;
	const char *options = image + 8, *names = strchr(options, '\n') + 1, *architecture = strstr(options, "=sm_");
	int of_image = atoi(architecture + 4), major = (int)number_of(here(), 75), minor = (int)number_of(here(), 76);
	if (of_image / 10 != major || of_image % 10 > minor)
		return CUDA_NO_BINARY;
	Program *p = create(PROGRAM, sizeof *p, current);
	p->device = here(), p->cuda = p->module = true;
	p->options = strndup(options, strcspn(options, "\n")), p->names = strndup(names, strcspn(names, "\n"));
	p->source = strdup(strchr(names, '\n') + 1);
	if (build(p) != SUCCESS)
		return release(p, PROGRAM, 0), CUDA_INVALID_IMAGE;
	for (int i = 0; i < p->symbol_count; i++)
		p->symbols[i].mem = allocate(p, p->symbols[i].size);
	return *to = p, CUDA_OK;
}

API int cuModuleUnload(Program *p) {
	ENTER(p, PROGRAM);
	int status = settle(false, 0);
	for (int i = 0; i < p->kernel_count; i++)
		if (p->kernels[i].function)
			release(p->kernels[i].function, KERNEL, 0);
	for (int i = 0; i < p->symbol_count; i++)
		if (p->symbols[i].mem)
			free_memory(p->symbols[i].mem);
	return status ? status : release(p, PROGRAM, CUDA_INVALID_HANDLE);
}

API int cuModuleGetFunction(Kernel **to, Program *p, const char *symbol) {
	ENTER(p, PROGRAM);
	int i = 0;
	while (i < p->kernel_count && strcmp(p->kernels[i].symbol, symbol) != 0)
		i++;
	if (i == p->kernel_count)
		return CUDA_NOT_FOUND;
	Signature *s = &p->kernels[i];
	if (!s->function)
		s->function = create(KERNEL, sizeof **to, p), s->function->program = p, s->function->signature = s;
	return *to = s->function, CUDA_OK;
}

API int cuModuleGetGlobal_v2(unsigned char **to, size_t *size, Program *p, const char *name) {
	ENTER(p, PROGRAM);
	for (int i = 0; i < p->symbol_count; i++)
		if (strcmp(p->symbols[i].param.name, name) == 0)
			return *to = p->symbols[i].mem->data, *size = p->symbols[i].size, CUDA_OK;
	return CUDA_NOT_FOUND;
}

API int cuFuncGetAttribute(int *to, int number, Kernel *k) {
	ENTER(k, KERNEL);
	const Signature *s = k->signature;
	const int all[] = {(int)s->max_size, (int)s->local, 0, 0, 32, 90, 90, 0, (int)k->dynamic};
	if (number < 0 || number > 8)
		return CUDA_INVALID_VALUE;
	return *to = all[number], CUDA_OK;
}

API int cuFuncSetAttribute(Kernel *k, int number, int value) {
	ENTER(k, KERNEL);
	if (number != 8 || value < 0 || (size_t)value + k->signature->local > number_of(here(), 97))
		return CUDA_INVALID_VALUE;
	return k->dynamic = (size_t)value, CUDA_OK;
}

// allowed checks the grid, the block and the shared memory of a launch.
static int allowed(const Kernel *k, const unsigned sizes[6], size_t dynamic) {
	const Signature *s = k->signature;
	size_t threads = 1, standard = number_of(here(), 8);
	for (uint32_t i = 0; i < 6; i++) {
		if (sizes[i] == 0 || sizes[i] > number_of(here(), i < 3 ? 5 + i : i - 1) || (i >= 3 && s->required[0] && sizes[i] != s->required[i - 3]))
			return CUDA_INVALID_VALUE;
		threads *= i >= 3 ? sizes[i] : 1;
	}
	if (threads > number_of(here(), 1) || (dynamic > k->dynamic && dynamic + s->local > standard))
		return CUDA_INVALID_VALUE;
	return threads > s->max_size ? CUDA_LAUNCH_RESOURCES : CUDA_OK;
}

API int cuLaunchKernel(Kernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic, Queue *q, void **values, void **extra) {
	const unsigned sizes[] = {gx, gy, gz, bx, by, bz};
	STREAM(q);
	ENTER(k, KERNEL);
	int failed = allowed(k, sizes, dynamic);
	if (failed || extra || q->hung)
		return extra ? CUDA_INVALID_VALUE : failed;
	Kernel own = *k; // with the arguments of this launch
	Mem parts[32];
	Launch l = {.kernel = &own, .device = here(), .dimensions = 3, .local = {bx, by, bz}, .global = {(size_t)gx * bx, (size_t)gy * by, (size_t)gz * bz}};
	bool illegal = false;
	for (int i = 0; i < k->signature->n; i++) {
		const Param *p = &k->signature->params[i];
		Argument *a = &own.args[i];
		a->set = true, a->size = p->kind != NUMBER || p->scalar == RAW ? 8 : scalar_size(p->scalar) * (size_t)p->lanes;
		memcpy(a->bytes, values[i], a->size);
		unsigned char *at = *(unsigned char **)a->bytes;
		if (p->kind != GLOBAL || !at)
			continue;
		Mem *m = memory_at(at, 1);
		illegal |= !m;
		parts[i] = (Mem){.context = current, .data = at, .size = m ? m->size - (size_t)(at - m->data) : 0};
		a->mem = &parts[i];
	}
	uint64_t ns = 0;
	here()->lost |= illegal;
	int status = illegal ? SUCCESS : carry_out(&l, &failed, &ns);
	k->launches = own.launches;
	q->hung |= status == 1;
	return failed == OUT_OF_RESOURCES ? CUDA_LAUNCH_RESOURCES : failed < 0 ? CUDA_INVALID_VALUE : failed ? failed : end(q, ns);
}

// Events. Their time is that of the stream's clock, which commands advance.

API int cuEventCreate(Event **to, unsigned flags) {
	ENTER(current, CONTEXT);
	*to = create(EVENT, sizeof **to, current);
	return flags < 8 ? CUDA_OK : CUDA_INVALID_VALUE;
}

API int cuEventRecord(Event *e, Queue *q) {
	STREAM(q);
	ENTER(e, EVENT);
	e->profiled = true, e->times[3] = q->clock, e->ready = q->ready, e->status = q->hung;
	return CUDA_OK;
}

API int cuEventSynchronize(Event *e) { ENTER(e, EVENT); return settle(e->status == 1, e->ready); }

API int cuEventElapsedTime(float *ms, Event *from, Event *to) {
	ENTER(from, EVENT);
	ENTER(to, EVENT);
	const Statement *clock = says(here(), "clock", "");
	if (!from->profiled || !to->profiled)
		return CUDA_INVALID_HANDLE;
	if (to->status == 1 || host_now() < to->ready || (clock && strcmp(clock->rest, "none") == 0))
		return CUDA_NOT_READY;
	*ms = (float)((double)(to->times[3] - from->times[3]) * 1e-6);
	if (clock)
		*ms = strcmp(clock->rest, "reversed") == 0 ? -1e-6f : strcmp(clock->rest, "late") == 0 ? *ms + 1e8f : 0;
	return CUDA_OK;
}

API int cuEventDestroy_v2(Event *e) { return destroyed(e, EVENT); }

// Memory for other processes: one that opens it has a copy, and writes it back when it closes it.

typedef struct { pid_t owner; unsigned char *at, *copy; size_t size; } Shared;
typedef struct { Shared shared; char rest[64 - sizeof(Shared)]; } Handle;
static Shared opened[MOST];

API int cuMemGetAddressRange_v2(unsigned char **base, size_t *size, unsigned char *at) {
	ENTER(current, CONTEXT);
	Mem *m = memory_at(at, 1);
	return m ? *base = m->data, *size = m->size, CUDA_OK : CUDA_INVALID_VALUE;
}

API int cuIpcGetMemHandle(Handle *to, unsigned char *at) {
	ENTER(current, CONTEXT);
	Mem *m = memory_at(at, 1);
	if (!m)
		return CUDA_INVALID_VALUE;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	*to = (Handle){{getpid(), m->data, NULL, m->size}, {0}};
	return CUDA_OK;
}

// transfer moves the bytes of a memory of another process to its copy, or back.
static bool transfer(Shared *s, bool back) {
	struct iovec here = {s->copy, s->size}, there = {s->at, s->size};
	return (back ? process_vm_writev : process_vm_readv)(s->owner, &here, 1, &there, 1, 0) == (ssize_t)s->size;
}

API int cuIpcOpenMemHandle_v2(unsigned char **to, Handle handle, unsigned flags) {
	ENTER(current, CONTEXT);
	int i = 0;
	while (i < MOST && opened[i].owner)
		i++;
	Mem *m = flags == 1 && i < MOST && !says(here(), "refuses", "opening") ? allocate(current, handle.shared.size) : NULL;
	if (!m)
		return CUDA_INVALID_VALUE;
	opened[i] = handle.shared, opened[i].copy = *to = m->data;
	return transfer(&opened[i], false) ? CUDA_OK : CUDA_INVALID_VALUE;
}

API int cuIpcCloseMemHandle(unsigned char *at) {
	ENTER(current, CONTEXT);
	for (int i = 0; i < MOST; i++)
		if (opened[i].owner && opened[i].copy == at) {
			bool done = transfer(&opened[i], true);
			opened[i].owner = 0;
			return done ? free_memory(memory_at(at, 1)) : CUDA_INVALID_VALUE;
		}
	return CUDA_INVALID_VALUE;
}
