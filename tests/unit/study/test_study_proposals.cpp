// Trials that others propose: claimed once, judged by the space, told, given back. What Optuna
// itself makes of them is in tests/integration/study/steer.py.
#include "framework/study/proposals.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "core/json/json.hpp"
#include "framework/study/worker.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/postgres_server.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SpaceDescription space() {
  SpaceDescription out;
  out.domains = {
      {.name = "tile", .kind = DomainKind::ordinal, .values = {std::int64_t{16}, std::int64_t{32}}},
      {.name = "mode", .kind = DomainKind::categorical, .values = {"a", "b"}},
      {.name = "unroll", .kind = DomainKind::integer, .low = 1, .high = 4, .when = "mode == \"b\""},
      {.name = "context", .kind = DomainKind::ordinal, .values = {std::int64_t{4096}}}};
  out.constraints = {{"fits", "not (tile == 32 and mode == \"a\")", ""}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}

StudyInfo wanted() {
  return {.name = "s", .directions = {StudyDirection::minimize, StudyDirection::maximize}};
}

class StudyProposals : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    location_ = GetParam() + ":" + (folder_ / "a");
    if (GetParam() != "postgresql") return;
    PostgresServer* server = PostgresServer::get();
    if (server == nullptr) GTEST_SKIP() << "there is no PostgreSQL server";
    location_ = server->database();
    try {
      open_study_store(location_, StudyAccess::or_create);
    } catch (const Error& error) {
      if (error.exit_code() == ExitCode::unfit) GTEST_SKIP() << error.line();
      throw;
    }
  }
  std::unique_ptr<StudyStore> open() const {
    return open_study_store(location_, StudyAccess::or_create);
  }
  // As Optuna's study.enqueue_trial leaves it.
  int enqueue(StudyStore& store, const Proposals& proposals, const std::string& fixed) const {
    std::vector<TrialRow> rows(1);
    rows[0].state = TrialState::waiting;
    rows[0].system = {{std::string(fixed_params_attribute), fixed}};
    store.transact([&](StudyTransaction& t) { t.create(proposals.info().id, rows); });
    return rows[0].number;
  }
  TrialRow row(StudyStore& store, const Proposals& proposals, int trial) const {
    return all_trials(store, proposals.info().id).at(static_cast<std::size_t>(trial));
  }
  // As if another process ran it now.
  static void take_away(StudyStore& store, std::int64_t id) {
    const TrialChange taken{.id = id,
                            .system = {{std::string(worker_attribute), R"({"host":"elsewhere"})"}}};
    store.transact([&](StudyTransaction& t) { t.change({&taken, 1}); });
  }
  static std::string text(const TrialRow& row, std::string_view key) {
    const std::string* found = find_attribute(row.user, key);
    return found != nullptr ? *found : "";
  }

  const ScratchFolder folder_;
  std::string location_;
  SpaceDescription description_ = space();
  Space space_{description_};
};

TEST_P(StudyProposals, a_waiting_trial_is_claimed_with_its_parameters_and_told) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  enqueue(*store, proposals, R"({"tile": 16, "mode": "b", "unroll": 3})");
  const std::vector<Proposal> claimed = proposals.claim(8);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_THAT(claimed[0].point, ElementsAre(0, 1, 2, 0));
  TrialRow found = row(*store, proposals, 0);
  EXPECT_EQ(found.state, TrialState::running);
  ASSERT_EQ(found.params.size(), 3u) << "a constant is no parameter";
  EXPECT_EQ(found.params[2].distribution->value(found.params[2].internal),
            ParamValue(std::int64_t{3}));
  EXPECT_EQ(text(found, "context"), "4096");
  const ProposalOutcome outcome{.verdict = {.trial = 0, .values = {1.5, 20}},
                                .user = {{"note", "\"x\""}}};
  proposals.tell({&outcome, 1});
  found = row(*store, proposals, 0);
  EXPECT_EQ(found.state, TrialState::complete);
  EXPECT_THAT(found.values, ElementsAre(1.5, 20));
  EXPECT_EQ(text(found, "note"), "\"x\"");
  EXPECT_THAT(constraint_values(found), IsEmpty()) << "the study states none";
  EXPECT_LE(found.started_utc, found.completed_utc);
  EXPECT_THAT(proposals.claim(8), IsEmpty());
}

