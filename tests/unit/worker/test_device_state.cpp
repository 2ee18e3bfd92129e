// What a device says of itself around a sampling, and what nobody but a worker can see behind one:
// reads that take longer, threads that go on.
#include "worker/device_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <deque>
#include <limits>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "host/nodes/node_report.hpp"
#include "host/process/contained_process.hpp"
#include "table_device.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"
#include "worker/affinity.hpp"
#include "worker/checks/loop_checks.hpp"

namespace halmark::worker {
namespace {

using test::state;
using test::TableDevice;
using testing::ElementsAre;

// What the device answers next.
hm_clocks clocks{};
bool has_clocks = true;
double energy_uj = 0;

class Around : public testing::Test {
 protected:
  Around() : device_(test::softmax) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    clocks = {};
    clocks.core_hz = clocks.memory_hz = clocks.temperature_c = clocks.power_w = unknown;
    has_clocks = true;
    energy_uj = unknown;
    device_.probe.clocks_read = [](hm_device*, hm_clocks* out, hm_error*) -> std::int32_t {
      if (!has_clocks) return HM_UNSUPPORTED;
      out->core_hz = clocks.core_hz;
      out->memory_hz = clocks.memory_hz;
      out->temperature_c = clocks.temperature_c;
      out->power_w = clocks.power_w;
      out->throttle = clocks.throttle;
      return HM_OK;
    };
    device_.probe.energy_read = [](hm_device*, double* uj, hm_error*) -> std::int32_t {
      *uj = energy_uj;
      return HM_OK;
    };
  }
  template <class Change>
  std::map<std::string, Signal> signals(Change change, double executions = 4,
                                        double busy_ns = 1e15) {
    DeviceState around(device_.device);
    around.begin();
    change();
    std::vector<Signal> out;
    around.end(executions, busy_ns, out);
    std::map<std::string, Signal> by_name;
    for (const Signal& s : out) by_name[s.name] = s;
    return by_name;
  }

  const halmark::test::ScopedVariable no_packages_{"HALMARK_POWERCAP",
                                                   "/nonexistent"};  // of this machine
  TableDevice device_;
};

TEST_F(Around, states_the_clock_before_and_after_and_the_rest_as_it_ended) {
  clocks.core_hz = 1.9e9;
  clocks.memory_hz = 1e9;
  std::map<std::string, std::optional<double>> values;
  for (const auto& [name, signal] : signals([] {
         clocks.core_hz = 1.7e9;
         clocks.memory_hz = 2e9;
         clocks.temperature_c = 61;
         clocks.power_w = 350;
       })) {
    values[name] = signal.value;
    EXPECT_EQ(signal.reason, "");
  }
  EXPECT_EQ(values, (decltype(values){{"device_clock_hz_before", 1.9e9},
                                      {"device_clock_hz_after", 1.7e9},
                                      {"device_memory_hz", 2e9},
                                      {"device_temperature_c", 61},
                                      {"device_power_w", 350},
                                      {"device_power_limited", 0},
                                      {"device_slowed_down", 0}}))
      << "of energy it knows nothing";
}

TEST_F(Around, says_by_what_it_was_slowed_down_at_either_end) {
  clocks.throttle = HM_THROTTLE_THERMAL;
  auto found = signals([] { clocks.throttle = HM_THROTTLE_HARDWARE_SLOWDOWN; });
  EXPECT_EQ(found.at("device_slowed_down").value, 1);
  EXPECT_EQ(found.at("device_slowed_down").reason, "temperature, its hardware");
  EXPECT_EQ(found.at("device_power_limited").value, 0);
  EXPECT_FALSE(found.contains("device_clock_hz_before"));
  clocks.throttle = 0;
  found = signals([] { clocks.throttle = HM_THROTTLE_POWER; });
  EXPECT_EQ(found.at("device_power_limited").value, 1);
  EXPECT_EQ(found.at("device_slowed_down").value, 0) << "a limit of power is none of damage";
  clocks.throttle = 0;
  EXPECT_TRUE(signals([] {}).empty()) << "it knows neither its clock nor of a reason";
}

TEST_F(Around, is_known_where_both_readings_are) {
  clocks.core_hz = 1e9;
  EXPECT_TRUE(signals([] { has_clocks = false; }).empty());
  EXPECT_TRUE(signals([] { has_clocks = true; }).empty());
}

// 8000 - 5000 microjoules of four executions.
TEST_F(Around, has_the_energy_of_an_execution_where_the_device_was_busy) {
  energy_uj = 5000;
  const auto found = signals([] { energy_uj = 8000; });
  EXPECT_EQ(found.at("device_energy_uj").value, 750);
  EXPECT_EQ(found.at("device_energy_uj").reason, "");
  energy_uj = 5000;
  EXPECT_TRUE(signals([] { energy_uj = 8000; }, 0).empty()) << "nothing was executed";
  energy_uj = 5000;
  EXPECT_TRUE(signals([] { energy_uj = std::numeric_limits<double>::infinity(); }).empty());
}

// 20 ms and more passed; of 1 ms in which it was busy that is less than nine tenths.
TEST_F(Around, has_no_energy_of_executions_where_the_device_idled) {
  energy_uj = 5000;
  const auto found = signals(
      [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        energy_uj = 8000;
      },
      4, 1e6);
  const Signal& energy = found.at("device_energy_uj");
  EXPECT_FALSE(energy.value);
  EXPECT_THAT(energy.reason,
              testing::MatchesRegex("the device was busy for [0-9.]+ % of the loop only"));
}

TEST(Affinity, binds_to_cpus_that_there_are) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) last = CPU_ISSET(cpu, &before) ? cpu : last;
  const halmark::test::ScopedAffinity restored;
  bind_to({last});
  cpu_set_t now;
  ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_EQ(CPU_COUNT(&now), 1);
  EXPECT_TRUE(CPU_ISSET(last, &now));
  for (const int none : {-1, CPU_SETSIZE}) EXPECT_THROW(bind_to({none}), std::invalid_argument);
  EXPECT_THROW(bind_to({CPU_SETSIZE - 1}), std::system_error);
  EXPECT_THROW(bind_to({}), std::system_error);
}

