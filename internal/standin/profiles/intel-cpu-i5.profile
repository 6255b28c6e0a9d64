# Intel Core i5-10210U with the Intel CPU runtime 2023.16
# source: https://github.com/nohzen/opencl/blob/227cc45a4b784157025bcb47a75a191a59e1192e/info/clinfo_x390.txt, clinfo report of November 2023
# lacks: half precision (none), Intel attributes (the extension is listed, but this clinfo did not ask)
platform 0x0902 text Intel(R) OpenCL
platform 0x0903 text Intel(R) Corporation
platform 0x0901 text OpenCL 3.0 LINUX
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_spirv_linkonce_odr cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_icd cl_khr_il_program cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_arithmetic cl_intel_subgroups cl_intel_subgroups_char cl_intel_subgroups_short cl_intel_subgroups_long cl_intel_required_subgroup_size cl_intel_spirv_subgroups cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_intel_unified_shared_memory cl_intel_device_attribute_query cl_intel_exec_by_local_thread cl_intel_vec_len_hint cl_intel_device_partition_by_names cl_khr_spir cl_khr_image2d_from_buffer
platform 0x0920 text INTEL
platform 0x0905 u64 1
platform 0x0906 u32 0xc00000
device 0x102B text Intel(R) Core(TM) i5-10210U CPU @ 1.60GHz
device 0x102C text Intel(R) Corporation
device 0x1001 u32 0x8086
device 0x1000 u64 2
device 0x102D text 2023.16.7.0.21_160000
device 0x102F text OpenCL 3.0 (Build 0)
device 0x103D text OpenCL C 3.0 
device 0x102E text FULL_PROFILE
device 0x105E u32 0xc00000
device 0x105B text SPIR-V_1.0
device 0x1030 text cl_khr_spirv_linkonce_odr cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_icd cl_khr_il_program cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_arithmetic cl_intel_subgroups cl_intel_subgroups_char cl_intel_subgroups_short cl_intel_subgroups_long cl_intel_required_subgroup_size cl_intel_spirv_subgroups cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_intel_unified_shared_memory cl_intel_device_attribute_query cl_intel_exec_by_local_thread cl_intel_vec_len_hint cl_intel_device_partition_by_names cl_khr_spir cl_khr_image2d_from_buffer
device 0x1002 u32 8
device 0x1003 u32 3
device 0x1004 size 8192
device 0x1005 size 8192 8192 8192
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1600
device 0x100D u32 64
device 0x100E u32 480
device 0x100F u32 480
device 0x1010 u64 3890888704
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 2048
device 0x1014 size 2048
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 3840
device 0x1018 u32 480
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 7
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 262144
device 0x101F u64 7781777408
device 0x1020 u64 131072
device 0x1021 u32 480
device 0x1022 u32 2
device 0x1023 u64 32768
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
device 0x1036 u32 32
device 0x1037 u32 16
device 0x1038 u32 8
device 0x1039 u32 4
device 0x103A u32 8
device 0x103B u32 4
device 0x103C u32 0
device 0x103E bool 1
device 0x103F text
device 0x1040 size 243180544
device 0x1041 size 2048
device 0x1043 u32 8
device 0x1048 bool 0
device 0x1049 size 1048576
device 0x104A u32 64
device 0x104B u32 64
device 0x104C u32 480
device 0x104D size 65536
device 0x1053 u64 15
device 0x1054 size 65536
device 0x105C u32 2048
device 0x105D bool 0
device 0x1065 bool 1
device 0x1067 size 128
device 0x1068 bool 1
device 0x1069 bool 1
device 0x1071 bool 1
device 0x4108 size 4 8 16 32 64
kernel preferred_multiple 128
kernel max_size 8192
