// A stand-in for libnvidia-ml.so.1 with one device, whose values the test sets. Types and numbers are those of the
// documentation of NVML's interface.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9 };

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

// The settings. Each change is a line of the file that STAND_IN_CALLS names: the process and the change. With
// STAND_IN_USER, none is permitted, and none to the number STAND_IN_FAILS works.
static nvmlReturn_t change(nvmlDevice_t device, const char *what, unsigned int a, unsigned int b) {
    if (device != DEVICE) return INVALID_ARGUMENT;
    if (getenv("STAND_IN_USER")) return NO_PERMISSION;
    if (getenv("STAND_IN_FAILS") && a == (unsigned int)atoi(getenv("STAND_IN_FAILS"))) return DRIVER_NOT_LOADED;
    const char *path = getenv("STAND_IN_CALLS");
    FILE *calls = path ? fopen(path, "a") : NULL;
    if (!calls) return DRIVER_NOT_LOADED; // a change that nobody sees must not happen
    fprintf(calls, "%d %s %u %u\n", (int)getpid(), what, a, b);
    fclose(calls);
    return SUCCESS;
}
static unsigned int limit_mw = 700000;

nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int least, unsigned int most) {
    return change(device, "clock", least, most);
}
nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) { return change(device, "reset-clock", 0, 0); }
nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned int least, unsigned int most) {
    return change(device, "memory", least, most);
}
nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) { return change(device, "reset-memory", 0, 0); }
nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int mw) {
    nvmlReturn_t status = change(device, "limit", mw, 0);
    if (status == SUCCESS) limit_mw = mw;
    return status;
}
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *mw) {
    *mw = limit_mw;
    return device == DEVICE ? SUCCESS : INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *least, unsigned int *most) {
    *least = 200000;
    *most = 700000;
    return device == DEVICE ? SUCCESS : INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count, unsigned int *clocks) {
    if (device != DEVICE) return INVALID_ARGUMENT;
    if (*count < 2) return INSUFFICIENT_SIZE;
    *count = 2;
    clocks[0] = 3201;
    clocks[1] = 1593;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memory, unsigned int *count, unsigned int *clocks) {
    if (device != DEVICE || (memory != 3201 && memory != 1593)) return INVALID_ARGUMENT;
    unsigned int n = memory == 3201 ? 110 : 50; // from 345 MHz upwards, the highest first
    if (*count < n) return INSUFFICIENT_SIZE;
    *count = n;
    for (unsigned int i = 0; i < n; i++) clocks[i] = 345 + 15 * (n - 1 - i);
    return SUCCESS;
}
