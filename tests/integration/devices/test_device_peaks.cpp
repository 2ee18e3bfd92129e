// A device apart from the CPU is judged by what its plugin's own kernels reach and by its own
// datasheet. The fake device scripts the time of an execution, so that its rates are known.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DevicePeaks : public HalmarkTest {
 protected:
  DevicePeaks() { base_.limit_s = 200; }
  void script(const std::string& more) {
    base_.environment["HALMARK_FAKE_SCRIPT"] =
        "timer=device_event;unsupported=gemm;memory_bytes=67108864;" + more;
  }
  Json peaks() { return data_of({"peaks", "--backend", "fake", "--json"}); }
};

TEST_F(DevicePeaks, are_those_of_its_own_copies_and_multiply_adds) {
  script("kind=gpu;device_name=h200;latency_ns=20000000");
  const Json data = peaks();
  EXPECT_EQ(data["id"], "fake:0");
  // 8 MiB, an eighth of the device's memory, read and written in 20 ms.
  ASSERT_EQ(data["bandwidths"].size(), 1);
  EXPECT_NEAR(data["bandwidths"][0]["bytes_per_s"].get<double>(), 2 * 8388608 / 0.02, 4e5);
  ASSERT_EQ(data["peaks"].size(), 3) << data["peaks"];
  EXPECT_EQ(data["peaks"][0]["path"], "f32_vector");
  // 16,384 lanes, 1,024 multiply-adds each.
  EXPECT_NEAR(data["peaks"][0]["flops_per_s"].get<double>(), 2.0 * 16384 * 1024 / 0.02, 4e6);
  // The datasheet of what the driver calls it; the fake device states no clock.
  EXPECT_EQ(data["peaks"][0]["flops_per_s_high"], 66.9e12);
  EXPECT_EQ(data["bandwidths"][0]["bytes_per_s_high"], 4.8e12);
  EXPECT_THAT(data["notes"].dump(), HasSubstr("gemm")) << "what was refused is said";
  // Another device's rows know nothing of it, the CPU's peaks are untouched.
  EXPECT_THAT(halmark({"doctor"}).out, HasSubstr("none yet"));
}

TEST_F(DevicePeaks, judge_its_rows_and_no_figure_of_the_cpu_does) {
  know_peaks(R"(
[[peak]]
path = "f32_vector"
dtype = "f32"
threads = 2
flops_per_s = 1e6
source = "a test"
)");
  const auto row_at = [&](const std::string& latency_ns) {
    base_.environment["HALMARK_FAKE_SCRIPT"] =
        "timer=device_event;kind=gpu;memory_bytes=67108864;latency_ns=" + latency_ns;
    const Outcome o = halmark({"bench", "--backend", "fake", "--op", "gemm", "--params",
                               "m=64,n=64,k=64", "--dtype", "f32", "--rounds", "1", "--json"});
    return envelope_of(o.out)["data"]["rows"][0];
  };
  // 2.1 GFLOP/s.
  const Json before = row_at("250000");
  EXPECT_NE(before["status"], "quarantined") << before << "\nthe CPU's 1 MFLOP/s bounds no device";
  script("kind=gpu;latency_ns=20000000");
  peaks();  // 1.7 GFLOP/s
  EXPECT_NE(row_at("500000")["status"], "quarantined");
  const Json after = row_at("250000");
  EXPECT_EQ(after["status"], "quarantined") << after;
  EXPECT_THAT(after["reason"].dump(), HasSubstr("halmark peaks --backend fake --device 0"));
}

