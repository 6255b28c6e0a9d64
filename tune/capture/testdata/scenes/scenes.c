// Programs whose launches are recorded as captures: one scene for each thing that a capture can hold, or that cannot be tuned from one.
//
//	cc -o scenes scenes.c -lOpenCL -lpthread && ./scenes SCENE [REPEATS]
//
// A scene prints the sum of each of its outputs, so that a run that changed something shows it.
#define CL_TARGET_OPENCL_VERSION 210
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int repeats = 3;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void check(cl_int code, const char *call) {
	if (code != CL_SUCCESS) {
		fprintf(stderr, "scenes: %s: error %d\n", call, code);
		exit(1);
	}
}

static void start(void) {
	cl_platform_id platform;
	cl_int code;
	check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	check(code, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &code);
	check(code, "clCreateCommandQueue");
}

static void built(cl_program program, cl_int code) {
	if (code == CL_SUCCESS)
		return;
	static char log[1 << 14];
	clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
	fprintf(stderr, "%s\n", log);
	check(code, "clBuildProgram");
}

static cl_program build(const char *source, const char *options) {
	cl_int code;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
	check(code, "clCreateProgramWithSource");
	built(program, clBuildProgram(program, 1, &device, options, NULL, NULL));
	return program;
}

static cl_kernel kernel(cl_program program, const char *name) {
	cl_int code;
	cl_kernel result = clCreateKernel(program, name, &code);
	check(code, name);
	return result;
}

static void set(cl_kernel target, cl_uint index, size_t size, const void *value) {
	check(clSetKernelArg(target, index, size, value), "clSetKernelArg");
}

#define SET(target, index, value) set(target, index, sizeof(value), &(value))

static cl_mem buffer(size_t bytes, const void *data) {
	cl_int code;
	cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
	cl_mem result = clCreateBuffer(context, flags, bytes, (void *)data, &code);
	check(code, "clCreateBuffer");
	return result;
}

// floats has n values between -4 and 4 that repeat after 97 values.
static float *floats(size_t n) {
	float *values = malloc(n * sizeof *values);
	for (size_t i = 0; i < n; i++)
		values[i] = (float)(i * 31 % 97) / 12.0f - 4.0f;
	return values;
}

static cl_mem float_buffer(size_t n) {
	float *values = floats(n);
	cl_mem result = buffer(n * sizeof *values, values);
	free(values);
	return result;
}

static void enqueue(cl_kernel target, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local) {
	check(clEnqueueNDRangeKernel(queue, target, dimensions, offset, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static void repeat(cl_kernel target, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local) {
	for (int i = 0; i < repeats; i++)
		enqueue(target, dimensions, offset, global, local);
}

static void print_sum(const char *name, const float *values, size_t n) {
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	printf("%s %.9g\n", name, sum);
}

static void print_floats(const char *name, cl_mem memory, size_t n) {
	float *values = malloc(n * sizeof *values);
	check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, n * sizeof *values, values, 0, NULL, NULL), "clEnqueueReadBuffer");
	print_sum(name, values, n);
	free(values);
}

// Constants of the options that do not change the grid, a read-only input, an input that becomes the output.
static void scene_buffers(void) {
	cl_program program = build(
	    "__kernel void product(__global const float *matrix, __global const float *vector, __global float *result, int columns) {\n"
	    "    size_t row = get_global_id(0);\n"
	    "    float sum = 0;\n"
	    "    #pragma unroll UNROLL\n"
	    "    for (int column = 0; column < columns; column++)\n"
	    "        sum += matrix[row * columns + column] * vector[column];\n"
	    "    result[row] = sum * SCALE + result[row];\n"
	    "}\n", "-DUNROLL=1 -D SCALE=0.5f -cl-mad-enable");
	size_t rows = 128, local = 8;
	cl_int columns = 96;
	cl_mem matrix = float_buffer(rows * columns), vector = float_buffer(columns), result = float_buffer(rows);
	cl_kernel product = kernel(program, "product");
	SET(product, 0, matrix);
	SET(product, 1, vector);
	SET(product, 2, result);
	SET(product, 3, columns);
	repeat(product, 1, NULL, &rows, &local);
	print_floats("result", result, rows);
}

// Local memory whose size the host computes from the work-group size.
static void scene_local(void) {
	cl_program program = build(
	    "__kernel void sums(__global const float *input, __local float *partial, __global float *output) {\n"
	    "    size_t item = get_local_id(0);\n"
	    "    partial[item] = input[get_global_id(0)];\n"
	    "    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {\n"
	    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
	    "        if (item < half_size)\n"
	    "            partial[item] += partial[item + half_size];\n"
	    "    }\n"
	    "    if (item == 0)\n"
	    "        output[get_group_id(0)] = partial[0];\n"
	    "}\n", "");
	size_t n = 2048, local = 64;
	cl_mem input = float_buffer(n), output = buffer(n / local * sizeof(float), NULL);
	cl_kernel sums = kernel(program, "sums");
	SET(sums, 0, input);
	set(sums, 1, local * sizeof(float), NULL);
	SET(sums, 2, output);
	repeat(sums, 1, NULL, &n, &local);
	print_floats("output", output, n / local);
}

static cl_mem image(const cl_image_desc *shape, cl_channel_order order, cl_channel_type type, const void *data) {
	cl_image_format format = {order, type};
	cl_int code;
	cl_mem result = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, shape, (void *)data, &code);
	check(code, "clCreateImage");
	return result;
}