// Times that the next reads of a device take, the last of them on and on.
std::deque<double> read_ns;
ClockSource* passing = nullptr;

class Reads : public testing::Test {
 protected:
  // Memory that the host does not see: it is read through the plugin.
  explicit Reads(const Problem& problem = test::softmax) : device_(problem) {
    device_.tables.memory.wrap = nullptr;
    device_.tables.memory.read = [](hm_buffer* buffer, std::uint64_t offset, void* target,
                                    std::uint64_t bytes, hm_error*) -> std::int32_t {
      std::memcpy(target, test::of(buffer).data + offset, bytes);
      static_cast<test::ManualClock*>(passing)->now_ns += read_ns.front();
      if (read_ns.size() > 1) read_ns.pop_front();
      return HM_OK;
    };
    device_.reopen();
    passing = &device_.clock;
    state.on_enqueue = [this](const hm_launch&) -> std::int32_t {
      ++executions_;
      device_.clock.now_ns += 500;
      return HM_OK;
    };
    kernel_ = device_.stage(CacheMode::hot, 1);
  }
  // Of 2.5 ms, so that nothing but reads is looked at.
  std::map<std::string, double> signals(std::deque<double> times) {
    LoopChecks checks(*device_.context, *kernel_, {}, 2.5e6);
    read_ns = std::move(times);
    executions_ = 0;
    std::vector<Signal> out;
    checks.check_after_wait(1, out);
    std::map<std::string, double> by_name;
    for (const Signal& s : out) by_name[s.name] = s.value.value();
    by_name.erase("cpu_share_after_wait");
    return by_name;
  }

  TableDevice device_;
  std::unique_ptr<StagedKernel> kernel_;
  int executions_ = 0;
};

using Figures = std::map<std::string, double>;

// Each try reads five times: once to warm, as a control, what the host wrote, the answer, and it
// again. 500 ns are of the kernel, 1000 of the read.
TEST_F(Reads, of_an_honest_device_take_as_long_whoever_wrote) {
  EXPECT_EQ(signals({1000}), (Figures{{"read_excess_ns", 0},
                                      {"read_spread_ns", 0},
                                      {"timed_with_read_ns", 1500},
                                      {"read_ns", 1000},
                                      {"read_bytes", 512}}));
  EXPECT_EQ(executions_, 1) << "one try is enough";
}

