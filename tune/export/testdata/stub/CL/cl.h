/* As much of OpenCL as an exported header uses, with a device that the test describes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t cl_uint;
typedef int32_t cl_int;
typedef uint64_t cl_device_type;
typedef struct memory *cl_mem;
typedef cl_uint cl_device_info;
typedef cl_uint cl_platform_info;
typedef struct device { char name[128], vendor[128], driver[128], platform[128], extension[8], board[128]; cl_device_type type; cl_uint major, minor, version; } *cl_device_id, *cl_platform_id;

#define CL_SUCCESS 0
#define CL_DEVICE_TYPE_CPU 2
#define CL_DEVICE_TYPE_GPU 4
#define CL_DEVICE_TYPE_ACCELERATOR 8
#define CL_DEVICE_TYPE 0x1000
#define CL_DEVICE_PLATFORM 0x1031
#define CL_PLATFORM_NAME 0x0902
#define CL_DEVICE_NAME 0x102B
#define CL_DEVICE_VENDOR 0x102C
#define CL_DRIVER_VERSION 0x102D

static inline cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t bytes, void *value, size_t *size) {
    const void *from = NULL;
    size_t n = 4;
    (void)size;
    switch (what) {
    case CL_DEVICE_NAME: from = d->name; n = strlen(d->name) + 1; break;
    case CL_DEVICE_VENDOR: from = d->vendor; n = strlen(d->vendor) + 1; break;
    case CL_DRIVER_VERSION: from = d->driver; n = strlen(d->driver) + 1; break;
    case CL_DEVICE_TYPE: from = &d->type; n = sizeof d->type; break;
    case CL_DEVICE_PLATFORM: from = &d; n = sizeof d; break;
    case 0x4000: from = strcmp(d->extension, "nv") == 0 ? &d->major : NULL; break;
    case 0x4001: from = strcmp(d->extension, "nv") == 0 ? &d->minor : NULL; break;
    case 0x404A: from = strcmp(d->extension, "amd") == 0 ? &d->major : NULL; break;
    case 0x404B: from = strcmp(d->extension, "amd") == 0 ? &d->minor : NULL; break;
    case 0x4038: from = strcmp(d->extension, "amd") == 0 ? d->board : NULL; n = strlen(d->board) + 1; break;
    case 0x4250: from = strcmp(d->extension, "intel") == 0 ? &d->version : NULL; break;
    }
    if (from == NULL || n > bytes) return -30;
    memcpy(value, from, n);
    return CL_SUCCESS;
}

static inline cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t bytes, void *value, size_t *size) {
    (void)size;
    if (what != CL_PLATFORM_NAME || strlen(p->platform) + 1 > bytes) return -30;
    strcpy((char *)value, p->platform);
    return CL_SUCCESS;
}
