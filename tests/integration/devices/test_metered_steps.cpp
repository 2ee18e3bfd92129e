// What the kernels of a step draw, by the meter of its devices.
#include <atomic>
#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "shards_on_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The power zones of a machine whose one package draws the same at all times.
class FakePackage {
 public:
  FakePackage(const std::filesystem::path& root, double watts, double first_uj, double range_uj)
      : zone_(root / "intel-rapl:0"), watts_(watts), uj_(first_uj), range_uj_(range_uj) {
    std::filesystem::create_directories(zone_);
    write("max_energy_range_uj", range_uj_);
    write("energy_uj", uj_);
    thread_ = std::thread([this] { count(); });
  }
  ~FakePackage() {
    stops_ = true;
    thread_.join();
  }

 private:
  // Renamed into place: a reader never meets half a number.
  void write(const std::string& name, double value) const {
    const std::filesystem::path next = zone_ / (name + ".next");
    std::ofstream(next) << static_cast<long long>(value) << '\n';
    std::filesystem::rename(next, zone_ / name);
  }
  void count() {
    auto before = std::chrono::steady_clock::now();
    while (!stops_) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      const auto now = std::chrono::steady_clock::now();
      uj_ += watts_ * std::chrono::duration<double, std::micro>(now - before).count();
      while (uj_ > range_uj_) uj_ -= range_uj_;
      before = now;
      write("energy_uj", uj_);
    }
  }

  std::filesystem::path zone_;
  double watts_, uj_, range_uj_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

class MeteredSteps : public ShardsOn {
 protected:
  // Energy of the first configuration of a sweep whose objective it is.
  Json energy(const std::string& shards_on) {
    const Json data = data_of(
        {"tune", placed_sweep(shards_on, "objectives = [\"latency\", \"energy\"]\n"), "--again"});
    estimate_ = data["evaluations"][0]["estimate"];
    return estimate_["energy"];
  }
  Json estimate_;
};

// 50 W while the kernels of a step take their time, whichever way the counter goes.
TEST_F(MeteredSteps, packages_of_the_cpu_are_read_and_unrolled) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=20000000;kind=cpu";
  base_.environment["HALMARK_POWERCAP"] = path("powercap");
  // Wraps around every two seconds.
  const FakePackage package(path("powercap"), 50, 99e6, 100e6);
  const Json found = energy("\"fake:0\"");
  EXPECT_EQ(found["measured"], true) << estimate_;
  EXPECT_EQ(found["origin"], "measured: rapl");
  const double watts = found["joules"].get<double>() / (estimate_["step_ns"].get<double>() * 1e-9);
  EXPECT_NEAR(watts, 50, 7.5);
}

TEST_F(MeteredSteps, the_report_says_what_a_step_draws_and_by_which_meter) {
  base_.environment["HALMARK_FAKE_SCRIPT"] =
      "latency_ns=5000000;timer=device_event;kind=gpu;watts=200";
  const Outcome o = halmark(
      {"tune", placed_sweep("\"fake:0\"", "objectives = [\"energy\"]\n"), "--color", "never"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("J a step"), HasSubstr("J/token, measured: fake:0"),
                           HasSubstr("on fake:0")));
}

// 200 W while the kernels of the step take their time.
TEST_F(MeteredSteps, a_run_says_what_its_kernels_drew) {
  base_.environment["HALMARK_FAKE_SCRIPT"] =
      "latency_ns=5000000;timer=device_event;kind=gpu;watts=200";
  const Outcome o = halmark({"run", tiny_model(), "--phase", "decode", "--batch", "2", "--context",
                             "32", "--dtype", "f32", "--shards-on", "fake:0", "--rounds", "1",
                             "--seconds", "0.2", "--no-store", "--color", "never"});
  std::smatch step, energy;
  ASSERT_TRUE(std::regex_search(o.out, step, std::regex("\nstep ([0-9.]+) ms "))) << o.out;
  const std::regex drawn(
      "energy of its kernels: ([0-9.]+) J a step, [0-9.]+ [mk]?J/token, measured: fake:0\n");
  ASSERT_TRUE(std::regex_search(o.out, energy, drawn)) << o.out;
  EXPECT_NEAR(std::stod(energy[1]) / (std::stod(step[1]) * 1e-3), 200, 30);
}

TEST_F(MeteredSteps, a_plugins_meter_is_read_and_ranks_add_up) {
  base_.environment["HALMARK_FAKE_SCRIPT"] =
      "latency_ns=10000000;timer=device_event;kind=gpu;watts=200;devices=2";
  const Json found = energy("\"fake:0 + fake:1\"");
  EXPECT_EQ(found["origin"], "measured: fake:0 fake:1") << estimate_;
  const double watts = found["joules"].get<double>() / (estimate_["step_ns"].get<double>() * 1e-9);
  EXPECT_NEAR(watts, 400, 60);
}

TEST_F(MeteredSteps, without_a_meter_power_times_time_says_that_it_is_assumed) {
  base_.environment["HALMARK_POWERCAP"] = path("nowhere");
  base_.environment["HALMARK_FAKE_SCRIPT"] =
      "latency_ns=1000000;timer=device_event;kind=gpu;device_name=h200";
  const Json found = energy("\"fake:0\"");
  EXPECT_EQ(found["measured"], false) << estimate_;
  EXPECT_EQ(found["origin"], "assumed: 700 W of h200 all the time");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=1000000";
  // Where the machine's own CPU has a datasheet, its power is known.
  if (const Json other = energy("\"fake:0\""); other.is_null()) {
    EXPECT_THAT(estimate_["energy_reason"].dump(), HasSubstr("no meter was read"));
  } else {
    EXPECT_THAT(other["origin"].dump(), HasSubstr("assumed"));
  }
}

}  // namespace
}  // namespace halmark::integration