static unsigned char *bytes(size_t n, int step) {
	unsigned char *values = malloc(n);
	for (size_t i = 0; i < n; i++)
		values[i] = (unsigned char)(i * step % 251);
	return values;
}

static void print_image(const char *name, cl_mem memory, size_t width, size_t height, size_t depth, size_t channels) {
	size_t origin[3] = {0}, region[3] = {width, height, depth}, n = width * height * depth * channels;
	unsigned char *values = malloc(n);
	check(clEnqueueReadImage(queue, memory, CL_TRUE, origin, region, 0, 0, values, 0, NULL, NULL), "clEnqueueReadImage");
	unsigned long sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	printf("%s %lu\n", name, sum);
	free(values);
}

// An image that is read by a sampler of the host's, and one that is written.
static void scene_image(void) {
	cl_program program = build(
	    "__kernel void shrink(__read_only image2d_t input, sampler_t sampler, __write_only image2d_t output) {\n"
	    "    int2 pixel = (int2)(get_global_id(0), get_global_id(1));\n"
	    "    float2 size = (float2)(get_image_width(output), get_image_height(output));\n"
	    "    float2 corner = convert_float2(pixel) / size;\n"
	    "    float4 sum = 0;\n"
	    "    for (int y = 0; y < SAMPLES; y++)\n"
	    "        for (int x = 0; x < SAMPLES; x++)\n"
	    "            sum += read_imagef(input, sampler, corner + ((float2)(x, y) + 0.5f) / (SAMPLES * size));\n"
	    "    write_imagef(output, pixel, sum / (SAMPLES * SAMPLES));\n"
	    "}\n", "-DSAMPLES=2");
	cl_image_desc wide = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 48, .image_height = 32};
	cl_image_desc small = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 24, .image_height = 16};
	unsigned char *pixels = bytes(48 * 32 * 4, 7), *empty = calloc(24 * 16, 4);
	cl_mem input = image(&wide, CL_RGBA, CL_UNORM_INT8, pixels), output = image(&small, CL_RGBA, CL_UNORM_INT8, empty);
	cl_int code;
	cl_sampler sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
	check(code, "clCreateSampler");
	cl_kernel shrink = kernel(program, "shrink");
	SET(shrink, 0, input);
	SET(shrink, 1, sampler);
	SET(shrink, 2, output);
	size_t global[2] = {24, 16}, local[2] = {8, 4};
	repeat(shrink, 2, NULL, global, local);
	print_image("output", output, 24, 16, 1, 4);
}

