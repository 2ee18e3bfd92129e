// A study over a store: what is proposed, what is learned from rows, who runs a trial.
#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "framework/study/study.hpp"

#include <algorithm>
#include <set>

#include "framework/study/front.hpp"
#include "framework/study/protocol.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

// 3 x 4 x 5 points; `c` exists only where a is not "x".
SpaceDescription space() {
  SpaceDescription out;
  out.domains = {
      {.name = "a", .values = {ParamValue("x"), ParamValue("y"), ParamValue("z")}},
      {.name = "b",
       .kind = DomainKind::ordinal,
       .values = {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{8}}},
      {.name = "c", .kind = DomainKind::integer, .low = 10, .high = 14, .when = "a != 'x'"}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}
constexpr std::size_t points = 4 + 2 * 4 * 5;

StudySettings settings(const std::string& sampler = "nsga2", std::uint64_t seed = 7) {
  return {.name = "s", .sampler = sampler, .seed = seed};
}

StudyVerdict outcome_of(const StudyProposal& proposal) {
  double sum = 0;
  for (const auto& [name, value] : proposal.params) {
    const auto* number = std::get_if<std::int64_t>(&value);
    sum += number != nullptr ? as_double(*number) : as_double(text_of(value).front());
  }
  return {.trial = proposal.trial, .values = {sum, 1000 / sum}};
}

std::string line_of(const Setting& setting) {
  std::string out;
  for (const auto& [name, value] : setting) out += name + '=' + text_of(value) + ' ';
  return out;
}

// Asks and tells one by one.
std::vector<std::string> run(Study& study, std::size_t trials) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < trials; ++i) {
    const std::vector<StudyProposal> proposals = study.ask(1);
    if (proposals.empty()) break;
    out.push_back(line_of(proposals[0].params));
    const StudyVerdict verdict = outcome_of(proposals[0]);
    study.tell({&verdict, 1});
  }
  return out;
}

class StudyTest : public testing::Test {
 protected:
  std::unique_ptr<StudyStore> open(const std::string& kind = "sqlite") const {
    return open_study_store(kind + ':' + (folder_ / ("a." + kind)), StudyAccess::or_create);
  }
  ScratchFolder folder_;
};

TEST_F(StudyTest, who_proposed_a_trial_is_stored_with_it) {
  const auto store = open();
  Study study(*store, space(), settings("auto"));
  run(study, 30);
  TrialCursor cursor;
  std::set<std::string> names;
  for (const TrialRow& row : store->trials(study.info().id, cursor)) {
    const std::string* by = find_attribute(row.system, proposer_attribute);
    ASSERT_NE(by, nullptr) << row.number;
    names.insert(*by);
    EXPECT_EQ(row.number < 12, *by == "\"sobol\"") << row.number;
  }
  EXPECT_GT(names.size(), 2u);
}

// Another process may end what this one runs; this one hears of it with its next ask.
TEST_F(StudyTest, trials_that_end_elsewhere_are_heard_of_with_the_next_ask) {
  for (const char* kind : {"sqlite", "journal"}) {
    const auto store = open(kind), other_store = open(kind);
    Study study(*store, space(), settings("random")), same(*store, space(), settings("random"));
    Study other(*other_store, space(), settings("random"));
    const auto mine = study.ask(5);
    const auto told = [&](Study& by, std::size_t i) {
      const StudyVerdict verdict = outcome_of(mine.at(i));
      by.tell({&verdict, 1});
    };
    EXPECT_EQ(study.running(), 5u);
    told(other, 1);
    study.ask(1);
    EXPECT_EQ(study.running(), 5u) << kind;
    told(same, 3);
    study.ask(1);
    EXPECT_EQ(study.running(), 5u) << kind;
    told(study, 0);
    EXPECT_EQ(study.running(), 4u) << kind;
  }
}

