/* As much of CUDA's driver as an exported header uses, with one device. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
enum { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76 };

static inline int cuDeviceGetName(char *name, int bytes, CUdevice device) {
    strncpy(name, device == 0 ? "NVIDIA H200" : "NVIDIA L4", (size_t)bytes);
    return 0;
}

static inline int cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    *value = attribute == 76 ? 9 * (device != 0) : device == 0 ? 9 : 8;
    return 0;
}
