// What becomes of outcomes of every kind: told again from rows, on the front or not, refused; and
// how often a worker looks for lost ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "framework/study/front.hpp"
#include "framework/study/serve.hpp"
#include "framework/study/study.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// Two numbers of eight values each.
SpaceDescription space() {
  SpaceDescription out;
  out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 7},
                 {.name = "b", .kind = DomainKind::integer, .low = 0, .high = 7}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}

// Of every fourth trial each: complete, infeasible with and without values, failed.
StudyVerdict verdict_of(const StudyProposal& p) {
  const auto a = as_double(std::get<std::int64_t>(p.params[0].second));
  const auto b = as_double(std::get<std::int64_t>(p.params[1].second));
  StudyVerdict out{.trial = p.trial};
  switch (p.trial % 4) {
    case 0:
    case 2:
      out.values = {(a - 3) * (a - 3) + b, b * a};
      if (p.trial % 8 == 2) {
        out.outcome = TrialOutcome::infeasible;
        out.violations = {a + 0.5, b + 0.25};
        out.reason = "short";
      }
      break;
    case 1:
      out.outcome = TrialOutcome::infeasible;
      out.violations = {a + b + 1};
      break;
    default:
      out.outcome = TrialOutcome::failed;
      out.reason = "crashed";
  }
  return out;
}

std::vector<Setting> run(Study& study, std::size_t trials) {
  std::vector<Setting> out;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto asked = study.ask(1);
    if (asked.empty()) break;
    out.push_back(asked[0].params);
    const StudyVerdict verdict = verdict_of(asked[0]);
    study.tell({&verdict, 1});
  }
  return out;
}

class OutcomesOf : public testing::TestWithParam<const char*> {};

// A sampler that heard of an outcome in another way would go another way.
TEST_P(OutcomesOf, every_kind_are_told_from_rows_as_they_were_told_before) {
  const StudySettings settings{.name = "s", .sampler = GetParam(), .seed = 11};
  const auto memory = open_study_store("memory:", StudyAccess::or_create);
  Study whole(*memory, space(), settings);
  const std::vector<Setting> expected = run(whole, 28);
  const ScratchFolder folder;
  std::vector<Setting> got;
  while (got.size() < 28) {
    const auto store = open_study_store("sqlite:" + (folder / "a"), StudyAccess::or_create);
    Study study(*store, space(), settings);
    for (const Setting& setting : run(study, 1 + got.size() % 5)) got.push_back(setting);
  }
  got.resize(28);
  EXPECT_EQ(got, expected);
}

INSTANTIATE_TEST_SUITE_P(Samplers, OutcomesOf, testing::Values("nsga2", "tpe", "gp", "pls"),
                         [](const auto& test) { return std::string(test.param); });

TrialRow row_of(TrialState state, std::vector<double> values, const char* constraints = nullptr) {
  TrialRow out{.state = state, .values = std::move(values)};
  if (constraints != nullptr) {
    out.system = {{std::string(constraints_attribute), constraints}};
  }
  return out;
}

TEST(StudyFront, has_what_is_complete_finite_and_breaks_no_constraint) {
  const StudyInfo info{.name = "s",
                       .directions = {StudyDirection::minimize, StudyDirection::maximize}};
  const std::vector<TrialRow> rows = {row_of(TrialState::complete, {5, 5}),
                                      row_of(TrialState::complete, {1, 9}, "[1e-9]"),
                                      row_of(TrialState::pruned, {1, 9}),
                                      row_of(TrialState::running, {1, 9}),
                                      row_of(TrialState::complete, {1, HUGE_VAL}),
                                      row_of(TrialState::complete, {1}),
                                      row_of(TrialState::complete, {1, 9, 9}),
                                      row_of(TrialState::complete, {4, 4}, "[0,-1]"),
                                      row_of(TrialState::complete, {6, 4}),
                                      row_of(TrialState::complete, {-HUGE_VAL, 9}),
                                      row_of(TrialState::complete, {1, 9}, "[0,2]"),
                                      row_of(TrialState::complete, {1, NAN})};
  EXPECT_THAT(study_front(info, rows), ElementsAre(0, 7));
}

TEST(StudyTell, refuses_amounts_and_values_that_are_none) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  Study study(*store, space(), {.name = "s", .sampler = "random"});
  study.ask(2);
  const auto line = [&](const StudyVerdict& verdict) {
    return error_of([&] { study.tell({&verdict, 1}); }).line();
  };
  const auto infeasible = [](std::vector<double> violations, std::vector<double> values = {}) {
    return StudyVerdict{.trial = 1,
                        .outcome = TrialOutcome::infeasible,
                        .values = std::move(values),
                        .violations = std::move(violations)};
  };
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THAT(line(infeasible({1, bad})), HasSubstr("trial 1: a violation is an amount above 0"));
  }
  EXPECT_THAT(line(infeasible({1}, {2})), HasSubstr("1 values; the study has 2 objectives"));
  EXPECT_THAT(line({.trial = 1, .values = {}}), HasSubstr("0 values"));
  EXPECT_THAT(line({.trial = 1, .outcome = TrialOutcome::failed, .values = {1}}),
              HasSubstr("1 values"));
  EXPECT_THAT(line({.trial = 1, .values = {std::nan(""), 1}}), HasSubstr("no number"));
  EXPECT_THAT(line({.trial = -1, .values = {1, 2}}), HasSubstr("trial -1: the study has no such"));
  EXPECT_THAT(line({.trial = 2, .values = {1, 2}}), HasSubstr("trial 2: the study has no such"));
  EXPECT_EQ(study.running(), 2u);
  const StudyVerdict tiny = infeasible({1e-300}, {1, HUGE_VAL});
  study.tell({&tiny, 1});
  EXPECT_EQ(study.running(), 1u);
}

