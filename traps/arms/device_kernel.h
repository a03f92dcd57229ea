/* device_kernel.h: a kernel of one's own on the GPU, through the driver's library: what the arms
 * beside this file plant. */
#ifndef TARE_TRAPS_DEVICE_KERNEL_H
#define TARE_TRAPS_DEVICE_KERNEL_H

#include <dlfcn.h>
#include <stddef.h>

/* Launches the one kernel "planted" of `ptx`, a thread of it, on a stream of the context
 * that is current (NULL: its own). 0 or
 * an error of the driver's. It is loaded by the first call. */
static inline int launch_planted(const char* ptx, void* stream) {
  static void* kernel;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == NULL) return 1;
  int (*load)(void**, const void*) =
      (int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData");
  int (*find)(void**, void*, const char*) =
      (int (*)(void**, void*, const char*))dlsym(driver, "cuModuleGetFunction");
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) =
      (int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
               void**, void**))dlsym(driver, "cuLaunchKernel");
  void* module = NULL;
  if (load == NULL || find == NULL || launch == NULL) return 1;
  int error = 0;
  if (kernel == NULL && (error = load(&module, ptx)) != 0) return error;
  if (kernel == NULL && (error = find(&kernel, module, "planted")) != 0) return error;
  return launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

/* Waits for all work of the context that is current. 0 or an error of the driver's. */
static inline int wait_for_device(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int (*wait)(void) = driver == NULL ? NULL : (int (*)(void))dlsym(driver, "cuCtxSynchronize");
  return wait == NULL ? 1 : wait();
}

#endif /* TARE_TRAPS_DEVICE_KERNEL_H */
