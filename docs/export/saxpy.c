// gcc -std=c99 -O2 -Ituned saxpy.c -lOpenCL -lm -o main
#include "saxpy.h"
#include <stdlib.h>

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, (int)error);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)atoll(argv[1]) : 1000000, bytes = n * sizeof(float);
    const float a = 2.5f;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "platforms");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "devices");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");

    saxpy_choice choice;
    nd_range range;
    if (saxpy_choose(device, (int64_t)n, &choice) != 0 || saxpy_ndrange(&choice, &range) != 0) {
        fprintf(stderr, "there is no launch for n = %zu\n", n);
        return 1;
    }
    cl_program program = clCreateProgramWithSource(context, saxpy_lines, (const char **)saxpy_source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, choice.options, NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, saxpy_kernel, &error);
    check(error, "kernel");

    float *x = malloc(bytes), *y = malloc(bytes);
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 7);
    }
    cl_mem bx = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, x, &error);
    check(error, "buffer x");
    cl_mem by = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, y, &error);
    check(error, "buffer y");
    check(clSetKernelArg(kernel, 0, sizeof by, &by), "argument y");
    check(clSetKernelArg(kernel, 1, sizeof bx, &bx), "argument x");
    check(clSetKernelArg(kernel, 2, sizeof a, &a), "argument a");
    check(clEnqueueNDRangeKernel(queue, kernel, range.dimensions, range.offset, range.global, range.local[0] ? range.local : NULL, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, by, CL_TRUE, 0, bytes, y, 0, NULL, NULL), "read");
    for (size_t i = 0; i < n; i++)
        if (y[i] != a * (float)(i % 1000) + (float)(i % 7)) {
            fprintf(stderr, "y[%zu] is %g\n", i, (double)y[i]);
            return 1;
        }
    printf("%s: %s, global size %zu, local size %zu; the result is right\n", choice.matched, choice.options, range.global[0], range.local[0]);
    return 0;
}
