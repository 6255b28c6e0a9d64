# NVIDIA GeForce RTX 3050 with driver 535.129.03, as a device of CUDA 12.2: sm_86, 20 multiprocessors, 99 KiB of shared memory
# source: the limits of compute capability 8.6 in the CUDA C++ Programming Guide, and nvidia-rtx3050; UUID and PCI address: made up, and those of nvidia-rtx3050
platform CUDA 12.2
device 0x102B text NVIDIA GeForce RTX 3050
device 0x106A bytes 61 0d 52 93 77 c8 4b 1a b0 2e f4 19 3c 85 d6 0b
device 0x101F u64 8352169984
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
attribute 13 1822000
attribute 15 0
attribute 16 20
attribute 18 0
attribute 33 1
attribute 34 0
attribute 36 7001000
attribute 37 128
attribute 38 2097152
attribute 39 1536
attribute 50 0
attribute 75 8
attribute 76 6
attribute 81 102400
attribute 82 65536
attribute 95 1
attribute 97 101376
attribute 106 16
kernel preferred_multiple 32
kernel max_size 1024
