# AMD Radeon Graphics (gfx90c, in a Ryzen 7 5800HS) with the Windows driver 3516.0
# source: https://github.com/husmen/DepthZNCC/blob/767672f4c655863d46112560b9605631fc133a69/clinfo.md, clinfo report of May 2023 (AMD's own clinfo)
# lacks: printf buffer, linker, sub-devices, half and double precision, most AMD attributes, image buffer and array limits; of single precision the correctly rounded division
platform 0x0902 text AMD Accelerated Parallel Processing
platform 0x0903 text Advanced Micro Devices, Inc.
platform 0x0901 text OpenCL 2.1 AMD-APP (3516.0)
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_khr_d3d10_sharing cl_khr_d3d11_sharing cl_khr_dx9_media_sharing cl_amd_event_callback cl_amd_offline_devices
device 0x102B text gfx90c
device 0x102C text Advanced Micro Devices, Inc.
device 0x1001 u32 0x1002
device 0x1000 u64 4
device 0x102D text 3516.0 (PAL,HSAIL)
device 0x102F text OpenCL 2.0 AMD-APP (3516.0)
device 0x103D text OpenCL C 2.0
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_fp64 cl_amd_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_gl_sharing cl_amd_device_attribute_query cl_amd_vec3 cl_amd_printf cl_amd_media_ops cl_amd_media_ops2 cl_amd_popcnt cl_khr_d3d10_sharing cl_khr_d3d11_sharing cl_khr_dx9_media_sharing cl_khr_image2d_from_buffer cl_khr_subgroups cl_khr_gl_event cl_khr_depth_images cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_amd_liquid_flash cl_amd_copy_buffer_p2p cl_amd_planar_yuv
device 0x1002 u32 8
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 1024 1024 1024
device 0x1006 u32 4
device 0x1007 u32 2
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 2000
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 64
device 0x1010 u64 10577156505
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 2048
device 0x1014 size 2048
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 16
device 0x1019 u32 2048
device 0x101A u32 128
device 0x101B u64 62
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 16384
device 0x101F u64 12980584448
device 0x1020 u64 10577156505
device 0x1021 u32 8
device 0x1022 u32 1
device 0x1023 u64 32768
device 0x1024 bool 0
device 0x1025 size 1
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 2
device 0x1035 bool 1
device 0x1036 u32 4
device 0x1037 u32 2
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 1
device 0x104C u32 64
device 0x104D size 9519440640
device 0x1053 u64 3
device 0x1054 size 12980584448
device 0x4037 bytes 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 04 00 00
device 0x4038 text AMD Radeon(TM) Graphics
kernel preferred_multiple 64
kernel max_size 256
