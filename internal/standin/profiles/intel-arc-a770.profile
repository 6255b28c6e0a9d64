# Intel Arc A770 (16 GB) with the compute runtime 22.49.25018.24
# source: https://github.com/intel/compute-runtime/issues/618, clinfo report, undated excerpts (A770: driver, OpenCL C, alignment, atomics, caches, size of global variables)
# source: https://github.com/hashcat/hashcat/issues/4356, of July 2025 (A770: name, compute units, memory in whole MB)
# source: https://github.com/openvinotoolkit/openvino_notebooks/issues/2763, clinfo report, an undated excerpt (A770: beginning of the platform's list of extensions, here for the device as well)
# source: https://github.com/ggml-org/llama.cpp/pull/28725, of September 2026 (A770: clock)
# source: https://github.com/openvinotoolkit/openvino/issues/20012, clinfo report, undated excerpts (A750: platform, sub-groups, vectors, half precision)
# source: https://github.com/darktable-org/darktable/issues/20111, an undated excerpt (an integrated Arc: work-group, image size, constant buffer)
# source: https://github.com/fateshelled/sycl_points/pull/200, of August 2026 (A310: local memory)
# lacks: end of the list of extensions, Intel attributes (the extension is listed), single precision, image buffer and array limits, queue properties, timer resolution, PCI address, UUID (left out)
platform 0x0902 text Intel(R) OpenCL Graphics
platform 0x0903 text Intel(R) Corporation
platform 0x0901 text OpenCL 3.0 
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_byte_addressable_store cl_khr_device_uuid cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups cl_intel_required_subgroup_size cl_intel_subgroups_short cl_khr_spir cl_intel_accelerator cl_intel_driver_diagnostics cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_intel_device_attribute_query cl_khr_extended_bit_ops cl_khr_suggested_local_work_size cl_intel_split_work_group_barrier cl_intel_spirv_media_block_io cl_intel_spirv_subgroups cl_khr_spirv_linkonce_odr cl_khr_spirv_no_integer_wrap_decoration cl_intel_unified_shared_memory cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_ext_float_atomics cl_khr_external_memory cl_intel_planar_yuv
platform 0x0920 text INTEL
device 0x102B text Intel(R) Arc(TM) A770 Graphics
device 0x102C text Intel(R) Corporation
device 0x1001 u32 0x8086
device 0x1000 u64 4
device 0x102D text 22.49.25018.24
device 0x102F text OpenCL 3.0 NEO 
device 0x103D text OpenCL C 1.2 
device 0x105E u32 0xc00000
device 0x1030 text cl_khr_byte_addressable_store cl_khr_device_uuid cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups cl_intel_required_subgroup_size cl_intel_subgroups_short cl_khr_spir cl_intel_accelerator cl_intel_driver_diagnostics cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce cl_intel_device_attribute_query cl_khr_extended_bit_ops cl_khr_suggested_local_work_size cl_intel_split_work_group_barrier cl_intel_spirv_media_block_io cl_intel_spirv_subgroups cl_khr_spirv_linkonce_odr cl_khr_spirv_no_integer_wrap_decoration cl_intel_unified_shared_memory cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_ext_float_atomics cl_khr_external_memory cl_intel_planar_yuv
device 0x1002 u32 512
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1005 size 1024 1024 1024
device 0x1006 u32 16
device 0x1007 u32 8
device 0x1008 u32 4
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 0
device 0x100C u32 2400
device 0x1010 u64 4294959104
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1016 bool 1
device 0x1018 u32 16
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 16777216
device 0x101F u64 16224616448
device 0x1020 u64 4294959104
device 0x1022 u32 1
device 0x1023 u64 65536
device 0x1033 u64 63
device 0x1034 u32 8
device 0x1035 bool 0
device 0x1036 u32 16
device 0x1037 u32 8
device 0x1038 u32 4
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 0
device 0x103C u32 8
device 0x1040 size 268434944
device 0x104D size 65536
device 0x1054 size 4294959104
device 0x105C u32 128
device 0x1067 size 64
device 0x4108 size 8 16 32
kernel preferred_multiple 64
kernel max_size 1024
