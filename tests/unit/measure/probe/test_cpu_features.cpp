// What this CPU has, against what its kernel says of it, and which paths follow from that.
#include "measure/probe/cpu_features.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "measure/probe/peak_kernels.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {
namespace {

// The flags of the first core; empty where the kernel lists none.
std::set<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::set<std::string> out;
    for (std::string word; words >> word;) out.insert(word);
    return out;
  }
  return {};
}

class CpuFlags : public testing::Test {
 protected:
  void SetUp() override {
    if (flags_.empty()) GTEST_SKIP() << "this kernel lists no flags";
  }
  template <class... Names>
  bool has(Names... names) const {
    return (flags_.contains(names) && ...);
  }
  bool has_avx2() const { return has("avx2", "fma"); }
  bool has_avx512() const {
    return has_avx2() && has("avx512f", "avx512bw", "avx512dq", "avx512vl");
  }
  std::set<std::string> flags_ = kernel_flags();
};

TEST_F(CpuFlags, are_those_that_the_kernel_lists) {
  const CpuFeatures found = detect_cpu_features();
  EXPECT_EQ(found.avx2_fma, has_avx2());
  EXPECT_EQ(found.avx_vnni, has_avx2() && has("avx_vnni"));
  EXPECT_EQ(found.avx512_core, has_avx512());
  EXPECT_EQ(found.avx512_vnni, has_avx512() && has("avx512_vnni"));
  EXPECT_EQ(found.avx512_bf16, has_avx512() && has("avx512_bf16"));
  EXPECT_EQ(found.avx512_fp16, has_avx512() && has("avx512_fp16"));
  EXPECT_EQ(found.amx_bf16, has("amx_tile", "amx_bf16"));
  EXPECT_EQ(found.amx_int8, has("amx_tile", "amx_int8"));
}

using Row = std::tuple<std::string, std::string, Dtype, double>;

// Twelve accumulators, twenty where there are 32 registers, two operations per product, as many
// products as an instruction's operands hold elements; types without instructions are computed in
// f32. Tiles: four products of 16 x 16 x 64 bytes.
TEST_F(CpuFlags, say_which_paths_there_are_and_what_a_turn_of_each_counts) {
  std::vector<Row> expected;
  const auto add = [&](const char* path, const char* isa, Dtype dtype, double products) {
    const double accumulators = std::string_view(isa).starts_with("avx512") ? 20 : 12;
    expected.emplace_back(path, isa, dtype, 2 * accumulators * products);
  };
  if (has_avx2()) {
    add("f32_vector", "avx2", Dtype::f32, 256 / 32);
    add("f64_vector", "avx2", Dtype::f64, 256 / 64);
    add("bf16_vector", "avx2", Dtype::bf16, 256 / 32);
    add("f16_vector", "avx2", Dtype::f16, 256 / 32);
    add("s8_vector", "avx2", Dtype::s8, 256 / 8);
    if (has("avx_vnni")) add("s8_vector", "avx2_vnni", Dtype::s8, 256 / 8);
  }
  if (has_avx512()) {
    add("f32_vector", "avx512_core", Dtype::f32, 512 / 32);
    add("f64_vector", "avx512_core", Dtype::f64, 512 / 64);
    add("bf16_vector", "avx512_core", Dtype::bf16, 512 / 32);
    add("f16_vector", "avx512_core", Dtype::f16, 512 / 32);
    add("s8_vector", "avx512_core", Dtype::s8, 512 / 8);
    if (has("avx512_vnni")) add("s8_vector", "avx512_core_vnni", Dtype::s8, 512 / 8);
    if (has("avx512_bf16")) add("bf16_vector", "avx512_core_bf16", Dtype::bf16, 512 / 16);
    if (has("avx512_fp16")) add("f16_vector", "avx512_core_fp16", Dtype::f16, 512 / 16);
  }
  if (has("amx_tile", "amx_bf16")) {
    expected.emplace_back("bf16_matrix", "avx512_core_amx", Dtype::bf16, 4 * 2.0 * 16 * 16 * 32);
  }
  if (has("amx_tile", "amx_int8")) {
    expected.emplace_back("s8_matrix", "avx512_core_amx", Dtype::s8, 4 * 2.0 * 16 * 16 * 64);
  }
  if (expected.empty()) GTEST_SKIP() << "no vector unit with a path of its own";
  std::vector<Row> found;
  for (const PeakPath& p : peak_paths()) {
    found.emplace_back(p.path, p.isa, p.dtype, p.flops_per_iteration);
    if (p.isa != "avx512_core_amx") p.run(2);
  }
  EXPECT_EQ(found, expected);
}

TEST(PortablePaths, compute_64_chains_of_each_type) {
  std::vector<PeakPath> paths;
  append_portable_paths(paths);
  std::vector<Row> found;
  for (const PeakPath& p : paths) {
    found.emplace_back(p.path, p.isa, p.dtype, p.flops_per_iteration);
    p.run(2);
  }
  EXPECT_EQ(found, (std::vector<Row>{{"f32_vector", "", Dtype::f32, 128},
                                     {"f64_vector", "", Dtype::f64, 128},
                                     {"bf16_vector", "", Dtype::bf16, 128},
                                     {"f16_vector", "", Dtype::f16, 128}}));
}

}  // namespace
}  // namespace halmark
