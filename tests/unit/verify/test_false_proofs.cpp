// Proofs that are consistent and false: their records agree with one another, hash and counts
// included, but not with the kernels. Each is refused by both checkers.
#include <gmock/gmock.h>

#include "core/latency.hpp"
#include "proof_records.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr int script_conditional = 4, script_broken = 3;

// What a proof states of its first kernel, and what it was composed with.
struct Claim {
  double low = 11, high = 12;
  std::vector<double> medians = {};
};

std::string proof_of_claim(const Claim& claim) {
  Certifier certifier(small_problem(), {.eps = 0.01});
  certifier.tell(0, claim.low, claim.high);
  certifier.tell(1, 19, 21);
  certifier.tell_failed(2, "crashed");
  ProofFacts facts{.program = "test", .is_definition = true};
  facts.evidence.resize(5);
  const std::size_t n = claim.medians.size();
  if (n > 0) {
    for (std::size_t i = 0; i < n; ++i) facts.evidence[0].rounds.push_back(static_cast<int>(i));
    facts.evidence[0].medians = claim.medians;
    // As the format states it: 1 - 2^(1 - n) below six processes, 0.95 from six on.
    facts.evidence[0].confidence = n < 6 ? 1 - 2 / static_cast<double>(1 << n) : 0.95;
  }
  return proof_text(certifier, make_certificate(certifier), facts);
}

void expect_refused(const std::string& proof, const std::string& why) {
  const FrontProofCheck check = check_front_proof(proof);
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr(why));
  EXPECT_EQ(verdict_of_script(proof).value_or(script_broken), script_broken);
}

void expect_accepted(const std::string& proof) {
  expect_conditional(proof);
  EXPECT_EQ(verdict_of_script(proof).value_or(script_conditional), script_conditional);
}

TEST(FalseProof, a_front_composed_of_other_times_than_its_kernels_have_is_refused) {
  const Records truth = records_of(proof_of_claim({}));
  for (const Claim& lie :
       {Claim{10.9, 12, {}}, Claim{11.1, 12, {}}, Claim{11, 11.9, {}}, Claim{11, 12.1, {}}}) {
    const std::string own = proof_of_claim(lie);
    expect_accepted(own);
    Records records = records_of(own);
    std::size_t replaced = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (records[i]["record"] != "kernel") continue;
      const std::size_t id = records[i]["id"].get<std::size_t>();
      records[i] = truth[first(truth, "kernel") + id];
      ++replaced;
    }
    EXPECT_EQ(replaced, 5u);
    expect_refused(text_of(records), "interval is not composed");
  }
}

TEST(FalseProof, a_leaf_and_a_front_that_agree_on_a_narrower_interval_are_refused) {
  const std::string whole = proof_of_claim({});
  Records records = records_of(whole);
  const std::size_t leaf = first(records, "leaf", "evaluated");
  const std::size_t point = first(records, "front");
  ASSERT_EQ(records[leaf]["evaluated"], records[point]["interval"]);
  Json& upper = records[leaf]["evaluated"][0][1];
  upper = upper.get<double>() * 0.99;
  records[point]["interval"] = records[leaf]["evaluated"];
  expect_refused(text_of(records), "interval is not composed");
}

// Seven medians cover theirs by min..max, nine by the second and the eighth (binomial, 95 %).
const std::vector<double> three = {11, 12, 11.5}, seven = {11, 11.2, 11.3, 11.4, 11.5, 11.6, 12},
                          nine = {11, 11.1, 11.2, 11.3, 11.4, 11.5, 11.6, 11.7, 12};

struct Width {
  const char* name;
  const std::vector<double>* medians;
  double low, high;
};
class WidthOfMedians : public testing::TestWithParam<Width> {};

