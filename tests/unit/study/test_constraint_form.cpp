// What a trial states of constraints follows the study that it joins. GPSampler of Optuna 5 fails
// where complete trials have different numbers of them.
#include "framework/study/constraint_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/study/front.hpp"
#include "framework/study/study.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const Attributes named = {{"constraints:memory", "-3.0"}, {"constraints:power", "1.5"}};
const Attributes listed = {{"constraints", "[0.0,2.0,-1.0]"}};

TEST(ConstraintForm, names_are_those_of_the_study_with_equal_parts) {
  ConstraintForm form;
  form.learn(TrialState::complete, {{"other", "1"}, named[0], named[1]});
  form.learn(TrialState::complete, listed);
  EXPECT_TRUE(form.is_stated());
  EXPECT_THAT(form.stated(0),
              ElementsAre(Pair("constraints:memory", "0.0"), Pair("constraints:power", "0.0")));
  EXPECT_THAT(form.stated(3),
              ElementsAre(Pair("constraints:memory", "1.5"), Pair("constraints:power", "1.5")));
}

TEST(ConstraintForm, a_list_is_as_long_as_those_of_the_study) {
  ConstraintForm form;
  form.learn(TrialState::complete, listed);
  EXPECT_THAT(form.stated(3), ElementsAre(Pair("constraints", "[1.0,1.0,1.0]")));
}

TEST(ConstraintForm, trials_have_none_where_those_of_the_study_have_none) {
  for (const bool is_constrained : {false, true}) {
    ConstraintForm form(is_constrained);
    EXPECT_EQ(form.is_stated(), is_constrained);
    form.learn(TrialState::fail, named);
    form.learn(TrialState::complete, {{"constraints", "broken"}});
    EXPECT_FALSE(form.is_stated());
    EXPECT_THAT(form.stated(0), IsEmpty());
    EXPECT_THAT(form.stated(2), IsEmpty());
  }
}

SpaceDescription space() {
  SpaceDescription out;
  out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 99}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}

// Trials of others, then one that is feasible and one that breaks constraints by 4 in all.
std::vector<TrialRow> continued(const Attributes& of_others) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  const StudySettings settings{.name = "s", .sampler = "random"};
  const Study began(*store, space(), settings);
  store->transact([&](StudyTransaction& transaction) {
    std::vector<TrialRow> rows(2, {.state = TrialState::complete, .values = {1, 2}});
    for (TrialRow& row : rows) row.system = of_others;
    transaction.create(began.info().id, rows);
  });
  Study study(*store, space(), settings);
  study.ask(2);
  const std::vector<StudyVerdict> verdicts = {
      {.trial = 2, .outcome = TrialOutcome::complete, .values = {3, 4}},
      {.trial = 3, .outcome = TrialOutcome::infeasible, .values = {0, 9}, .violations = {1, 3}}};
  study.tell(verdicts);
  std::vector<TrialRow> out = study.rows();
  EXPECT_THAT(study_front(study.info(), out), testing::Not(testing::Contains(3u)));
  return out;
}

TEST(ConstraintForm, a_study_that_is_continued_keeps_its_own) {
  for (const Attributes& of_others : {Attributes{}, named, listed}) {
    const std::vector<TrialRow> rows = continued(of_others);
    ASSERT_EQ(rows.size(), 4u);
    const std::size_t size = constraint_values(rows[0]).size();
    EXPECT_EQ(constraint_values(rows[2]), std::vector<double>(size, 0));
    EXPECT_EQ(rows[3].state, size == 0 ? TrialState::pruned : TrialState::complete);
    EXPECT_EQ(rows[3].values, (std::vector<double>{0, 9}));
    double total = 0;
    for (const double part : constraint_values(rows[3])) total += part;
    EXPECT_EQ(total, size == 0 ? 0 : 4);
    for (const auto& [key, text] : of_others) {
      EXPECT_NE(find_attribute(rows[3].system, key), nullptr) << key;
    }
  }
}

}  // namespace
}  // namespace halmark
