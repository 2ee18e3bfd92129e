// Both sides of every limit of the proof checker: the last index that exists and the first that
// does not, a safety factor of one and just less, an interval on its bound and just below it.
#include <gmock/gmock.h>

#include "proof_records.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark {
namespace {

using namespace test;

void expect_accepted(const std::string& proof) {
  const FrontProofCheck check = check_front_proof(proof);
  EXPECT_TRUE(check.verdict == ProofVerdict::conditional ||
              check.verdict == ProofVerdict::conditional)
      << check.line << ": " << check.reason;
}

// Two peaks, five kernels, two constraints, one front, three times four levels.
struct Index {
  const char* record;
  const char* with;
  const char* pointer;
  int last;  // that exists
  const char* why;
};

TEST(ProofLimits, an_index_one_past_the_end_is_of_nothing) {
  const Records whole = records_of(small_proof());
  const std::vector<Index> indices = {
      {"kernel", "", "/terms/0/peak", 1, "unknown peak"},
      {"leaf", "failed", "/failed", 4, "the kernel did not fail"},
      {"leaf", "constraint", "/constraint/0", 1, "unknown constraint"},
      {"leaf", "evaluated", "/box/shards", 2, "outside of the space"},
      {"leaf", "evaluated", "/box/variant", 3, "outside of the space"},
      {"config", "", "/at/0", 2, "outside of the space"},
      {"config", "", "/at/1", 3, "outside of the space"},
      {"config", "", "/front", 0, "outside of the space"},
      {"config", "", "/objectives/0/2/1/1/2/1", 4, "unknown kernel"},
      {"front", "", "/config", 11, "it was not evaluated"}};
  for (const Index& i : indices) {
    SCOPED_TRACE(std::string(i.record) + i.pointer);
    Records records = whole;
    Json& number = records[first(records, i.record, i.with)][Json::json_pointer(i.pointer)];
    ASSERT_TRUE(number.is_number());
    number = i.last + 1;
    expect_broken(records, i.why);
  }
  Records short_of = whole;
  short_of[first(short_of, "config")]["at"] = {0};
  expect_broken(short_of, "outside of the space");
}

TEST(ProofLimits, a_table_has_a_value_per_combination_and_slots_name_kernels) {
  const Records whole = records_of(small_proof());
  const auto with = [&](Json record) {
    Records records = whole;
    insert_before(records, "config", std::move(record));
    return records;
  };
  const auto fact = [](std::vector<double> values) {
    return Json{{"record", "fact"}, {"name", "f"}, {"over", {"shards"}}, {"values", values}};
  };
  const auto slot = [](std::vector<int> kernels) {
    return Json{{"record", "slot"}, {"name", "s"}, {"over", {"shards"}}, {"kernels", kernels}};
  };
  expect_accepted(text_of(with(fact({1, 2, 3}))));
  expect_broken(with(fact({1, 2})), "2 values for 3 combinations");
  expect_broken(with(fact({1, 2, 3, 4})), "4 values for 3 combinations");
  expect_accepted(text_of(with(slot({0, 1, 4}))));
  expect_broken(with(slot({0, 1, 5})), "unknown kernel");
}

TEST(ProofLimits, of_the_bytes_caches_may_hold_a_part_and_of_the_operations_none) {
  const Records whole = records_of(small_proof());
  const std::size_t at = first(whole, "kernel");  // 10 operations, 8 bytes, of which 6 are bounded
  for (const double bytes : {0.0, 8.0}) {
    Records records = whole;
    records[at]["terms"][1]["amount"] = bytes;
    expect_accepted(text_of(records));
  }
  for (const double bytes : {-1e-9, 8.000001}) {
    Records records = whole;
    records[at]["terms"][1]["amount"] = bytes;
    expect_broken(records, "not of this kernel's operations or bytes");
  }
  for (const double operations : {9.999999, 10.000001}) {
    Records records = whole;
    records[at]["terms"][0]["amount"] = operations;
    expect_broken(records, "not of this kernel's operations or bytes");
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
    const double low = 1.5 * certifier.kernels()[static_cast<std::size_t>(k)].bound;
    certifier.tell(k, low, low);
  }
  return proof_of(certifier);
}

TEST(ProofLimits, no_safety_factor_lowers_a_peak) {
  expect_accepted(proof_with_peak(1, 1));
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
  expect_accepted(told(8, 8));  // 10 operations at 1.25 per second
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

TEST(ProofLimits, an_interval_is_not_empty_and_not_of_nothing) {
  const Records whole = records_of(small_proof());
  const std::size_t at = first(whole, "kernel", "interval");
  for (const auto& [low, high] :
       {std::pair(0.0, 12.0), std::pair(-1.0, 12.0), std::pair(12.5, 12.0)}) {
    Records records = whole;
    records[at]["interval"] = {low, high};
    expect_broken(records, "not 0 < low <= high");
  }
  Records records = whole;
  records[at]["interval"] = {11, 12, 13};
  expect_broken(records, "not two numbers");
}

// What one kernel's medians say; other kernels are not measured.
std::string proof_of_medians(std::size_t n, double confidence, double alpha_of_others = 0) {
  Certifier certifier(small_problem(), {.eps = 0.01});
  std::vector<double> medians;
  for (std::size_t i = 0; i < n; ++i) medians.push_back(11 + static_cast<double>(i) / 100);
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
    expect_accepted(proof_of_medians(n, right));
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
  expect_accepted(whole);
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
  expect_accepted(text_of(whole));
  const std::size_t at = first(whole, "alarm");
  ASSERT_DOUBLE_EQ(whole[at]["bound"], 16);
  ASSERT_DOUBLE_EQ(whole[at + 1]["peak_before"], 10.0 / 11);
  const auto changed = [&](const auto& change) {
    Records records = whole;
    change(records);
    return records;
  };
  expect_broken(changed([&](Records& r) { r[at]["low"] = 16; }), "did not break this bound");
  expect_broken(changed([&](Records& r) { r[at]["low"] = 11.5; }), "not what was measured");
  expect_broken(changed([&](Records& r) { r[at]["peak_after"] = 0.9; }), "does not just cover");
  expect_broken(changed([&](Records& r) {
                  r[at + 1]["peak_before"] = 0.9;
                  r[at + 1]["bound"] = 20 / (0.9 * 1.25);
                }),
                "does not begin where the peak's last alarm ended");
  expect_broken(changed([&](Records& r) {
                  r.erase(r.begin() + static_cast<std::ptrdiff_t>(at + 2));
                  r.back()["alarms"] = 2;
                }),
                "not the one that its last alarm left");
  // The memory does not bound a kernel without such a term.
  expect_broken(changed([&](Records& r) {
                  r[first(r, "kernel")]["terms"].erase(1);
                  r[at]["peak"] = 1;
                }),
                "this peak does not bound the kernel");
  for (const char* what : {"kernel", "peak"}) {
    expect_broken(
        changed([&](Records& r) { r[at][what] = std::string_view(what) == "kernel" ? 5 : 2; }),
        "unknown kernel or peak");
  }
}

}  // namespace
}  // namespace halmark
