#include "history/night_order.hpp"

#include <gmock/gmock.h>

#include "stored.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using testing::ElementsAre;

class NightOrder : public testing::Test {
 protected:
  // One night with processes of these times, by m.
  void night(const std::map<std::int64_t, std::vector<double>>& times) {
    const auto store = open_store(path_);
    last_ = store->begin_run({.command = "halmark tune",
                              .fingerprint = "class@host",
                              .started_utc = "2026-01-01T02:00:00Z"});
    for (const auto& [m, ns] : times) {
      for (std::size_t i = 0; i < ns.size(); ++i) {
        store->append(last_, test::measurement(m, ns[i], static_cast<int>(i)));
      }
    }
  }
  std::vector<KernelCase> cases(std::initializer_list<std::int64_t> ms) {
    std::vector<KernelCase> out;
    for (const std::int64_t m : ms) out.push_back(test::measurement(m, 1, 0).kernel_case);
    return out;
  }
  static std::vector<std::int64_t> ms_of(const std::vector<KernelCase>& kernels) {
    std::vector<std::int64_t> out;
    for (const KernelCase& k : kernels) out.push_back(*k.problem.params.find("m"));
    return out;
  }
  std::vector<std::int64_t> order(std::initializer_list<std::int64_t> ms, std::int64_t run,
                                  const std::string& fingerprint = "class@host") {
    return ms_of(night_order(cases(ms), *open_store_read_only(path_), fingerprint, run));
  }
  std::vector<std::int64_t> turns(std::initializer_list<std::int64_t> ms) {
    return ms_of(moved_first(cases(ms), *open_store_read_only(path_), "class@host", last_));
  }
  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
  std::int64_t last_ = 0;
};

TEST_F(NightOrder, new_then_moved_then_long_unseen_then_scattered) {
  night({{1, {100, 101}}, {2, {100, 101}}, {3, {100, 101}}, {4, {100, 120}}});
  night({{1, {100, 101}}, {2, {100, 101}}, {4, {100, 120}}});
  night({{1, {100, 101}}, {2, {150, 151}}, {4, {100, 120}}});
  EXPECT_THAT(order({1, 2, 3, 4, 5}, 4), ElementsAre(5, 2, 3, 4, 1));
}

TEST_F(NightOrder, the_night_itself_and_other_machines_are_not_looked_at) {
  night({{1, {100, 101}}, {2, {100, 101}}});
  night({{1, {150, 151}}});
  EXPECT_THAT(order({1, 2}, 2), ElementsAre(1, 2));
  EXPECT_THAT(order({1, 2}, 3, "class@other"), ElementsAre(1, 2));
  EXPECT_THAT(order({2, 1}, 3), ElementsAre(1, 2));
}

TEST_F(NightOrder, what_takes_turns_first_is_what_moved_most) {
  night({{1, {100}}, {2, {100}}, {3, {100}}});
  night({{1, {100}}, {2, {100}}, {3, {100}}});
  night({{1, {104}}, {2, {90}}, {3, {100}}, {4, {100}}});
  EXPECT_THAT(turns({3, 1, 2, 4, 5}), ElementsAre(2, 1, 3, 4));
}

// As far back as thirty nights; the order among equals is the one given.
TEST_F(NightOrder, looks_thirty_nights_back) {
  night({{1, {100, 101}}});
  for (int i = 0; i < 29; ++i) night({{2, {100, 101}}});
  { EXPECT_THAT(order({2, 1, 3}, last_ + 1), ElementsAre(3, 1, 2)) << "long unseen, but seen"; }
  night({{2, {100, 101}}});
  night({{2, {100, 101}}});
  EXPECT_THAT(order({3, 2, 1}, last_ + 1), ElementsAre(3, 1, 2)) << "1 is as new as 3";
}

// A step is news from 3 % on, or beyond what its nights have been apart before.
TEST_F(NightOrder, a_step_counts_beyond_the_floor_and_the_noise_of_its_nights) {
  for (const double ns : {90.0, 112.0, 100.0}) night({{1, {100}}, {2, {100}}, {3, {ns}}});
  night({{1, {102.9}}, {2, {103.2}}, {3, {110}}});
  EXPECT_THAT(order({1, 3, 2}, last_ + 1), ElementsAre(2, 1, 3));
}

// Failed rows and rows without a time say nothing: the kernel stays new.
TEST_F(NightOrder, what_has_no_time_was_never_measured) {
  night({{1, {100}}, {2, {100}}});
  {
    const auto store = open_store(path_);
    Measurement failed = test::measurement(3, 100, 0);
    failed.status = Status::crashed;
    store->append(last_, failed);
    store->append(last_, test::measurement(4, 0, 0));
    store->append(last_, test::measurement(5, 100, 0));
  }
  EXPECT_THAT(order({1, 5, 4, 2, 3}, last_ + 1), ElementsAre(4, 3, 1, 5, 2));
}

// With one night before, the noise is that within the last night, half of ln(1.2) = 0.0912; from
// 101 the step is 0.0812, from 99 it is 0.1012.
TEST_F(NightOrder, of_two_nights_the_second_tells_the_noise) {
  night({{1, {100}}, {2, {101}}, {3, {100}}, {4, {99}}});
  night({{1, {100, 100}}, {2, {100, 120}}, {3, {105, 105}}, {4, {100, 120}}});
  EXPECT_THAT(order({1, 2, 3, 4}, last_ + 1), ElementsAre(4, 3, 2, 1));
}

// What is left out does not end the list: no time in this night, or none at all.
TEST_F(NightOrder, what_takes_turns_has_a_time_in_this_night) {
  night({{1, {100}}, {2, {100}}, {3, {100}}, {6, {100}}});
  night({{1, {100}}, {2, {100}}, {3, {100}}, {6, {100}}});
  night({{1, {104}}, {3, {100}}, {4, {100}}});
  {
    const auto store = open_store(path_);
    Measurement failed = test::measurement(2, 100, 0);
    failed.status = Status::crashed;
    failed.reason = "gone";
    store->append(last_, failed);
    Measurement suspect = test::measurement(6, 200, 0);
    suspect.status = Status::suspect;
    store->append(last_, suspect);
  }
  EXPECT_THAT(turns({2, 5, 6, 4, 3, 1}), ElementsAre(1, 3, 6, 4))
      << "of 6 nothing is sound in this night, of 4 there is no night before";
}

}  // namespace
}  // namespace halmark::history
