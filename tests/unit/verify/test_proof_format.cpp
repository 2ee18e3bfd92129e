// What a proof is made of: formulas, spaces, records in their order, the state that follows from
// its gap, runs and rows.
// Both sides of every limit of the proof checker: the last index that exists and the first that
// does not, a safety factor of one and just less, an interval on its bound and just below it.
#include <gmock/gmock.h>

#include "core/numeric/cast.hpp"
#include "proof_records.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

// ["sum", ["sum", ... formula]] is the formula, as deep as JSON is read at all: 64 levels, of which
// record, list and the formula itself take seven.
TEST(ProofFormat, formulas_are_read_as_deep_as_json_is) {
  for (const int wraps : {57, 58}) {
    Records records = records_of(small_proof());
    Json& formula = records[first(records, "config")]["objectives"][0];
    for (int i = 0; i < wraps; ++i) formula = Json::array({"sum", formula});
    const FrontProofCheck check = check_front_proof(text_of(records));
    EXPECT_EQ(check.verdict, wraps == 57 ? ProofVerdict::conditional : ProofVerdict::unreadable)
        << check.reason;
  }
}

TEST(ProofFormat, operations_have_their_operands) {
  for (const auto& [formula, why] :
       {std::pair(R"(["sum"])", "without operands"), std::pair(R"(["max"])", "without operands"),
        std::pair(R"(["scale", 1])", "without two operands"),
        std::pair(R"(["rate", 1, ["kernel", 0], 2])", "without two operands"),
        std::pair(R"(["power", 1, 2])", "unknown operation"),
        std::pair(R"("nothing")", "nothing is called"),
        std::pair(R"(["slot", "nothing"])", "nothing is called")}) {
    expect_broken(changed("config", "", "/objectives/0", Json::parse(formula)), why);
  }
  expect_broken(changed("config", "", "/objectives", {1, 2}), "not one formula per objective");
}

// What would be cut, wrapped or converted on the way states another thing than what is checked.
TEST(ProofFormat, numbers_are_of_the_kind_that_is_wanted) {
  const char *no_whole = "is no whole number in range", *no_number = "is no number";
  const struct {
    const char *record, *field;
    Json value;
    const char* why;
  } lies[] = {{"header", "/run", 1.5, no_whole},
              {"header", "/run", 1e300, no_whole},
              {"header", "/alpha", true, no_number},
              {"space", "/configurations", -1, no_whole},
              {"space", "/combinations", 1.9, no_whole},
              {"kernel", "/id", 0.5, no_whole},
              {"kernel", "/operations", true, no_number},
              {"kernel", "/bytes", "8", no_number},
              {"front", "/config", 18446744073709551616.0, no_whole},
              {"trailer", "/open", 0.25, no_whole}};
  for (const auto& [record, field, value, why] : lies) {
    SCOPED_TRACE(std::string(record) + field);
    expect_broken(changed(record, "", field, value), why);
  }
}

TEST(ProofFormat, a_space_is_as_large_as_can_be_listed) {
  for (const int last : {4096, 4097}) {
    Records records = records_of(small_proof());
    Json& domains = records[first(records, "space")]["domains"];
    domains = Json::array();
    for (const int size : {4096, last}) {
      std::vector<std::string> values(static_cast<std::size_t>(size), "x");
      domains.push_back(
          {{"name", size == 4096 && domains.empty() ? "shards" : "variant"}, {"values", values}});
    }
    const FrontProofCheck check = check_front_proof(text_of(records));
    const bool is_listed = last == 4096;
    EXPECT_EQ(check.verdict, is_listed ? ProofVerdict::broken : ProofVerdict::unreadable);
    EXPECT_THAT(check.reason,
                HasSubstr(is_listed ? "16777216 combinations" : "more combinations than"));
  }
}

TEST(ProofFormat, records_stand_in_their_order_and_once) {
  const Records whole = records_of(small_proof());
  expect_broken(changed("kernel", "", "/id", 1), "not numbered in order");
  for (const char* kind : {"config", "front"}) {
    Records records = whole;
    insert_before(records, kind, Json(whole[first(whole, kind)]));
    expect_broken(records, "listed twice");
  }
  Records records = whole;
  insert_before(records, "leaf", {{"record", "note"}});
  expect_broken(records, "unknown record 'note'");
  const FrontProofCheck check = check_front_proof(small_proof() + "{}\n");
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr("after the trailer"));
  EXPECT_EQ(check.line, whole.size() + 1);
}

