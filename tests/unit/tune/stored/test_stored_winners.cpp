// Winners and nights as a database has them: the latest of each question and build counts, and a
// night goes on until it is closed.
#include <gmock/gmock.h>

#include <chrono>

#include "journal/store.hpp"
#include "kernels/contract.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/evaluate/agreement/night_duets.hpp"
#include "tune/evaluate/agreement/night_run.hpp"
#include "tune/stored/stored_winners.hpp"
#include "tune/stored/variant_comparison.hpp"

namespace halmark::tune {
namespace {

constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);

KernelCase question(std::int64_t m) {
  KernelCase out;
  out.problem = complete_problem({"gemm",
                                  {{"m", m},
                                   {"n", 64},
                                   {"k", 64},
                                   {"src_dtype", f32},
                                   {"wei_dtype", f32},
                                   {"dst_dtype", f32}}});
  out.backend = "cpu";
  return out;
}

Winner winner(std::int64_t m, const std::string& kernel, const std::string& build) {
  Winner out{.question = question(m), .plugin_name = "cpu", .plugin_hash = build};
  out.chosen.kernel = kernel;
  out.variants = {{.variant = out.chosen, .ns = 10, .is_tied = true}};
  return out;
}

class StoredWinners : public testing::Test {
 protected:
  std::int64_t begin(const std::string& fingerprint,
                     const std::string& utc = "2026-01-02T03:04:05Z") {
    return store_->begin_run({.command = "halmark bench",
                              .fingerprint = fingerprint,
                              .tool_version = "0.1",
                              .tool_build = "b",
                              .started_utc = utc});
  }
  MachineIdentity here() const {
    MachineIdentity out;
    out.fingerprint = "here";
    return out;
  }
  std::vector<std::string> kernels(const std::vector<report::StoredWinner>& winners) const {
    std::vector<std::string> out;
    for (const auto& w : winners) out.push_back(w.winner.chosen.kernel);
    return out;
  }

  test::ScratchFolder folder_;
  std::unique_ptr<Store> store_ = open_store((folder_.path() / "results.db").string());
};

TEST_F(StoredWinners, of_each_question_and_build_the_latest_of_this_machine_counts) {
  const std::int64_t first = begin("here");
  store_->append(first, winner(1, "old", "x"));
  store_->append(first, winner(2, "other question", "x"));
  store_->append(begin("elsewhere"), winner(1, "of another machine", "x"));
  const std::int64_t second = begin("here");
  store_->append(second, winner(1, "new", "x"));
  store_->append(second, winner(1, "other build", "y"));
  const auto latest = latest_winners(*store_, here());
  EXPECT_THAT(kernels(latest),
              testing::UnorderedElementsAre("new", "other build", "other question"));
  for (const auto& w : latest) {
    EXPECT_EQ(w.run, w.winner.chosen.kernel == "other question" ? first : second);
  }
  EXPECT_EQ(winner_table(*store_, here(), "x").size(), 2u);
  EXPECT_EQ(winner_table(*store_, here(), "y").size(), 1u);
  EXPECT_EQ(winner_table(*store_, here(), "z").size(), 0u);
  EXPECT_EQ(winner_table(*store_, here(), "x").with_winner(question(1)).kernel, "new");
}

std::string utc(std::chrono::seconds ago) {
  const auto at = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - ago);
  char out[32];
  std::tm parts{};
  gmtime_r(&at, &parts);
  std::strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return out;
}

