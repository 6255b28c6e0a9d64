/* Sorts 2^n keys with a tuned pipeline: gcc -std=c99 -O2 -Ituned sort.c -lOpenCL -lm -o sort && ./sort 1048576 */
#include "sort.h"
#include "program.h"

static size_t n;

static int level(cl_device_id device)
{
    sort_choice c;
    return sort_choose(device, (int64_t)n, &c) == 0 ? c.level : 6;
}

static int compare(const void *a, const void *b)
{
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    program p = {0};
    sort_choice choice;
    n = argc > 1 ? (size_t)atoll(argv[1]) : 1048576;
    const size_t bytes = n * sizeof(cl_uint);
    open_device(&p, level);
    sort_choose(p.device, (int64_t)n, &choice);
    build(&p, sort_lines, sort_source, choice.options, sort_kernels);

    cl_uint *keys = malloc(bytes), *sorted = malloc(bytes), random = 1;
    for (size_t i = 0; i < n; i++) keys[i] = random = random * 1664525u + 1013904223u;
    cl_mem unsorted = buffer(&p, bytes, keys), buffers[sort_buffers_count];
    buffers[sort_buffer_keys] = buffer(&p, bytes, keys);
    for (int run = 0; run <= RUNS; run++) {
        check(clEnqueueCopyBuffer(p.queue, unsorted, buffers[sort_buffer_keys], 0, 0, bytes, 0, NULL, NULL), "copy");
        if (sort_launches(&choice, buffers, launch, &p) != 0) {
            fprintf(stderr, "%zu keys cannot be sorted with %s\n", n, choice.options);
            return 1;
        }
        finish(&p, run);
    }
    check(clEnqueueReadBuffer(p.queue, buffers[sort_buffer_keys], CL_TRUE, 0, bytes, sorted, 0, NULL, NULL), "read");
    qsort(keys, n, sizeof *keys, compare);
    for (size_t i = 0; i < n; i++)
        if (sorted[i] != keys[i]) {
            fprintf(stderr, "key %zu is %u, not %u\n", i, (unsigned)sorted[i], (unsigned)keys[i]);
            return 1;
        }
    report(&p, "sort", choice.record->device, choice.matched, choice.options, choice.record->time);
    return 0;
}
