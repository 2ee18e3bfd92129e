// Devices with a clock of their own: what it says fits into the host's interval, held or not, and a
// flush of the caches changes no output.
#include <cmath>

#include "check.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

// Two clocks that tick at slightly different rates.
constexpr double clock_tolerance = 1.01;

void device_time_fits_the_wall(Worker& worker, const OpContract& contract, const Params& params) {
  const auto request = stage_request(contract, params, {.sets = 2});
  if (!stage(worker, request)) return;
  // 300 are more than a stream is held for.
  for (const std::int64_t repeat : {1, 8, 300}) {
    const auto answer = worker.sample(counted(request.id, 3, repeat));
    ASSERT_TRUE(answer) << answer.failure.reason;
    ASSERT_EQ(answer->samples.size(), 3u);
    for (const auto& sample : answer->samples) {
      ASSERT_TRUE(sample.device_ns.has_value()) << title(request.problem) << " repeat " << repeat;
      EXPECT_GT(*sample.device_ns, 0) << title(request.problem) << " repeat " << repeat;
      EXPECT_LE(*sample.device_ns, clock_tolerance * sample.wall_ns)
          << title(request.problem) << " repeat " << repeat;
    }
  }
  worker.drop(request.id);
}

void flushed_samples_are_right(Worker& worker, const OpContract& contract, const Params& params) {
  const auto request = stage_request(contract, params, {.mode = CacheMode::flush});
  const auto staged = stage(worker, request);
  if (!staged) return;
  const auto answer = worker.sample(counted(request.id, 2, 1));
  ASSERT_TRUE(answer) << answer.failure.reason;
  EXPECT_EQ(answer->samples.size(), 2u);
  EXPECT_TRUE(outputs_are_right(worker, request, *staged, {0}));
  worker.drop(request.id);
}

using Test = void (*)(Worker&, const OpContract&, const Params&);

// On the smallest problem: hundreds of executions of a large one would take longer than a sample
// may.
void add(const PluginUnderTest& plugin, const DeviceUnderTest& device, const OpUnderTest& op,
         const std::string& name, Test test) {
  add_test(plugin, device, std::string(op.contract->name()) + "_" + name,
           [&plugin, &device, &op, test] {
             Worker* worker = open_worker(plugin, device);
             ASSERT_NE(worker, nullptr);
             test(*worker, *op.contract, op.combinations.front().problems.front());
           });
}

}  // namespace

void register_timing(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  if (device.description.timer != protocol::Timer::device_event) return;
  for (const auto& op : device.ops) {
    if (op.is_collective || op.combinations.empty()) continue;
    add(plugin, device, op, "device_time_fits_the_wall", device_time_fits_the_wall);
    add(plugin, device, op, "flushed_samples_are_right", flushed_samples_are_right);
  }
}

}  // namespace halmark::conformance
