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

}  // namespace
}  // namespace halmark
