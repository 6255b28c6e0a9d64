# AMD Instinct MI250 (one of its two dies) with ROCm (driver 3452.0)
# source: https://github.com/openmm/openmm/issues/3940, clinfo report of February 2023 (AMD's own clinfo; excerpts about eight equal devices; the address is the first one's)
# lacks: printf buffer, linker, sub-devices, half and double precision, most AMD attributes, image buffer and array limits; of single precision the correctly rounded division. The board name is empty, as reported
platform 0x0902 text AMD Accelerated Parallel Processing
platform 0x0903 text Advanced Micro Devices, Inc.
platform 0x0901 text OpenCL 2.1 AMD-APP (3452.0)
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_amd_event_callback 
device 0x102B text gfx90a:sramecc+:xnack-
device 0x102C text Advanced Micro Devices, Inc.
device 0x1001 u32 0x1002
device 0x1000 u64 4
device 0x102D text 3452.0 (HSA1.1,LC)
device 0x102F text OpenCL 2.0 
device 0x103D text OpenCL C 2.0 
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_gl_sharing cl_amd_device_attribute_query cl_amd_media_ops cl_amd_media_ops2 cl_khr_image2d_from_buffer cl_khr_subgroups cl_khr_depth_images cl_amd_copy_buffer_p2p cl_amd_assembly_program 
device 0x1002 u32 110
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 1024 1024 1024
device 0x1006 u32 4
device 0x1007 u32 2
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1700
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 8
device 0x1010 u64 58397294592
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 16384
device 0x1014 size 16384
device 0x1015 size 8192
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 29704
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 63
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 16384
device 0x101F u64 68702699520
device 0x1020 u64 58397294592
device 0x1021 u32 8
device 0x1022 u32 1
device 0x1023 u64 65536
device 0x1024 bool 0
device 0x1025 size 1
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 2
device 0x1035 bool 0
device 0x1036 u32 4
device 0x1037 u32 2
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 1
device 0x104C u32 64
device 0x104D size 58397294592
device 0x1053 u64 3
device 0x1054 size 68702699520
device 0x4037 bytes 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 c1 00 00
device 0x4038 text
kernel preferred_multiple 64
kernel max_size 256
