/* Multiplies matrices with the tuned kernel: gcc -std=c99 -O2 -Ituned matmul.c -lOpenCL -lm -o matmul && ./matmul 512 512 512 */
#include "matmul.h"
#include "program.h"

static size_t m, n, k;

static int level(cl_device_id device)
{
    matmul_choice c;
    return matmul_choose(device, (int64_t)m, (int64_t)n, (int64_t)k, &c) == 0 ? c.level : 6;
}

static float *matrix(size_t rows, size_t columns)
{
    static cl_uint random = 1;
    float *values = malloc(rows * columns * sizeof(float));
    for (size_t i = 0; i < rows * columns; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = (float)(random >> 8) / (1 << 23) - 1;
    }
    return values;
}

int main(int argc, char **argv)
{
    program p = {0};
    matmul_choice choice;
    m = argc > 1 ? (size_t)atoll(argv[1]) : 512;
    n = argc > 2 ? (size_t)atoll(argv[2]) : m;
    k = argc > 3 ? (size_t)atoll(argv[3]) : m;
    open_device(&p, level);
    matmul_choose(p.device, (int64_t)m, (int64_t)n, (int64_t)k, &choice);
    build(&p, matmul_lines, matmul_source, choice.options, matmul_kernels);

    float *a = matrix(m, k), *b = matrix(k, n), *c = matrix(m, n);
    cl_mem buffers[matmul_buffers_count];
    buffers[matmul_buffer_A] = buffer(&p, m * k * sizeof *a, a);
    buffers[matmul_buffer_B] = buffer(&p, k * n * sizeof *b, b);
    buffers[matmul_buffer_C] = buffer(&p, m * n * sizeof *c, c);
    for (int run = 0; run <= RUNS; run++) {
        check(matmul_launches(&choice, buffers, launch, &p), "launches");
        finish(&p, run);
    }
    check(clEnqueueReadBuffer(p.queue, buffers[matmul_buffer_C], CL_TRUE, 0, m * n * sizeof *c, c, 0, NULL, NULL), "read");
    for (int part = 0; part <= 4; part++) /* five rows */
        for (size_t row = (m - 1) * (size_t)part / 4, j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++) sum += (double)a[row * k + i] * b[i * n + j];
            if (!(fabs(c[row * n + j] - sum) <= 1e-6 * ((double)k + 16) + 1e-6 * fabs(sum))) {
                fprintf(stderr, "C[%zu][%zu] is %g, not %g\n", row, j, (double)c[row * n + j], sum);
                return 1;
            }
        }
    report(&p, "matmul", choice.record->device, choice.matched, choice.options, choice.record->time);
    return 0;
}