// A volume of one channel, read without a sampler of the host's, into a buffer.
static void scene_volume(void) {
	cl_program program = build(
	    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
	    "__kernel void project(__read_only image3d_t volume, __global float *sums) {\n"
	    "    int x = get_global_id(0), y = get_global_id(1);\n"
	    "    float sum = 0;\n"
	    "    for (int z = 0; z < get_image_depth(volume); z++)\n"
	    "        sum += read_imagef(volume, nearest, (int4)(x, y, z, 0)).x;\n"
	    "    sums[y * get_global_size(0) + x] = sum;\n"
	    "}\n", NULL);
	cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 16, .image_height = 8, .image_depth = 10};
	float *values = floats(16 * 8 * 10);
	cl_mem volume = image(&shape, CL_R, CL_FLOAT, values), sums = buffer(16 * 8 * sizeof(float), NULL);
	cl_kernel project = kernel(program, "project");
	SET(project, 0, volume);
	SET(project, 1, sums);
	size_t global[2] = {16, 8};
	repeat(project, 2, NULL, global, NULL);
	print_floats("sums", sums, 16 * 8);
}

// An array of images: neither a 2-D nor a 3-D image.
static void scene_slices(void) {
	cl_program program = build(
	    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
	    "__kernel void add(__read_only image2d_array_t slices, __global float *sums) {\n"
	    "    int x = get_global_id(0), y = get_global_id(1);\n"
	    "    float sum = 0;\n"
	    "    for (int z = 0; z < get_image_array_size(slices); z++)\n"
	    "        sum += read_imagef(slices, nearest, (int4)(x, y, z, 0)).x;\n"
	    "    sums[y * get_global_size(0) + x] = sum;\n"
	    "}\n", "");
	cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 16, .image_height = 8, .image_array_size = 3};
	float *values = floats(16 * 8 * 3);
	cl_mem slices = image(&shape, CL_R, CL_FLOAT, values), sums = buffer(16 * 8 * sizeof(float), NULL);
	cl_kernel add = kernel(program, "add");
	SET(add, 0, slices);
	SET(add, 1, sums);
	size_t global[2] = {16, 8};
	repeat(add, 2, NULL, global, NULL);
	print_floats("sums", sums, 16 * 8);
}

struct settings {
	cl_int width;
	cl_float scale;
	cl_char negate;
	cl_long shift;
};

// A struct, a vector and small scalars by value.
static void scene_values(void) {
	cl_program program = build(
	    "typedef struct { int width; float scale; char negate; long shift; } settings;\n"
	    "__kernel void shade(__global float *output, settings how, float4 weights, uchar step, ulong seed, double bias) {\n"
	    "    int i = get_global_id(0);\n"
	    "    float4 place = (float4)(i % how.width, i / how.width, (i * step) % 7, (seed + how.shift) % 11);\n"
	    "    float value = dot(place, weights) * how.scale;\n"
	    "    output[i] = (float)((how.negate ? -value : value) + bias);\n"
	    "}\n", "");
	struct settings how;
	memset(&how, 0, sizeof how);
	how = (struct settings){.width = 32, .scale = 0.25f, .negate = 1, .shift = 1L << 33};
	cl_float4 weights = {{1, 2, 0.5f, 0.25f}};
	cl_uchar step = 3;
	cl_ulong seed = 123456789012345UL;
	cl_double bias = 0.1;
	size_t n = 512, local = 32;
	cl_mem output = buffer(n * sizeof(float), NULL);
	cl_kernel shade = kernel(program, "shade");
	SET(shade, 0, output);
	SET(shade, 1, how);
	SET(shade, 2, weights);
	SET(shade, 3, step);
	SET(shade, 4, seed);
	SET(shade, 5, bias);
	repeat(shade, 1, NULL, &n, &local);
	print_floats("output", output, n);
}

