/* What the three programs share: a device and its program, launches with their times, and a report. */
#include <stdlib.h>

#define RUNS 21 /* after one that is not measured */
#define MAX_LAUNCHES 4096

typedef struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernels[8];
    cl_event events[MAX_LAUNCHES]; /* of the launches of a run */
    int launches;
    double times[RUNS]; /* milliseconds of all kernels of a run */
} program;

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, (int)error);
        exit(1);
    }
}

/* Takes the device whose record matches best; level is that of a device, 6 if there is none. */
static void open_device(program *p, int (*level)(cl_device_id))
{
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint i, j, count, found;
    cl_int error;
    int best = 6;
    check(clGetPlatformIDs(16, platforms, &count), "platforms");
    for (i = 0; i < count && i < 16; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 16, devices, &found) != CL_SUCCESS) continue;
        for (j = 0; j < found && j < 16; j++)
            if (level(devices[j]) < best) best = level(p->device = devices[j]);
    }
    if (best == 6) {
        fprintf(stderr, "no device has a launch for these sizes\n");
        exit(1);
    }
    p->context = clCreateContext(NULL, 1, &p->device, NULL, NULL, &error);
    check(error, "context");
    p->queue = clCreateCommandQueue(p->context, p->device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "queue");
}

static void build(program *p, cl_uint lines, const char *const *source, const char *options, const char *const *kernels)
{
    cl_int error;
    cl_program built = clCreateProgramWithSource(p->context, lines, (const char **)source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(built, 1, &p->device, options, NULL, NULL), "build");
    for (int i = 0; kernels[i] != NULL; i++) {
        p->kernels[i] = clCreateKernel(built, kernels[i], &error);
        check(error, kernels[i]);
    }
}

static cl_mem buffer(program *p, size_t bytes, void *content)
{
    cl_int error;
    cl_mem b = clCreateBuffer(p->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, content, &error);
    check(error, "buffer");
    return b;
}

/* Is called for each launch of an exported kernel. */
static int launch(void *data, const nd_kernel_launch *l)
{
    program *p = (program *)data;
    cl_kernel kernel = p->kernels[l->kernel];
    for (int i = 0; i < l->count; i++)
        check(clSetKernelArg(kernel, (cl_uint)i, l->arguments[i].bytes, l->arguments[i].value), l->arguments[i].name);
    check(clEnqueueNDRangeKernel(p->queue, kernel, (cl_uint)l->range.dimensions, l->range.offset, l->range.global,
                                 l->range.local[0] ? l->range.local : NULL, 0, NULL, &p->events[p->launches++]), l->name);
    return p->launches == MAX_LAUNCHES;
}

/* Ends a run. The first one is not measured. */
static void finish(program *p, int run)
{
    double time = 0;
    check(clFinish(p->queue), "finish");
    for (int i = 0; i < p->launches; i++) {
        cl_ulong start, end;
        check(clGetEventProfilingInfo(p->events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "start");
        check(clGetEventProfilingInfo(p->events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");
        time += (double)(end - start) / 1e6;
        clReleaseEvent(p->events[i]);
    }
    p->launches = 0;
    if (run > 0) p->times[run - 1] = time;
}

static int earlier(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(program *p, const char *what, const char *device, const char *matched, const char *options, double search)
{
    qsort(p->times, RUNS, sizeof *p->times, earlier);
    printf("%s: the result is right\n  %s: %s\n  %s\n", what, device, matched, options);
    printf("  median of the kernels' times: %.4f ms (%.4f to %.4f); that of the search: %.4f ms\n",
           p->times[RUNS / 2], p->times[0], p->times[RUNS - 1], search);
}
