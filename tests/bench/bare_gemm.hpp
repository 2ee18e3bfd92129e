// The same oneDNN call in a bare loop, in a process of its own with the worker's environment and
// CPUs: what the harness is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/process/contained_process.hpp"
#include "host/process/file_descriptor.hpp"

namespace halmark::bench {

struct BareRequest {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t warm_up = 0, calls = 0;
};

// The parent's end. One thread.
class BareGemm {
 public:
  explicit BareGemm(const CpuSet& cpus);  // throws Error (exit 5)
  // Nanoseconds of each call of an f32 gemm with packed weights. Throws Error (exit 1) when the
  // child is gone.
  std::vector<double> time(const BareRequest& request);

 private:
  FileDescriptor socket_;
  std::unique_ptr<ContainedProcess> process_;
};

// The child's end: the body of main when the program was started with `bare_argument`.
inline constexpr const char* bare_argument = "--bare";
int serve_bare_gemm();

}  // namespace halmark::bench
