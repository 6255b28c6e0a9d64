# Apple M1 with macOS 13.5.2
# source: https://github.com/jyhmiinlin/pynufft/blob/b9be25c9631e4c69f776001a05a0167c67ad355e/doc/source/installation/Macbook.rst, clinfo report of 2023
# lacks: half and double precision (none, though the width of double vectors is 1), cache sizes
platform 0x0902 text Apple
platform 0x0903 text Apple
platform 0x0901 text OpenCL 1.2 (Jun 23 2023 20:24:12)
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_APPLE_SetMemObjectDestructor cl_APPLE_ContextLoggingFunctions cl_APPLE_clut cl_APPLE_query_kernel_names cl_APPLE_gl_sharing cl_khr_gl_event
device 0x102B text Apple M1
device 0x102C text Apple
device 0x1001 u32 0x1027f00
device 0x1000 u64 4
device 0x102D text 1.2 1.0
device 0x102F text OpenCL 1.2 
device 0x103D text OpenCL C 1.2 
device 0x102E text FULL_PROFILE
device 0x1030 text cl_APPLE_SetMemObjectDestructor cl_APPLE_ContextLoggingFunctions cl_APPLE_clut cl_APPLE_query_kernel_names cl_APPLE_gl_sharing cl_khr_gl_event cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_image2d_from_buffer cl_khr_depth_images 
device 0x1002 u32 8
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 256 256 256
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1000
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 8
device 0x1010 u64 2147483648
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 2048
device 0x1014 size 2048
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 4096
device 0x1018 u32 32
device 0x1019 u32 32768
device 0x101A u32 1
device 0x101B u64 190
device 0x101C u32 0
device 0x101F u64 11453251584
device 0x1020 u64 1073741824
device 0x1021 u32 31
device 0x1022 u32 1
device 0x1023 u64 32768
device 0x1024 bool 0
device 0x1025 size 1000
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 2
device 0x1034 u32 0
device 0x1035 bool 1
device 0x1036 u32 1
device 0x1037 u32 1
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 1
device 0x103C u32 0
device 0x103E bool 1
device 0x103F text
device 0x1040 size 268435456
device 0x1041 size 2048
device 0x1043 u32 0
device 0x1048 bool 1
device 0x1049 size 1048576
device 0x104A u32 256
device 0x104B u32 256
kernel preferred_multiple 32
kernel max_size 256
