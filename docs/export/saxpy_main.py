# python3 saxpy_main.py, with saxpy.py in the same folder
import sys

import numpy
import pyopencl

import saxpy


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    a = numpy.float32(2.5)
    device = pyopencl.get_platforms()[0].get_devices()[0]
    context = pyopencl.Context([device])
    queue = pyopencl.CommandQueue(context)

    try:
        choice = saxpy.choose(device, n)
        global_size, local_size, offset = saxpy.ndrange(choice)
    except ValueError as error:
        sys.exit("there is no launch for n = %d: %s" % (n, error))
    program = pyopencl.Program(context, saxpy.source).build(options=choice.options)
    kernel = pyopencl.Kernel(program, saxpy.kernel)

    x = (numpy.arange(n) % 1000).astype(numpy.float32)
    y = (numpy.arange(n) % 7).astype(numpy.float32)
    want = a * x + y
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    buffer_x = pyopencl.Buffer(context, flags, hostbuf=x)
    buffer_y = pyopencl.Buffer(context, flags, hostbuf=y)
    kernel.set_args(buffer_y, buffer_x, a)
    pyopencl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, global_work_offset=offset)
    pyopencl.enqueue_copy(queue, y, buffer_y)

    wrong = numpy.flatnonzero(y != want)
    if wrong.size > 0:
        sys.exit("y[%d] is %g" % (wrong[0], y[wrong[0]]))
    print("%s: %s, global size %s, local size %s; the result is right" % (choice.matched, " ".join(choice.options), global_size, local_size))


main()
