# Intel FPGA emulation device of oneAPI 2023, an accelerator without images
# source: https://github.com/nohzen/opencl/blob/227cc45a4b784157025bcb47a75a191a59e1192e/info/clinfo_x390.txt, clinfo report of November 2023
# lacks: half precision (none)
platform 0x0902 text Intel(R) FPGA Emulation Platform for OpenCL(TM)
platform 0x0903 text Intel(R) Corporation
platform 0x0901 text OpenCL 1.2 Intel(R) FPGA SDK for OpenCL(TM), Version 20.3
platform 0x0900 text EMBEDDED_PROFILE
platform 0x0904 text cl_khr_spirv_linkonce_odr cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_icd cl_khr_il_program cl_intel_fpga_host_pipe cl_intel_program_scope_host_pipe cles_khr_int64 cl_intel_channels
platform 0x0920 text IntelFPGA
device 0x102B text Intel(R) FPGA Emulation Device
device 0x102C text Intel(R) Corporation
device 0x1001 u32 0x1172
device 0x1000 u64 8
device 0x102D text 2023.16.7.0.21_160000
device 0x102F text OpenCL 1.2 
device 0x103D text OpenCL C 1.2 
device 0x102E text EMBEDDED_PROFILE
device 0x105B text SPIR-V_1.0
device 0x1030 text cl_khr_spirv_linkonce_odr cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_icd cl_khr_il_program cl_intel_fpga_host_pipe cl_intel_program_scope_host_pipe cles_khr_int64 cl_intel_channels
device 0x1002 u32 8
device 0x1003 u32 3
device 0x1004 size 67108864
device 0x1005 size 67108864 67108864 67108864
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 1
device 0x100C u32 1600
device 0x100D u32 64
device 0x1010 u64 3890888704
device 0x1016 bool 0
device 0x1017 size 3840
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
device 0x1023 u64 262144
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
device 0x1043 u32 8
device 0x1048 bool 0
device 0x1049 size 1048576
kernel preferred_multiple 128
kernel max_size 67108864