// Three kernels of one program, one of them at two sizes; the larger one comes second.
static void scene_three(void) {
	cl_program program = build(
	    "__kernel void fill(__global float *x, float a) {\n"
	    "    x[get_global_id(0)] = a * get_global_id(0);\n"
	    "}\n"
	    "__kernel void smooth(__global const float *x, __global float *y, int n) {\n"
	    "    int i = get_global_id(0);\n"
	    "    float sum = 0;\n"
	    "    for (int k = -RADIUS; k <= RADIUS; k++)\n"
	    "        sum += x[clamp(i + k, 0, n - 1)];\n"
	    "    y[i] = sum / (2 * RADIUS + 1);\n"
	    "}\n"
	    "__kernel void subtract(__global float *x, __global const float *y) {\n"
	    "    x[get_global_id(0)] -= y[get_global_id(0)];\n"
	    "}\n", "-DRADIUS=5");
	size_t n = 1024, fewer = 512, local = 64;
	cl_int count = (cl_int)n, fewer_count = (cl_int)fewer;
	float a = 0.75f;
	cl_mem x = buffer(n * sizeof(float), NULL), y = buffer(n * sizeof(float), NULL);
	cl_kernel fill = kernel(program, "fill"), smooth = kernel(program, "smooth"), subtract = kernel(program, "subtract");
	SET(fill, 0, x);
	SET(fill, 1, a);
	SET(smooth, 0, x);
	SET(smooth, 1, y);
	SET(subtract, 0, x);
	SET(subtract, 1, y);
	for (int i = 0; i < repeats; i++) {
		enqueue(fill, 1, NULL, &n, &local);
		SET(smooth, 2, fewer_count);
		enqueue(smooth, 1, NULL, &fewer, &local);
		SET(smooth, 2, count);
		enqueue(smooth, 1, NULL, &n, &local);
		enqueue(subtract, 1, NULL, &n, NULL);
	}
	print_floats("x", x, n);
}

// Two dimensions, with a work-group size that the kernel requires and a tile in local memory that depends on the same macro.
static void scene_plane(void) {
	cl_program program = build(
	    "__attribute__((reqd_work_group_size(TILE, TILE, 1)))\n"
	    "__kernel void transpose(__global const float *input, __global float *output) {\n"
	    "    __local float tile[TILE][TILE + 1];\n"
	    "    int x = get_local_id(0), y = get_local_id(1), width = get_global_size(0), height = get_global_size(1);\n"
	    "    int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;\n"
	    "    tile[y][x] = input[(top + y) * width + left + x];\n"
	    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
	    "    output[(left + y) * height + top + x] = tile[x][y];\n"
	    "}\n", "-DTILE=8");
	size_t global[2] = {64, 32}, local[2] = {8, 8};
	cl_mem input = float_buffer(64 * 32), output = buffer(64 * 32 * sizeof(float), NULL);
	cl_kernel transpose = kernel(program, "transpose");
	SET(transpose, 0, input);
	SET(transpose, 1, output);
	repeat(transpose, 2, NULL, global, local);
	print_floats("output", output, 64 * 32);
}

// Three dimensions and constant memory.
static void scene_space(void) {
	cl_program program = build(
	    "__kernel void diffuse(__global const float *old, __global float *new, __constant float *weights) {\n"
	    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
	    "    int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);\n"
	    "    int i = (z * ny + y) * nx + x;\n"
	    "    float sum = weights[0] * old[i];\n"
	    "    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)\n"
	    "        sum += weights[1] * (old[i - 1] + old[i + 1]) + weights[2] * (old[i - nx] + old[i + nx])\n"
	    "            + weights[3] * (old[i - nx * ny] + old[i + nx * ny]);\n"
	    "    new[i] = sum;\n"
	    "}\n", "");
	size_t global[3] = {16, 12, 8}, local[3] = {8, 4, 2}, n = 16 * 12 * 8;
	float weights[4] = {0.4f, 0.125f, 0.1f, 0.075f};
	cl_mem old = float_buffer(n), new = buffer(n * sizeof(float), NULL), constants = buffer(sizeof weights, weights);
	cl_kernel diffuse = kernel(program, "diffuse");
	SET(diffuse, 0, old);
	SET(diffuse, 1, new);
	SET(diffuse, 2, constants);
	repeat(diffuse, 3, NULL, global, local);
	print_floats("new", new, n);
}