TEST(ProofFormat, what_is_no_front_proof_is_not_read_as_one) {
  const std::pair<std::string, const char*> texts[] = {
      {text_of(changed("header", "", "/format", "another")), "no front proof of halmark"},
      {text_of(changed("header", "", "/version", 3)), "version 3 of the format"},
      {text_of(changed("header", "", "/composition/id", "table")), "composition is of a kind"},
      {text_of(changed("header", "", "/composition/version", 2)), "composition is of a kind"},
      {"[]\n", "no front proof of halmark"},
      {"1\n", "no front proof of halmark"},
      {"\"halmark-front-proof\"\n", "no front proof of halmark"}};
  for (const auto& [text, why] : texts) {
    const FrontProofCheck check = check_front_proof(text);
    EXPECT_EQ(check.verdict, ProofVerdict::unreadable);
    EXPECT_THAT(check.reason, HasSubstr(why));
    EXPECT_EQ(check.line, 1u);
  }
}

// A gap of eps is within eps.
TEST(ProofFormat, the_state_follows_from_the_gap) {
  const auto checked = [](double eps) {
    Certifier certifier(small_problem(), {.eps = eps});
    certifier.tell(0, 11, 12);
    certifier.tell(1, 19, 21);
    certifier.tell_failed(2, "crashed");
    return check_front_proof(proof_of(certifier));
  };
  const double gap = checked(0.01).gap;
  ASSERT_GT(gap, 0.01);
  EXPECT_EQ(checked(gap).reason, "certified within eps");
  EXPECT_EQ(checked(gap * 1.01).reason, "certified within eps");
  EXPECT_EQ(checked(gap * 0.99).reason, "open");
}

// Two peaks, five kernels, two constraints, one front, three times four levels: one past the end of
// each is of nothing. Of the kernel's 10 operations all count, of its 8 bytes what caches do not
// hold; an interval is neither empty nor of nothing.
TEST(ProofLimits, what_lies_beyond_them_is_refused) {
  const char *outside = "outside of the space",
             *amount = "not of this kernel's operations or bytes", *order = "not 0 < low <= high";
  const struct {
    const char *record, *with, *pointer;
    Json value;
    const char* why;
  } cases[] = {{"kernel", "", "/terms/0/peak", 2, "unknown peak"},
               {"leaf", "failed", "/failed", 5, "the kernel did not fail"},
               {"leaf", "constraint", "/constraint/0", 2, "unknown constraint"},
               {"leaf", "evaluated", "/box/shards", 3, outside},
               {"leaf", "evaluated", "/box/variant", 4, outside},
               {"config", "", "/at/0", 3, outside},
               {"config", "", "/at/1", 4, outside},
               {"config", "", "/at", {0}, outside},
               {"config", "", "/front", 1, outside},
               {"config", "", "/objectives/0/2/1/1/2/1", 5, "unknown kernel"},
               {"front", "", "/config", 12, "it was not evaluated"},
               {"kernel", "", "/terms/1/amount", 0.0, nullptr},
               {"kernel", "", "/terms/1/amount", 8.0, nullptr},
               {"kernel", "", "/terms/1/amount", -1e-9, amount},
               {"kernel", "", "/terms/1/amount", 8.000001, amount},
               {"kernel", "", "/terms/0/amount", 9.999999, amount},
               {"kernel", "", "/terms/0/amount", 10.000001, amount},
               {"kernel", "interval", "/interval", {0.0, 12.0}, order},
               {"kernel", "interval", "/interval", {-1.0, 12.0}, order},
               {"kernel", "interval", "/interval", {12.5, 12.0}, order},
               {"kernel", "interval", "/interval", {11, 12, 13}, "not two numbers"}};
  for (const auto& [record, with, pointer, value, why] : cases) {
    SCOPED_TRACE(std::string(record) + pointer + value.dump());
    const Records records = changed(record, with, pointer, value);
    why != nullptr ? expect_broken(records, why) : expect_conditional(text_of(records));
  }
}

