# Broadcom VideoCore IV (Raspberry Pi 3B+) with VC4CL 0.4.9999
# source: https://github.com/linzhanyu/linzhanyu.github.io/blob/ffcf38aab87cc5f2073d45085b9c2ca12cf97c17/_posts/2019-09-23-OpenCL-rspi3.md, clinfo report of September 2019
# lacks: half and double precision (none)
platform 0x0902 text OpenCL for the Raspberry Pi VideoCore IV GPU
platform 0x0903 text doe300
platform 0x0901 text OpenCL 1.2 VC4CL 0.4.9999
platform 0x0900 text EMBEDDED_PROFILE
platform 0x0904 text cl_khr_il_program cl_khr_spir cl_khr_create_command_queue cl_altera_device_temperature cl_altera_live_object_tracking cl_khr_icd cl_vc4cl_performance_counters
platform 0x0920 text VC4CL
device 0x102B text VideoCore IV GPU
device 0x102C text Broadcom
device 0x1001 u32 0xa5c
device 0x1000 u64 4
device 0x102D text 0.4.9999
device 0x102F text OpenCL 1.2 VC4CL 0.4.9999
device 0x103D text OpenCL C 1.2 
device 0x102E text EMBEDDED_PROFILE
device 0x105B text SPIR-V_1.2 SPIR_1.2
device 0x1030 text cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store cl_nv_pragma_unroll cl_arm_core_id cl_ext_atomic_counters_32 cl_khr_initialize_memory cl_arm_integer_dot_product_int8 cl_arm_integer_dot_product_accumulate_int8 cl_arm_integer_dot_product_accumulate_int16 cl_arm_integer_dot_product_accumulate_saturate_int8 cl_khr_il_program cl_khr_spir cl_khr_create_command_queue cl_altera_device_temperature cl_altera_live_object_tracking cl_khr_icd cl_vc4cl_performance_counters
device 0x1002 u32 1
device 0x1003 u32 3
device 0x1004 size 12
device 0x1005 size 12 12 12
device 0x1006 u32 16
device 0x1007 u32 16
device 0x1008 u32 16
device 0x1009 u32 0
device 0x100A u32 16
device 0x100B u32 0
device 0x100C u32 300
device 0x100D u32 32
device 0x1010 u64 268435456
device 0x1016 bool 0
device 0x1017 size 256
device 0x1019 u32 512
device 0x101A u32 64
device 0x101B u64 8
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 32768
device 0x101F u64 268435456
device 0x1020 u64 268435456
device 0x1021 u32 64
device 0x1022 u32 2
device 0x1023 u64 268435456
device 0x1024 bool 0
device 0x1025 size 1
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 2
device 0x1034 u32 0
device 0x1035 bool 1
device 0x1036 u32 16
device 0x1037 u32 16
device 0x1038 u32 16
device 0x1039 u32 0
device 0x103A u32 16
device 0x103B u32 0
device 0x103C u32 0
device 0x103E bool 0
device 0x103F text
device 0x1043 u32 0
device 0x1048 bool 1
device 0x1049 size 0
kernel preferred_multiple 1
kernel max_size 12