static cl_kernel powers(const char *options, cl_mem *output, size_t n) {
	cl_program program = build(
	    "#ifndef TERMS\n"
	    "#define TERMS 12\n"
	    "#endif\n"
	    "__kernel void series(__global const float *input, __global float *output) {\n"
	    "    float x = input[get_global_id(0)] / 5, sum = 0, power = 1;\n"
	    "    for (int term = 0; term < TERMS; term++, power *= x)\n"
	    "        sum += power / (term + 1);\n"
	    "    output[get_global_id(0)] = sum;\n"
	    "}\n", options);
	cl_kernel series = kernel(program, "series");
	cl_mem input = float_buffer(n);
	*output = buffer(n * sizeof(float), NULL);
	SET(series, 0, input);
	SET(series, 1, *output);
	return series;
}

// No work-group size: the driver chooses it. No options either.
static void scene_driver(void) {
	cl_mem output;
	size_t n = 1536;
	repeat(powers(NULL, &output, n), 1, NULL, &n, NULL);
	print_floats("output", output, n);
}

// A part of a grid, at an offset.
static void scene_offset(void) {
	cl_program program = build(
	    "__kernel void mark(__global float *field, int width) {\n"
	    "    field[get_global_id(1) * width + get_global_id(0)] += get_global_id(0) + 100 * get_global_id(1);\n"
	    "}\n", "");
	size_t global[2] = {32, 16}, local[2] = {8, 4}, offset[2] = {5, 7};
	cl_int width = 48;
	cl_mem field = float_buffer(48 * 32);
	cl_kernel mark = kernel(program, "mark");
	SET(mark, 0, field);
	SET(mark, 1, width);
	repeat(mark, 2, offset, global, local);
	print_floats("field", field, 48 * 32);
}

// Numbers of 16 bits in memory.
static void scene_half(void) {
	cl_program program = build(
	    "__kernel void scale(__global const half *input, __global half *output, float factor) {\n"
	    "    size_t i = get_global_id(0) * WIDTH;\n"
	    "    for (int k = 0; k < WIDTH; k++)\n"
	    "        vstore_half(vload_half(i + k, input) * factor, i + k, output);\n"
	    "}\n", "-DWIDTH=4");
	size_t n = 2048, global = n / 4, local = 32;
	cl_ushort *values = malloc(n * sizeof *values);
	for (size_t i = 0; i < n; i++)
		values[i] = (cl_ushort)(0x3000 + i * 37 % 0x1800);
	cl_mem input = buffer(n * 2, values), output = buffer(n * 2, NULL);
	float factor = 1.5f;
	cl_kernel scale = kernel(program, "scale");
	SET(scale, 0, input);
	SET(scale, 1, output);
	SET(scale, 2, factor);
	repeat(scale, 1, NULL, &global, &local);
	check(clEnqueueReadBuffer(queue, output, CL_TRUE, 0, n * 2, values, 0, NULL, NULL), "clEnqueueReadBuffer");
	unsigned long sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	printf("output %lu\n", sum);
}

static unsigned char *contents(const char *name, size_t *size) {
	FILE *file = fopen(name, "rb");
	if (file == NULL) {
		perror(name);
		exit(1);
	}
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	unsigned char *data = malloc(*size);
	if (fread(data, 1, *size, file) != *size)
		exit(1);
	fclose(file);
	return data;
}

// A program of intermediate language, compiled from polynomial.cl.
static void scene_spirv(void) {
	size_t size, n = 1024, local = 64;
	unsigned char *code = contents("polynomial.spv", &size);
	cl_int status;
	cl_program program = clCreateProgramWithIL(context, code, size, &status);
	check(status, "clCreateProgramWithIL");
	built(program, clBuildProgram(program, 1, &device, "", NULL, NULL));
	cl_kernel polynomial = kernel(program, "polynomial");
	cl_mem input = float_buffer(n), output = buffer(n * sizeof(float), NULL);
	cl_float4 factors = {{1, 0.5f, 0.25f, 0.125f}};
	SET(polynomial, 0, input);
	SET(polynomial, 1, output);
	SET(polynomial, 2, factors);
	repeat(polynomial, 1, NULL, &n, &local);
	print_floats("output", output, n);
}

