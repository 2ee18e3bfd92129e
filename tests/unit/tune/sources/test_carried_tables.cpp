// Tables beyond what they hold: sizes that nobody measured, and devices that they are not of.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "kernels/contract.hpp"
#include "plan/device/device_file.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/sources/priced_latencies.hpp"
#include "tune/sources/stated_device.hpp"

namespace halmark::tune {
namespace {

using testing::HasSubstr;

const Folders devices = {halmark::test::in_source("/configs/devices")};

TEST(StatedDevice, of_one_model_the_one_that_shares_most_words) {
  const std::vector<Device> known = known_devices(devices);
  const auto id = [&](const char* stated) {
    const auto found = stated_device(stated, known);
    return found ? found->id : std::string();
  };
  EXPECT_EQ(id("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(id("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(id("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(id("NVIDIA A100-SXM4-40GB"), "a100-sxm-40gb");
  EXPECT_EQ(id("NVIDIA L40S"), "l40s");
  EXPECT_EQ(id("NVIDIA H200"), "h200");
  EXPECT_EQ(id("NVIDIA B200"), "b200");
  EXPECT_EQ(id("NVIDIA Z900"), "");
  EXPECT_EQ(id("a machine"), "");
}

struct Rates {
  double flops_per_s = 0, bytes_per_s = 0;
};
// Of the data sheets.
constexpr Rates h100_rates = {989e12, 3.35e12}, a100_rates = {312e12, 2.039e12};

// Products at half of the rate that binds each, after 3 us.
std::string products(const std::string& stated, const Rates& rates) {
  std::string out = "device,gemm_dtype,m,n,k,latency\n";
  for (double m = 64; m <= 16384; m *= 2) {
    for (double n = 1024; n <= 8192; n *= 2) {
      for (double k = 1024; k <= 8192; k *= 2) {
        const double s = std::max(2 * m * n * k / rates.flops_per_s, 2 * n * k / rates.bytes_per_s);
        out += stated + ",bfloat16," + std::to_string(static_cast<int>(m)) + ',' +
               std::to_string(static_cast<int>(n)) + ',' + std::to_string(static_cast<int>(k)) +
               ',' + std::to_string(2e3 * s + 0.003) + '\n';
      }
    }
  }
  return out;
}

class CarriedTables : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return "imported:" + (folder_ / name);
  }
  static PricedLatencies priced(std::vector<std::string> sources, const char* device) {
    const LatencyChoice choice{
        .sources = std::move(sources), .where = "--latency", .device = device};
    return priced_latencies(choice, target_device(choice, devices), devices, std::nullopt);
  }
  static Problem product(std::int64_t m) {
    const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
    return complete_problem({"gemm",
                             {{"m", m},
                              {"n", 4096},
                              {"k", 4096},
                              {"src_dtype", bf16},
                              {"wei_dtype", bf16},
                              {"dst_dtype", bf16},
                              {"wei_trans", 1}}});
  }
  static double half_of_peak_ns(const Work& work, double flops_per_s) {
    return 2 * work.matmul_flops / flops_per_s * 1e9 + 3000;
  }
  test::ScratchFolder folder_;
};

TEST_F(CarriedTables, of_other_devices_where_that_is_asked_for) {
  const std::string h100 = write("h.csv", products("NVIDIA H100 80GB HBM3", h100_rates));
  const std::string a100 = write("a.csv", products("NVIDIA A100-SXM4-80GB", a100_rates));
  const PricedLatencies both = priced({h100, a100, "transferred"}, "l40s");
  EXPECT_TRUE(both.tables.at(0).passed_over.empty());
  EXPECT_TRUE(both.chain.has_interval());
  const Problem problem = product(3000);
  const Work work = find_contract("gemm")->work(problem.params);
  const auto carried = both.chain.latency(problem, work);
  ASSERT_TRUE(carried);
  EXPECT_THAT(carried->origin, HasSubstr("transferred from h100-sxm, a100 of h.csv: gemm bf16"));
  EXPECT_THAT(carried->reason, HasSubstr("90 % interval, of devices left out"));
  EXPECT_NEAR(carried->ns / half_of_peak_ns(work, 362.05e12), 1, 0.1);
  EXPECT_THAT(priced({h100, "transferred"}, "l40s").chain.latency(problem, work)->reason,
              HasSubstr("spread, not calibrated"));
  EXPECT_THAT(priced({h100, "interpolated", "roofline"}, "l40s").tables.at(0).passed_over,
              HasSubstr("'transferred' carries"));
}

TEST_F(CarriedTables, beyond_their_sizes_a_curve_goes_on) {
  const std::string table = write("h.csv", products("NVIDIA H100", h100_rates));
  const PricedLatencies latencies = priced({table, "interpolated"}, "h100-sxm");
  const Problem problem = product(32768);
  const Work work = find_contract("gemm")->work(problem.params);
  const auto outside = latencies.chain.latency(problem, work);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->origin, "extrapolated by efficiency curve of h.csv: gemm bf16");
  EXPECT_THAT(outside->reason, HasSubstr("90 % interval, of held-out sizes"));
  EXPECT_NEAR(outside->ns / half_of_peak_ns(work, 989e12), 1, 0.1);
}

}  // namespace
}  // namespace halmark::tune