TEST_P(StudyProposals, an_outcome_of_what_is_not_its_own_keeps_none_behind_it_from_being_told) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  for (int i = 0; i < 2; ++i) {
    enqueue(*store, proposals,
            R"({"tile": 16, "mode": "b", "unroll": )" + std::to_string(i + 1) + "}");
  }
  ASSERT_EQ(proposals.claim(8).size(), 2u);
  take_away(*store, row(*store, proposals, 0).id);
  const std::vector<ProposalOutcome> outcomes = {
      {.verdict = {.trial = 7, .values = {1, 2}}, .user = {}},
      {.verdict = {.trial = 0, .values = {3, 4}}, .user = {}},
      {.verdict = {.trial = 1, .values = {5, 6}}, .user = {}}};
  proposals.tell(outcomes);
  EXPECT_EQ(row(*store, proposals, 0).state, TrialState::running) << "another runs it now";
  EXPECT_THAT(row(*store, proposals, 1).values, ElementsAre(5, 6));
}

TEST_P(StudyProposals, what_is_outside_of_the_space_fails_with_its_reason) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  const std::vector<std::pair<const char*, const char*>> refusals = {
      {R"({"tile": 24, "mode": "a"})", "'tile' cannot be 24"},
      {R"({"tile": 16})", "'mode' is missing"},
      {R"({"tile": 16, "mode": "b"})", "'unroll' is missing"},
      {R"({"tile": 16, "mode": "a", "tiles": 1})", "no parameter 'tiles'"},
      {R"({"tile": 16, "mode": "a", "context": 1})", "'context' cannot be 1"},
      {R"({"tile": [16], "mode": "a"})", "'tile'"}};
  for (const auto& [fixed, expected] : refusals) enqueue(*store, proposals, fixed);
  const int broken = enqueue(*store, proposals, R"({"tile": 32, "mode": "a"})");
  const int inactive = enqueue(*store, proposals, R"({"tile": 16, "mode": "a", "unroll": 2})");
  const std::vector<Proposal> claimed = proposals.claim(100);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].trial, inactive) << "what is not active is not looked at";
  EXPECT_EQ(proposals.refused().size(), refusals.size() + 1);
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    const TrialRow found = row(*store, proposals, static_cast<int>(i));
    EXPECT_EQ(found.state, TrialState::fail);
    EXPECT_FALSE(found.started_utc.empty());
    EXPECT_LE(found.started_utc, found.completed_utc);
    EXPECT_THAT(text(found, "halmark:failed"), HasSubstr(refusals[i].second));
    EXPECT_THAT(proposals.refused()[i], HasSubstr(refusals[i].second));
  }
  const TrialRow infeasible = row(*store, proposals, broken);
  EXPECT_EQ(infeasible.state, TrialState::fail) << "of two objectives";
  EXPECT_THAT(constraint_values(infeasible), IsEmpty());
  EXPECT_EQ(infeasible.params.size(), 2u) << "a sampler learns from where it is";
  EXPECT_THAT(text(infeasible, "halmark:infeasible"), HasSubstr("fits"));
}

TEST_P(StudyProposals, of_one_objective_what_breaks_a_constraint_is_pruned) {
  const auto store = open();
  const StudyInfo one = {.name = "one", .directions = {StudyDirection::minimize}};
  Proposals proposals(*store, one, description_, space_);
  enqueue(*store, proposals, R"({"tile": 32, "mode": "a"})");
  EXPECT_THAT(proposals.claim(1), IsEmpty());
  EXPECT_EQ(row(*store, proposals, 0).state, TrialState::pruned);
  EXPECT_THAT(constraint_values(row(*store, proposals, 0)), IsEmpty());
}

TEST_P(StudyProposals, a_running_trial_is_taken_when_it_is_marked_and_not_before) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  const auto tile = distribution({.choices = {std::int64_t{16}, std::int64_t{32}}});
  const auto mode = distribution({.choices = {"a", "b"}});
  const auto unroll =
      distribution({.kind = ParamDistribution::Kind::integer, .low = 1, .high = 4, .step = 1});
  std::vector<TrialRow> rows(1);
  rows[0].params = {{"tile", 1, tile}, {"mode", 1, mode}, {"unroll", 4, unroll}};
  store->transact([&](StudyTransaction& t) { t.create(proposals.info().id, rows); });
  EXPECT_THAT(proposals.claim(8), IsEmpty());
  EXPECT_THAT(proposals.claim(8), IsEmpty());
  // By another connection, as Optuna's is.
  const TrialChange mark{.id = rows[0].id, .user = {{std::string(evaluate_attribute), "true"}}};
  open()->transact([&](StudyTransaction& t) { t.change({&mark, 1}); });
  const std::vector<Proposal> claimed = proposals.claim(8);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_THAT(claimed[0].point, ElementsAre(1, 1, 3, 0));
  EXPECT_EQ(row(*store, proposals, 0).params.size(), 3u);
}

