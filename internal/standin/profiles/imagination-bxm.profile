# Imagination PowerVR BXM-8-256 (Android, in a MediaTek MT6855)
# source: https://github.com/anjaustin/moltar/blob/43cb9a4771a6b4eea2341d3c17b104858d15dbde/MOLTAR.md, a table of 2026 made with a query program of the author's own; memory in whole MB, the global memory is four times the largest buffer
# lacks: versions of the driver and of the platform, extensions of the platform, clock, address bits, vectors, queue properties, timer resolution, availability of the compiler, sub-groups but for the extension
platform 0x0902 text PowerVR
platform 0x0903 text Imagination Technologies
platform 0x0901 text OpenCL 3.0 
platform 0x0900 text EMBEDDED_PROFILE
device 0x102B text PowerVR BXM-8-256
device 0x102C text Imagination Technologies
device 0x1000 u64 4
device 0x102F text OpenCL 3.0 
device 0x102E text EMBEDDED_PROFILE
device 0x1030 text cl_khr_icd cl_khr_fp16 cl_img_spirv cles_khr_int64 cl_img_yuv_image cl_khr_device_uuid cl_khr_depth_images cl_khr_priority_hints cl_img_generate_mipmap cl_khr_3d_image_writes cl_img_cached_allocations cl_khr_create_command_queue cl_img_mem_properties cl_img_mem_properties_relax_alloc_requirements cl_khr_extended_versioning cl_khr_image2d_from_buffer cl_khr_byte_addressable_store cl_khr_local_int32_base_atomics cl_khr_global_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_global_int32_extended_atomics cl_khr_subgroups cl_khr_spir cl_arm_import_memory cl_arm_import_memory_dma_buf cl_img_use_gralloc_ptr cl_img_protected_content cl_img_use_gralloc_ptr_v2
device 0x1002 u32 1
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1010 u64 470810624
device 0x1011 size 8192
device 0x1012 size 8192
device 0x1013 size 8192
device 0x1014 size 8192
device 0x1015 size 2048
device 0x1016 bool 1
device 0x101B u64 42
device 0x101D u32 128
device 0x101E u64 131072
device 0x101F u64 1883242496
device 0x1023 u64 28672
device 0x1033 u64 42
device 0x1035 bool 1
device 0x1053 u64 1
kernel max_size 1024