TEST(ProofLimits, a_table_has_a_value_per_combination_and_slots_name_kernels) {
  const struct {
    const char *record, *key;
    Json values;
    const char* why;
  } cases[] = {{"fact", "values", {1, 2, 3}, nullptr},
               {"fact", "values", {1, 2}, "2 values for 3 combinations"},
               {"fact", "values", {1, 2, 3, 4}, "4 values for 3 combinations"},
               {"slot", "kernels", {0, 1, 4}, nullptr},
               {"slot", "kernels", {0, 1, 5}, "unknown kernel"}};
  for (const auto& [record, key, values, why] : cases) {
    Records records = records_of(small_proof());
    insert_before(records, "config",
                  {{"record", record}, {"name", "f"}, {"over", {"shards"}}, {key, values}});
    why != nullptr ? expect_broken(records, why) : expect_conditional(text_of(records));
  }
}

std::string proof_with_peak(double value, double safety) {
  CertifiableProblem problem = small_problem();
  for (BoundPeak& peak : problem.peaks) {
    peak.value *= value;
    peak.safety = safety;
  }
  Certifier certifier(problem, {.eps = 0.01});
  for (std::int32_t k = 0; k < 5; ++k) {
    const double low = 1.5 * certifier.kernels()[as_size(k)].bound;
    certifier.tell(k, low, low);
  }
  return proof_of(certifier);
}

TEST(ProofLimits, no_safety_factor_lowers_a_peak) {
  expect_conditional(proof_with_peak(1, 1));
  expect_broken(records_of(proof_with_peak(1, 0.999)), "a peak or safety factor is too small");
  for (const std::size_t peak : {0u, 1u}) {
    Records records = records_of(proof_with_peak(1, 1));
    records[0]["peaks"][peak]["value"] = 0;
    expect_broken(records, "a peak or safety factor is too small");
  }
}

TEST(ProofLimits, an_interval_may_touch_its_bound_and_not_cross_it) {
  const auto told = [](double low, double high) {
    Certifier certifier(small_problem(), {.eps = 0.01});
    certifier.tell(0, low, high);
    certifier.tell(1, 19, 21);
    return certifier.alarms().empty() ? proof_of(certifier) : "";
  };
  expect_conditional(told(8, 8));  // 10 operations at 1.25 per second
  // The same proof beside kernels whose peak is a hundredth higher than the stated one.
  CertifiableProblem fast = small_problem();
  fast.peaks[0].value = 1.01;
  Certifier certifier(fast, {.eps = 0.01});
  certifier.tell(0, 7.95, 9);
  certifier.tell(1, 19, 21);
  Records records = records_of(proof_of(certifier));
  const Records truth = records_of(told(8, 9));
  records[0]["peaks"] = truth[0]["peaks"];
  for (std::size_t k = 0; k < 5; ++k) {
    records[first(records, "kernel") + k]["bound"] = truth[first(truth, "kernel") + k]["bound"];
  }
  expect_broken(records, "measured below its bound, without an alarm");
}

// What one kernel's medians say; other kernels are not measured.
std::string proof_of_medians(std::size_t n, double confidence, double alpha_of_others = 0) {
  Certifier certifier(small_problem(), {.eps = 0.01});
  std::vector<double> medians;
  for (std::size_t i = 0; i < n; ++i) medians.push_back(11 + as_double(i) / 100);
  certifier.tell(0, 11, medians.back());
  certifier.tell(1, 19, 19);
  ProofFacts facts{.program = "test", .is_definition = true};
  facts.evidence.resize(5);
  facts.evidence[0].medians = medians;
  facts.evidence[0].confidence = confidence;
  for (std::size_t i = 0; i < n; ++i) facts.evidence[0].rounds.push_back(static_cast<int>(i));
  if (alpha_of_others > 0) facts.evidence[1] = {1 - alpha_of_others, {0}, {19}};
  return proof_text(certifier, make_certificate(certifier), facts);
}