// The first read of an answer takes 9, 8 and 7 us; the longest of the others is 1.2, 1.4 and 1 us:
// the least of 7800, 6600 and 6000, a spread of 1400 - 1000, and the shortest control.
TEST_F(Reads, of_a_device_that_works_when_it_is_read_take_longer_at_first) {
  EXPECT_EQ(signals({50'000, 1000, 1200, 9000, 1100,  //
                     50'000, 900, 1000, 8000, 1400,   //
                     50'000, 1000, 1000, 7000, 1000}),
            (Figures{{"read_excess_ns", 6000},
                     {"read_spread_ns", 400},
                     {"timed_with_read_ns", 7500},
                     {"read_ns", 900},
                     {"read_bytes", 512}}));
  EXPECT_EQ(executions_, 3);
}

TEST_F(Reads, are_tried_again_until_one_is_not_longer) {
  const auto found = signals({1000, 1000, 1000, 2000, 1000, 1000});
  EXPECT_EQ(executions_, 2);
  EXPECT_EQ(found.at("read_excess_ns"), 0);
  EXPECT_EQ(found.at("timed_with_read_ns"), 1500);
}

class LargeReads : public Reads {
 protected:
  LargeReads() : Reads(test::copy(3 << 20)) {}
};

TEST_F(LargeReads, are_of_one_mebibyte) { EXPECT_EQ(signals({1000}).at("read_bytes"), 1 << 20); }

// A clock of a process of which each gap has its share of a CPU.
class SharedClock : public ClockSource {
 public:
  explicit SharedClock(std::vector<double> shares) : shares_(std::move(shares)) {}
  double wall_ns() override { return wall_ns_; }
  // In front of a gap, and behind it.
  double cpu_ns() override {
    if (readings++ % 2 == 0) return cpu_ns_;
    const std::size_t gap = static_cast<std::size_t>(readings / 2 - 1);
    wall_ns_ += 1000;
    return cpu_ns_ += 1000 * shares_[std::min(gap, shares_.size() - 1)];
  }
  int readings = 0;

 private:
  std::vector<double> shares_;
  double wall_ns_ = 5e9, cpu_ns_ = 1e9;
};

std::pair<double, int> share_after_wait(std::vector<double> shares) {
  TableDevice device(test::softmax, 1 << 20);
  const auto kernel = device.stage(CacheMode::hot, 1);
  SharedClock clock(std::move(shares));
  DeviceContext context{*device.instance, device.device, device.stream,
                        device.memory,    clock,         device.kernels};
  LoopChecks checks(context, *kernel, {}, 2.5e6);
  std::vector<Signal> out;
  checks.check_after_wait(1, out);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(out.at(0).name, "cpu_share_after_wait");
  return {out.at(0).value.value(), clock.readings / 2};
}

TEST(IdleThreads, are_those_of_two_quiet_gaps_behind_each_other) {
  const auto [share, gaps] = share_after_wait({0.5, 0.01, 0.5, 0.02, 0.03, 0.9});
  EXPECT_NEAR(share, 0.03, 1e-9);
  EXPECT_EQ(gaps, 5);
}

TEST(IdleThreads, are_looked_for_in_twelve_gaps) {
  const auto [share, gaps] = share_after_wait({0.9, 0.5, 0.6, 0.8});
  EXPECT_NEAR(share, 0.6, 1e-9) << "of the quieter pair";
  EXPECT_EQ(gaps, 12);
  EXPECT_EQ(share_after_wait({0.05}).second, 2) << "a twentieth is quiet";
  EXPECT_EQ(share_after_wait({0.051}).second, 12);
}

TEST(WorkerProgramAlone, reports_its_node_and_its_build) {
  for (const auto& [variable, rank] : {std::pair("OMPI_COMM_WORLD_RANK", 3), {"OTHER", 0}}) {
    ProcessSpec spec;
    spec.program = halmark::test::in_build("/bin/halmark-worker");
    spec.arguments = {"--node-report", halmark::test::in_build("/tests/plugins/hm_fake.so")};
    spec.environment = {{variable, "3"}};
    const auto process = ContainedProcess::start(spec);
    const auto cause = process->wait(protocol::deadline_after(60));
    ASSERT_TRUE(cause);
    EXPECT_EQ(cause->code, 0);
    std::string said = process->log_tail();
    ASSERT_TRUE(said.ends_with('\n')) << said;
    said.pop_back();
    const auto report = parse_report(said);
    ASSERT_TRUE(report) << said;
    EXPECT_EQ(report->rank, rank);
    EXPECT_EQ(
        report->plugin_hash,
        this_node_report(0, halmark::test::in_build("/tests/plugins/hm_fake.so")).plugin_hash);
    EXPECT_EQ(report->worker_hash,
              this_node_report(0, halmark::test::in_build("/bin/halmark-worker")).plugin_hash);
  }
}

TEST(WorkerProgramAlone, that_reaches_no_door_of_a_parent_says_which) {
  ProcessSpec spec;
  spec.program = halmark::test::in_build("/bin/halmark-worker");
  spec.arguments = {"--connect-to", "127.0.0.1", "--port", "1"};
  spec.environment = {{"PMI_RANK", "2"}, {"HALMARK_GROUP_TOKEN", std::string(64, 'a')}};
  const auto process = ContainedProcess::start(spec);
  const auto cause = process->wait(protocol::deadline_after(60));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->code, 5);
  EXPECT_EQ(process->log_tail(), "halmark-worker: rank 2 cannot reach 127.0.0.1 port 1\n");
}

}  // namespace
}  // namespace halmark::worker
