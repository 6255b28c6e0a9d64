"""Looks the program for a device and options up in the files whose paths are the lines of stdin, and prints its bytes."""
import sys

import pyopencl
import scale

device = pyopencl.Device("Platform", {
    0x102B: "gfx90a", 0x102C: "AMD", 0x102D: "1.0", 0x1000: 4, 0x1030: "cl_amd_device_attribute_query", 0x4038: "AMD Instinct"})
key = scale._program_key(device, scale.Choice({}, options=["-D", "n=4096"]))
for path in sys.stdin:
    try:
        data = scale._read_binaries(path.rstrip("\n")).get(key)
    except ValueError:
        data = None
    print("none" if data is None else data.hex())
