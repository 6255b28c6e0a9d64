# AMD Radeon RX 6700 XT with Mesa 23.1 rusticl (radeonsi)
# source: https://github.com/xmrig/xmrig/issues/3335, clinfo report of September 2023 (device)
# lacks: half and double precision (none), cache sizes; this report lacks the platform's properties but name and vendor
# source: https://github.com/iamyounix/msimagb460_tomahawk/blob/94410b87f2fb959d83877e4c1fc36c6507bab7ce/linux/graphics.md, clinfo report of 2023 with Mesa 23.1.3 (platform)
platform 0x0902 text rusticl
platform 0x0903 text Mesa/X.org
platform 0x0901 text OpenCL 3.0 
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_khr_il_program
platform 0x0920 text MESA
platform 0x0905 u64 0
platform 0x0906 u32 0xc00000
device 0x102B text AMD Radeon RX 6700 XT (navi22, LLVM 15.0.7, DRM 3.54, 6.5.0-1-rt-amd64)
device 0x102C text AMD
device 0x1001 u32 0x1002
device 0x1000 u64 4
device 0x102D text 23.1.7-1
device 0x102F text OpenCL 3.0 
device 0x103D text OpenCL C 1.2 
device 0x102E text EMBEDDED_PROFILE
device 0x105E u32 0xc00000
device 0x105B text SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4
device 0x1030 text cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_il_program cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cles_khr_int64 cl_khr_3d_image_writes
device 0x1002 u32 40
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1005 size 1024 1024 1024
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 0
device 0x100C u32 2800
device 0x100D u32 64
device 0x100E u32 32
device 0x100F u32 16
device 0x1010 u64 2147483648
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 8192
device 0x1014 size 8192
device 0x1015 size 8192
device 0x1016 bool 1
device 0x1017 size 67108864
device 0x1018 u32 32
device 0x1019 u32 4096
device 0x101A u32 128
device 0x101B u64 6
device 0x101C u32 0
device 0x101F u64 12884901888
device 0x1020 u64 2147483648
device 0x1021 u32 16
device 0x1022 u32 2
device 0x1023 u64 65536
device 0x1024 bool 0
device 0x1025 size 0
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 2
device 0x1034 u32 0
device 0x1035 bool 0
device 0x1036 u32 1
device 0x1037 u32 1
device 0x1038 u32 1
device 0x1039 u32 1
device 0x103A u32 1
device 0x103B u32 0
device 0x103C u32 0
device 0x103E bool 1
device 0x103F text
device 0x1040 size 268435455
device 0x1041 size 8192
device 0x1043 u32 0
device 0x1048 bool 1
device 0x1049 size 1048576
device 0x104A u32 0
device 0x104B u32 0
device 0x104C u32 0
device 0x104D size 0
device 0x1053 u64 0
device 0x1054 size 0
device 0x105C u32 0
device 0x105D bool 0
device 0x1065 bool 0
device 0x1067 size 64
device 0x1068 bool 0
device 0x1069 bool 0
device 0x1071 bool 0
kernel preferred_multiple 64
kernel max_size 1024
