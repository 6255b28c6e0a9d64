# AMD Radeon VII (gfx906) with Radeon Software for Linux 19.10 (PAL)
# source: https://github.com/kulvait/KCT_doc/blob/721d812c193d2d94f245440b67d849d1e5ea55f9/posts/cvp-paper-2021-1-the-platforms.md, clinfo report of October 2021
# lacks: PCI device number, preferred work-group size, asynchronous queues
platform 0x0902 text AMD Accelerated Parallel Processing
platform 0x0903 text Advanced Micro Devices, Inc.
platform 0x0901 text OpenCL 2.1 AMD-APP (2841.4)
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_amd_event_callback cl_amd_offline_devices 
platform 0x0920 text AMD
platform 0x0905 u64 1
device 0x102B text gfx906
device 0x102C text Advanced Micro Devices, Inc.
device 0x1001 u32 0x1002
device 0x1000 u64 4
device 0x102D text 2841.4 (PAL,HSAIL)
device 0x102F text OpenCL 2.0 AMD-APP (2841.4)
device 0x103D text OpenCL C 2.0 
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_fp64 cl_amd_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_gl_sharing cl_khr_gl_depth_images cl_amd_device_attribute_query cl_amd_vec3 cl_amd_printf cl_amd_media_ops cl_amd_media_ops2 cl_amd_popcnt cl_khr_image2d_from_buffer cl_khr_spir cl_khr_subgroups cl_khr_gl_event cl_khr_depth_images cl_khr_mipmap_image cl_khr_mipmap_image_writes 
device 0x1002 u32 60
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 1024 1024 1024
device 0x1006 u32 4
device 0x1007 u32 2
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1802
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 64
device 0x1010 u64 4244635648
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
device 0x101B u64 190
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 16384
device 0x101F u64 16978542592
device 0x1020 u64 4244635648
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
device 0x1032 u64 63
device 0x1033 u64 0
device 0x1034 u32 1
device 0x1035 bool 0
device 0x1036 u32 4
device 0x1037 u32 2
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 1
device 0x103C u32 1
device 0x103E bool 1
device 0x103F text
device 0x1040 size 134217728
device 0x1041 size 2048
device 0x1043 u32 60
device 0x1048 bool 1
device 0x1049 size 4194304
device 0x104A u32 256
device 0x104B u32 256
device 0x104C u32 64
device 0x104D size 3820172032
device 0x1053 u64 3
device 0x1054 size 16978542592
device 0x4036 u64 1633346617151404433
device 0x4037 bytes 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 0d 00 00
device 0x4038 text AMD Radeon VII
device 0x4039 size 16515072
device 0x4040 u32 4
device 0x4041 u32 16
device 0x4042 u32 1
device 0x4043 u32 64
device 0x4044 u32 128
device 0x4045 u32 4
device 0x4046 u32 256
device 0x4047 u32 65536
device 0x4048 u32 32
device 0x4049 bool 1
device 0x404A u32 9
device 0x404B u32 6
kernel preferred_multiple 64
kernel max_size 256
