# AMD Radeon RX 480 (gfx803) with ROCm 1.6, OpenCL 1.2
# source: https://github.com/ROCm/ROCm/issues/255, clinfo report of November 2017
# lacks: all AMD attributes: the driver does not list their extension, so there is no board name either
platform 0x0902 text AMD Accelerated Parallel Processing
platform 0x0903 text Advanced Micro Devices, Inc.
platform 0x0901 text OpenCL 2.0 AMD-APP (2508.0)
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_amd_event_callback 
platform 0x0920 text AMD
device 0x102B text gfx803
device 0x102C text Advanced Micro Devices, Inc.
device 0x1001 u32 0x1002
device 0x1000 u64 4
device 0x102D text 1.1 (HSA,LC)
device 0x102F text OpenCL 1.2 
device 0x103D text OpenCL C 2.0 
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_gl_sharing cl_amd_media_ops cl_amd_media_ops2 cl_khr_subgroups cl_khr_depth_images cl_amd_liquid_flash cl_amd_copy_buffer_p2p 
device 0x1002 u32 36
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 1024 1024 1024
device 0x1006 u32 4
device 0x1007 u32 2
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1342
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 8
device 0x1010 u64 7301444403
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 2048
device 0x1014 size 2048
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 26591
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 190
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 16384
device 0x101F u64 8589934592
device 0x1020 u64 7301444403
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
device 0x1040 size 65536
device 0x1041 size 2048
device 0x1043 u32 36
device 0x1048 bool 1
device 0x1049 size 4194304
kernel preferred_multiple 64
kernel max_size 256
