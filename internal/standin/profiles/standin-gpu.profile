# A GPU that there is not, on a platform of its own, for tests of several devices and of what differs on a GPU.
platform 0x0902 text Stand-in graphics
platform 0x0903 text The ndtune authors
platform 0x0901 text OpenCL 3.0 Stand-in 1
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd
platform 0x0905 u64 1
device 0x102B text Stand-in GPU
device 0x102C text The ndtune authors
device 0x1001 u32 0
device 0x102D text 1.0
device 0x102F text OpenCL 3.0 Stand-in 1
device 0x103D text OpenCL C 1.2 Stand-in
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_fp64
device 0x1000 u64 4
device 0x1027 bool 1
device 0x1028 bool 1
device 0x103E bool 1
device 0x103F text
device 0x1029 u64 1
device 0x1026 bool 1
device 0x100D u32 64
device 0x102A u64 3
device 0x1025 size 1
device 0x1049 size 1048576
device 0x1043 u32 0
device 0x1065 bool 0
device 0x105C u32 0
device 0x1067 size 32
device 0x1002 u32 16
device 0x100C u32 2000
device 0x1004 size 1024
device 0x1003 u32 3
device 0x1005 size 1024 1024 64
device 0x1017 size 1024
device 0x101F u64 134217728
device 0x1010 u64 16777216
device 0x101C u32 2
device 0x101E u64 1048576
device 0x101D u32 64
device 0x1023 u64 49152
device 0x1022 u32 1
device 0x1020 u64 65536
device 0x1021 u32 8
device 0x104D size 0
device 0x1019 u32 1024
device 0x1035 bool 0
device 0x1024 bool 0
device 0x1053 u64 0
device 0x1006 u32 16
device 0x1007 u32 16
device 0x1008 u32 8
device 0x1009 u32 4
device 0x100A u32 8
device 0x100B u32 4
device 0x1034 u32 0
device 0x1036 u32 16
device 0x1037 u32 16
device 0x1038 u32 8
device 0x1039 u32 4
device 0x103A u32 8
device 0x103B u32 4
device 0x103C u32 0
device 0x101B u64 191
device 0x1032 u64 63
device 0x1033 u64 0
device 0x1016 bool 0
kernel preferred_multiple 32
