// Collectives that others measured, from 512 bytes to 16 GiB on switches with and without sums in
// them, on PCIe and across nodes: none is faster than its bound. The file is third-party data
// beside the checkout; without it the test says so and skips.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/json/json.hpp"
#include "kernels/contract.hpp"
#include "plan/device/device_file.hpp"
#include "roofline/ceilings.hpp"
#include "tests/checkout.hpp"
#include "tests/shared_data.hpp"

namespace halmark::roofline {
namespace {

Device device_of(const std::string& system) {
  static const std::map<std::string, std::string> ids = {
      {"A100", "a100"}, {"H100", "h100-sxm"}, {"B200", "b200"}, {"L40S", "l40s"}};
  return *find_device(ids.at(system.substr(0, 4)), {test::in_source("/configs/devices")});
}

// `bytes` of nccl-tests: the whole buffer of all_gather is what all ranks give together.
Problem problem_of(std::string op, std::int64_t bytes, std::int64_t ranks) {
  if (op == "alltoall") op = "all_to_all";
  const std::int64_t of_rank = op == "all_gather" ? bytes / ranks : bytes;
  return complete_problem(
      {op,
       {{"bytes", of_rank}, {"ranks", ranks}, {"dtype", static_cast<std::int64_t>(Dtype::bf16)}}});
}

struct Point {
  std::string what;
  double bound_us = 0, measured_us = 0;
};

class Set {
 public:
  explicit Set(const Json& set)
      : set_(set),
        device_(device_of(set["system"])),
        ceilings_(device_, 0, 1, network_of(set)),
        has_times_(set["columns"][1] == "time_us") {}

  void add_to(std::vector<Point>& out) const {
    if (set_["columns"][0] == "n_gpus") {  // of 8 GiB: once as NCCL chooses, once in a ring
      for (const Json& row : set_["points"]) {
        const std::int64_t bytes = std::int64_t{8} << 30;
        add(bytes, row[0], time_us(bytes, row[0], row[1]), out);
        add(bytes, row[0], time_us(bytes, row[0], row[2]), out);
      }
      return;
    }
    const std::int64_t ranks = set_["n_ranks"];
    for (const Json& row : set_["points"]) {
      const std::int64_t bytes = row[0];
      add(bytes, ranks, has_times_ ? row[1].get<double>() : time_us(bytes, ranks, row[1]), out);
    }
  }

 private:
  // "(P6-B200, 8x50 GB/s EFA v4 per node)": one adapter for every device of a node.
  static std::optional<double> network_of(const Json& set) {
    return set.value("nodes", 1) > 1 ? std::optional(50e9) : std::nullopt;
  }
  double time_us(std::int64_t bytes, std::int64_t ranks, double bus_gb_per_s) const {
    const Problem problem = problem_of(set_["op"], bytes, ranks);
    const Work work = find_contract(problem.op)->work(problem.params);
    return work.transfer_bytes / bus_gb_per_s / 1e3;
  }
  void add(std::int64_t bytes, std::int64_t ranks, double us, std::vector<Point>& out) const {
    const Problem problem = problem_of(set_["op"], bytes, ranks);
    const Work work = find_contract(problem.op)->work(problem.params);
    out.push_back({set_["system"].get<std::string>() + ' ' + problem.op + ' ' +
                       std::to_string(bytes) + " x" + std::to_string(ranks),
                   step_bound(problem, work, ceilings_).ns() / 1e3, us});
  }

  const Json& set_;
  Device device_;
  Ceilings ceilings_;
  bool has_times_;
};

TEST(MeasuredCollectives, none_is_faster_than_its_bound) {
  const std::filesystem::path file = test::shared_data("collectives-measured.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "data not found: " << file;
  const Json data = read_json_file(file.string());
  std::vector<Point> points;
  for (const Json& set : data["sets"]) Set(set).add_to(points);
  ASSERT_GE(points.size(), 2081u);
  double most = 0;
  for (const Point& p : points) {
    // Printed bus bandwidths have two digits behind the point.
    EXPECT_LE(p.bound_us, p.measured_us * 1.0005) << p.what;
    EXPECT_GT(p.bound_us, 0) << p.what;
    most = std::max(most, p.bound_us / p.measured_us);
  }
  EXPECT_GT(most, 0.7) << "a bound that is far from everything says nothing";
}

}  // namespace
}  // namespace halmark::roofline
