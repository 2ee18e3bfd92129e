// Kernels and a device that the tests of this room share.
#pragma once

#include <cmath>

#include "kernels/contract.hpp"
#include "onboard/candidates.hpp"

namespace halmark::onboard_test {

inline Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  return complete_problem({"gemm",
                           {{"m", m},
                            {"n", n},
                            {"k", k},
                            {"src_dtype", f32},
                            {"wei_dtype", f32},
                            {"dst_dtype", f32},
                            {"wei_trans", 1}}});
}

inline onboard::Candidate candidate(const Problem& problem, double seconds = 0.1,
                                    const std::string& family = "gemm f32") {
  return {.kernel = {.problem = problem, .backend = "fake"},
          .family = family,
          .share = 0.1,
          .seconds = seconds};
}

inline Device device() {
  Device out{.id = "mine", .name = "a device", .kind = "gpu", .fingerprint = "print"};
  out.peaks = {
      {.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e13, .source = "a test"}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = 1e11, .source = "a test"}};
  return out;
}

}  // namespace halmark::onboard_test
