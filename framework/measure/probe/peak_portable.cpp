// Peak loops without intrinsics: the only ones on architectures without a file of their own.
#include "core/lists.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {
namespace {

constexpr int lanes = 64;  // enough independent chains for any vector unit of 128 to 512 bits

template <class Real>
__attribute__((noinline)) void portable_fma(std::int64_t iterations) {
  Real chains[lanes];
  for (const int lane : below(lanes)) chains[lane] = static_cast<Real>(lane);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (const int lane : below(lanes)) {
      chains[lane] = chains[lane] * Real{0.5} + Real{0.25};
    }
    asm volatile("" : : "g"(chains) : "memory");
  }
}

}  // namespace

void append_portable_paths(std::vector<PeakPath>& paths) {
  paths.push_back({"f32_vector", "", Dtype::f32, 2.0 * lanes, portable_fma<float>});
  paths.push_back({"f64_vector", "", Dtype::f64, 2.0 * lanes, portable_fma<double>});
  paths.push_back({"bf16_vector", "", Dtype::bf16, 2.0 * lanes, portable_fma<float>});
  paths.push_back({"f16_vector", "", Dtype::f16, 2.0 * lanes, portable_fma<float>});
}

}  // namespace halmark
