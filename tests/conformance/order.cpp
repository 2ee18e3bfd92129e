// The order of a trial, two instances side by side, and no growth over many trials.
#include <fstream>

#include "check.hpp"
#include "session.hpp"

namespace halmark::conformance {
namespace {

const OpUnderTest* first_op(const DeviceUnderTest& device) {
  for (const auto& op : device.ops) {
    if (!op.is_collective && !op.combinations.empty()) return &op;
  }
  return nullptr;
}

void unknown_and_dropped_ids_are_refused(Worker& worker, const OpUnderTest& op) {
  const auto request = stage_request(*op.contract, op.combinations.front().problems.front());
  EXPECT_FALSE(worker.reveal({request.id, {0}}));
  EXPECT_FALSE(worker.sample(counted(request.id, 1, 1)));
  ASSERT_TRUE(stage(worker, request));
  EXPECT_FALSE(worker.stage(request)) << "an id in use";
  EXPECT_FALSE(worker.reveal({request.id, {7}})) << "a set that was not staged";
  EXPECT_TRUE(worker.reveal({request.id, {0}}));
  EXPECT_TRUE(worker.drop(request.id));
  EXPECT_FALSE(worker.reveal({request.id, {0}}));
  EXPECT_FALSE(worker.sample(counted(request.id, 1, 1)));
  EXPECT_FALSE(worker.drop(request.id));
  EXPECT_TRUE(worker.alive());
}

// Several staged problems do not disturb each other: revealed only after all have run.
void staged_problems_live_side_by_side(Worker& worker, const OpUnderTest& op) {
  std::vector<protocol::Stage> requests;
  std::vector<protocol::Staged> answers;
  for (const auto& params : op.combinations.front().problems) {
    requests.push_back(stage_request(*op.contract, params));
    const auto staged = stage(worker, requests.back());
    if (!staged) return;
    answers.push_back(*staged);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(outputs_are_right(worker, requests[i], answers[i], {0}));
    worker.drop(requests[i].id);
  }
}

// Resident pages of the worker; nothing where /proc has none.
std::optional<double> resident_bytes(std::int64_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  double total = 0, resident = 0;
  if (!(statm >> total >> resident)) return std::nullopt;
  return resident * 4096;
}

void cycles_do_not_grow(Worker& worker, const OpUnderTest& op) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps freed memory, and looks for leaks by itself";
#endif
  const auto cycle = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto request = stage_request(*op.contract, op.combinations.front().problems.front());
      if (!stage(worker, request)) return;
      worker.drop(request.id);
    }
  };
  cycle(100);
  const auto before = resident_bytes(worker.pid());
  if (!before) GTEST_SKIP() << "/proc is not there";
  cycle(900);
  const auto after = resident_bytes(worker.pid());
  ASSERT_TRUE(after);
  // One leaked small object of 1 KiB per cycle would already show.
  EXPECT_LT(*after - *before, 900.0 * 1024);
}

void a_closed_device_opens_again(Worker& worker, const DeviceUnderTest& device,
                                 const OpUnderTest& op) {
  EXPECT_TRUE(worker.close());
  const auto opened = worker.open(device.index, device.options);
  ASSERT_TRUE(opened) << opened.failure.reason;
  const auto request = stage_request(*op.contract, op.combinations.front().problems.back());
  const auto staged = stage(worker, request);
  ASSERT_TRUE(staged);
  EXPECT_TRUE(outputs_are_right(worker, request, *staged, {0}));
  worker.drop(request.id);
}

template <class Test>
void add(const PluginUnderTest& plugin, const DeviceUnderTest& device, const OpUnderTest& op,
         const std::string& name, Test test) {
  add_test(plugin, device, name, [&plugin, &device, &op, test] {
    Worker* worker = open_worker(plugin, device);
    ASSERT_NE(worker, nullptr);
    test(*worker, op);
  });
}

}  // namespace

void register_order(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  const auto* op = first_op(device);
  if (op == nullptr) return;
  add(plugin, device, *op, "unknown_and_dropped_ids_are_refused",
      unknown_and_dropped_ids_are_refused);
  add(plugin, device, *op, "a_thousand_cycles_do_not_grow", cycles_do_not_grow);
  add(plugin, device, *op, "a_closed_device_opens_again",
      [&device](Worker& worker, const OpUnderTest& some) {
        a_closed_device_opens_again(worker, device, some);
      });
  for (const auto& each : device.ops) {
    if (each.is_collective || each.combinations.empty()) continue;
    add(plugin, device, each,
        std::string(each.contract->name()) + "_staged_problems_live_side_by_side",
        staged_problems_live_side_by_side);
  }
}

}  // namespace halmark::conformance
