"""Sorts 2^n keys with a tuned pipeline: python3 sort.py 1048576, with the exported module in the folder exported."""
import sys

import numpy
import pyopencl

from exported import sort
from program import RUNS, Program


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1048576
    program = Program(sort, n)

    keys = numpy.random.default_rng(1).integers(1 << 32, size=n, dtype=numpy.uint32)
    result = numpy.empty_like(keys)
    unsorted, buffers = program.buffer(keys), {"keys": program.buffer(keys)}
    for _ in range(RUNS + 1):
        pyopencl.enqueue_copy(program.queue, buffers["keys"], unsorted)
        try:
            program.run(buffers)
        except ValueError as error:
            sys.exit("%d keys cannot be sorted with %s: %s" % (n, " ".join(program.choice.options), error))
    pyopencl.enqueue_copy(program.queue, result, buffers["keys"])
    for i, (got, want) in enumerate(zip(result.tolist(), sorted(keys.tolist()))):
        if got != want:
            sys.exit("key %d is %d, not %d" % (i, got, want))
    program.report("sort")


main()
