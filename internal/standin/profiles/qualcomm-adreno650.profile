# Qualcomm Adreno 650 (Android) with driver E031.37.12.01
# source: https://github.com/xmrig/xmrig/issues/2383, clinfo report of July 2021
# lacks: double precision (none); the name does not tell the model, which is in the version
platform 0x0902 text QUALCOMM Snapdragon(TM)
platform 0x0903 text QUALCOMM
platform 0x0901 text OpenCL 2.0 QUALCOMM build: commit #191610ae03 changeid #Ic907de5ed0 Date: 09/17/20 Thu Local Branch:  Remote Branch: refs/tags/AU_LINUX_ANDROID_LA.UM.9.12.10.00.00.582.274
platform 0x0900 text FULL_PROFILE
platform 0x0904 text
device 0x102B text QUALCOMM Adreno(TM)
device 0x102C text QUALCOMM
device 0x1001 u32 0x5143
device 0x1000 u64 4
device 0x102D text OpenCL 2.0 QUALCOMM build: commit #191610ae03 changeid #Ic907de5ed0 Date: 09/17/20 Thu Local Branch:  Remote Branch: refs/tags/AU_LINUX_ANDROID_LA.UM.9.12.10.00.00.582.274 Compiler E031.37.12.01
device 0x102F text OpenCL 2.0 Adreno(TM) 650
device 0x103D text OpenCL C 2.0 Adreno(TM) 650
device 0x102E text FULL_PROFILE
device 0x1030 text cl_khr_3d_image_writes cl_img_egl_image cl_khr_byte_addressable_store cl_khr_depth_images cl_khr_egl_event cl_khr_egl_image cl_khr_fp16 cl_khr_gl_sharing cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_image2d_from_buffer cl_khr_mipmap_image cl_khr_srgb_image_writes cl_khr_subgroups cl_qcom_create_buffer_from_image cl_qcom_ext_host_ptr cl_qcom_ion_host_ptr cl_qcom_perf_hint cl_qcom_other_image cl_qcom_subgroup_shuffle cl_qcom_vector_image_ops cl_qcom_extract_image_plane cl_qcom_android_native_buffer_host_ptr cl_qcom_protected_context cl_qcom_priority_hint cl_qcom_compressed_yuv_image_read cl_qcom_compressed_image cl_qcom_ext_host_ptr_iocoherent cl_qcom_accelerated_image_ops cl_qcom_dot_product8 cl_qcom_reqd_sub_group_size cl_qcom_recordable_queues cl_qcom_ml_ops
device 0x1002 u32 3
device 0x1003 u32 3
device 0x1004 size 1024
device 0x1005 size 1024 1024 1024
device 0x1006 u32 1
device 0x1007 u32 1
device 0x1008 u32 1
device 0x1009 u32 1
device 0x100A u32 1
device 0x100B u32 0
device 0x100C u32 1
device 0x100D u32 64
device 0x100E u32 128
device 0x100F u32 64
device 0x1010 u64 998073344
device 0x1011 size 16384
device 0x1012 size 16384
device 0x1013 size 16384
device 0x1014 size 16384
device 0x1015 size 2048
device 0x1016 bool 1
device 0x1017 size 1024
device 0x1018 u32 16
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101B u64 22
device 0x101C u32 2
device 0x101D u32 64
device 0x101E u64 131072
device 0x101F u64 3992293376
device 0x1020 u64 65536
device 0x1021 u32 8
device 0x1022 u32 1
device 0x1023 u64 32768
device 0x1024 bool 0
device 0x1025 size 1000
device 0x1026 bool 1
device 0x1027 bool 1
device 0x1028 bool 1
device 0x1029 u64 1
device 0x102A u64 3
device 0x1033 u64 22
device 0x1034 u32 1
device 0x1035 bool 1
device 0x1036 u32 1
device 0x1037 u32 1
device 0x1038 u32 1
device 0x1039 u32 0
device 0x103A u32 1
device 0x103B u32 0
device 0x103C u32 1
device 0x103E bool 1
device 0x103F text
device 0x1040 size 134217728
device 0x1041 size 2048
device 0x1043 u32 1
device 0x1048 bool 0
device 0x1049 size 1048576
device 0x104A u32 64
device 0x104B u32 64
device 0x104C u32 64
device 0x104D size 65536
device 0x1053 u64 11
device 0x1054 size 1048576
kernel preferred_multiple 128
kernel max_size 1024
