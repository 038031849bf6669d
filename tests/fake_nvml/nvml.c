/* A made-up libnvidia-ml.so.1: enough of NVML for monitors of GPUs to start on a machine that has none.

   Built by shared_object.py, which adds a stub that answers "not supported" for every other function of the binding.
   FAKE_NVML_COUNT    GPUs (8)
   FAKE_NVML_LAG_US   microseconds that every call about a GPU takes (0)
   FAKE_NVML_STILL    when set, no figure moves
   FAKE_NVML_MODE     "lost": GPU 1 is; "hang": calls about it never return; "nomem": memory is not supported; "foreign": pids of another namespace
   FAKE_NVML_PIDS     "0:812,1:813": GPU and pid of the processes that hold memory
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15 };
enum { MOST = 128 };
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct { u32 index; } Gpu;
typedef struct { u32 gpu, pid; } Owner;
typedef struct { u64 total, free, used; } Memory;
typedef struct { u32 version; u64 total, reserved, free, used; } Memory2;
typedef struct { u32 gpu, memory; } Rates;
typedef struct { u32 pid; u64 used; u32 gpu_instance, compute_instance; } Process;
typedef struct {
    char legacy[16];
    u32 domain, bus, device, id, subsystem;
    char bus_id[32];
} Pci;

static const u64 GIB = 1ull << 30;
static Gpu gpus[MOST];
static Owner owners[MOST];
static u32 count = 8, owned = 0, lag_us = 0;
static int still = 0;
static const char *mode = "";

__attribute__((constructor)) static void start(void) {
    const char *text = getenv("FAKE_NVML_COUNT");
    if (text) count = (u32)atoi(text) < MOST ? (u32)atoi(text) : MOST;
    if ((text = getenv("FAKE_NVML_LAG_US"))) lag_us = (u32)atoi(text);
    if ((text = getenv("FAKE_NVML_MODE"))) mode = text;
    still = getenv("FAKE_NVML_STILL") != NULL;
    for (u32 index = 0; index < MOST; index++) gpus[index].index = index;
    text = getenv("FAKE_NVML_PIDS");
    while (text && owned < MOST && sscanf(text, "%u:%u", &owners[owned].gpu, &owners[owned].pid) == 2) {
        owned++;
        text = strchr(text, ',');
        if (text) text++;
    }
}

/* A wave from -1 to 1, another one for each GPU. */
static double wave(const Gpu *gpu, double period_s) {
    struct timespec now;
    if (still) return sin(gpu->index);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return sin((now.tv_sec + now.tv_nsec * 1e-9) * 6.2832 / period_s + gpu->index);
}

static u64 used_by(const Gpu *gpu) { return (u64)((48 + 16 * wave(gpu, 9)) * GIB); }

/* Every call about a GPU begins with this. */
static int asked(const Gpu *gpu) {
    if (lag_us) usleep(lag_us);
    while (!strcmp(mode, "hang") && gpu->index == 1) pause();
    return !strcmp(mode, "lost") && gpu->index == 1 ? LOST : OK;
}

#define ASK(gpu) do { int answer = asked(gpu); if (answer) return answer; } while (0)
#define FIGURE(name, type, value) int name(Gpu *gpu, type *out) { ASK(gpu); *out = (value); return OK; }