// What a plugin states of its device stands in each row, and judges it in place of the CPU's clock.
TEST_F(DevicePeaks, rows_have_the_clock_and_the_energy_that_the_device_states) {
  const auto row_with = [&](const std::string& state) {
    script("kind=gpu;latency_ns=20000000;" + state);
    const Outcome o =
        halmark({"bench", "--backend", "fake", "--op", "copy", "--params", "bytes=65536", "--dtype",
                 "u8", "--rounds", "1", "--json", "--db", "r.db"});
    return envelope_of(o.out)["data"]["rows"][0];
  };
  const auto stored = [&](const std::string& name) {
    for (const Json& signal :
         Json::parse(sql(path("r.db"),
                         "SELECT json_extract(body, '$.signals') FROM entry WHERE kind = "
                         "'measurement' ORDER BY id DESC LIMIT 1"))) {
      if (signal["name"] == name && signal["value"].is_number())
        return signal["value"].get<double>();
    }
    return 0.0;
  };
  row_with("core_hz=1980000000;watts=500");
  EXPECT_EQ(stored("device_clock_hz_before"), 1.98e9);
  // 500 W for 20 ms, and for the little that there is between intervals.
  EXPECT_GT(stored("device_energy_uj"), 10e6 * 0.99);
  EXPECT_LT(stored("device_energy_uj"), 10e6 / 0.9 * 1.05);
  row_with("core_hz=1980000000");
  EXPECT_EQ(stored("device_energy_uj"), 0) << "what is not stated is absent";
  const Json hot = row_with("core_hz=1980000000;throttle=2");
  EXPECT_EQ(hot["status"], "suspect");
  EXPECT_THAT(hot["reason"].dump(), HasSubstr("slowed down by temperature"));
  EXPECT_THAT(row_with("core_hz=1980000000;throttle=1")["reason"].dump(), Not(HasSubstr("slowed")));
  EXPECT_EQ(stored("device_power_limited"), 1) << "usual, and said";
  const Json slower = row_with("core_hz=1980000000;core_hz_later=1400000000");
  EXPECT_THAT(slower["reason"].dump(), HasSubstr("device clock moved by"));
}

// A sweep is planned with the device's own memory and as one shard, whatever the host has. Kernels
// crash: the plan is all that is looked at.
TEST_F(DevicePeaks, of_the_host_and_its_cores_plan_no_sweep_of_a_card) {
  tiny_sweep("fake");
  const auto tune = [&](const std::string& memory_bytes) {
    base_.environment["HALMARK_FAKE_SCRIPT"] =
        "timer=device_event;kind=gpu;crash=prepare;memory_bytes=" + memory_bytes;
    return halmark({"tune", "tiny.toml", "--db", "r.db"});
  };
  const Outcome small = tune("4096");
  EXPECT_EQ(small.exit_code, 3) << small.out << small.err;
  EXPECT_THAT(small.err, HasSubstr("no configuration of this sweep is possible here"));
  EXPECT_FALSE(std::filesystem::exists(path("r.db"))) << "refused before anything is written";
  const Outcome large = tune("17179869184");
  EXPECT_THAT(large.err, AllOf(HasSubstr("2 configurations"), Not(HasSubstr("tp2"))))
      << "batches of one and two, on one device";
}

TEST_F(DevicePeaks, are_refused_of_what_the_hosts_clock_times) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "kind=gpu";
  const Outcome o = halmark({"peaks", "--backend", "fake"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, AllOf(HasSubstr("host's clock"), HasSubstr("without --backend")));
  const Outcome absent = halmark({"peaks", "--backend", "fake", "--device", "7"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, HasSubstr("has no device '7'"));
}

// A device that is not here is refused before anything is measured or written, of the CPU too.
TEST_F(DevicePeaks, of_a_device_that_is_not_here_are_refused) {
  const Outcome o = halmark({"peaks", "--device", "h100", "--out", path("peaks.toml")});
  EXPECT_EQ(o.exit_code, 2) << o.out;
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, AllOf(HasSubstr("has no device 'h100'"), HasSubstr("known: 0")));
  EXPECT_FALSE(std::filesystem::exists(path("peaks.toml")));
}

TEST_F(DevicePeaks, without_any_kernel_that_works_are_one_line) {
  script("kind=gpu;crash=prepare");
  const Outcome o = halmark({"peaks", "--backend", "fake"});
  EXPECT_EQ(o.exit_code, 5) << o.out << o.err;
  EXPECT_THAT(o.err, AllOf(HasSubstr("gave a peak"), Not(HasSubstr("defect"))));
}

}  // namespace
}  // namespace halmark::integration
