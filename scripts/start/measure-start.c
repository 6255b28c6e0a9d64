/* measure-start.c: the time from the start of a process to its first result, for measure-start.sh.
 *
 *     measure-start DEVICE SIZE BINARIES START [save]
 *
 * multiplies two matrices with the exported kernel of matmul_fast.yaml, on the first device that has DEVICE in its name.
 * BINARIES is a file of binaries, or - for none. START is the time when the process began, in nanoseconds as date +%s%N
 * writes it. With save, the program is added to BINARIES. It prints the seconds until the first result and until the
 * program was built, and whether the program came from the file. */
#define _POSIX_C_SOURCE 199309L
#include "matmul_kernel.h"
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "measure-start: %s: error %d\n", what, (int)error);
        exit(1);
    }
}

static cl_device_id find(const char *part) {
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint np = 0, nd, i, j;
    char name[256];
    check(clGetPlatformIDs(16, platforms, &np), "platforms");
    for (i = 0; i < np; i++) {
        nd = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 16, devices, &nd) != CL_SUCCESS) continue;
        for (j = 0; j < nd; j++)
            if (clGetDeviceInfo(devices[j], CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS && strstr(name, part) != NULL) return devices[j];
    }
    fprintf(stderr, "measure-start: no device has %s in its name\n", part);
    exit(1);
}

int main(int argc, char **argv) {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffers[3];
    cl_int error;
    matmul_kernel_choice choice;
    nd_range range;
    double built, start;
    size_t i, n, bytes;
    float *a, *c;
    int from_binary;
    if (argc < 5) {
        fprintf(stderr, "usage: measure-start DEVICE SIZE BINARIES START [save]\n");
        return 2;
    }
    device = find(argv[1]);
    n = (size_t)atoll(argv[2]);
    start = atof(argv[4]) / 1e9;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    if (matmul_kernel_choose(device, (int64_t)n, (int64_t)n, (int64_t)n, &choice) != 0 || matmul_kernel_ndrange(&choice, &range) != 0) {
        fprintf(stderr, "measure-start: there is no launch for %s\n", argv[2]);
        return 1;
    }
    program = matmul_kernel_program(context, device, &choice, strcmp(argv[3], "-") != 0 ? argv[3] : NULL, &from_binary, &error);
    check(error, "build");
    kernel = clCreateKernel(program, matmul_kernel_kernel, &error);
    check(error, "kernel");
    built = now() - start;
    bytes = n * n * sizeof *a;
    a = (float *)malloc(bytes);
    c = (float *)malloc(bytes);
    for (i = 0; i < n * n; i++) a[i] = 0.5f;
    for (i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, a, &error);
        check(error, "buffer");
        check(clSetKernelArg(kernel, (cl_uint)i, sizeof buffers[i], &buffers[i]), "argument");
    }
    check(clEnqueueNDRangeKernel(queue, kernel, range.dimensions, range.offset, range.global, range.local[0] ? range.local : NULL, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, bytes, c, 0, NULL, NULL), "read");
    printf("%.3f %.3f %s\n", now() - start, built, from_binary ? "binary" : "source");
    for (i = 0; i < n * n; i++)
        if (c[i] != 0.25f * (float)n) {
            fprintf(stderr, "measure-start: element %lu is %g\n", (unsigned long)i, (double)c[i]);
            return 1;
        }
    if (argc > 5 && matmul_kernel_save(program, device, &choice, argv[3]) != 0) {
        fprintf(stderr, "measure-start: %s cannot be written\n", argv[3]);
        return 1;
    }
    return 0;
}