int nvmlInit_v2(void) { return OK; }
int nvmlInitWithFlags(u32 flags) { return (void)flags, OK; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : code == OK ? "Success" : "Not Supported"; }
int nvmlSystemGetDriverVersion(char *out, u32 size) { return snprintf(out, size, "580.82.07"), OK; }
int nvmlSystemGetNVMLVersion(char *out, u32 size) { return snprintf(out, size, "13.580.82"), OK; }
int nvmlSystemGetCudaDriverVersion(int *out) { return *out = 13000, OK; }
int nvmlSystemGetCudaDriverVersion_v2(int *out) { return *out = 13000, OK; }
int nvmlDeviceGetCount_v2(u32 *out) { return *out = count, OK; }
int nvmlDeviceGetHandleByIndex_v2(u32 index, Gpu **out) { return index < count ? (*out = &gpus[index], OK) : INVALID; }
int nvmlDeviceGetHandleByUUID(const char *uuid, Gpu **out) {
    u32 index;
    return sscanf(uuid, "GPU-%08u-", &index) == 1 && index < count ? (*out = &gpus[index], OK) : NOT_FOUND;
}
int nvmlDeviceGetIndex(Gpu *gpu, u32 *out) { return *out = gpu->index, OK; }
int nvmlDeviceGetMinorNumber(Gpu *gpu, u32 *out) { return *out = gpu->index, OK; }
int nvmlDeviceGetName(Gpu *gpu, char *out, u32 size) {
    ASK(gpu);
    return snprintf(out, size, "NVIDIA H100 80GB HBM3"), OK;
}
int nvmlDeviceGetUUID(Gpu *gpu, char *out, u32 size) {
    ASK(gpu);
    return snprintf(out, size, "GPU-%08u-0000-4000-8000-000000000000", gpu->index), OK;
}
int nvmlDeviceGetMemoryInfo(Gpu *gpu, Memory *out) {
    ASK(gpu);
    if (!strcmp(mode, "nomem")) return NOT_SUPPORTED;
    u64 used = used_by(gpu);
    *out = (Memory){80 * GIB, 80 * GIB - used, used};
    return OK;
}
int nvmlDeviceGetMemoryInfo_v2(Gpu *gpu, Memory2 *out) {
    Memory memory;
    int answer = nvmlDeviceGetMemoryInfo(gpu, &memory);
    if (answer) return answer;
    out->total = memory.total, out->reserved = 0, out->free = memory.free, out->used = memory.used;
    return OK;
}
int nvmlDeviceGetBAR1MemoryInfo(Gpu *gpu, Memory *out) {
    ASK(gpu);
    *out = (Memory){128 * GIB, 127 * GIB, GIB};
    return OK;
}
int nvmlDeviceGetUtilizationRates(Gpu *gpu, Rates *out) {
    ASK(gpu);
    *out = (Rates){(u32)(80 + 19 * wave(gpu, 5)), (u32)(50 + 30 * wave(gpu, 7))};
    return OK;
}
int nvmlDeviceGetEncoderUtilization(Gpu *gpu, u32 *out, u32 *period) { ASK(gpu); return *out = 0, *period = 1000000, OK; }
int nvmlDeviceGetDecoderUtilization(Gpu *gpu, u32 *out, u32 *period) { ASK(gpu); return *out = 0, *period = 1000000, OK; }
int nvmlDeviceGetTemperature(Gpu *gpu, u32 sensor, u32 *out) { ASK(gpu); return (void)sensor, *out = (u32)(60 + 10 * wave(gpu, 31)), OK; }
FIGURE(nvmlDeviceGetPowerUsage, u32, (u32)(600000 + 90000 * wave(gpu, 5)))
FIGURE(nvmlDeviceGetPowerManagementLimit, u32, 700000)
FIGURE(nvmlDeviceGetEnforcedPowerLimit, u32, 700000)
FIGURE(nvmlDeviceGetDisplayActive, u32, 0)
FIGURE(nvmlDeviceGetDisplayMode, u32, 0)
FIGURE(nvmlDeviceGetPersistenceMode, u32, 1)
FIGURE(nvmlDeviceGetComputeMode, u32, 0)
FIGURE(nvmlDeviceGetPerformanceState, u32, 0)
FIGURE(nvmlDeviceIsMigDeviceHandle, u32, 0)
FIGURE(nvmlDeviceGetMaxMigDeviceCount, u32, 0)
FIGURE(nvmlDeviceGetCurrentClocksEventReasons, u64, 4)
FIGURE(nvmlDeviceGetCurrentClocksThrottleReasons, u64, 4)
int nvmlDeviceGetMigMode(Gpu *gpu, u32 *now, u32 *next) { ASK(gpu); return *now = *next = 0, OK; }
int nvmlDeviceGetTotalEccErrors(Gpu *gpu, u32 kind, u32 counter, u64 *out) { ASK(gpu); return (void)kind, (void)counter, *out = 0, OK; }
int nvmlDeviceGetCudaComputeCapability(Gpu *gpu, int *major, int *minor) { ASK(gpu); return *major = 9, *minor = 0, OK; }
int nvmlDeviceGetClockInfo(Gpu *gpu, u32 kind, u32 *out) { ASK(gpu); return *out = kind == 2 ? 2619 : 1755, OK; }
int nvmlDeviceGetMaxClockInfo(Gpu *gpu, u32 kind, u32 *out) { ASK(gpu); return *out = kind == 2 ? 2619 : 1980, OK; }
/* The driver's own call samples for 20 ms. */
int nvmlDeviceGetPcieThroughput(Gpu *gpu, u32 counter, u32 *out) { ASK(gpu); usleep(20000); return (void)counter, *out = 1000, OK; }
int nvmlDeviceGetPciInfo_v3(Gpu *gpu, Pci *out) {
    ASK(gpu);
    memset(out, 0, sizeof *out);
    out->bus = gpu->index + 1;
    snprintf(out->legacy, sizeof out->legacy, "0000:%02X:00.0", out->bus & 0xff);
    snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", out->bus & 0xff);
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Gpu *gpu, u32 *size, Process *out) {
    ASK(gpu);
    u32 found = 0, room = *size, foreign = !strcmp(mode, "foreign");
    for (u32 n = 0; n < owned; n++) {
        if (owners[n].gpu != gpu->index) continue;
        if (found < room && out) out[found] = (Process){foreign ? 4000000 + n : owners[n].pid, used_by(gpu) - GIB, ~0u, ~0u};
        found++;
    }
    *size = found;
    return found > room ? TOO_SMALL : OK;
}
int nvmlDeviceGetComputeRunningProcesses_v2(Gpu *gpu, u32 *size, Process *out) { return nvmlDeviceGetComputeRunningProcesses_v3(gpu, size, out); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(Gpu *gpu, u32 *size, Process *out) { ASK(gpu); return (void)out, *size = 0, OK; }
int nvmlDeviceGetGraphicsRunningProcesses_v2(Gpu *gpu, u32 *size, Process *out) { return nvmlDeviceGetGraphicsRunningProcesses_v3(gpu, size, out); }
