// A backend whose driver is not there loads, reports no device, and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/worker_client.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

protocol::PluginDescription described(const std::string& path, const Environment& environment) {
  WorkerOptions options;
  options.cpus = CpuSet{};
  options.environment = environment;
  options.program = test::in_build("/bin/halmark-worker");
  const auto worker = Worker::start(options);
  EXPECT_TRUE(worker) << worker.failure.reason;
  if (!worker) return {};
  const auto description = (*worker)->load(path);
  EXPECT_TRUE(description) << description.failure.reason;
  return description ? *description : protocol::PluginDescription{};
}

#ifdef HALMARK_HAS_OPENCL
TEST(OpenClWithoutDrivers, has_no_device_and_says_that_no_driver_is_registered) {
  // The two variables are those of the two loaders in use; both then see an empty list.
  const auto description =
      described(test::in_build("/lib/halmark/plugins/hm_opencl.so"),
                {{"OCL_ICD_VENDORS", "/nonexistent/vendors"}, {"OCL_ICD_FILENAMES", ""}});
  EXPECT_EQ(description.name, "opencl");
  EXPECT_THAT(description.devices, IsEmpty());
  EXPECT_THAT(description.log, ElementsAre(HasSubstr("no OpenCL platform")));
}
#endif

#ifdef HALMARK_HAS_CUDA
TEST(CudaWithoutDevices, has_no_device_and_says_why) {
  // Hides the devices of a machine that has some; elsewhere the driver itself is what is missing.
  const auto description = described(test::in_build("/lib/halmark/plugins/hm_cuda.so"),
                                     {{"CUDA_VISIBLE_DEVICES", "-1"}});
  EXPECT_EQ(description.name, "cuda");
  EXPECT_THAT(description.devices, IsEmpty());
  EXPECT_THAT(description.log, ElementsAre(testing::AnyOf(HasSubstr("CUDA driver is absent"),
                                                          HasSubstr("no CUDA-capable device"))));
  EXPECT_EQ(description.kernels.size(), 28u);
}
#endif

}  // namespace
}  // namespace halmark
