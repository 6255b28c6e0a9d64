# Reads sizes, a line each, and prints the launches of the module.
import sys

import pyopencl
import sort

for line in sys.stdin:
    n, steps, _ = map(int, line.split())
    try:
        c = sort.choose(pyopencl.Device("", {}), n, steps)
    except ValueError:
        print("no size")
        continue
    buffers = {name: name for name in sort.buffers}
    try:
        launches = sort.launches(c, buffers)
    except ValueError:
        print("fails")
        continue
    for launch in launches:
        values = []
        for a in launch.arguments:
            v = a.value
            values.append(v if isinstance(v, str) else str(v.bytes) if isinstance(v, sort.LocalMemory) else v.hex())
        print(sort.kernels[launch.kernel], launch.global_size[0], launch.local_size[0], *values, end="; ")
    print(0, buffers["keys"], *sort.buffers_bytes(c).values())
