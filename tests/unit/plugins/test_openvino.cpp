// The OpenVINO backend without its runtime, and on one whose device compiles nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/worker_client.hpp"
#include "kernels/contract.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::unique_ptr<Worker> worker_on(const std::string& runtime, const SharedMemory* arena = nullptr) {
  WorkerOptions options;
  options.cpus = CpuSet{};
  options.environment = {{"HALMARK_OPENVINO", runtime}};
  options.program = test::in_build("/bin/halmark-worker");
  options.arena = arena;
  auto worker = Worker::start(options);
  EXPECT_TRUE(worker) << worker.failure.reason;
  return worker ? std::move(*worker) : nullptr;
}

TEST(OpenVinoWithoutRuntime, has_no_device_and_says_what_is_not_there_and_what_gets_it) {
  const auto worker = worker_on("/nonexistent/openvino");
  ASSERT_TRUE(worker);
  const auto description = worker->load(test::in_build("/lib/halmark/plugins/hm_openvino.so"));
  ASSERT_TRUE(description) << description.failure.reason;
  EXPECT_EQ(description->name, "openvino");
  EXPECT_THAT(description->devices, IsEmpty());
  EXPECT_THAT(description->log, ElementsAre(AllOf(HasSubstr("/nonexistent/openvino"),
                                                  HasSubstr("pip install openvino"))));
}

TEST(OpenVinoWithoutRuntime, a_library_that_is_no_runtime_is_named_with_what_it_lacks) {
  const auto worker = worker_on(test::in_build("/tests/unit/plugins/libfake_nvml.so"));
  ASSERT_TRUE(worker);
  const auto description = worker->load(test::in_build("/lib/halmark/plugins/hm_openvino.so"));
  ASSERT_TRUE(description) << description.failure.reason;
  EXPECT_THAT(description->devices, IsEmpty());
  EXPECT_THAT(description->log,
              ElementsAre(AllOf(HasSubstr(test::in_build("/tests/unit/plugins/libfake_nvml.so")),
                                HasSubstr("lacks ov_get_openvino_version"))));
}

TEST(OpenVinoDevices, an_ir_that_a_device_refuses_is_compile_failed_in_its_own_words) {
  const SharedMemory arena = SharedMemory::create("halmark-test-openvino", 1 << 20, false);
  const auto worker = worker_on(test::in_build("/tests/unit/plugins/libfake_openvino.so"), &arena);
  ASSERT_TRUE(worker);
  const auto description = worker->load(test::in_build("/lib/halmark/plugins/hm_openvino.so"));
  ASSERT_TRUE(description) << description.failure.reason;
  ASSERT_THAT(description->devices, SizeIs(1));
  EXPECT_EQ(description->devices[0].id, "0");
  EXPECT_EQ(description->devices[0].name, "NPU, A fake NPU");
  EXPECT_THAT(description->devices[0].driver, HasSubstr("2099.1-fake"));
  ASSERT_TRUE(worker->open(0));
  const auto refusal = [&](std::int64_t id, const char* op, Params params) {
    protocol::Stage request;
    request.id = id;
    request.problem = complete_problem({op, std::move(params)});
    const auto staged = worker->stage(request);
    EXPECT_FALSE(staged) << op;
    EXPECT_EQ(staged.failure.status, Status::compile_failed) << op;
    return staged.failure.reason;
  };
  const std::int64_t f32 = static_cast<std::int64_t>(Dtype::f32);
  // Compiled when it is prepared, and when its weights are there.
  EXPECT_THAT(
      refusal(1, "softmax", {{"rows", 2}, {"cols", 3}, {"src_dtype", f32}, {"dst_dtype", f32}}),
      HasSubstr("no such operation here"));
  EXPECT_THAT(refusal(2, "gemm",
                      {{"m", 2},
                       {"n", 3},
                       {"k", 4},
                       {"src_dtype", f32},
                       {"wei_dtype", f32},
                       {"dst_dtype", f32}}),
              HasSubstr("no such operation here"));
  EXPECT_TRUE(worker->alive());
}

}  // namespace
}  // namespace halmark