// min..max of n misses the median with 2^(1-n); from six on ranks are chosen for 95 %.
TEST(ProofLimits, the_confidence_of_an_interval_follows_from_its_processes) {
  const std::vector<double> confidences = {0, 0.5, 0.75, 0.875, 0.9375, 0.95, 0.95};
  for (std::size_t n = 1; n <= confidences.size(); ++n) {
    SCOPED_TRACE(n);
    const double right = confidences[n - 1];
    expect_conditional(proof_of_medians(n, right));
    EXPECT_DOUBLE_EQ(check_front_proof(proof_of_medians(n, right)).alpha, 1 - right);
    for (const double wrong : {right + 0.01, right - 0.01, n < 6 ? 0.95 : 1 - 1.0 / 32}) {
      if (wrong == right) continue;
      expect_broken(records_of(proof_of_medians(n, wrong)), "not the confidence");
    }
  }
}

TEST(ProofLimits, alpha_is_a_sum_of_at_most_one) {
  const std::string half = proof_of_medians(3, 0.75);
  EXPECT_DOUBLE_EQ(check_front_proof(half).alpha, 0.25);
  const std::string whole = proof_of_medians(2, 0.5, 1);
  expect_conditional(whole);
  EXPECT_DOUBLE_EQ(check_front_proof(whole).alpha, 1);
  Records records = records_of(whole);
  records[0]["alpha"] = 1.5;
  expect_broken(records, "alpha is not the sum");
}

TEST(ProofLimits, each_round_has_its_median) {
  Records records = records_of(proof_of_medians(3, 0.75));
  records[first(records, "kernel")]["rounds"] = {0, 1};
  expect_broken(records, "not one median per round");
}

// The peak at half of what the kernels reach: two alarms raise it.
Records proof_with_alarms() {
  CertifiableProblem problem = small_problem();
  problem.peaks[0].value = 0.5;
  Certifier certifier(problem, {.eps = 0.01});
  certifier.tell(0, 11, 12);                    // at least 16 was stated: the peak is 10 / 11
  certifier.tell(1, 15, 16);                    // at least 17.6: the peak is 20 / 15
  certifier.tell_failed(3, "quarantined", 30);  // at least 48: the peak is 80 / 30
  EXPECT_EQ(certifier.alarms().size(), 3u);
  return records_of(proof_of(certifier));
}

TEST(ProofLimits, alarms_form_a_chain_that_ends_at_the_stated_peak) {
  const Records whole = proof_with_alarms();
  expect_conditional(text_of(whole));
  const std::size_t at = first(whole, "alarm");
  ASSERT_DOUBLE_EQ(whole[at]["bound"], 16);
  ASSERT_DOUBLE_EQ(whole[at + 1]["peak_before"], 10.0 / 11);
  const std::pair<std::function<void(Records&)>, const char*> changes[] = {
      {[&](Records& r) { r[at]["low"] = 16; }, "did not break this bound"},
      {[&](Records& r) { r[at]["low"] = 11.5; }, "not what was measured"},
      {[&](Records& r) { r[at]["peak_after"] = 0.9; }, "does not just cover"},
      {[&](Records& r) {
         r[at + 1]["peak_before"] = 0.9;
         r[at + 1]["bound"] = 20 / (0.9 * 1.25);
       },
       "does not begin where the peak's last alarm ended"},
      {[&](Records& r) {
         r.erase(r.begin() + static_cast<std::ptrdiff_t>(at + 2));
         r.back()["alarms"] = 2;
       },
       "not the one that its last alarm left"},
      // The memory does not bound a kernel without such a term.
      {[&](Records& r) {
         r[first(r, "kernel")]["terms"].erase(1);
         r[at]["peak"] = 1;
       },
       "this peak does not bound the kernel"},
      {[&](Records& r) { r[at]["kernel"] = 5; }, "unknown kernel or peak"},
      {[&](Records& r) { r[at]["peak"] = 2; }, "unknown kernel or peak"}};
  for (const auto& [change, why] : changes) {
    Records records = whole;
    change(records);
    expect_broken(records, why);
  }
}

}  // namespace
}  // namespace halmark