TEST_F(StudyTest, proposes_every_point_once_and_then_says_that_there_are_no_more) {
  const auto store = open();
  Study study(*store, space(), settings());
  const std::vector<std::string> all = run(study, 1000);
  EXPECT_EQ(all.size(), points);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), points);
  EXPECT_TRUE(study.ask(1).empty());
  EXPECT_THAT(study.why_no_more(), HasSubstr("every valid configuration"));
}

TEST_F(StudyTest, rows_of_an_inactive_parameter_are_not_written) {
  const auto store = open();
  Study study(*store, space(), settings());
  run(study, points);
  TrialCursor cursor;
  for (const TrialRow& row : store->trials(study.info().id, cursor)) {
    EXPECT_EQ(row.params.size(), row.params[0].internal == 0 ? 2u : 3u);
    EXPECT_EQ(row.state, TrialState::complete);
  }
}

TEST_F(StudyTest, opened_again_after_any_trial_it_proposes_what_it_would_have_proposed) {
  const auto memory = open_study_store("memory:", StudyAccess::or_create);
  Study whole(*memory, space(), settings());
  const std::vector<std::string> expected = run(whole, points);
  for (const std::string kind : {"sqlite", "journal"}) {
    std::vector<std::string> got;
    while (got.size() < points) {
      const auto store = open(kind);
      Study study(*store, space(), settings());
      for (const std::string& text : run(study, 1 + got.size() % 7)) got.push_back(text);
    }
    EXPECT_EQ(got, expected) << kind;
  }
}

TEST_F(StudyTest, of_another_seed_proposes_something_else) {
  const auto a = open("sqlite"), b = open("journal");
  Study one(*a, space(), settings("random", 1)), two(*b, space(), settings("random", 2));
  EXPECT_NE(run(one, 10), run(two, 10));
}

TEST_F(StudyTest, several_workers_never_propose_the_same) {
  for (const std::string kind : {"sqlite", "journal"}) {
    std::vector<std::unique_ptr<StudyStore>> stores;
    std::vector<std::unique_ptr<Study>> studies;
    for (int i = 0; i < 4; ++i) {
      stores.push_back(open(kind));
      studies.push_back(std::make_unique<Study>(*stores.back(), space(), settings()));
    }
    std::set<std::string> seen;
    std::vector<StudyProposal> late;
    for (std::size_t i = 0; i < points; ++i) {
      Study& study = *studies[i % 4];
      const auto proposals = study.ask(1);
      ASSERT_EQ(proposals.size(), 1u);
      EXPECT_EQ(proposals[0].trial, static_cast<int>(i));
      EXPECT_TRUE(seen.insert(line_of(proposals[0].params)).second) << kind << " trial " << i;
      if (i % 3 == 0) continue;  // never told
      const StudyVerdict verdict = outcome_of(proposals[0]);
      study.tell({&verdict, 1});
    }
    for (auto& study : studies) EXPECT_TRUE(study->ask(1).empty());
  }
}

TEST_F(StudyTest, values_are_stored_in_the_person_s_sign) {
  const auto store = open();
  Study study(*store, space(), settings());
  const auto asked = study.ask(3);
  const std::vector<StudyVerdict> verdicts = {
      {.trial = asked[2].trial, .values = {1, 5}},
      {.trial = asked[0].trial,
       .outcome = TrialOutcome::infeasible,
       .violations = {3.1},
       .reason = "KV cache short by 3.1 GiB"},
      {.trial = asked[1].trial, .outcome = TrialOutcome::failed, .reason = "crashed"}};
  study.tell(verdicts);
  TrialCursor cursor;
  const auto rows = store->trials(study.info().id, cursor);
  EXPECT_THAT(rows[2].values, ElementsAre(1, 5));
  EXPECT_EQ(rows[0].state, TrialState::pruned);
  EXPECT_THAT(constraint_values(rows[0]), testing::IsEmpty()) << "the study states none";
  EXPECT_EQ(*find_attribute(rows[0].user, "halmark:infeasible"), "\"KV cache short by 3.1 GiB\"");
  EXPECT_EQ(rows[1].state, TrialState::fail);
  EXPECT_THAT(study_front(study.info(), rows), ElementsAre(2));
}