TEST(StudyTell, takes_any_order_and_stores_all_at_once) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  Study study(*store, space(), {.name = "s", .sampler = "random"});
  study.ask(3);
  const std::vector<StudyVerdict> verdicts = {{.trial = 2, .values = {1, 2}},
                                              {.trial = 0, .values = {3, 4}},
                                              {.trial = 1, .values = {5, 6}}};
  study.tell(verdicts);
  TrialCursor cursor;
  const auto rows = store->trials(study.info().id, cursor);
  EXPECT_THAT(rows.at(0).values, ElementsAre(3, 4));
  EXPECT_THAT(rows.at(1).values, ElementsAre(5, 6));
  EXPECT_THAT(rows.at(2).values, ElementsAre(1, 2));
}

// A worker looks a quarter of its lease after it found nothing, every five seconds at least.
TEST(StudyLook, for_lost_trials_is_taken_again_after_a_quarter_of_the_lease) {
  const ScratchFolder folder;
  const auto open = [&] {
    return open_study_store("sqlite:" + (folder / "a"), StudyAccess::or_create);
  };
  const auto first_of = [&](double lease_s, double early_s, double late_s) {
    const auto a = open(), b = open();
    const std::string name = "of " + std::to_string(lease_s);
    StudySettings settings{.name = name, .sampler = "random", .seed = 3, .lease_s = lease_s};
    Study taker(*b, space(), settings);
    taker.ask(1);  // it has looked now
    const auto looked = Clock::now();
    Study giver(*a, space(), settings);
    const int given = giver.ask(1).at(0).trial;
    giver.release();
    std::this_thread::sleep_until(looked + std::chrono::duration<double>(early_s));
    const int early = taker.ask(1).at(0).trial;
    const bool was_early = Clock::now() - looked < std::chrono::duration<double>(late_s - 0.1);
    if (was_early) {
      EXPECT_NE(early, given) << lease_s;
    }
    std::this_thread::sleep_until(looked + std::chrono::duration<double>(late_s));
    if (was_early) {
      EXPECT_EQ(taker.ask(1).at(0).trial, given) << lease_s;
    }
  };
  std::jthread quarter([&] { first_of(8, 1.7, 2.1); });
  first_of(600, 4.7, 5.1);
}

class ServedFile : public testing::Test {
 protected:
  std::string serve(std::size_t bytes) {
    const std::string path = folder_ / "requests";
    std::ofstream(path) << std::string(bytes, '1');
    const int fd = ::open(path.c_str(), O_RDONLY);
    const auto store = open_study_store("memory:", StudyAccess::or_create);
    Study study(*store, space(), {.name = "s", .sampler = "random"});
    std::string answers;
    try {
      serve_study(study, {.requests = fd,
                          .answer = [&](std::string_view text) { answers += text; },
                          .should_stop = [] { return false; },
                          .after_each = {}});
    } catch (const Error& error) {
      answers = "refused: " + error.line();
    }
    ::close(fd);
    return answers;
  }
  ScratchFolder folder_;
};

TEST_F(ServedFile, of_a_line_longer_than_sixteen_mebibytes_is_refused) {
  EXPECT_EQ(serve(json_bytes_max).substr(0, 8), "{\"error\"");
  EXPECT_THAT(serve(json_bytes_max), testing::Not(HasSubstr("longer than 16 MiB")));
  EXPECT_EQ(serve(json_bytes_max + 1), "{\"error\":\"a request is longer than 16 MiB\"}\n");
}

// Half a second between signs of life; without one for 2.5 s another worker takes the trial.
TEST(ServedStudy, gives_signs_of_life_while_nothing_is_asked) {
  const ScratchFolder folder;
  const StudySettings settings{.name = "s", .sampler = "random", .seed = 3, .lease_s = 1.5};
  const auto store = open_study_store("sqlite:" + (folder / "a"), StudyAccess::or_create);
  Study study(*store, space(), settings);
  ASSERT_EQ(study.ask(1).at(0).trial, 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  int other = -1;
  const auto begin = Clock::now();
  serve_study(study, {.requests = ends[0],
                      .answer = [](std::string_view) {},
                      .should_stop =
                          [&] {
                            if (Clock::now() - begin < std::chrono::milliseconds(4200))
                              return false;
                            const auto own = open_study_store("sqlite:" + (folder / "a"),
                                                              StudyAccess::or_create);
                            Study taker(*own, space(), settings);
                            other = taker.ask(1).at(0).trial;
                            return true;
                          },
                      .after_each = {}});
  EXPECT_EQ(other, 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace halmark
