/* A management library that answers with figures that are easy to recognise. Of device "lost" it
 * knows nothing but its handle; device "none" does not exist. */
#include <string.h>

static int known, lost;

int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (length < 8) return 7;
  strcpy(text, "580.1.2");
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (strcmp(id, "none") == 0) return 6;
  *device = strcmp(id, "lost") == 0 ? &lost : &known;
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980u : type == 2 ? 3201u : 0u;
  return device == &lost ? 3 : 0;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  *celsius = 61u;
  return device == &lost || sensor != 0 ? 3 : 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatt) {
  *milliwatt = 345600u;
  return device == &lost ? 3 : 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoule) {
  *millijoule = 12345678901ull;
  return device == &lost ? 3 : 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  *bits = 0x1 | 0x4 | 0x40; /* idle, software power cap, hardware thermal slowdown */
  return device == &lost ? 3 : 0;
}
