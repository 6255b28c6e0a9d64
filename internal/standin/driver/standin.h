// The stand-in: drivers of OpenCL and of CUDA for tests, which compile nothing. ../README.md says what they do.
//
//   profile.c   devices, as profiles describe them
//   formula.c   arithmetic on macros and sizes, in conditions and times
//   faults.c    statements, and misbehaviour on request, counted across processes
//   source.c    a «build»: options, macros, statements in comments, the parameters of kernels
//   kernels.c   the kernels that it knows, and their times
//   objects.c   handles: validated, counted, reported
//   api.c       the functions of OpenCL
//   cuda.c      those of CUDA's driver
//   nvrtc.c     those of CUDA's compiler
#ifndef STANDIN_H
#define STANDIN_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { // of OpenCL, without the prefix CL_
	SUCCESS = 0, DEVICE_NOT_FOUND = -1, ALLOCATION_FAILURE = -4, OUT_OF_RESOURCES = -5, NO_PROFILING_INFO = -7, COPY_OVERLAP = -8,
	BUILD_FAILURE = -11, MISALIGNED_OFFSET = -13, EVENTS_FAILED = -14, INVALID_VALUE = -30, INVALID_PLATFORM = -32, INVALID_DEVICE = -33,
	INVALID_CONTEXT = -34, INVALID_QUEUE_PROPERTIES = -35, INVALID_QUEUE = -36, INVALID_MEM = -38, INVALID_SAMPLER = -41,
	INVALID_BINARY = -42, INVALID_OPTIONS = -43, INVALID_PROGRAM = -44, INVALID_EXECUTABLE = -45, INVALID_KERNEL_NAME = -46,
	INVALID_KERNEL = -48, INVALID_ARG_INDEX = -49, INVALID_ARG_VALUE = -50, INVALID_ARG_SIZE = -51, INVALID_KERNEL_ARGS = -52,
	INVALID_WORK_DIMENSION = -53, INVALID_GROUP_SIZE = -54, INVALID_ITEM_SIZE = -55, INVALID_WAIT_LIST = -57, INVALID_EVENT = -58,
	INVALID_OPERATION = -59, INVALID_BUFFER_SIZE = -61,
};

// formula.c

// A Scope resolves the names in a formula, and asks outer for those that it does not know.
typedef struct Scope {
	bool (*find)(const struct Scope *, const char *name, double *value);
	const void *data;
	const struct Scope *outer;
} Scope;

bool evaluate(const char *formula, const Scope *, double *value, char message[160]); // false and a message: it is none
double number_or(const char *formula, const Scope *, double otherwise);

// faults.c

// A Statement directs the stand-in: SUBJECT VERB REST [when FORMULA] [first N | after N | one in N].
typedef struct {
	char subject[64], verb[16], rest[256], when[256];
	int first, after, one_in; // 0: each time
	uint64_t key;             // hash of the text, which names its count
} Statement;

typedef struct {
	Statement *list;
	int n;
} Statements;

const char *add_statements(Statements *, const char *text); // of a text; returns the first that is none, or NULL
// next_statement returns the next one from *at on, about a subject with a verb, that applies. A condition that cannot be computed
// sets the message and applies. count is how often the statement was asked so far, over all processes.
const Statement *next_statement(const Statements *, int *at, const char *subject, const char *verb, const Scope *, char message[160], int *count);
// perform does what is the same for builds and launches: prints, complains, waits, hangs, crashes. It returns whether it was that.
bool perform(const Statement *, const Scope *, int count);
void unquoted(char *to, size_t room, const char *quoted);
uint64_t hash_of(uint64_t seed, const void *data, size_t size);
uint64_t host_now(void); // nanoseconds
void wait_until(uint64_t);
void hang(void) __attribute__((noreturn));

// profile.c

typedef struct { bool of_platform; uint32_t param; size_t size; unsigned char *data; } Answer;

typedef struct {
	int magic, index, n, cuda; // cuda: the version of CUDA, such as 13000; 0: a device of OpenCL
	struct Platform *platform;
	Answer *answers;
	size_t preferred_multiple, kernel_max_size;
	Statements statements;
	uint64_t clock, allocated; // virtual nanoseconds; bytes
	bool lost;
} Device;

enum { DEVICE_MAGIC = 0x1000, PLATFORM_MAGIC = 0x0901, MOST = 64 };
typedef struct Platform { int magic, n; Device *devices[MOST]; } Platform;

