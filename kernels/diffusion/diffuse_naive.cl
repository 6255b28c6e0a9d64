// One explicit time step of the diffusion equation du/dt = laplace(u) on a
// field of ny rows of nx cells, one cell a work-item:
//
//     u_new[y][x] = u[y][x] + dt * (u[y][x-1] + u[y][x+1] + u[y-1][x] + u[y+1][x] - 4 u[y][x])
//
// The outermost rows and columns are fixed: they are read, never written, so
// that u_new must hold them beforehand. A field with nx or ny below 3 has no
// other cells. u_new and u must not overlap.
//
// Constants
//   nx, ny        cells in x and y: whole numbers from 1 to 2^30, nx * ny below
//                 2^31 (cells are numbered with int)
//   dt            the time step in units of (cell width)^2 / D, a float; the
//                 scheme is stable up to 0.25
//
// Parameters
//   block_size_x  work-items of a work-group in x: neighbours in x read
//   block_size_y  neighbouring cells, so a multiple of the width in which the
//                 device executes work-items (32 on NVIDIA, 32 or 64 on AMD)
//                 gives whole memory transactions; in y, more rows mean that
//                 more of the cells above and below come from the cache.
//                 Any sizes whose product the device takes are right; the
//                 field need not be a multiple of them.
//
// The grid covers the field: at least ceil(nx / block_size_x) by
// ceil(ny / block_size_y) work-groups.

#if nx < 1 || ny < 1 || nx > 1 << 30 || ny > 1 << 30 || nx > 2147483647 / ny
#error "diffuse_kernel: nx and ny must be 1 to 2^30 each, and nx * ny below 2^31"
#endif

__kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1)))
void diffuse_kernel(__global float *restrict u_new, __global const float *restrict u)
{
    const int x = (int)get_group_id(0) * block_size_x + (int)get_local_id(0);
    const int y = (int)get_group_id(1) * block_size_y + (int)get_local_id(1);

    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        const int cell = y * nx + x;
        const float centre = u[cell];
        const float around = u[cell - 1] + u[cell + 1] + u[cell - nx] + u[cell + nx];
        u_new[cell] = centre + dt * (around - 4.0f * centre);
    }
}