// Two contexts with the same kernel under different options.
static void scene_contexts(void) {
	for (int i = 0; i < 2; i++) {
		cl_mem output;
		size_t n = 768, local = 32;
		start();
		repeat(powers(i == 0 ? "-DTERMS=6" : "-DTERMS=9", &output, n), 1, NULL, &n, &local);
		print_floats("output", output, n);
	}
}

static void *enqueue_series(void *options) {
	cl_mem output;
	size_t n = 768, local = 32;
	repeat(powers(options, &output, n), 1, NULL, &n, &local);
	clFinish(queue);
	return NULL;
}

// Two threads that enqueue at the same time.
static void scene_threads(void) {
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, enqueue_series, "-DTERMS=6");
	pthread_create(&threads[1], NULL, enqueue_series, "-DTERMS=9");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

// One buffer as two arguments.
static void scene_alias(void) {
	cl_program program = build(
	    "__kernel void combine(__global const float *a, __global const float *b, __global float *sum) {\n"
	    "    size_t i = get_global_id(0);\n"
	    "    sum[i] = a[i] + FACTOR * b[i];\n"
	    "}\n", "-DFACTOR=2");
	size_t n = 1024, local = 64;
	cl_mem a = float_buffer(n), sum = float_buffer(n);
	cl_kernel combine = kernel(program, "combine");
	SET(combine, 0, a);
	SET(combine, 1, sum);
	SET(combine, 2, sum);
	repeat(combine, 1, NULL, &n, &local);
	print_floats("sum", sum, n);
}

// Outputs that no repetition makes again to the bit: a list in the order of the work-items, and a sum of floats in that order.
static void scene_atomics(void) {
	cl_program program = build(
	    "__kernel void collect(__global const float *input, __global int *list, volatile __global int *count) {\n"
	    "    int i = get_global_id(0);\n"
	    "    if (input[i] > 0)\n"
	    "        list[atomic_inc(count)] = i;\n"
	    "}\n"
	    "__kernel void accumulate(__global const float *input, volatile __global uint *bins, int n) {\n"
	    "    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {\n"
	    "        volatile __global uint *bin = bins + i % BINS;\n"
	    "        uint old, seen = *bin;\n"
	    "        do {\n"
	    "            old = seen;\n"
	    "            seen = atomic_cmpxchg(bin, old, as_uint(as_float(old) + exp(input[i])));\n"
	    "        } while (seen != old);\n"
	    "    }\n"
	    "}\n", "-DBINS=4");
	size_t n = 4096, local = 16;
	cl_int zero = 0, number = (cl_int)n;
	float zeros[4] = {0};
	cl_mem input = float_buffer(n), list = buffer(n * sizeof(cl_int), NULL), bins = buffer(sizeof zeros, zeros);
	cl_mem count = buffer(sizeof zero, &zero);
	cl_kernel collect = kernel(program, "collect"), accumulate = kernel(program, "accumulate");
	SET(collect, 0, input);
	SET(collect, 1, list);
	SET(collect, 2, count);
	SET(accumulate, 0, input);
	SET(accumulate, 1, bins);
	SET(accumulate, 2, number);
	for (int i = 0; i < repeats; i++) {
		check(clEnqueueWriteBuffer(queue, count, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL), "clEnqueueWriteBuffer");
		enqueue(collect, 1, NULL, &n, &local);
		enqueue(accumulate, 1, NULL, &n, &local);
	}
	print_floats("bins", bins, 4);
}

static cl_kernel increment(void) {
	return kernel(build(
	    "__kernel void increment(__global float *x) {\n"
	    "    x[get_global_id(0)] += 1;\n"
	    "}\n", ""), "increment");
}

// A part of a buffer as an argument.
static void scene_subbuffer(void) {
	size_t n = 1024, part = 512, local = 64;
	cl_mem whole = float_buffer(n);
	cl_buffer_region region = {256 * sizeof(float), part * sizeof(float)};
	cl_int code;
	cl_mem middle = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
	check(code, "clCreateSubBuffer");
	cl_kernel target = increment();
	SET(target, 0, middle);
	repeat(target, 1, NULL, &part, &local);
	print_floats("whole", whole, n);
}