extern Platform *platforms[MOST];
extern Device *cuda_devices[MOST];
extern int platform_count, cuda_count;
void load_profiles(void); // once
const Answer *answer_of(const Device *, bool of_platform, uint32_t param);
uint64_t number_of(const Device *, uint32_t param); // 0: no answer
const Statement *says(const Device *, const char *verb, const char *rest);

// objects.c

typedef enum { CONTEXT, QUEUE, MEM, PROGRAM, KERNEL, EVENT, KINDS } Kind;
typedef struct Object { Kind kind; int users; struct Object *needs; } Object; // users: the owner, and the objects that need it

void *create(Kind, size_t, void *needs);
bool live(const void *, Kind);          // whether a handle is an object that was not released; if not, that is reported
int release(void *, Kind, int invalid); // ends the owner's use
void drop(Object *);
void destroy(void *); // frees what an object holds that nobody uses
void lock(void);
void unlock(void);

// A Context of CUDA knows when the commands of all its streams have ended.
typedef struct { Object object; int n; Device *devices[MOST]; uint64_t ready; bool hung; } Context;

typedef struct {
	Object object;
	Device *device;
	bool profiling, hung;
	uint64_t ready; // by the host's clock: when its commands have ended
	uint64_t clock; // of CUDA: the nanoseconds of its commands
} Queue;

// A Mem is a buffer, or a part of the buffer whole, which else is itself.
typedef struct Mem { Object object; Context *context; struct Mem *whole; unsigned char *data; size_t size; } Mem;

typedef struct {
	Object object;
	int status; // 0 complete, 1 it never ends, negative: failed
	bool profiled;
	uint64_t times[4], ready;
} Event;

// source.c

typedef enum { NUMBER, GLOBAL, LOCAL, IMAGE, SAMPLER } ArgKind;
typedef enum { RAW, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE } Scalar;

typedef struct {
	char name[64], type[64];
	ArgKind kind;
	uint32_t address, access;
	uint64_t qualifier;
	Scalar scalar;
	int lanes; // 4 for a 3-vector
} Param;

// A Signature is that of a kernel. For CUDA, it has the symbol in machine code, the name expression of an instance of a template, and
// what __launch_bounds__ says.
typedef struct {
	char name[128], symbol[192], expression[128];
	int n;
	Param params[32];
	size_t required[3], local, max_size, bounds;
	struct Kernel *function; // of a module
} Signature;

typedef struct { Param param; size_t size; Mem *mem; } Symbol; // __constant__ or __device__; mem: of a module

typedef struct {
	Object object;
	Context *context;
	Device *device;
	char *source, *options, *log, *binary, *names; // names: name expressions for NVRTC, a semicolon behind each
	bool cuda, module, dynamic;                     // dynamic: it has extern __shared__
	int status;                                     // 0 built, -1 not, -2 failed
	struct { char *name, *value; } *macros;
	int macro_count, kernel_count, symbol_count;
	Statements statements;
	Signature *kernels;
	Symbol symbols[16];
} Program;

int build(Program *);
bool failed(Program *, const char *what, const char *about); // false; it adds a line to the log
void forget_build(Program *);
const char *macro_of(const Program *, const char *name);
Scope program_scope(const Program *);
size_t scalar_size(Scalar);

// kernels.c

typedef struct { bool set; Mem *mem; size_t size; unsigned char bytes[128]; } Argument;
typedef struct Kernel { Object object; Program *program; const Signature *signature; Argument args[32]; int launches; size_t dynamic; } Kernel;
typedef struct { Kernel *kernel; Device *device; int dimensions; size_t global[3], local[3]; } Launch;

bool known(const Program *, const char *kernel);
Scope launch_scope(const Launch *, const Scope *outer);
bool compute(const Launch *, const Scope *, char message[160]); // false and a message: a statement is wrong
uint64_t duration(const Launch *, const Scope *);               // nanoseconds

// api.c

enum { SLACK = 64 << 10 }; // behind each buffer: a fault writes there, not into the heap
extern bool spoiled;       // by a launch: the next build, or the next buffer, ends the process
// carry_out computes a launch and misbehaves as statements say. It returns the status of its event; of_call is that of the call.
int carry_out(Launch *, int *of_call, uint64_t *ns);
Mem *new_memory(Context *, void *owner, size_t);

#endif
