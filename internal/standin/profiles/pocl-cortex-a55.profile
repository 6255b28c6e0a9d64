# ARM Cortex-A55 (Orange Pi 5, RK3588) with PoCL 1.8
# source: https://github.com/bbaranoff/OrangePi5-OpenCL/blob/c673f845d351350deb3c1c521da23b06690e7ae1/clinfo.txt, clinfo report of May 2023
# lacks: half precision (none), shared virtual memory
platform 0x0902 text Portable Computing Language
platform 0x0903 text The pocl project
platform 0x0901 text OpenCL 2.0 pocl 1.8  Linux, None+Asserts, RELOC, LLVM 11.1.0, SLEEF, POCL_DEBUG
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_pocl_content_size
platform 0x0920 text POCL
device 0x102B text pthread-cortex-a55
device 0x102C text ARM
device 0x1001 u32 0x13b5
device 0x1000 u64 2
device 0x102D text 1.8
device 0x102F text OpenCL 1.2 pocl HSTR: pthread-aarch64-unknown-linux-gnu-GENERIC
device 0x103D text OpenCL C 1.2 pocl
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_fp64
device 0x1002 u32 8
device 0x1003 u32 3
device 0x1004 size 4096
device 0x1005 size 4096 4096 4096
device 0x1006 u32 16
device 0x1007 u32 8
device 0x1008 u32 4
device 0x1009 u32 2
device 0x100A u32 4
device 0x100B u32 2
device 0x100C u32 1800
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 128
device 0x1010 u64 2147483648
device 0x1011 size 8192
device 0x1012 size 8192
device 0x1013 size 2048
device 0x1014 size 2048
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 16
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 6
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 3145728
device 0x101F u64 5915258880
device 0x1020 u64 524288
device 0x1021 u32 8
device 0x1022 u32 2
device 0x1023 u64 524288
device 0x1024 bool 0
device 0x1025 size 1
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 3
device 0x102A u64 3
device 0x1032 u64 63
device 0x1034 u32 0
device 0x1035 bool 1
device 0x1036 u32 16
device 0x1037 u32 8
device 0x1038 u32 4
device 0x1039 u32 2
device 0x103A u32 4
device 0x103B u32 2
device 0x103C u32 0
device 0x103E bool 1
device 0x103F text
device 0x1040 size 134217728
device 0x1041 size 2048
device 0x1043 u32 8
device 0x1048 bool 1
device 0x1049 size 16777216
kernel preferred_multiple 8
kernel max_size 4096