TEST_P(WidthOfMedians, is_recomputed_and_a_fifth_less_or_more_is_refused) {
  const auto& [name, medians, low, high] = GetParam();
  expect_accepted(proof_of_claim({low, high, *medians}));
  const double fifth = (high - low) / 5;
  for (const auto& [l, h] : {std::pair{low + fifth, high}, std::pair{low, high - fifth},
                             std::pair{low - fifth, high}, std::pair{low, high + fifth}}) {
    expect_refused(proof_of_claim({l, h, *medians}), "does not follow from the medians");
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, WidthOfMedians,
                         testing::Values(Width{"three", &three, 11, 12},
                                         Width{"seven", &seven, 11, 12},
                                         Width{"nine", &nine, 11.1, 11.7}),
                         [](const auto& info) { return test::case_name({info.param.name}); });

// One process has an interval of its own, inside of which its median lies.
TEST(FalseProof, an_interval_beside_its_only_median_is_refused) {
  expect_accepted(proof_of_claim({11, 12, {11.5}}));
  expect_refused(proof_of_claim({11, 12, {12.5}}), "does not follow from the medians");
  expect_refused(proof_of_claim({11, 12, {10.5}}), "does not follow from the medians");
}

TEST(FalseProof, a_kernel_that_was_measured_and_failed_is_refused) {
  Records records = records_of(proof_of_claim({}));
  records[first(records, "kernel", "interval")]["failed"] = "crashed";
  expect_refused(text_of(records), "failed, and has an interval");
}

// 10 operations at 1 per second and 1.25 of safety take 8; 5 would be an alarm that leaves 2.
Records with_alarm(Records records, int kernel, int peak) {
  insert_before(records, "leaf",
                {{"record", "alarm"},
                 {"kernel", kernel},
                 {"peak", peak},
                 {"low", 5.0},
                 {"bound", 8.0},
                 {"peak_before", 1},
                 {"peak_after", 2}});
  return records;
}

TEST(FalseProof, an_alarm_of_another_time_than_the_kernel_has_is_refused) {
  CertifiableProblem problem = small_problem();
  problem.peaks[0].value = 2;
  Certifier certifier(problem, {.eps = 0.01});
  certifier.tell(0, 11, 12);
  certifier.tell(1, 19, 21);
  Records records = with_alarm(records_of(proof_of(certifier)), 0, 0);
  records.back()["alarms"] = 1;
  expect_refused(text_of(records), "not what was measured");
}

TEST(FalseProof, an_alarm_of_what_is_not_there_is_refused) {
  const Records whole = records_of(proof_of_claim({}));
  for (const Records& records : {with_alarm(whole, 9, 0), with_alarm(whole, 0, 9)}) {
    expect_refused(text_of(records), "unknown kernel or peak");
  }
}

TEST(FalseProof, a_time_divided_by_what_may_be_zero_is_refused) {
  for (const double least : {0.0, 1.0}) {
    Records records = changed("config", "", "/objectives/2", {"divide", 100, "share"});
    insert_before(
        records, "config",
        {{"record", "fact"}, {"name", "share"}, {"over", {"shards"}}, {"values", {least, 1., 1.}}});
    if (least > 0) {
      expect_conditional(text_of(records));
    } else {
      expect_broken(records, "no number > 0");
    }
  }
}

// Two kernels, one of which is said to have failed; the journal has rows of both.
class FailedKernelRows : public testing::Test {
 protected:
  FailedKernelRows() {
    const auto store = open_store(path_);
    run_ = store->begin_run(test::run_info("plan"));
    CertifiableProblem problem;
    problem.domains = {{"choice", {"slow", "fast"}}};
    problem.objectives = {{"time", "ns", false}};
    Measurement rows[] = {test::numbered_measurement(1), test::numbered_measurement(2)};
    rows[1].kernel_case.kernel = "another";
    for (std::size_t k = 0; k < 2; ++k) {
      rows[k].round = 0;
      rows[k].status = Status::ok;
      problem.kernels.push_back({.key = rows[k].kernel_case.key()});
      problem.own_formulas[k] = {formula::kernel(static_cast<std::int32_t>(k))};
    }
    store->append(run_, rows[0]);
    other_ = rows[1];
    const auto time = fold_rounds(std::span(rows, 1), 0);
    Certifier certifier(std::move(problem), {});
    certifier.tell(0, time->low_ns, time->high_ns);
    certifier.tell_failed(1, "crashed");
    ProofFacts facts{.program = "test", .run = run_, .is_definition = true};
    facts.evidence = {{.confidence = 0, .rounds = {0}, .medians = {rows[0].duration_ns_median}},
                      {}};
    proof_ = proof_text(certifier, make_certificate(certifier), facts);
  }
  void append(Status status) {
    other_.status = status;
    if (!has_latency(status)) other_.samples.clear();
    open_store(path_)->append(run_, other_);
  }
  FrontProofCheck checked() const { return check_front_proof(proof_, {.journal = path_}); }

  test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db", proof_;
  std::int64_t run_ = 0;
  Measurement other_;
};

TEST_F(FailedKernelRows, that_failed_bear_it_out) {
  EXPECT_EQ(checked().verdict, ProofVerdict::unreadable) << "none is there";
  append(Status::crashed);
  const FrontProofCheck check = checked();
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.reason;
  EXPECT_EQ(check.failed, 1u);
}

TEST_F(FailedKernelRows, with_a_time_refute_it) {
  append(Status::ok);
  const FrontProofCheck check = checked();
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr("has a time of it"));
  EXPECT_EQ(check_front_proof(proof_).verdict, ProofVerdict::conditional);  // taken as stated
}

// Of the first stated round too there has to be a row, with the median that is stated.
TEST_F(FailedKernelRows, of_each_round_are_those_that_are_stated) {
  append(Status::crashed);
  const auto with = [&](const char* key, const Json& values) {
    Records records = records_of(proof_);
    records[first(records, "kernel")][key] = values;
    return check_front_proof(text_of(records), {.journal = path_});
  };
  EXPECT_EQ(with("rounds", {9}).verdict, ProofVerdict::unreadable);
  EXPECT_THAT(with("rounds", {9}).reason, HasSubstr("of the journal has no round 9 of "));
  const double median = other_.duration_ns_median;
  const FrontProofCheck moved = with("medians", {median * (1 + 1e-9)});
  EXPECT_EQ(moved.verdict, ProofVerdict::broken);
  EXPECT_THAT(moved.reason, HasSubstr("a median is not that of the journal's row"));
}

}  // namespace
}  // namespace halmark
