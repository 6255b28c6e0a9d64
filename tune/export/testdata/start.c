/* Runs the kernel triple on a device for each file of binaries, and prints whether the program came from the file and a
   number of the result. The name of a file to save the program to begins with +. */
#include "triple.h"

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, (int)error);
        exit(1);
    }
}

int main(int argc, char **argv) {
    cl_platform_id platforms[16];
    cl_device_id device = NULL;
    cl_uint i, count = 0;
    cl_int error;
    char name[256];
    triple_choice choice;
    nd_range range;
    int k;
    check(clGetPlatformIDs(16, platforms, &count), "platforms");
    for (i = 0; i < count; i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "platform");
        if (strcmp(name, argv[1]) == 0) check(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    }
    if (triple_choose(device, atoll(argv[2]), &choice) || triple_ndrange(&choice, &range)) return 1;
    for (k = 3; k < argc; k++) {
        const char *path = argv[k][0] == '+' ? argv[k] + 1 : argv[k];
        int from_binary = -1, x[4096];
        cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
        cl_command_queue queue;
        cl_program program;
        cl_kernel kernel;
        cl_mem buffer;
        check(error, "context");
        queue = clCreateCommandQueue(context, device, 0, &error);
        check(error, "queue");
        program = triple_program(context, device, &choice, path, &from_binary, &error);
        if (error != CL_SUCCESS) {
            char log[4096] = "";
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
            printf("error %d, log of %s\n", (int)error, strstr(log, "missing") != NULL ? "the compiler" : "nobody");
            continue;
        }
        kernel = clCreateKernel(program, triple_kernel, &error);
        check(error, "kernel");
        for (i = 0; i < 4096; i++) x[i] = (int)i;
        buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x, &error);
        check(error, "buffer");
        check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
        check(clEnqueueNDRangeKernel(queue, kernel, range.dimensions, range.offset, range.global, range.local, 0, NULL, NULL), "launch");
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL), "read");
        printf("%d %d", from_binary, x[5]);
        if (path != argv[k]) printf(" saved %d", triple_save(program, device, &choice, path) == 0);
        printf("\n");
        clReleaseMemObject(buffer);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
    return 0;
}
