"""Runs the kernel triple on a device for each file of binaries, as start.c does."""
import sys

import pyopencl
import triple

platform = next(p for p in pyopencl.get_platforms() if p.name == sys.argv[1])
device = platform.get_devices()[0]
choice = triple.choose(device, int(sys.argv[2]))
for argument in sys.argv[3:]:
    path = argument.lstrip("+")
    context = pyopencl.Context([device])
    queue = pyopencl.CommandQueue(context)
    try:
        program, from_binary = triple.program(context, device, choice, path)
    except pyopencl.Error as error:
        print("error, log of", "the compiler" if "missing" in str(error) else "nobody")
        continue
    x = bytearray(b"".join(i.to_bytes(4, sys.byteorder) for i in range(4096)))
    buffer = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    kernel = pyopencl.Kernel(program, "triple")
    kernel.set_args(buffer)
    global_size, local_size, offset = triple.ndrange(choice)
    pyopencl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, global_work_offset=offset)
    pyopencl.enqueue_copy(queue, x, buffer)
    saved = ""
    if path != argument:
        try:
            triple.save(program, device, choice, path)
            saved = " saved 1"
        except (OSError, ValueError):
            saved = " saved 0"
    print("%d %d%s" % (from_binary, int.from_bytes(x[20:24], sys.byteorder), saved))
