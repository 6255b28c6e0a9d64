/* A step of diffusion with the tuned kernel: gcc -std=c99 -O2 -Ituned diffusion.c -lOpenCL -lm -o diffusion && ./diffusion 1024 1024 */
#include "diffusion.h"
#include "program.h"

static size_t nx, ny;

static int level(cl_device_id device)
{
    diffusion_choice c;
    return diffusion_choose(device, (int64_t)nx, (int64_t)ny, &c) == 0 ? c.level : 6;
}

int main(int argc, char **argv)
{
    program p = {0};
    diffusion_choice choice;
    nx = argc > 1 ? (size_t)atoll(argv[1]) : 1024;
    ny = argc > 2 ? (size_t)atoll(argv[2]) : nx;
    const size_t bytes = nx * ny * sizeof(float);
    open_device(&p, level);
    diffusion_choose(p.device, (int64_t)nx, (int64_t)ny, &choice);
    build(&p, diffusion_lines, diffusion_source, choice.options, diffusion_kernels);

    float *u = malloc(bytes), *stepped = malloc(bytes);
    cl_uint random = 1;
    for (size_t i = 0; i < nx * ny; i++) {
        random = random * 1664525u + 1013904223u;
        u[i] = (float)(random >> 8) / (1 << 24);
    }
    cl_mem buffers[diffusion_buffers_count];
    buffers[diffusion_buffer_u] = buffer(&p, bytes, u);
    buffers[diffusion_buffer_u_new] = buffer(&p, bytes, u); /* the kernel leaves the edges as they are */
    for (int run = 0; run <= RUNS; run++) {
        check(diffusion_launches(&choice, buffers, launch, &p), "launches");
        finish(&p, run);
    }
    check(clEnqueueReadBuffer(p.queue, buffers[diffusion_buffer_u_new], CL_TRUE, 0, bytes, stepped, 0, NULL, NULL), "read");
    for (size_t y = 0; y < ny; y++)
        for (size_t x = 0; x < nx; x++) {
            const float *at = &u[y * nx + x];
            double want = *at;
            if (x > 0 && x + 1 < nx && y > 0 && y + 1 < ny)
                want += 0.225 * ((double)at[-1] + at[1] + at[-(ptrdiff_t)nx] + at[nx] - 4 * want);
            if (!(fabs(stepped[y * nx + x] - want) <= 1e-6)) {
                fprintf(stderr, "u_new[%zu][%zu] is %g, not %g\n", y, x, (double)stepped[y * nx + x], want);
                return 1;
            }
        }
    report(&p, "diffusion", choice.record->device, choice.matched, choice.options, choice.record->time);
    return 0;
}
