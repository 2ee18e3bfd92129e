// The checker of front proofs against proofs that were tampered with, their hash made right again:
// only recomputing finds them.
#include "verify/front_proof/front_proof.hpp"

#include <gmock/gmock.h>

#include "certifiable.hpp"
#include "proof_records.hpp"
#include "search/certify/proof.hpp"
#include "tests/unit/journal/journal_fixture.hpp"

namespace halmark {
namespace {

using namespace problems;
using namespace test;
using testing::HasSubstr;

// Of mix6 with shared kernels; the peak too low by half, so that alarms are in it.
const std::string& mix6_proof() {
  static const std::string out = [] {
    Certifier certifier(certifiable_mix6(Mix6Kernels::shared, 1.05, 0.5), {});
    certify_all(certifier, mix6_times(certifier.problem(), Mix6Kernels::shared));
    return proof_of(certifier);
  }();
  return out;
}

ProofVerdict verdict_of(const Records& records) {
  return check_front_proof(text_of(records)).verdict;
}

TEST(FrontProof, of_mix6_holds) {
  const FrontProofCheck check = check_front_proof(mix6_proof());
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.line << ": " << check.reason;
  EXPECT_EQ(check.configurations, 294'912u);
  EXPECT_EQ(check.front, 222u);
  EXPECT_EQ(check.certain, 222u);
  EXPECT_EQ(check.kernels, 288u);
  EXPECT_EQ(check.kernels_measured, 96u);
  EXPECT_GT(check.alarms, 0u);
  EXPECT_EQ(check.alpha, 0);
}

TEST(FrontProof, with_open_boxes_holds_up_to_its_gap) {
  const FrontProofCheck check = check_front_proof(small_proof());
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.line << ": " << check.reason;
  EXPECT_EQ(check.reason, "open");
  EXPECT_EQ(check.configurations, 7u);
  EXPECT_EQ(check.failed, 2u);
  EXPECT_EQ(check.stated_exclusions, 1u);
  EXPECT_GT(check.gap, 0);
}

TEST(FrontProof, of_a_model_that_no_run_confirmed_is_conditional) {
  Certifier certifier(small_problem(), {});
  for (std::int32_t k = 0; k < 5; ++k) {
    const double low = 2 * certifier.kernels()[static_cast<std::size_t>(k)].bound;
    certifier.tell(k, low, low);
  }
  const Certificate certificate = make_certificate(certifier);
  ASSERT_EQ(certificate.state, CertificateState::certified);
  ProofFacts facts{.program = "test"};
  FrontProofCheck check = check_front_proof(proof_text(certifier, certificate, facts));
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.reason;
  EXPECT_EQ(check.reason, "composition not confirmed");
  facts.run_objective = 0;
  for (const CertifiedPoint& p : certificate.front) {
    facts.runs[p.configuration] = {p.interval[0].low, p.interval[0]};
  }
  check = check_front_proof(proof_text(certifier, certificate, facts));
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.reason;
  facts.runs.begin()->second.interval = {1, 2};
  check = check_front_proof(proof_text(certifier, certificate, facts));
  EXPECT_EQ(check.verdict, ProofVerdict::conditional);
}

struct Mutation {
  const char* name;
  const char* record;
  const char* with;  // a key of the record that is meant
  const char* pointer;
};

constexpr Mutation mutations[] = {
    {"header_peak", "header", "", "/peaks/0/value"},
    {"header_safety", "header", "", "/peaks/0/safety"},
    {"header_alpha", "header", "", "/alpha"},
    {"header_units", "header", "", "/time_units_per_s"},
    {"space_combinations", "space", "", "/combinations"},
    {"space_configurations", "space", "", "/configurations"},
    {"fact", "fact", "", "/values/0"},
    {"slot", "slot", "", "/kernels/300"},
    {"formula", "formula", "", "/objectives/2/1/2/1/1"},
    {"kernel_operations", "kernel", "", "/operations"},
    {"kernel_amount", "kernel", "", "/terms/0/amount"},
    {"kernel_bound", "kernel", "", "/bound"},
    {"kernel_low", "kernel", "interval", "/interval/0"},
    {"kernel_confidence", "kernel", "interval", "/confidence"},
    {"alarm_low", "alarm", "", "/low"},
    {"alarm_bound", "alarm", "", "/bound"},
    {"alarm_before", "alarm", "", "/peak_before"},
    {"alarm_after", "alarm", "", "/peak_after"},
    {"leaf_count", "leaf", "", "/configurations"},
    {"leaf_dominated_bound", "leaf", "dominated", "/dominated/0/bound/0"},
    {"leaf_dominated_by", "leaf", "dominated", "/dominated/0/by"},
    {"leaf_evaluated", "leaf", "evaluated", "/evaluated/1/0"},
    {"front_interval", "front", "", "/interval/2/1"},
    {"front_config", "front", "", "/config"},
    {"front_kernel", "front", "", "/kernels/0"},
    {"trailer_gap", "trailer", "", "/gap"},
    {"trailer_evaluated", "trailer", "", "/evaluated"},
    {"trailer_alarms", "trailer", "", "/alarms"},
    {"trailer_kernels", "trailer", "", "/kernels_measured"},
    {"small_config_count", "config", "", "/objectives/0/2/1/1/1"},
    {"small_config_memory", "config", "", "/objectives/2"},
    {"small_config_level", "config", "", "/at/0"},
    {"small_config_front", "config", "", "/front"},
    {"small_leaf_open_bound", "leaf", "open", "/open/0/bound/0"},
    {"small_leaf_open_gap", "leaf", "open", "/open/0/gap"},
    {"small_leaf_failed", "leaf", "failed", "/failed"},
    {"small_leaf_constraint", "leaf", "constraint", "/constraint/0"},
    {"small_trailer_open", "trailer", "", "/open"}};

// One number, by one part in a million or by one.
void change(Json& number) {
  if (number.is_number_integer()) {
    number = number.get<std::int64_t>() + 1;
  } else {
    number = number.get<double>() * (1 + 1e-6) + 1e-12;
  }
}

// All in one test: the large proof is dear to make.
TEST(FrontProof, any_number_of_any_record_that_changes_breaks_it) {
  Records small = records_of(small_proof());
  Records large = records_of(mix6_proof());
  for (const Mutation& m : mutations) {
    SCOPED_TRACE(m.name);
    Records& records = std::string_view(m.name).starts_with("small") ? small : large;
    Json& record = records[first(records, m.record, m.with)];
    const Json whole = record;
    change(record[Json::json_pointer(m.pointer)]);
    const FrontProofCheck check = check_front_proof(text_of(records));
    EXPECT_EQ(check.verdict, ProofVerdict::broken) << record.dump();
    EXPECT_GT(check.line, 0u);
    EXPECT_NE(check.reason, "");
    record = whole;
  }
  EXPECT_EQ(verdict_of(large), ProofVerdict::conditional);
}

TEST(FrontProof, a_record_that_is_removed_doubled_or_widened_breaks_it) {
  const Records records = records_of(mix6_proof());
  for (const char* kind : {"dominated", "evaluated"}) {
    const std::size_t at = first(records, "leaf", kind);
    const auto here = static_cast<std::ptrdiff_t>(at);
    Records removed = records, doubled = records, widened = records;
    removed.erase(removed.begin() + here);
    doubled.insert(doubled.begin() + here, records[at]);
    widened[at]["box"].erase(widened[at]["box"].begin());
    for (const Records& other : {removed, doubled, widened}) {
      EXPECT_EQ(verdict_of(other), ProofVerdict::broken);
    }
  }
  Records without = records;
  without.erase(without.begin() + static_cast<std::ptrdiff_t>(first(records, "front")));
  EXPECT_EQ(verdict_of(without), ProofVerdict::broken);
}

TEST(FrontProof, a_formula_that_may_fall_when_a_time_grows_is_no_composition) {
  for (const char* formula :
       {R"(["scale", -1, ["kernel", 0]])", R"(["scale", ["sum", 1, -2], ["kernel", 0]])",
        R"(["scale", ["kernel", 1], ["kernel", 0]])", R"(["divide", ["kernel", 0], 0])",
        R"(["divide", ["kernel", 0], ["kernel", 1]])", R"(["rate", -1, ["kernel", 0]])",
        R"(["rate", 1, ["sum", ["kernel", 0], -5]])", R"(["rate", ["kernel", 1], ["kernel", 0]])",
        R"(["sum", 1, ["rate", 1, ["rate", 1, ["kernel", 0]]]])"}) {
    SCOPED_TRACE(formula);
    expect_broken(changed("config", "", "/objectives/0", Json::parse(formula)), "may fall");
  }
}

TEST(FrontProof, its_word_on_the_composition_is_recomputed) {
  for (const bool is_definition : {true, false}) {
    Records records = records_of(small_proof(is_definition));
    EXPECT_EQ(records.back()["composition_confirmed"], is_definition);
    records.back()["composition_confirmed"] = !is_definition;
    EXPECT_EQ(verdict_of(records), ProofVerdict::broken);
  }
}

TEST(FrontProof, its_bytes_are_what_was_hashed) {
  std::string text = mix6_proof();
  text.replace(text.find("by definition"), 13, "by definitioN");
  EXPECT_EQ(check_front_proof(text).verdict, ProofVerdict::broken);
}

TEST(FrontProof, truncated_or_of_another_version_it_cannot_be_checked) {
  const std::string& whole = mix6_proof();
  for (const std::size_t size : {whole.size() - 1, whole.size() - 100, whole.size() / 2,
                                 whole.rfind('\n', whole.size() - 2) + 1, std::size_t{0}}) {
    EXPECT_EQ(check_front_proof(std::string_view(whole).substr(0, size)).verdict,
              ProofVerdict::unreadable)
        << size;
  }
  EXPECT_EQ(check_front_proof("{\"a\": 1}\n").verdict, ProofVerdict::unreadable);
}

TEST(FrontProof, is_judged_alike_by_a_second_implementation) {
  const auto code = verdict_of_script(mix6_proof());
  if (!code) GTEST_SKIP() << "no python3";
  EXPECT_EQ(*code, 4);
  EXPECT_EQ(verdict_of_script(small_proof()), 4);
  EXPECT_EQ(verdict_of_script(small_proof().substr(0, 500)), 2);
  const Records small = records_of(small_proof());
  for (const char* kind : {"dominated", "evaluated", "open", "failed", "constraint"}) {
    Records removed = small;
    removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(first(removed, "leaf", kind)));
    EXPECT_EQ(verdict_of_script(text_of(removed)), 3) << kind;
  }
  Records changed = small;
  changed[first(small, "kernel")]["bound"] = 8.5;
  EXPECT_EQ(verdict_of_script(text_of(changed)), 3);
}

// A space of one kernel whose interval comes from the rows of a journal, the last as it is said.
struct JournalProof {
  explicit JournalProof(Status last = Status::ok) {
    const auto store = open_store(path);
    facts.run = store->begin_run(test::run_info("plan"));
    Measurement m = test::numbered_measurement(1);
    CertifiableProblem problem;
    problem.domains = {{"choice", {"only"}}};
    problem.objectives = {{"time", "ns", false}};
    problem.kernels = {{.key = m.kernel_case.key()}};
    problem.own_formulas[0] = {formula::kernel(0)};
    Certifier certifier(std::move(problem), {});
    facts.evidence = {{.confidence = 0.75}};
    for (const int round : {0, 1, 2}) {
      m.round = round;
      m.status = round == 2 ? last : Status::ok;
      m.duration_ns_median = 100 + 10 * round;
      facts.evidence[0].rounds.push_back(round);
      facts.evidence[0].medians.push_back(m.duration_ns_median);
      store->append(facts.run, m);
    }
    facts.is_definition = true;
    certifier.tell(0, 100, 120);
    proof = proof_text(certifier, make_certificate(certifier), facts);
  }
  FrontProofCheck check() const { return check_front_proof(proof, {.journal = path}); }

