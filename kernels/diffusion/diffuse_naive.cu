// diffuse_naive.cl in CUDA C: one explicit time step of the diffusion equation on a
// field of ny rows of nx cells, one cell a thread. The edges of the field are
// read, never written; u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: 1 to 2^30 each, nx * ny below 2^31
//   dt            the time step, a float; the scheme is stable up to 0.25
//
// Parameters, which diffuse_naive.cl explains
//   block_size_x  threads of a block in x and y. Any sizes that the device takes
//   block_size_y  are right; the field need not be a multiple of them.
//
// The grid covers the field: at least ceil(nx / block_size_x) by
// ceil(ny / block_size_y) blocks.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

extern "C" __global__ __launch_bounds__(block_size_x * block_size_y)
void diffuse_kernel(float *__restrict__ u_new, const float *__restrict__ u)
{
    const int x = blockIdx.x * block_size_x + threadIdx.x;
    const int y = blockIdx.y * block_size_y + threadIdx.y;

    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        const int cell = y * nx + x;
        const float centre = u[cell];
        const float around = u[cell - 1] + u[cell + 1] + u[cell - nx] + u[cell + nx];
        u_new[cell] = centre + dt * (around - 4.0f * centre);
    }
}
