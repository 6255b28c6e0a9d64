# NVIDIA H200 with driver 580.159.04
# source: documents of ndtune; what they do not have is as of nvidia-rtx3050; UUID and PCI address: those of nvidia-h200-cuda
# lacks: half precision (none), image pitch
platform 0x0902 text NVIDIA CUDA
platform 0x0903 text NVIDIA Corporation
platform 0x0901 text OpenCL 3.0 CUDA 13.0.97
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_fp64 cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_icd cl_khr_gl_sharing cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll cl_nv_copy_opts cl_nv_create_buffer cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_device_uuid cl_khr_pci_bus_info cl_khr_external_semaphore cl_khr_external_memory cl_khr_external_semaphore_opaque_fd cl_khr_external_memory_opaque_fd
platform 0x0920 text NV
platform 0x0905 u64 0
platform 0x0906 u32 0xc00000
device 0x102B text NVIDIA H200
device 0x102C text NVIDIA Corporation
device 0x1001 u32 0x10de
device 0x1000 u64 4
device 0x102D text 580.159.04
device 0x102F text OpenCL 3.0 CUDA
device 0x103D text OpenCL C 1.2 
device 0x102E text FULL_PROFILE
device 0x105E u32 0xc00000
device 0x105B text
device 0x1030 text cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_fp64 cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_icd cl_khr_gl_sharing cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll cl_nv_copy_opts cl_nv_create_buffer cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_device_uuid cl_khr_pci_bus_info cl_khr_external_semaphore cl_khr_external_memory cl_khr_external_semaphore_opaque_fd cl_khr_external_memory_opaque_fd
device 0x1002 u32 132
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1005 size 1024 1024 64
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1980
device 0x100D u32 64
device 0x100E u32 256
device 0x100F u32 32
device 0x1010 u64 37527470080
device 0x1011 size 32768
device 0x1012 size 32768
device 0x1013 size 16384
device 0x1014 size 16384
device 0x1015 size 16384
device 0x1016 bool 1
device 0x1017 size 8448
device 0x1018 u32 32
device 0x1019 u32 4096
device 0x101A u32 128
device 0x101B u64 191
device 0x101C u32 2
device 0x101D u32 128
device 0x101E u64 4325376
device 0x101F u64 150109880320
device 0x1020 u64 65536
device 0x1021 u32 9
device 0x1022 u32 1
device 0x1023 u64 49152
device 0x1024 bool 0
device 0x1025 size 1000
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 3
device 0x1032 u64 63
device 0x1034 u32 0
device 0x1035 bool 0
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
device 0x1043 u32 1
device 0x1048 bool 0
device 0x1049 size 1048576
device 0x104C u32 0
device 0x104D size 0
device 0x1053 u64 1
device 0x1054 size 0
device 0x105C u32 0
device 0x105D bool 0
device 0x1065 bool 0
device 0x1067 size 32
device 0x1068 bool 0
device 0x1069 bool 0
device 0x1071 bool 0
device 0x106A bytes 13 a0 f2 2d 5b 1e 4c 07 9d 3a 7e 61 08 c4 b5 f9
device 0x410F u32 0 0 6 0
device 0x4000 u32 9
device 0x4001 u32 0
device 0x4002 u32 65536
device 0x4003 u32 32
device 0x4004 bool 1
device 0x4005 bool 1
device 0x4006 bool 0
device 0x4007 u32 3
device 0x4008 u32 0
device 0x4009 u32 0
device 0x400A u32 0
kernel preferred_multiple 32
kernel max_size 1024