// Twelve hours, on both sides by ten minutes.
TEST_F(StoredWinners, a_night_goes_on_for_twelve_hours_or_on_its_date_until_it_is_closed) {
  using std::chrono::hours;
  using std::chrono::minutes;
  const std::int64_t recent = begin("here", utc(hours(12) - minutes(10)));
  const std::int64_t old = begin("here", utc(hours(12) + minutes(10)));
  EXPECT_TRUE(goes_on_with(*store_, recent, ""));
  EXPECT_FALSE(goes_on_with(*store_, old, ""));
  EXPECT_FALSE(goes_on_with(*store_, begin("here", "no time"), ""));
  const std::int64_t dated = begin("here", "2026-03-04T22:00:00Z");
  EXPECT_TRUE(goes_on_with(*store_, dated, "2026-03-04"));
  EXPECT_FALSE(goes_on_with(*store_, dated, "2026-03-05"));
  close_night(*store_, recent, {"a machine"}, "build", 0);
  EXPECT_FALSE(goes_on_with(*store_, recent, ""));
  const auto machine = store_->machine(recent);
  ASSERT_TRUE(machine);
  EXPECT_TRUE(machine->ends_night);
  EXPECT_EQ(machine->build, "build");
  EXPECT_THAT(machine->lines, testing::ElementsAre("a machine"));
}

// A new build meets the one before it for a week; of machines, builds and nights that are not
// these nothing is told.
TEST_F(StoredWinners, the_build_before_is_told_for_a_week_of_a_new_one) {
  const auto night = [&](const std::string& build, const std::string& fingerprint = "here") {
    const std::int64_t run = begin(fingerprint);
    if (build != "-") store_->append(run, RunMachine{.lines = {}, .build = build});
    return run;
  };
  const auto before = [&] { return build_before(*store_, begin("here"), "new"); };
  EXPECT_EQ(before(), "");
  night("elsewhere", "there");
  EXPECT_EQ(before(), "");
  night("old");
  EXPECT_EQ(before(), "old");
  night("-");
  night("");
  EXPECT_EQ(before(), "old") << "who states no build is no night of one";
  night("new");
  EXPECT_EQ(before(), "old") << "the second night";
  const std::int64_t second = night("new");
  for (int later = 3; later <= 6; ++later) night("new");
  EXPECT_EQ(before(), "old") << "the seventh";
  night("new");
  EXPECT_EQ(before(), "") << "the eighth";
  EXPECT_EQ(build_before(*store_, second, "new"), "old") << "later runs do not count";
  EXPECT_EQ(build_before(*store_, second, "old"), "") << "it has returned";
}

TEST_F(StoredWinners, the_build_before_is_looked_for_among_thirty_runs) {
  const std::int64_t old = begin("here");
  store_->append(old, RunMachine{.lines = {}, .build = "old"});
  for (int i = 0; i < 28; ++i) begin("here");
  EXPECT_EQ(build_before(*store_, begin("here"), "new"), "old") << "the 30th, this one counted";
  EXPECT_EQ(build_before(*store_, begin("here"), "new"), "");
}

TEST(VariantComparison, every_set_has_its_own_points_and_its_winner) {
  const std::vector<Variant> variants{{.kernel = "a", .config = {}, .is_default = true},
                                      {.kernel = "b", .config = {}}};
  std::vector<VariantSet> sets(2);
  std::vector<Measurement> rows;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    sets[s].question = question(static_cast<std::int64_t>(s) + 1);
    sets[s].variants = variants;
    for (int round = 0; round < 4; ++round) {
      for (const Variant& v : variants) {
        Measurement& m = rows.emplace_back();
        m.kernel_case = variant_case(sets[s].question, v);
        m.round = round;
        m.status = Status::ok;
        // a is faster in the first set, b in the second.
        const double ns = (v.kernel == "a") == (s == 0) ? 100 : 200;
        m.duration_ns_median = ns + round;
        m.duration_ns_interval = {ns - 1, ns + 5};
      }
    }
  }
  sets[1].notes = {"a note"};
  const auto compared = compare_variants(sets, rows, {});
  ASSERT_EQ(compared.size(), 2u);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(compared[s].question, sets[s].question);
    EXPECT_EQ(compared[s].points.size(), 2u);
    ASSERT_TRUE(compared[s].winner);
    EXPECT_EQ(compared[s].winner->chosen.kernel, s == 0 ? "a" : "b");
  }
  EXPECT_EQ(compared[1].notes, sets[1].notes);
  EXPECT_TRUE(compare_variants({}, rows, {}).empty());
}

}  // namespace
}  // namespace halmark::tune
