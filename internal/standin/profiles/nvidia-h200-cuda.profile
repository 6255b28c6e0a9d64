# NVIDIA H200 with driver 580.159.04, as a device of CUDA 13.0: sm_90, 132 multiprocessors, 50 MB of L2 cache, 227 KiB of shared memory
# source: the limits of compute capability 9.0 in the CUDA C++ Programming Guide, and documents of ndtune; UUID and PCI address: those of nvidia-h200
platform CUDA 13.0
device 0x102B text NVIDIA H200
device 0x106A bytes 13 a0 f2 2d 5b 1e 4c 07 9d 3a 7e 61 08 c4 b5 f9
device 0x101F u64 150109880320
attribute 1 1024
attribute 2 1024
attribute 3 1024
attribute 4 64
attribute 5 2147483647
attribute 6 65535
attribute 7 65535
attribute 8 49152
attribute 9 65536
attribute 10 32
attribute 12 65536
attribute 13 1980000
attribute 15 0
attribute 16 132
attribute 18 0
attribute 33 0
attribute 34 6
attribute 36 3201000
attribute 37 6144
attribute 38 52428800
attribute 39 2048
attribute 50 0
attribute 75 9
attribute 76 0
attribute 81 233472
attribute 82 65536
attribute 95 1
attribute 97 232448
attribute 106 32
kernel preferred_multiple 32
kernel max_size 1024
