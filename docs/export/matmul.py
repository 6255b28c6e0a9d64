"""Multiplies matrices with the tuned kernel: python3 matmul.py 512 512 512, with the exported module in the folder exported."""
import sys

import numpy
import pyopencl

from exported import matmul
from program import RUNS, Program


def matrix(random, rows, columns):
    return random.random((rows, columns), dtype=numpy.float32) * 2 - 1


def main():
    m = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    n = int(sys.argv[2]) if len(sys.argv) > 2 else m
    k = int(sys.argv[3]) if len(sys.argv) > 3 else m
    program = Program(matmul, m, n, k)

    random = numpy.random.default_rng(1)
    a, b, c = matrix(random, m, k), matrix(random, k, n), matrix(random, m, n)
    buffers = {"A": program.buffer(a), "B": program.buffer(b), "C": program.buffer(c)}
    for _ in range(RUNS + 1):
        program.run(buffers)
    pyopencl.enqueue_copy(program.queue, c, buffers["C"])
    for row in sorted({(m - 1) * part // 4 for part in range(5)}):  # five rows
        want = a[row].astype(numpy.float64) @ b.astype(numpy.float64)
        right = numpy.abs(c[row] - want) <= 1e-6 * (k + 16) + 1e-6 * numpy.abs(want)
        for j in numpy.flatnonzero(~right):
            sys.exit("C[%d][%d] is %g, not %g" % (row, j, c[row, j], want[j]))
    program.report("matmul")


main()
