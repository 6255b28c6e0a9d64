# Reads devices and sizes, a line each, and prints what the module chooses.
import sys

import pyopencl
import scale

extensions = {"nv": "cl_nv_device_attribute_query", "amd": "cl_amd_device_attribute_query", "intel": "cl_intel_device_attribute_query"}
for line in sys.stdin:
    name, vendor, driver, bits, platform, extension, board, major, minor, version, *_, w, h, steps, depth = line.rstrip("\n").split("\t")
    values = {0x102B: name + "\0", 0x102C: vendor, 0x102D: driver, 0x1000: int(bits), 0x1030: "cl_khr_fp16 " + extensions.get(extension, "")}
    if extension == "nv":
        values.update({0x4000: int(major), 0x4001: int(minor)})
    elif extension == "amd":
        values.update({0x4038: board, 0x404A: int(major), 0x404B: int(minor)})
    elif extension == "intel":
        values[0x4250] = int(version)
    try:
        c = scale.choose(pyopencl.Device(platform, values), int(w), int(h), 3, int(steps), int(depth))
    except ValueError:
        print("no size")
        continue
    text = "%d %d %d %s" % (c.level, c.same_driver, c.record.time, " ".join(c.options))
    try:
        size, local, offset = scale.ndrange(c)
        print(text, "global", size, "local", local or [0, 0], "offset", offset or [0, 0])
    except ValueError:
        print(text, "no launch")
sys.stdout.buffer.write(scale.source.encode())
