// What a proof is made of: formulas, spaces, records in their order, the state that follows from
// its gap, runs and rows.
#include <gmock/gmock.h>

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
    Records records = records_of(small_proof());
    records[first(records, "config")]["objectives"][0] = Json::parse(formula);
    expect_broken(records, why);
  }
  Records records = records_of(small_proof());
  records[first(records, "config")]["objectives"].erase(2);
  expect_broken(records, "not one formula per objective");
}

// What would be cut, wrapped or converted on the way states another thing than what is checked.
TEST(ProofFormat, numbers_are_of_the_kind_that_is_wanted) {
  struct Lie {
    const char* record;
    const char* field;
    Json value;
  };
  for (const Lie& lie :
       {Lie{"header", "run", 1.5}, Lie{"header", "run", 1e300}, Lie{"header", "alpha", true},
        Lie{"space", "configurations", -1}, Lie{"space", "combinations", 1.9},
        Lie{"kernel", "id", 0.5}, Lie{"kernel", "operations", true}, Lie{"kernel", "bytes", "8"},
        Lie{"front", "config", 18446744073709551616.0}, Lie{"trailer", "open", 0.25}}) {
    Records records = records_of(small_proof());
    records[std::string(lie.record) == "header" ? 0 : first(records, lie.record)][lie.field] =
        lie.value;
    expect_broken(records, lie.value.is_number() && !lie.value.is_boolean() &&
                                   std::string(lie.field) != "alpha"
                               ? "is no whole number in range"
                               : "is no number");
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
  Records records = whole;
  records[first(records, "kernel")]["id"] = 1;
  expect_broken(records, "not numbered in order");
  records = whole;
  const Json config = records[first(records, "config")];
  insert_before(records, "config", config);
  expect_broken(records, "listed twice");
  records = whole;
  const Json point = records[first(records, "front")];
  insert_before(records, "front", point);
  expect_broken(records, "listed twice");
  records = whole;
  insert_before(records, "leaf", {{"record", "note"}});
  expect_broken(records, "unknown record 'note'");
  const FrontProofCheck check = check_front_proof(small_proof() + "{}\n");
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr("after the trailer"));
  EXPECT_EQ(check.line, whole.size() + 1);
}

TEST(ProofFormat, what_is_no_front_proof_is_not_read_as_one) {
  const auto reason = [](const char* pointer, const Json& value) {
    Records records = records_of(small_proof());
    records[0][Json::json_pointer(pointer)] = value;
    const FrontProofCheck check = check_front_proof(text_of(records));
    EXPECT_EQ(check.verdict, ProofVerdict::unreadable) << pointer;
    EXPECT_EQ(check.line, 1u);
    return check.reason;
  };
  EXPECT_THAT(reason("/format", "another"), HasSubstr("no front proof of halmark"));
  EXPECT_THAT(reason("/version", 3), HasSubstr("version 3 of the format"));
  EXPECT_THAT(reason("/composition/id", "table"), HasSubstr("composition is of a kind"));
  EXPECT_THAT(reason("/composition/version", 2), HasSubstr("composition is of a kind"));
  for (const char* text : {"[]\n", "1\n", "\"halmark-front-proof\"\n"}) {
    EXPECT_THAT(check_front_proof(text).reason, HasSubstr("no front proof of halmark")) << text;
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

// Ends that just meet overlap.
TEST(ProofFormat, a_run_confirms_the_interval_that_it_touches) {
  Certifier certifier(small_problem(), {});
  for (std::int32_t k = 0; k < 5; ++k) {
    const double low = 2 * certifier.kernels()[static_cast<std::size_t>(k)].bound;
    certifier.tell(k, low, 1.05 * low);
  }
  const Certificate certificate = make_certificate(certifier);
  const auto checked = [&](double above, double below) {
    ProofFacts facts{.program = "test", .run_objective = 0};
    for (const CertifiedPoint& p : certificate.front) {
      const Interval of_point = p.interval[0];
      facts.runs[p.configuration] = {0, above > 0
                                            ? Interval{of_point.high * above, of_point.high * 2}
                                            : Interval{of_point.low / 2, of_point.low * below}};
    }
    return check_front_proof(proof_text(certifier, certificate, facts)).verdict;
  };
  EXPECT_EQ(checked(1, 0), ProofVerdict::conditional);
  EXPECT_EQ(checked(1.001, 0), ProofVerdict::conditional);
  EXPECT_EQ(checked(0, 1), ProofVerdict::conditional);
  EXPECT_EQ(checked(0, 0.999), ProofVerdict::conditional);
}

// The medians are those of the rows, but one of the rows gave no time.
TEST(ProofRows, that_failed_carry_no_interval) {
  for (const bool has_failed : {false, true}) {
    const ScratchFolder folder;
    const std::string path = folder / "a.db";
    const auto store = open_store(path);
    ProofFacts facts{.program = "test", .is_definition = true};
    facts.run = store->begin_run(run_info("plan"));
    Measurement m = numbered_measurement(1);
    facts.evidence = {{.confidence = 0.75}};
    for (const int round : {0, 1, 2}) {
      m.round = round;
      m.status = has_failed && round == 2 ? Status::wrong_result : Status::ok;
      m.duration_ns_median = 100 + 10 * round;
      facts.evidence[0].rounds.push_back(round);
      facts.evidence[0].medians.push_back(m.duration_ns_median);
      store->append(facts.run, m);
    }
    CertifiableProblem problem;
    problem.domains = {{"choice", {"only"}}};
    problem.objectives = {{"time", "ns", false}};
    problem.kernels = {{.key = m.kernel_case.key()}};
    problem.own_formulas[0] = {formula::kernel(0)};
    Certifier certifier(std::move(problem), {});
    certifier.tell(0, 100, 120);
    const std::string proof = proof_text(certifier, make_certificate(certifier), facts);
    const FrontProofCheck check = check_front_proof(proof, {.journal = path});
    EXPECT_EQ(check.verdict, has_failed ? ProofVerdict::broken : ProofVerdict::conditional);
    if (has_failed) {
      EXPECT_THAT(check.reason, HasSubstr("other rounds of this kernel"));
    }
  }
}

}  // namespace
}  // namespace halmark
