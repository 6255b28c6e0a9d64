# ARM Mali-G610 (Orange Pi 5, RK3588) with libmali g13p0
# source: https://github.com/bbaranoff/OrangePi5-OpenCL/blob/c673f845d351350deb3c1c521da23b06690e7ae1/logs_GPU.txt, clinfo report of December 2023
# lacks: double precision (none), UUID (left out)
platform 0x0902 text ARM Platform
platform 0x0903 text ARM
platform 0x0901 text OpenCL 3.0 v1.g13p0-01eac0.a8b6f0c7e1f83c654c60d1775112dbe4
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store cl_khr_3d_image_writes cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp16 cl_khr_icd cl_khr_egl_image cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_subgroups cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_khr_subgroup_rotate cl_khr_il_program cl_khr_priority_hints cl_khr_create_command_queue cl_khr_spirv_no_integer_wrap_decoration cl_khr_extended_versioning cl_khr_device_uuid cl_khr_suggested_local_work_size cl_khr_extended_bit_ops cl_khr_integer_dot_product cl_khr_semaphore cl_khr_external_semaphore cl_khr_external_semaphore_sync_fd cl_khr_command_buffer cl_arm_core_id cl_arm_printf cl_arm_non_uniform_work_group_size cl_arm_import_memory cl_arm_import_memory_dma_buf cl_arm_import_memory_host cl_arm_integer_dot_product_int8 cl_arm_integer_dot_product_accumulate_int8 cl_arm_integer_dot_product_accumulate_saturate_int8 cl_arm_scheduling_controls cl_arm_controlled_kernel_termination cl_ext_cxx_for_opencl cl_ext_image_tiling_control cl_ext_image_requirements_info cl_ext_image_from_buffer
platform 0x0920 text ARM
platform 0x0905 u64 1
platform 0x0906 u32 0xc00000
device 0x102B text Mali-G610 r0p0
device 0x102C text ARM
device 0x1001 u32 0xa8670000
device 0x1000 u64 4
device 0x102D text 3.0
device 0x102F text OpenCL 3.0 v1.g13p0-01eac0.a8b6f0c7e1f83c654c60d1775112dbe4
device 0x103D text OpenCL C 3.0 v1.g13p0-01eac0.a8b6f0c7e1f83c654c60d1775112dbe4
device 0x102E text FULL_PROFILE
device 0x105E u32 0xc00000
device 0x105B text SPIR-V_1.0
device 0x1030 text cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store cl_khr_3d_image_writes cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp16 cl_khr_icd cl_khr_egl_image cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_subgroups cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_khr_subgroup_rotate cl_khr_il_program cl_khr_priority_hints cl_khr_create_command_queue cl_khr_spirv_no_integer_wrap_decoration cl_khr_extended_versioning cl_khr_device_uuid cl_khr_suggested_local_work_size cl_khr_extended_bit_ops cl_khr_integer_dot_product cl_khr_semaphore cl_khr_external_semaphore cl_khr_external_semaphore_sync_fd cl_khr_command_buffer cl_arm_core_id cl_arm_printf cl_arm_non_uniform_work_group_size cl_arm_import_memory cl_arm_import_memory_dma_buf cl_arm_import_memory_host cl_arm_integer_dot_product_int8 cl_arm_integer_dot_product_accumulate_int8 cl_arm_integer_dot_product_accumulate_saturate_int8 cl_arm_scheduling_controls cl_arm_controlled_kernel_termination cl_ext_cxx_for_opencl cl_ext_image_tiling_control cl_ext_image_requirements_info cl_ext_image_from_buffer
device 0x1002 u32 4
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1005 size 1024 1024 1024
device 0x1006 u32 16
device 0x1007 u32 8
device 0x1008 u32 4
device 0x1009 u32 2
device 0x100A u32 4
device 0x100B u32 0
device 0x100C u32 1000
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 64
device 0x1010 u64 16474537984
device 0x1011 size 65536
device 0x1012 size 65536
device 0x1013 size 65536
device 0x1014 size 65536
device 0x1015 size 65536
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 16
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 63
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 1048576
device 0x101F u64 16474537984
device 0x1020 u64 16474537984
device 0x1021 u32 128
device 0x1022 u32 2
device 0x1023 u64 32768
device 0x1024 bool 0
device 0x1025 size 1000
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 3
device 0x1033 u64 63
device 0x1034 u32 8
device 0x1035 bool 1
device 0x1036 u32 4
device 0x1037 u32 2
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 0
device 0x103C u32 2
device 0x103E bool 1
device 0x103F text
device 0x1040 size 65536
device 0x1041 size 2048
device 0x1043 u32 0
device 0x1048 bool 0
device 0x1049 size 1048576
device 0x104A u32 64
device 0x104B u32 32
device 0x104C u32 64
device 0x104D size 65536
device 0x1053 u64 1
device 0x1054 size 0
device 0x105C u32 64
device 0x105D bool 1
device 0x1065 bool 1
device 0x1067 size 16
device 0x1068 bool 1
device 0x1069 bool 1
device 0x1071 bool 1
kernel preferred_multiple 16
kernel max_size 1024
