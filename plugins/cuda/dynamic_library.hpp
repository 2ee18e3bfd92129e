// A vendor library that is looked for at run time: a machine without it loses what it offers, and
// nothing else.
#pragma once

#include <dlfcn.h>

#include <string>

namespace hm_cuda {

// Never closed: vendor libraries own threads and exit handlers.
class DynamicLibrary {
 public:
  explicit DynamicLibrary(const std::string& file)
      : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* why = ::dlerror();
    absence_ = why != nullptr ? why : file + " cannot be loaded";
  }

  // Why something is missing; empty while nothing is.
  const std::string& absence() const { return absence_; }

  template <class Function>
  void find(Function*& function, const char* name) {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
    if (function == nullptr && absence_.empty()) absence_ = std::string(name) + " is missing";
  }

 private:
  void* handle_;
  std::string absence_;
};

}  // namespace hm_cuda
