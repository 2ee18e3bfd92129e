#include "openblas.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kernel.hpp"

namespace hm_cpu {
namespace {

std::string named_file() {
  const char* file = std::getenv("HALMARK_OPENBLAS");
  return file == nullptr ? "" : file;
}

// Debian keeps the builds for each kind of threads beside each other; the plain name may be any.
std::vector<std::string> candidates() {
  if (const std::string named = named_file(); !named.empty()) return {named};
  return {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
          "/usr/lib/aarch64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0",
          "libopenblas.so"};
}

struct Found {
  OpenBlas library{};
  std::string absent;  // why there is none
};

template <typename Function>
bool find(void* handle, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(::dlsym(handle, name));
  return out != nullptr;
}

// "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY USE_OPENMP Zen MAX_THREADS=128"
std::string version_in(std::string_view config) {
  const std::size_t begin = config.find_first_of("0123456789");
  if (begin == std::string_view::npos) return "unknown";
  return std::string(config.substr(begin, config.find(' ', begin) - begin));
}

// The library stays for the life of the process, whatever comes of it.
std::string read(void* handle, OpenBlas& out) {
  constexpr int of_openmp = 2;
  int (*parallel)() = nullptr;
  char* (*config)() = nullptr;
  char* (*core_name)() = nullptr;
  if (!find(handle, "cblas_sgemm", out.sgemm) || !find(handle, "cblas_sgemv", out.sgemv) ||
      !find(handle, "openblas_set_num_threads", out.set_threads) ||
      !find(handle, "openblas_get_parallel", parallel) ||
      !find(handle, "openblas_get_config", config) ||
      !find(handle, "openblas_get_corename", core_name)) {
    return "is no OpenBLAS with 32-bit integers";
  }
  if (parallel() != of_openmp) {
    return "does not use OpenMP for its threads (apt-get install libopenblas0-openmp)";
  }
  out.version = version_in(config());
  out.core_name = core_name();
  return "";
}

Found look() {
  Found found;
  found.absent =
      "OpenBLAS is not found (apt-get install libopenblas0-openmp, or HALMARK_OPENBLAS=FILE)";
  for (const std::string& file : candidates()) {
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      if (!named_file().empty()) found.absent = std::string("HALMARK_OPENBLAS: ") + ::dlerror();
      continue;
    }
    const std::string why = read(handle, found.library);
    if (why.empty()) return {found.library, ""};
    found.absent = file + ' ' + why;
  }
  return found;
}

}  // namespace

std::string OpenBlas::isa() const {
  struct Path {
    std::string_view core;
    Isa isa;
  };
  static constexpr std::array paths{Path{"Haswell", Isa::avx2}, Path{"Zen", Isa::avx2},
                                    Path{"SkylakeX", Isa::avx512}, Path{"Cooperlake", Isa::avx512},
                                    Path{"SapphireRapids", Isa::avx512}};
  for (const Path& path : paths) {
    if (core_name == path.core) return std::string(isa_key(path.isa));
  }
  return std::string(isa_key(Isa::generic));
}

const OpenBlas& openblas() {
  static const Found found = look();
  if (!found.absent.empty()) unsupported(found.absent);
  return found.library;
}

}  // namespace hm_cpu
