# Broadcom VideoCore VI (V3D 4.2, Raspberry Pi 4) with clvk on Mesa's Vulkan driver
# source: https://github.com/kpet/clvk/issues/459, clinfo report, an undated excerpt (names and versions)
# source: https://github.com/kpet/clvk/issues/537, clinfo report of a Raspberry Pi 400 with clvk, an undated excerpt (memory, address bits; which of two devices is not in it)
# source: https://github.com/DTolm/VkFFT/issues/19, vulkaninfo report, an undated excerpt (limits of a work-group, from which clvk takes its own)
# lacks: list of extensions, preferred multiple, clock, vectors, precisions, images, caches, queue properties, timer resolution, availability of the compiler, UUID (left out)
platform 0x0902 text clvk
platform 0x0903 text clvk
platform 0x0901 text OpenCL 3.0 clvk
platform 0x0900 text FULL_PROFILE
platform 0x0904 text cl_khr_icd cl_khr_extended_versioning 
platform 0x0920 text clvk
platform 0x0906 u32 0xc00000
device 0x102B text V3D 4.2
device 0x102C text FIXME
device 0x1001 u32 0x14e4
device 0x1000 u64 4
device 0x102D text 3.0 CLVK on Vulkan v1.2.230 driver 92680291
device 0x102F text OpenCL 3.0 CLVK on Vulkan v1.2.230 driver 92680291
device 0x103D text OpenCL C 1.2 CLVK on Vulkan v1.2.230 driver 92680291
device 0x105E u32 0xc00000
device 0x1002 u32 1
device 0x1003 u32 3
device 0x1004 size 256
device 0x1005 size 256 256 256
device 0x100B u32 0
device 0x100D u32 32
device 0x1010 u64 134217728
device 0x1019 u32 1024
device 0x101A u32 128
device 0x101F u64 536870912
device 0x1023 u64 16384
device 0x1024 bool 0
device 0x1035 bool 1
device 0x103B u32 0
device 0x1053 u64 0
kernel max_size 256
