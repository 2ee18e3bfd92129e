// The CPU backend's product by OpenBLAS where there is none that fits, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/worker_client.hpp"
#include "kernels/contract.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What the kernel says of a small product; "" = it takes it.
std::string refusal_on(const std::string& library, Dtype dtype = Dtype::f32,
                       const Config& options = {}) {
  WorkerOptions of_worker;
  of_worker.cpus = CpuSet{};
  of_worker.environment = {{"HALMARK_OPENBLAS", library}};
  of_worker.program = test::in_build("/bin/halmark-worker");
  const auto worker = Worker::start(of_worker);
  if (!worker) return worker.failure.reason;
  if (const auto loaded = (*worker)->load(test::in_build("/lib/halmark/plugins/hm_cpu.so"));
      !loaded) {
    return loaded.failure.reason;
  }
  if (const auto opened = (*worker)->open(0, options); !opened) return opened.failure.reason;
  const auto type = static_cast<std::int64_t>(dtype);
  const Problem product = complete_problem({"gemm", Params{{"m", 4},
                                                           {"n", 8},
                                                           {"k", 16},
                                                           {"src_dtype", type},
                                                           {"wei_dtype", type},
                                                           {"dst_dtype", type}}});
  const auto answer = (*worker)->supports("gemm_openblas", product, {Config{}});
  if (!answer) return answer.failure.reason;
  return answer->status.at(0) == 0 ? "" : answer->reason.at(0);
}

TEST(OpenBlas, that_is_named_and_not_there_is_a_reason_with_the_name) {
  EXPECT_THAT(refusal_on("/nonexistent/libopenblas.so"),
              AllOf(HasSubstr("HALMARK_OPENBLAS"), HasSubstr("/nonexistent/libopenblas.so")));
}

TEST(OpenBlas, that_is_another_library_is_refused_by_what_it_is_not) {
  EXPECT_THAT(refusal_on(test::in_build("/tests/unit/plugins/libfake_nvml.so")),
              AllOf(HasSubstr(test::in_build("/tests/unit/plugins/libfake_nvml.so")),
                    HasSubstr("no OpenBLAS")));
}

TEST(OpenBlas, takes_f32_alone) {
  EXPECT_THAT(refusal_on("/nonexistent/libopenblas.so", Dtype::bf16), HasSubstr("f32"));
}

#if defined(__x86_64__)  // elsewhere no ceiling lowers anything
// It would compute with instructions that the ceiling excludes.
TEST(OpenBlas, is_not_offered_below_the_instructions_of_the_machine) {
  Config no_vectors;
  no_vectors.params.set("isa", 0);
  EXPECT_THAT(refusal_on("/nonexistent/libopenblas.so", Dtype::f32, no_vectors),
              HasSubstr("ceiling"));
}
#endif

}  // namespace
}  // namespace halmark
