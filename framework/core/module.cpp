#include "core/module.hpp"

#include <dlfcn.h>

#include "core/text/error.hpp"

namespace halmark {

void* module_symbol(const std::string& module, const char* symbol) {
  const std::string file = "halmark_" + module + ".so";
  // By the path that programs of this installation carry, else where a program that links the
  // installed library finds it.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    handle = ::dlopen((HALMARK_MODULE_FOLDER "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  void* const out = handle != nullptr ? ::dlsym(handle, symbol) : nullptr;
  if (out == nullptr) {
    throw unfit("a part of halmark cannot be opened: " + std::string(::dlerror()),
                "install what is missing, or reinstall halmark");
  }
  return out;
}

}  // namespace halmark