// Shared virtual memory as an argument: an allocation, and a pointer into its middle.
static void scene_svm(void) {
	size_t n = 1024, part = 512, local = 64;
	float *x = clSVMAlloc(context, CL_MEM_READ_WRITE, n * sizeof *x, 0), *values = floats(n);
	if (x == NULL)
		check(-1, "clSVMAlloc");
	check(clEnqueueSVMMemcpy(queue, CL_TRUE, x, values, n * sizeof *x, 0, NULL, NULL), "clEnqueueSVMMemcpy");
	cl_kernel target = increment();
	check(clSetKernelArgSVMPointer(target, 0, x), "clSetKernelArgSVMPointer");
	repeat(target, 1, NULL, &n, &local);
	check(clSetKernelArgSVMPointer(target, 0, x + 256), "clSetKernelArgSVMPointer");
	repeat(target, 1, NULL, &part, &local);
	check(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, x, n * sizeof *x, 0, NULL, NULL), "clEnqueueSVMMap");
	print_sum("x", x, n);
	check(clEnqueueSVMUnmap(queue, x, 0, NULL, NULL), "clEnqueueSVMUnmap");
	clFinish(queue);
}

// Unified shared memory as an argument.
static void scene_usm(void) {
	cl_platform_id platform;
	cl_int code;
	check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "clGetDeviceInfo");
	clHostMemAllocINTEL_fn allocate = (clHostMemAllocINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clHostMemAllocINTEL");
	clSetKernelArgMemPointerINTEL_fn set_pointer =
	    (clSetKernelArgMemPointerINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clSetKernelArgMemPointerINTEL");
	if (allocate == NULL || set_pointer == NULL)
		check(-1, "clGetExtensionFunctionAddressForPlatform");
	size_t n = 1024, local = 64;
	float *x = allocate(context, NULL, n * sizeof *x, 0, &code), *values = floats(n);
	check(code, "clHostMemAllocINTEL");
	memcpy(x, values, n * sizeof *x);
	cl_kernel target = increment();
	check(set_pointer(target, 0, x), "clSetKernelArgMemPointerINTEL");
	repeat(target, 1, NULL, &n, &local);
	clFinish(queue);
	print_sum("x", x, n);
}

// A global size that the host computes from a macro of the kernel's: another value of the macro alone would leave out items, or go beyond.
static void scene_grid(void) {
	cl_program program = build(
	    "__kernel void cube(__global const float *input, __global float *output) {\n"
	    "    size_t first = get_global_id(0) * PER_ITEM;\n"
	    "    for (int i = 0; i < PER_ITEM; i++)\n"
	    "        output[first + i] = input[first + i] * input[first + i] * input[first + i];\n"
	    "}\n", "-DPER_ITEM=4");
	size_t n = 2048, global = n / 4, local = 32;
	cl_mem input = float_buffer(n), output = buffer(n * sizeof(float), NULL);
	cl_kernel cube = kernel(program, "cube");
	SET(cube, 0, input);
	SET(cube, 1, output);
	repeat(cube, 1, NULL, &global, &local);
	print_floats("output", output, n);
}

// Arguments that may be missing: no buffer, in the two ways in which a host can say so.
static void scene_optional(void) {
	cl_program program = build(
	    "__kernel void blend(__global const float *input, __global const float *mask, __global float *output, int masked) {\n"
	    "    size_t i = get_global_id(0);\n"
	    "    output[i] = masked ? input[i] * mask[i] : input[i] * 0.5f;\n"
	    "}\n", "");
	size_t n = 512, fewer = 256, local = 64;
	cl_int masked = 0;
	cl_mem input = float_buffer(n), none = NULL, output = buffer(n * sizeof(float), NULL);
	cl_kernel blend = kernel(program, "blend");
	SET(blend, 0, input);
	set(blend, 1, sizeof(cl_mem), NULL);
	SET(blend, 2, output);
	SET(blend, 3, masked);
	repeat(blend, 1, NULL, &n, &local);
	SET(blend, 1, none);
	repeat(blend, 1, NULL, &fewer, &local);
	print_floats("output", output, n);
}

// A source that includes a file.
static void scene_header(void) {
	cl_program program = build(
	    "#include \"factor.h\"\n"
	    "__kernel void multiply(__global float *x) {\n"
	    "    x[get_global_id(0)] *= FACTOR;\n"
	    "}\n", "-I .");
	size_t n = 512, local = 64;
	cl_mem x = float_buffer(n);
	cl_kernel multiply = kernel(program, "multiply");
	SET(multiply, 0, x);
	repeat(multiply, 1, NULL, &n, &local);
	print_floats("x", x, n);
}

// A program from a binary that an earlier build left: no source.
static void scene_binary(void) {
	cl_program first = build("__kernel void increment(__global float *x) { x[get_global_id(0)] += 1; }\n", "");
	size_t size, n = 512, local = 64;
	check(clGetProgramInfo(first, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), "clGetProgramInfo");
	unsigned char *code = malloc(size);
	check(clGetProgramInfo(first, CL_PROGRAM_BINARIES, sizeof code, &code, NULL), "clGetProgramInfo");
	cl_int status;
	cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&code, NULL, &status);
	check(status, "clCreateProgramWithBinary");
	built(program, clBuildProgram(program, 1, &device, "", NULL, NULL));
	cl_mem x = float_buffer(n);
	cl_kernel target = kernel(program, "increment");
	SET(target, 0, x);
	repeat(target, 1, NULL, &n, &local);
	print_floats("x", x, n);
}

