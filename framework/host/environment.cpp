// The environment of a contained process: an allow-list, then what measuring needs.
#include <array>
#include <string_view>

#include "host/process/contained_process.hpp"

extern char** environ;

namespace halmark {
namespace {

constexpr std::array exact_names{"PATH",
                                 "HOME",
                                 "LANG",
                                 "LC_ALL",
                                 "TMPDIR",
                                 "LD_LIBRARY_PATH",
                                 "ASAN_OPTIONS",
                                 "UBSAN_OPTIONS",
                                 "TSAN_OPTIONS",
                                 "LSAN_OPTIONS",
                                 "XDG_CACHE_HOME",
                                 "CUDA_VISIBLE_DEVICES",
                                 "CUDA_DEVICE_ORDER",
                                 "HALMARK_POWERCAP",
                                 "OPENCL_VENDOR_PATH",
                                 "HIP_VISIBLE_DEVICES",
                                 "ZE_AFFINITY_MASK",
                                 "HALMARK_OPENBLAS",
                                 "HALMARK_OPENVINO",
                                 "HALMARK_OPENVINO_IR"};
constexpr std::array prefixes{"OMP_",     "GOMP_", "OMPI_",        "PMIX_",
                              "OCL_ICD_", "POCL_", "HALMARK_FAKE_"};

bool is_allowed(std::string_view name) {
  for (std::string_view exact : exact_names) {
    if (name == exact) return true;
  }
  for (std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

Environment worker_environment(const CpuSet& cpus, const Environment& named) {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !is_allowed(text.substr(0, equals))) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  environment.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  // Threads that sleep between kernels make every short kernel pay a wake-up of 50 us; unbounded
  // spinning would steal the cores from the parent between requests. 300,000 turns are about 1 ms.
  environment.emplace("OMP_WAIT_POLICY", "active");
  environment.emplace("GOMP_SPINCOUNT", "300000");
  environment.emplace("OMP_PROC_BIND", "close");
  environment.emplace("OMP_DYNAMIC", "false");
  // The shard decides, not the caller's shell.
  if (!cpus.cpus.empty()) {
    const std::string threads = std::to_string(cpus.threads());
    environment["OMP_NUM_THREADS"] = threads;
    // PoCL would start one per CPU of the machine, which take turns on those of the shard; the name
    // is another one from version 4 on.
    environment.emplace("POCL_MAX_PTHREAD_COUNT", threads);
    environment.emplace("POCL_CPU_MAX_CU_COUNT", threads);
  }
  for (const auto& [name, value] : named) environment[name] = value;
  return environment;
}

}  // namespace halmark