TEST_P(StudyProposals, of_two_processes_one_gets_each_trial) {
  const auto one = open(), other = open();
  Proposals first(*one, wanted(), description_, space_),
      second(*other, wanted(), description_, space_);
  for (int i = 0; i < 6; ++i) {
    enqueue(*one, first,
            R"({"tile": 16, "mode": "b", "unroll": )" + std::to_string(1 + i % 4) + "}");
  }
  // Both have seen all six as waiting.
  ASSERT_TRUE(first.has_some());
  ASSERT_TRUE(second.has_some());
  std::vector<int> got;
  for (const Proposal& p : first.claim(2)) got.push_back(p.trial);
  for (const Proposal& p : second.claim(100)) got.push_back(p.trial);
  for (const Proposal& p : first.claim(100)) got.push_back(p.trial);
  EXPECT_THAT(got, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_P(StudyProposals, what_is_given_back_or_left_by_a_dead_process_is_claimed_again_once) {
  const auto store = open();
  Proposals first(*store, wanted(), description_, space_);
  enqueue(*store, first, R"({"tile": 16, "mode": "a"})");
  ASSERT_EQ(first.claim(1).size(), 1u);
  EXPECT_THAT(Proposals(*store, wanted(), description_, space_).claim(1), IsEmpty());
  first.release();
  ASSERT_EQ(Proposals(*store, wanted(), description_, space_).claim(1).size(), 1u);
  // A process of this machine that is no more: this one's words with another start.
  Json dead = Json::parse(this_worker());
  dead["start"] = "1";
  const TrialChange lost{.id = row(*store, first, 0).id,
                         .system = {{std::string(worker_attribute), dump_json(dead)}}};
  store->transact([&](StudyTransaction& t) { t.change({&lost, 1}); });
  ASSERT_EQ(Proposals(*store, wanted(), description_, space_).claim(1).size(), 1u);
  store->transact([&](StudyTransaction& t) { t.change({&lost, 1}); });
  Proposals last(*store, wanted(), description_, space_);
  EXPECT_THAT(last.claim(1), IsEmpty());
  EXPECT_THAT(last.refused(), ElementsAre(HasSubstr("lost twice")));
  EXPECT_EQ(row(*store, last, 0).state, TrialState::fail);
}

TEST_P(StudyProposals, what_another_took_meanwhile_keeps_none_behind_it_from_being_given_back) {
  const auto store = open();
  Proposals first(*store, wanted(), description_, space_);
  for (const char* unroll : {"1", "2"}) {
    enqueue(*store, first, R"({"tile": 16, "mode": "b", "unroll": )" + std::string(unroll) + "}");
  }
  ASSERT_EQ(first.claim(8).size(), 2u);
  take_away(*store, row(*store, first, 0).id);
  first.release();
  const auto again = Proposals(*store, wanted(), description_, space_).claim(8);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].trial, 1);
}

// Two seconds later it looks at trials that others may have given back.
TEST_P(StudyProposals, what_a_process_gave_back_it_may_claim_itself) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  enqueue(*store, proposals, R"({"tile": 16, "mode": "a"})");
  ASSERT_EQ(proposals.claim(1).size(), 1u);
  proposals.release();
  proposals.release();
  const ProposalOutcome outcome{.verdict = {.trial = 0, .values = {1, 2}}, .user = {}};
  proposals.tell({&outcome, 1});
  EXPECT_EQ(row(*store, proposals, 0).state, TrialState::running) << "it is nobody's";
  usleep(2'100'000);
  ASSERT_EQ(proposals.claim(1).size(), 1u);
  proposals.tell({&outcome, 1});
  EXPECT_EQ(row(*store, proposals, 0).state, TrialState::complete);
}

TEST_P(StudyProposals, the_study_says_what_may_be_proposed_and_when_it_is_over) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  const StudyInfo info = store->list().at(0).info;
  const Json told = Json::parse(*find_attribute(info.user, space_attribute));
  EXPECT_EQ(told.at("constants"), Json({{"context", 4096}}));
  EXPECT_EQ(told.at("parameters").size(), 3u);
  EXPECT_EQ(parse_distribution(told.at("parameters").at("unroll").dump(), "here"),
            distribution_of(description_.domains[2]));
  EXPECT_EQ(told.at("when"), Json({{"unroll", "mode == \"b\""}}));
  EXPECT_FALSE(proposals.is_over());
  const Attributes stop = {{std::string(stop_attribute), "true"}};
  store->transact([&](StudyTransaction& t) { t.set_attributes(info.id, stop, {}); });
  EXPECT_TRUE(proposals.is_over());
}

TEST_P(StudyProposals, other_directions_are_refused) {
  const auto store = open();
  Proposals proposals(*store, wanted(), description_, space_);
  StudyInfo other = wanted();
  other.directions = {StudyDirection::minimize};
  const Error error = error_of([&] { Proposals(*store, other, description_, space_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("other objectives"));
}

INSTANTIATE_TEST_SUITE_P(BackEnds, StudyProposals,
                         testing::Values("sqlite", "journal", "postgresql"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark
