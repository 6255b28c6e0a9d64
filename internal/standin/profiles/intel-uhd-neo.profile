# Intel UHD Graphics (0x9b41, in a Core i5-10210U) with the compute runtime
# source: https://github.com/nohzen/opencl/blob/227cc45a4b784157025bcb47a75a191a59e1192e/info/clinfo_x390.txt, clinfo report of November 2023
# lacks: Intel attributes (the extension is listed, but this clinfo did not ask), PCI address
platform 0x0902 text Intel(R) OpenCL HD Graphics
platform 0x0903 text Intel(R) Corporation
platform 0x0901 text OpenCL 3.0 
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups cl_intel_required_subgroup_size cl_intel_subgroups_short cl_khr_spir cl_intel_accelerator cl_intel_driver_diagnostics cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_intel_device_attribute_query cl_khr_suggested_local_work_size cl_khr_fp64 cl_khr_subgroups cl_intel_spirv_device_side_avc_motion_estimation cl_intel_spirv_media_block_io cl_intel_spirv_subgroups cl_khr_spirv_no_integer_wrap_decoration cl_intel_unified_shared_memory cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_intel_planar_yuv cl_intel_packed_yuv cl_intel_motion_estimation cl_intel_device_side_avc_motion_estimation cl_intel_advanced_motion_estimation cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes cl_intel_media_block_io cl_intel_va_api_media_sharing cl_intel_sharing_format_query cl_khr_pci_bus_info 
platform 0x0920 text INTEL
platform 0x0905 u64 1
platform 0x0906 u32 0xc00000
device 0x102B text Intel(R) UHD Graphics [0x9b41]
device 0x102C text Intel(R) Corporation
device 0x1001 u32 0x8086
device 0x1000 u64 4
device 0x102D text 1.0.0
device 0x102F text OpenCL 3.0 NEO 
device 0x103D text OpenCL C 1.2 
device 0x102E text FULL_PROFILE
device 0x105E u32 0xc00000
device 0x105B text SPIR-V_1.2 
device 0x1030 text cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups cl_intel_required_subgroup_size cl_intel_subgroups_short cl_khr_spir cl_intel_accelerator cl_intel_driver_diagnostics cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_intel_device_attribute_query cl_khr_suggested_local_work_size cl_khr_fp64 cl_khr_subgroups cl_intel_spirv_device_side_avc_motion_estimation cl_intel_spirv_media_block_io cl_intel_spirv_subgroups cl_khr_spirv_no_integer_wrap_decoration cl_intel_unified_shared_memory cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_intel_planar_yuv cl_intel_packed_yuv cl_intel_motion_estimation cl_intel_device_side_avc_motion_estimation cl_intel_advanced_motion_estimation cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes cl_intel_media_block_io cl_intel_va_api_media_sharing cl_intel_sharing_format_query cl_khr_pci_bus_info 
device 0x1002 u32 24
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 256 256 256
device 0x1006 u32 16
device 0x1007 u32 8
device 0x1008 u32 4
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1100
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 128
device 0x1010 u64 3112710144
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 16384
device 0x1014 size 16384
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 2048
device 0x1018 u32 16
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 191
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 524288
device 0x101F u64 6225420288
device 0x1020 u64 3112710144
device 0x1021 u32 8
device 0x1022 u32 1
device 0x1023 u64 65536
device 0x1024 bool 0
device 0x1025 size 83
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 3
device 0x1032 u64 63
device 0x1033 u64 63
device 0x1034 u32 8
device 0x1035 bool 1
device 0x1036 u32 16
device 0x1037 u32 8
device 0x1038 u32 4
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 1
device 0x103C u32 8
device 0x103E bool 1
device 0x103F text block_motion_estimate_intel;block_advanced_motion_estimate_check_intel;block_advanced_motion_estimate_bidirectional_check_intel;
device 0x1040 size 194544384
device 0x1041 size 2048
device 0x1043 u32 0
device 0x1048 bool 1
device 0x1049 size 4194304
device 0x104A u32 4
device 0x104B u32 4
device 0x104C u32 128
device 0x104D size 65536
device 0x1053 u64 1
device 0x1054 size 3112710144
device 0x105C u32 32
device 0x105D bool 1
device 0x1065 bool 1
device 0x1067 size 32
device 0x1068 bool 1
device 0x1069 bool 1
device 0x1071 bool 1
device 0x4108 size 8 16 32
kernel preferred_multiple 32
kernel max_size 256
