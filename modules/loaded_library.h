// A library that is looked up when a module is opened: its header alone is needed to build.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <type_traits>

#include "base/error.h"

namespace tare::modules {

// Loaded once a process and never unloaded.
class LoadedLibrary {
 public:
  // `title` for people; `variable` of the environment may name another file than `file`. Throws
  // tare::Error (kMachine) when it cannot be loaded.
  LoadedLibrary(const char* title, const char* variable, const char* file)
      : name_(chosen(variable, file)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
      fail(Blame::kMachine,
           "{} is not on this machine ({}). It comes with the CUDA 13 toolkit; where it is "
           "installed and not found, name it in {}.",
           title, name_, variable);
  }

  // Throws as above when the symbol is not exported.
  template <typename Function>
  void find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    if (function == nullptr) fail(Blame::kMachine, "{} exports no {}", name_, symbol);
  }

 private:
  static std::string chosen(const char* variable, const char* file) {
    const char* name = std::getenv(variable);
    return name != nullptr && *name != '\0' ? name : file;
  }

  std::string name_;
  void* handle_;
};

}  // namespace tare::modules
