// A stand-in for libnvidia-ml.so.1 with one device, whose values the test sets. Types and numbers are those of the
// documentation of NVML's interface.
#include <stddef.h>
#include <string.h>

typedef struct stand_in_device *nvmlDevice_t;
typedef int nvmlReturn_t;

typedef union {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
    unsigned short usVal;
} nvmlValue_t;

typedef struct {
    unsigned int fieldId;
    unsigned int scopeId;
    long long timestamp;
    long long latencyUsec;
    int valueType; // an enum: 0 double, 1 unsigned int, ...
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

static struct {
    unsigned long long energy_mj, reasons;
    unsigned int power_mw, sm_mhz, memory_mhz, celsius;
    int init_status, energy_status, instant_status;
} now;
static int open;
static int handle;

#define DEVICE ((nvmlDevice_t)&handle)

void stand_in_energy(unsigned long long mj) { now.energy_mj = mj; }
void stand_in_power(unsigned int mw) { now.power_mw = mw; }
void stand_in_clocks(unsigned int sm, unsigned int memory) { now.sm_mhz = sm; now.memory_mhz = memory; }
void stand_in_heat(unsigned int celsius, unsigned long long reasons) { now.celsius = celsius; now.reasons = reasons; }
void stand_in_status(int init, int energy, int instant) { now.init_status = init; now.energy_status = energy; now.instant_status = instant; }
int stand_in_open(void) { return open; }

nvmlReturn_t nvmlInit_v2(void) {
    if (now.init_status == SUCCESS) open++;
    return now.init_status;
}
nvmlReturn_t nvmlShutdown(void) { open--; return SUCCESS; }

const char *nvmlErrorString(nvmlReturn_t r) {
    switch (r) {
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    }
    return "Unknown Error";
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    if (strcmp(uuid, "GPU-01020304-0506-0708-090a-0b0c0d0e0f10")) return NOT_FOUND;
    *device = DEVICE;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *device) {
    if (strcmp(address, "0000:65:00.0")) return NOT_FOUND;
    *device = DEVICE;
    return SUCCESS;
}

#ifndef OLD
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *mj) {
    if (device != DEVICE) return INVALID_ARGUMENT;
    *mj = now.energy_mj;
    return now.energy_status;
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int n, nvmlFieldValue_t *values) {
    if (device != DEVICE || n != 1 || values->fieldId != 186 || values->scopeId != 0) return INVALID_ARGUMENT;
    memset((char *)values + offsetof(nvmlFieldValue_t, timestamp), 0xff, sizeof *values - offsetof(nvmlFieldValue_t, timestamp));
    values->nvmlReturn = now.instant_status;
    values->valueType = 1;
    values->value.uiVal = now.power_mw;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons) {
    *reasons = now.reasons;
    return device == DEVICE ? SUCCESS : INVALID_ARGUMENT;
}
#else
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons) {
    *reasons = now.reasons;
    return device == DEVICE ? SUCCESS : INVALID_ARGUMENT;
}
#endif

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *mw) {
    *mw = now.power_mw;
    return device == DEVICE ? SUCCESS : INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int kind, unsigned int *mhz) {
    if (device != DEVICE || (kind != 1 && kind != 2)) return INVALID_ARGUMENT;
    *mhz = kind == 1 ? now.sm_mhz : now.memory_mhz;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor, unsigned int *celsius) {
    if (device != DEVICE || sensor != 0) return INVALID_ARGUMENT;
    *celsius = now.celsius;
    return SUCCESS;
}
