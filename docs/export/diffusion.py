"""A step of diffusion with the tuned kernel: python3 diffusion.py 1024 1024, with the exported module in the folder exported."""
import sys

import numpy
import pyopencl

from exported import diffusion
from program import RUNS, Program


def main():
    nx = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    ny = int(sys.argv[2]) if len(sys.argv) > 2 else nx
    program = Program(diffusion, nx, ny)

    u = numpy.random.default_rng(1).random((ny, nx), dtype=numpy.float32)
    stepped = numpy.empty_like(u)
    buffers = {"u": program.buffer(u), "u_new": program.buffer(u)}  # the kernel leaves the edges as they are
    for _ in range(RUNS + 1):
        program.run(buffers)
    pyopencl.enqueue_copy(program.queue, stepped, buffers["u_new"])
    want = u.astype(numpy.float64)
    inner = want[1:-1, 1:-1]
    neighbours = want[1:-1, :-2] + want[1:-1, 2:] + want[:-2, 1:-1] + want[2:, 1:-1]
    want[1:-1, 1:-1] = inner + 0.225 * (neighbours - 4 * inner)
    for y, x in numpy.argwhere(~(numpy.abs(stepped - want) <= 1e-6)):
        sys.exit("u_new[%d][%d] is %g, not %g" % (y, x, stepped[y, x], want[y, x]))
    program.report("diffusion")


main()