// A program that is compiled and linked in two steps.
static void scene_linked(void) {
	const char *source = "__kernel void increment(__global float *x) { x[get_global_id(0)] += STEP; }\n";
	cl_int code;
	cl_program object = clCreateProgramWithSource(context, 1, &source, NULL, &code);
	check(code, "clCreateProgramWithSource");
	built(object, clCompileProgram(object, 1, &device, "-DSTEP=2", 0, NULL, NULL, NULL, NULL));
	cl_program program = clLinkProgram(context, 1, &device, "", 1, &object, NULL, NULL, &code);
	check(code, "clLinkProgram");
	size_t n = 512, local = 64;
	cl_mem x = float_buffer(n);
	cl_kernel target = kernel(program, "increment");
	SET(target, 0, x);
	repeat(target, 1, NULL, &n, &local);
	print_floats("x", x, n);
}

// A kernel without arguments, and a failing exit status.
static void scene_failing(void) {
	cl_kernel nothing = kernel(build("__kernel void nothing(void) {}\n", ""), "nothing");
	size_t n = 64;
	repeat(nothing, 1, NULL, &n, NULL);
	clFinish(queue);
	exit(3);
}

// A program that ends by a signal after its launches.
static void scene_crashing(void) {
	cl_mem output;
	size_t n = 1536;
	repeat(powers(NULL, &output, n), 1, NULL, &n, NULL);
	clFinish(queue);
	abort();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
	{"buffers", scene_buffers}, {"local", scene_local}, {"image", scene_image}, {"volume", scene_volume}, {"slices", scene_slices},
	{"values", scene_values}, {"three", scene_three}, {"plane", scene_plane}, {"space", scene_space}, {"driver", scene_driver},
	{"offset", scene_offset}, {"half", scene_half}, {"spirv", scene_spirv}, {"contexts", scene_contexts}, {"threads", scene_threads},
	{"alias", scene_alias}, {"atomics", scene_atomics}, {"subbuffer", scene_subbuffer}, {"svm", scene_svm}, {"usm", scene_usm},
	{"grid", scene_grid}, {"optional", scene_optional}, {"header", scene_header}, {"binary", scene_binary}, {"linked", scene_linked},
	{"failing", scene_failing}, {"crashing", scene_crashing},
};

int main(int count, char **arguments) {
	if (count > 2)
		repeats = atoi(arguments[2]);
	for (size_t i = 0; count > 1 && i < sizeof scenes / sizeof *scenes; i++)
		if (strcmp(scenes[i].name, arguments[1]) == 0) {
			start();
			scenes[i].run();
			return 0;
		}
	fprintf(stderr, "usage: scenes SCENE [REPEATS]; scenes:");
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		fprintf(stderr, " %s", scenes[i].name);
	fprintf(stderr, "\n");
	return 2;
}
