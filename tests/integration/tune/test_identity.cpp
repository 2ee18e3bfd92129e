// A sweep on one core is no sweep on two: commands under taskset(1), and what the same database and
// device files then give on all cores, and the other way round.
#include <sched.h>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class Identity : public HalmarkTest {
 protected:
  void SetUp() override {
    if (!found_program("taskset")) GTEST_SKIP() << "taskset (util-linux) is not installed";
    if (!has_two_cores()) GTEST_SKIP() << "one core is all that there is";
    base_.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu;latency_ns=200000";
    tiny_sweep("fake", "shards = [1]");
  }

  // As an operator binds a command to one core.
  Outcome on_one_core(Arguments arguments) const {
    Launch out = launch(std::move(arguments));
    const Arguments bound = {*found_program("taskset"), "-c", std::to_string(first_cpu())};
    out.arguments.insert(out.arguments.begin(), bound.begin(), bound.end());
    return run(out);
  }
  static int first_cpu() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
    return cpu;
  }
  std::string fingerprint_in(const std::string& doctor) const {
    const std::string label = "fingerprint: ";
    const auto begin = doctor.find(label);
    return begin == std::string::npos ? "" : doctor.substr(begin + label.size(), 4 + 16 + 1 + 8);
  }
  std::int64_t runs() const { return sql_count(path("r.db"), "SELECT count(*) FROM run"); }
  std::int64_t rows(int run) const {
    return sql_count(
        path("r.db"),
        "SELECT count(*) FROM entry WHERE kind = 'measurement' AND run =" + std::to_string(run));
  }
};

TEST_F(Identity, a_sweep_of_one_core_is_neither_resumed_nor_taken_for_one_of_two) {
  const Arguments tune = {"tune", "tiny.toml", "--db", "r.db", "--json"};
  const Outcome one = undisturbed([&] { return on_one_core(tune); });
  ASSERT_EQ(one.exit_code, 0) << one.out << one.err;
  const std::int64_t measured = rows(1);
  ASSERT_GT(measured, 0);
  const Outcome two = undisturbed(tune);
  ASSERT_EQ(two.exit_code, 0) << two.out << two.err;
  EXPECT_EQ(runs(), 2) << "the run of one core was resumed on two";
  EXPECT_EQ(rows(2), measured) << "its rows were taken over";
  EXPECT_EQ(rows(1), measured);
  EXPECT_THAT(envelope_of(two.out)["data"]["notes"].dump(), Not(HasSubstr("stored figures")));
  EXPECT_NE(sql(path("r.db"), "SELECT fingerprint FROM run WHERE id = 1"),
            sql(path("r.db"), "SELECT fingerprint FROM run WHERE id = 2"));
  // Each goes on where it was measured.
  EXPECT_EQ(on_one_core(tune).exit_code, 0);
  EXPECT_EQ(halmark(tune).exit_code, 0);
  EXPECT_EQ(runs(), 2);
  // A report of the one core says which it was, also where two are.
  sql(path("r.db"), "UPDATE run SET plan_text = '' WHERE id = 2");
  const Outcome report = halmark({"report", "--db", "r.db", "--json"});
  EXPECT_THAT(envelope_of(report.out)["data"]["machine"].dump(),
              HasSubstr("cores in use: " + std::to_string(first_cpu()) + ", 1 cores"));
}

TEST_F(Identity, a_sweep_of_one_core_prices_nothing_on_two) {
  const Arguments tune = {"tune", "tiny.toml", "--db", "r.db"};
  ASSERT_EQ(undisturbed([&] { return on_one_core(tune); }).exit_code, 0);
  const std::string file = know_peaks(R"(
[[peak]]
path = "f32_vector"
dtype = "f32"
threads = 2
flops_per_s = 1e15
source = "a test"
[[bandwidth]]
level = "memory"
threads = 2
bytes_per_s = 1e15
working_set_bytes = 33554432
source = "a test"
)");
  const Outcome o = halmark({"tune", "tiny.toml", "--latency", "journal:r.db", "--device-file",
                             path(file), "--db", "s.db"});
  EXPECT_EQ(o.exit_code, 2) << o.out << o.err;
  EXPECT_THAT(o.err, HasSubstr("was measured on"));
  EXPECT_TRUE(is_one_line(o.err));
}

TEST_F(Identity, peaks_of_one_core_replace_none_of_the_machine_and_the_other_way_round) {
  const std::string file = know_peaks();
  EXPECT_THAT(halmark({"doctor"}).out, Not(HasSubstr("none yet")));
  const Outcome doctor = on_one_core({"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("none yet")) << "peaks of two cores are no peaks of one";
  const std::string one = fingerprint_in(doctor.out), two = fingerprint_in(halmark({"doctor"}).out);
  EXPECT_NE(one, two);
  EXPECT_EQ(one.substr(one.find('@')), two.substr(two.find('@'))) << "one host";
  const std::string before = read(file);
  const Outcome over = on_one_core({"peaks", "--out", path(file)});
  EXPECT_EQ(over.exit_code, 2) << over.out << over.err;
  EXPECT_THAT(over.err, HasSubstr(two));
  EXPECT_TRUE(is_one_line(over.err));
  EXPECT_EQ(read(file), before);
}

// A database of version 0.1 has the fingerprint of the whole machine; only its rows say on which
// cores they are.
TEST_F(Identity, a_run_under_an_earlier_fingerprint_goes_on_where_its_rows_prove_the_cores) {
  const Arguments tune = {"tune", "tiny.toml", "--db", "r.db", "--json"};
  const std::string earlier = envelope_of(halmark({"doctor", "--json"}).out)["data"].dump();
  const std::string label = "earlier versions: ";
  ASSERT_NE(earlier.find(label), std::string::npos) << earlier;
  const std::string old = earlier.substr(earlier.find(label) + label.size(), 20);
  ASSERT_EQ(undisturbed(tune).exit_code, 0);
  sql(path("r.db"), "UPDATE run SET fingerprint = '" + old + "'");
  test::rehash(path("r.db"));
  ASSERT_EQ(halmark(tune).exit_code, 0);
  EXPECT_EQ(runs(), 1) << "its rows were measured on all cores";
  EXPECT_EQ(undisturbed([&] { return on_one_core(tune); }).exit_code, 0);
  EXPECT_EQ(runs(), 2) << "and not on one";
}

}  // namespace
}  // namespace halmark::integration