TEST_F(StudyTest, refuses_what_is_no_outcome_and_stores_none_of_its_batch) {
  const auto store = open();
  Study study(*store, space(), settings());
  const auto asked = study.ask(2);
  const StudyVerdict good{.trial = asked[0].trial, .values = {1, 2}};
  const std::vector<std::pair<StudyVerdict, std::string>> bad = {
      {{.trial = 99, .values = {1, 2}}, "no such trial"},
      {{.trial = asked[1].trial, .values = {1}}, "2 objectives"},
      {{.trial = asked[1].trial, .values = {1, std::nan("")}}, "no number"},
      {{.trial = asked[0].trial, .values = {1, 2}}, "twice"},
      {{.trial = asked[1].trial, .outcome = TrialOutcome::infeasible, .violations = {-1}},
       "above 0"}};
  for (const auto& [verdict, expected] : bad) {
    const std::vector<StudyVerdict> batch = {good, verdict};
    EXPECT_THAT(error_of([&] { study.tell(batch); }).line(), HasSubstr(expected));
    TrialCursor cursor;
    EXPECT_EQ(store->trials(study.info().id, cursor)[0].state, TrialState::running);
  }
  study.tell({&good, 1});
  EXPECT_THAT(error_of([&] { study.tell({&good, 1}); }).line(), HasSubstr("told already"));
}

TEST_F(StudyTest, what_a_worker_gives_back_goes_to_the_next_one_and_is_told_once) {
  const auto a = open(), b = open();
  Study first(*a, space(), settings()), second(*b, space(), settings());
  const auto asked = first.ask(2);
  first.release();
  const auto again = second.ask(2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].trial, asked[0].trial);
  EXPECT_EQ(again[0].params, asked[0].params);
  const StudyVerdict verdict = outcome_of(again[0]);
  second.tell({&verdict, 1});
  EXPECT_THAT(error_of([&] { first.tell({&verdict, 1}); }).line(), HasSubstr("told already"));
}

// As if the worker of a trial had last been heard of long ago, on another machine.
void forget_worker(StudyStore& store, std::int64_t id) {
  const TrialChange change{.id = id,
                           .system = {{std::string(worker_attribute), "{\"host\":\"elsewhere\"}"}}};
  store.transact([&](StudyTransaction& t) { t.change({&change, 1}); });
}

TEST_F(StudyTest, a_trial_without_a_sign_of_life_is_taken_back_once_and_given_up_then) {
  const auto a = open(), b = open();
  StudySettings impatient = settings();
  impatient.lease_s = 2;
  Study lost(*a, space(), settings());
  const StudyProposal asked = lost.ask(1)[0];
  TrialCursor cursor;
  const std::int64_t id = a->trials(lost.info().id, cursor)[0].id;
  forget_worker(*a, id);
  {
    Study taker(*b, space(), impatient);
    EXPECT_NE(taker.ask(1)[0].trial, asked.trial) << "its lease holds still";
  }
  usleep(3'500'000);
  Study taker(*b, space(), impatient);
  const auto taken = taker.ask(1);
  EXPECT_EQ(taken[0].trial, asked.trial);
  EXPECT_EQ(taken[0].params, asked.params);
  const StudyVerdict late = outcome_of(asked);
  EXPECT_THAT(error_of([&] { lost.tell({&late, 1}); }).line(), HasSubstr("taken back"));
  forget_worker(*a, id);
  usleep(3'500'000);
  Study third(*a, space(), impatient);
  EXPECT_NE(third.ask(1)[0].trial, asked.trial);
  TrialCursor fresh;
  const TrialRow row = a->trials(third.info().id, fresh)[0];
  EXPECT_EQ(row.state, TrialState::fail);
  EXPECT_THAT(*find_attribute(row.user, "halmark:failed"), HasSubstr("lost twice"));
}

