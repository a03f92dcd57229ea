/* The driver's two libraries as a test wants them: what they say is in the environment.
 *   FAKE_CUDA_VERSION (13000), FAKE_CUDA_INIT (0), FAKE_CUDA_DEVICES (1), FAKE_CUDA_MAJOR (9)
 *   FAKE_CUDA_PERSISTING_L2 (0)
 *   FAKE_NVML_INIT (0), FAKE_NVML_SLOWED_BY (0), FAKE_NVML_BUSY (per cent; nothing is told) */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static int setting(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

int cuDriverGetVersion(int* version) {
  *version = setting("FAKE_CUDA_VERSION", 13000);
  return 0;
}
int cuInit(unsigned flags) {
  (void)flags;
  return setting("FAKE_CUDA_INIT", 0);
}
int cuGetErrorString(int error, const char** text) {
  (void)error;
  *text = "a fake error";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = setting("FAKE_CUDA_DEVICES", 1);
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "Fake H200");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 16   ? 132
           : attribute == 38 ? 60 << 20
           : attribute == 75 ? setting("FAKE_CUDA_MAJOR", 9)
                             : 0;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)150 << 30;
  return 0;
}

int cuCtxGetLimit(size_t* value, int limit) {
  *value = limit == 6 ? (size_t)setting("FAKE_CUDA_PERSISTING_L2", 0) : 0;
  return 0;
}

int nvmlInit_v2(void) {
  return setting("FAKE_NVML_INIT", 0);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  (void)index;
  *device = (void*)device;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  snprintf(text, size, "580.1.2");
  return 0;
}
struct memory {
  unsigned long long total, available, used;
};
int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  (void)device;
  memory->total = 150ULL << 30;
  memory->available = 140ULL << 30;
  memory->used = 10ULL << 30;
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  (void)device;
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void* device, unsigned type, unsigned* mhz) {
  (void)device;
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  (void)device;
  (void)sensor;
  *celsius = 37;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  (void)device;
  *milliwatts = 125500;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  (void)device;
  *reasons = (unsigned long long)setting("FAKE_NVML_SLOWED_BY", 0);
  return 0;
}
struct process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct process* list) {
  (void)device;
  const unsigned room = *count;
  *count = 3;
  if (room < 3) return 7; /* insufficient size: it only says how many */
  for (unsigned i = 0; i < 3; ++i) list[i].pid = 100 + i;
  return 0;
}
int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned size) {
  if (pid == 102) return 6; /* not found */
  snprintf(name, size, "/usr/bin/train-%u", pid);
  return 0;
}
struct use {
  unsigned pid;
  unsigned long long microseconds;
  unsigned percent, memory, encoder, decoder;
};
/* 101 is one of those above, 7 is nobody. A sample is told once. */
int nvmlDeviceGetProcessUtilization(void* device, struct use* uses, unsigned* count,
                                    unsigned long long since) {
  (void)device;
  const int percent = setting("FAKE_NVML_BUSY", -1);
  if (percent < 0 || since >= 5000) return 6;
  const struct use here[] = {{101, 5000, (unsigned)percent, 0, 0, 0}, {7, 4000, 99, 0, 0, 0}};
  *count = 2;
  uses[0] = here[0];
  uses[1] = here[1];
  return 0;
}
