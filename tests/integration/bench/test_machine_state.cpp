// The state of the machine through the program: peaks of a slower minute, times that no machine
// has, and the bandwidth beside each row. The fake plugin says that its device is this machine's
// CPU.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

// What a minute may have shown in which other guests used all of the memory: 1 kB/s.
constexpr const char* slow_memory = R"(
ring_plateau_bytes = 67108864

[[bandwidth]]
level = "memory"
threads = 1
bytes_per_s = 1e3
working_set_bytes = 33554432
source = "measured 2026-11-22T09:00:00Z, read"
)";

class MachineState : public HalmarkTest {
 protected:
  MachineState() { gate_as_users_do(); }
  Json bench(const std::string& script, const std::string& params, int exit_code) {
    base_.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu" + script;
    const Outcome o =
        halmark({"bench", "--op", "gemm", "--params", params, "--dtype", "f32", "--backend", "fake",
                 "--rounds", "1", "--sets", "1", "--store", "--db", path("a.db"), "--json"});
    EXPECT_EQ(o.exit_code, exit_code) << o.out << o.err;
    return envelope_of(o.out)["data"]["rows"][0];
  }
};

TEST_F(MachineState, a_row_above_a_peak_of_a_slower_minute_is_right_and_the_peak_is_refined) {
  const std::string file = know_peaks(slow_memory);
  const Json row = bench("", "m=8,n=256,k=256", 0);
  EXPECT_TRUE(row["status"] == "ok" || row["status"] == "suspect" || row["status"] == "invalid")
      << row;
  // The device file has the occasion, and what the run used is stored with it.
  EXPECT_NE(read(file).find("[[bandwidth.occasion]]"), std::string::npos) << read(file);
  EXPECT_EQ(sql(path("a.db"),
                "SELECT body LIKE '%[[bandwidth.occasion]]%' FROM entry WHERE kind = "
                "'peaks' ORDER BY id DESC LIMIT 1"),
            "1");
  EXPECT_EQ(sql(path("a.db"),
                "SELECT body LIKE '%\"fresh_probe\"%' FROM entry WHERE kind = "
                "'measurement'"),
            "1");
  // A second run starts from the refined figure and needs no probe.
  (void)bench("", "m=8,n=256,k=256", 0);
  EXPECT_EQ(sql_count(path("a.db"),
                      "SELECT count(*) FROM entry WHERE kind = 'measurement' AND body "
                      "LIKE '%\"fresh_probe\"%'"),
            1);
}

TEST_F(MachineState, a_time_that_no_machine_has_stays_quarantined_through_the_program) {
  know_peaks(slow_memory);
  const Json row = bench(";memoise=1", "m=1,n=2048,k=2048", 4);
  EXPECT_EQ(row["status"], "quarantined");
  const std::string reason = row["reason"];
  EXPECT_TRUE(reason.starts_with("faster_than_roofline")) << reason;
  EXPECT_NE(reason.find(" before, "), std::string::npos) << reason;
  EXPECT_NE(reason.find(" in a fresh probe"), std::string::npos) << reason;
}

// Whatever a device calls itself: what the clock of the host times runs on this machine.
TEST_F(MachineState,
       a_time_that_no_machine_has_is_quarantined_for_every_backend_of_the_host_clock) {
  know_peaks(slow_memory);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "memoise=1";
  const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=1,n=2048,k=2048", "--dtype",
                             "f32", "--backend", "fake", "--rounds", "1", "--sets", "1", "--json"});
  EXPECT_EQ(o.exit_code, 4) << o.out << o.err;
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  EXPECT_EQ(row["status"], "quarantined");
  EXPECT_TRUE(row["reason"].get<std::string>().starts_with("faster_than_roofline")) << row;
}

// One wrong element from the second call on, and one row in ten: no first answer shows them.
TEST_F(MachineState, answers_that_turn_wrong_later_are_no_times_through_the_program) {
  for (const std::string fault : {"last_element_later", "every_tenth"}) {
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=60000;wrong=" + fault;
    const Outcome o = halmark({"bench", "--op", "gemm", "--params", "m=8,n=24,k=16", "--dtype",
                               "f32", "--backend", "fake", "--rounds", "1", "--json"});
    EXPECT_EQ(o.exit_code, 6) << o.out << o.err;
    EXPECT_EQ(envelope_of(o.out)["data"]["rows"][0]["status"], "wrong_result") << fault;
  }
}

TEST_F(MachineState, the_bandwidth_stands_beside_each_row) {
  know_peaks(slow_memory);
  const Json row = bench("", "m=8,n=256,k=256", 0);
  EXPECT_TRUE(is_figure_or_has_reason(row, "bandwidth_share"));
  EXPECT_EQ(sql(path("a.db"),
                "SELECT json_extract(body, '$.bandwidth_before') > 1e8 FROM entry "
                "WHERE kind = 'measurement'"),
            "1");
}

TEST_F(MachineState, a_tune_stores_the_peaks_that_it_used_and_its_report_is_made_with_those) {
  const std::string file = know_peaks(slow_memory);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu";
  const Outcome o = halmark({"tune", tiny_sweep("fake"), "--db", path("a.db"), "--json"});
  ASSERT_TRUE(o.exit_code == 0 || o.exit_code == 4) << o.out << o.err;
  EXPECT_GE(sql_count(path("a.db"), "SELECT count(*) FROM entry WHERE kind = 'peaks'"), 2);
  const Json of_run = envelope_of(o.out)["data"]["device"];
  ASSERT_TRUE(of_run.is_object());
  // Whatever the machine's file says later.
  write(file, read(file) + "\n[[bandwidth]]\nlevel = \"l1\"\nbytes_per_s = 1e12\nsource = \"x\"\n");
  const Json later = data_of({"report", "--db", path("a.db")});
  EXPECT_EQ(later["device"], of_run);
  EXPECT_TRUE(later["bandwidth_share"].is_object()) << later["bandwidth_share_reason"];
}

TEST_F(MachineState, devices_shows_the_best_of_the_occasions_and_how_sure_it_is) {
  EXPECT_TRUE(data_of({"devices"})["peaks"].is_null());
  know_peaks(slow_memory);
  (void)bench("", "m=8,n=256,k=256", 0);
  const Json bandwidths = data_of({"devices"})["peaks"]["bandwidths"];
  ASSERT_FALSE(bandwidths.empty());
  for (const Json& b : bandwidths) {
    EXPECT_EQ(b["level"], "memory");
    EXPECT_GT(b["bytes_per_s"], 0);
  }
  // The one of the file has none yet; what the run saw is the last.
  const Json& seen = bandwidths.back();
  ASSERT_EQ(seen["occasions"].size(), 1U);
  EXPECT_TRUE(seen["provisional"]);
  EXPECT_GE(seen["occasions"][0]["probes"], 5);
  EXPECT_THAT(halmark({"devices"}).out, testing::HasSubstr("provisional"));
}

TEST_F(MachineState, peaks_of_another_device_than_the_cpu_are_left_alone) {
  const std::string file = know_peaks(slow_memory);
  const std::string before = read(file);
  base_.environment["HALMARK_FAKE_SCRIPT"] = "timer=device_event;latency_ns=3000000";
  (void)data_of({"bench", "--op", "gemm", "--params", "m=8,n=256,k=256", "--dtype", "f32",
                 "--backend", "fake", "--rounds", "1"});
  EXPECT_EQ(read(file), before);
}

}  // namespace
}  // namespace halmark::integration