  test::ScratchFolder folder;
  std::string path = folder / "a.db";
  ProofFacts facts;
  std::string proof;
};

TEST(FrontProofRows, are_compared_with_the_journal) {
  const FrontProofCheck check = JournalProof().check();
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.reason;
  EXPECT_TRUE(check.rows_compared);
  EXPECT_EQ(check.alpha, 0.25);
}

// The medians are those of the rows, but one of the rows gave no time.
TEST(FrontProofRows, that_failed_carry_no_interval) {
  const FrontProofCheck check = JournalProof(Status::wrong_result).check();
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr("other rounds of this kernel"));
}

TEST(FrontProofRows, that_are_missing_leave_it_unchecked) {
  const JournalProof made;
  Records records = records_of(made.proof);
  records[first(records, "kernel")]["key"] = "another";
  EXPECT_EQ(check_front_proof(text_of(records), {.journal = made.path}).verdict,
            ProofVerdict::unreadable);
  EXPECT_EQ(check_front_proof(text_of(records)).verdict, ProofVerdict::conditional);
}

TEST(FrontProofRows, that_say_otherwise_break_it) {
  const JournalProof made;
  Measurement m = test::numbered_measurement(1);
  m.round = 1;
  m.status = Status::ok;
  m.duration_ns_median = 111;
  open_store(made.path)->append(made.facts.run, m);
  EXPECT_EQ(made.check().verdict, ProofVerdict::broken);
}

TEST(FrontProofRows, fold_to_the_interval_even_without_the_journal) {
  Records records = records_of(JournalProof().proof);
  records[first(records, "kernel")]["medians"][2] = 121.0;
  EXPECT_EQ(verdict_of(records), ProofVerdict::broken);
}

}  // namespace
}  // namespace halmark