TEST_F(StudyTest, what_is_enqueued_comes_first_and_is_completed) {
  const auto a = open(), b = open();
  Study study(*a, space(), settings()), other(*b, space(), settings());
  const std::vector<Setting> wanted = {
      {{"a", ParamValue("z")}, {"b", std::int64_t{8}}, {"c", std::int64_t{12}}},
      {{"b", std::int64_t{2}}}};
  EXPECT_THAT(study.enqueue(wanted), ElementsAre(0, 1));
  EXPECT_THAT(error_of([&] {
                study.enqueue({&wanted[0], 1});
              }).line(),
              HasSubstr("this configuration is trial 0 already"));
  const auto asked = other.ask(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].trial, 0);
  EXPECT_EQ(asked[0].params, wanted[0]);
  EXPECT_EQ(asked[1].params[1].second, ParamValue(std::int64_t{2}));
  EXPECT_EQ(asked[2].trial, 2) << "the sampler's";
  const std::vector<Setting> bad = {{{"b", std::int64_t{3}}}};
  EXPECT_THAT(error_of([&] { study.enqueue(bad); }).line(), HasSubstr("'b' cannot be 3"));
}

TEST_F(StudyTest, another_kind_of_a_parameter_or_another_direction_is_refused) {
  const auto store = open();
  {
    Study study(*store, space(), settings());
    run(study, 3);
  }
  SpaceDescription other = space();
  other.domains[1].values.back() = std::int64_t{16};
  EXPECT_THAT(error_of([&] { Study(*store, other, settings()); }).line(), HasSubstr("'b'"));
  other = space();
  other.objectives[1].is_maximised = false;
  EXPECT_THAT(error_of([&] { Study(*store, other, settings()); }).line(), HasSubstr("directions"));
}

TEST_F(StudyTest, a_budget_counts_the_trials_of_all_workers) {
  const auto a = open(), b = open();
  StudySettings limited = settings();
  limited.trials = 5;
  Study one(*a, space(), limited), two(*b, space(), limited);
  EXPECT_EQ(one.ask(3).size(), 3u);
  EXPECT_EQ(two.ask(3).size(), 2u);
  EXPECT_THAT(two.why_no_more(), HasSubstr("5 trials"));
}

std::string answer(StudyProtocol& protocol, const std::string& request) {
  return protocol.answers({&request, 1}).at(0);
}

TEST(StudyProtocolLines, ask_tell_and_errors_that_change_nothing) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  Study study(*store, space(), settings("grid"));
  StudyProtocol protocol(study);
  const Json asked = Json::parse(answer(protocol, R"({"ask":2})"));
  ASSERT_EQ(asked.at("trials").size(), 2u);
  EXPECT_EQ(asked.at("trials")[1].at("trial"), 1);
  EXPECT_FALSE(asked.contains("exhausted"));
  for (const char* bad :
       {R"({"ask":0})", R"({"ask":"x"})", R"({"aks":1})", R"([1])", R"({"ask":1,"tell":[]})",
        R"({"tell":[{"trial":0}]})", R"({"tell":[{"trial":0,"values":["x",1]}]})",
        R"({"tell":[{"trial":0,"values":[1,2],"failed":"x"}]})",
        R"({"tell":[{"trial":-1,"failed":"x"}]})", R"({"tell":[{"trial":0,"valeus":[1,2]}]})",
        R"({"ask":)", R"({"enqueue":[{"q":1}]})"}) {
    const std::string line = answer(protocol, bad);
    EXPECT_EQ(Json::parse(line).begin().key(), "error") << bad << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
  EXPECT_EQ(answer(protocol, R"({"tell":[{"trial":0,"values":[1,"inf"]},{"trial":1,"infeasible":)"
                             R"({"reason":"short","violations":[2]}}]})"),
            R"({"ok":true})");
  EXPECT_EQ(Json::parse(answer(protocol, R"({"status":true})")).at("trials"), 2);
  const Json rest = Json::parse(answer(protocol, R"({"ask":100})"));
  EXPECT_EQ(rest.at("trials").size(), points - 2);
  EXPECT_EQ(rest.at("exhausted"), true);
}

}  // namespace
}  // namespace halmark
