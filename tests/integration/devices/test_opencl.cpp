// The OpenCL backend as a person uses it, where this machine has a device of PoCL: a decoder runs
// on a part of the CPU and on OpenCL at once, and what the compiler refuses is a row.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OpenCl : public HalmarkTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(plugin_)) GTEST_SKIP() << "the opencl plugin was not built";
    base_.environment["HALMARK_PLUGIN_PATH"] += ":" + plugin_ + ":" + cpu_;
    base_.environment["POCL_CACHE_DIR"] = path("pocl");
    base_.limit_s = 200;
    know_peaks();
    const Json devices = data_of({"devices"})["devices"];
    const auto pocl = std::ranges::find_if(devices, [](const Json& d) {
      return d["id"] == "opencl:0" && d.dump().find("pthread") != std::string::npos;
    });
    if (pocl == devices.end()) GTEST_SKIP() << "no device of PoCL (pocl-opencl-icd)";
  }

  // Two layers of a decoder, executed whole; every row passed its correctness gate. What PoCL does
  // between two kernels, up to 2 us where it shares a CPU with its host, is not in its clock and
  // must be little of the shortest kernel, so the batch is large.
  double run_ns(const std::string& phase, const std::string& dtype, Arguments where) const {
    Arguments all{"run", tiny_model(), "--phase", phase,       "--batch", "4096",      "--dtype",
                  dtype, "--rounds",   "1",       "--seconds", "0.5",     "--no-store"};
    const Arguments tokens =
        phase == "decode" ? Arguments{"--context", "32"} : Arguments{"--new-tokens", "16"};
    all.insert(all.end(), tokens.begin(), tokens.end());
    all.insert(all.end(), where.begin(), where.end());
    return data_of(all)["run"]["measured_ns"];
  }

  static std::string read_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::string plugin_ = test::in_build("/lib/halmark/plugins/hm_opencl.so");
  const std::string cpu_ = test::in_build("/lib/halmark/plugins/hm_cpu.so");

  Json variants(const std::string& which) const {
    const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=16,n=64,k=64", "--dtype",
                               "f32", "--backend", "opencl", "--variants", which, "--rounds", "1",
                               "--seconds", "0.01", "--json"});
    EXPECT_THAT(o.exit_code, testing::AnyOf(0, 4)) << o.err;
    return envelope_of(o.out)["data"];
  }
};

// A copy of the plugin whose device code, text inside the file, refuses vectors of 16: where it had
// a comment, a directive of the same length stands.
TEST_F(OpenCl, what_does_not_compile_is_a_row_with_the_compilers_words) {
  std::string code = read_file(plugin_);
  std::string directive = "\n#if WIDTH == 16\n#error no vectors of 16 here\n#endif\n";
  const std::string comment =
      "// UNROLL is of the loop over k. Groups are numbered rows first: neighbours share a panel.";
  const std::size_t at = code.find(comment);
  ASSERT_NE(at, std::string::npos) << "the text of gemm_blocked.cl is not in the plugin";
  directive += "//";
  directive.resize(comment.size(), '-');
  code.replace(at, comment.size(), directive);
  base_.environment["HALMARK_PLUGIN_PATH"] = write("hm_opencl.so", code);

  int refused = 0, measured = 0;
  const Json data = variants("gemm_tiled,gemm_blocked:vector_width=8,gemm_blocked:vector_width=16");
  for (const Json& row : data["rows"]) {
    const std::string text = row.dump();
    if (row["status"] == "compile_failed") {
      EXPECT_THAT(text, AllOf(HasSubstr("WIDTH=16"), HasSubstr("no vectors of 16 here")));
      ++refused;
    } else {
      EXPECT_THAT(text, testing::Not(HasSubstr("WIDTH=16")));
      ++measured;
    }
  }
  EXPECT_GE(refused, 1) << data;
  EXPECT_GE(measured, 2) << data;
}

TEST_F(OpenCl, a_decoder_runs_on_a_part_of_the_cpu_and_an_opencl_shard) {
  if (!std::filesystem::exists(cpu_)) GTEST_SKIP() << "the cpu plugin was not built";
  if (!has_two_cores()) GTEST_SKIP() << "one core";
  EXPECT_GT(run_ns("decode", "f32", {"--shards-on", "cpu:0/2 + opencl:0/2"}), 0);
}

}  // namespace
}  // namespace halmark::integration
