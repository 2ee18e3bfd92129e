// What a person and a program read of a checked database, a copy and a proof, word for word.
#include <gmock/gmock.h>

#include <limits>

#include "core/json/json.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"
#include "verify/database.hpp"
#include "verify/database_text.hpp"
#include "verify/front_proof/front_proof.hpp"
#include "verify/front_proof/front_proof_text.hpp"
#include "verify/salvage.hpp"
#include "verify/salvage_text.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(NotedHeadOption, is_64_hexadecimal_digits_in_whatever_case) {
  const std::string head(32, 'A'), digits = head + std::string(32, '7');
  const auto noted = noted_head(digits, 3);
  ASSERT_TRUE(noted);
  EXPECT_EQ(noted->chain, std::string(32, 'a') + std::string(32, '7'));
  EXPECT_EQ(noted->run, 3);
  EXPECT_EQ(noted_head(digits, {})->run, std::nullopt);
  EXPECT_FALSE(noted_head("", {}));
  for (const std::string& text : {digits + "0", digits.substr(1), digits.substr(1) + "g"}) {
    const Error error = error_of([&] { noted_head(text, {}); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("'" + text + "' is no head of a chain"));
  }
  const Error error = error_of([] { noted_head("", 3); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("--run says which run --chain is of"));
  EXPECT_EQ(error.remedy(), "add --chain HASH");
}

TEST(DatabaseCheckText, of_a_sound_one_has_the_head_of_each_run) {
  DatabaseCheck check{.runs = 2, .entries = 9};
  check.heads = {{1, "aa"}, {2, "bb"}};
  check.retired = {{1, 4}};
  EXPECT_EQ(database_check_text(check, "r.db"),
            "run 1 chain aa\nrun 2 chain bb\nrun 1: samples retired of 4 rows\nr.db: 2 runs, 9 "
            "rows, everything matches\n");
  check.noted = DatabaseCheck::Noted{2, 0};
  EXPECT_THAT(database_check_text(check, "r.db"), HasSubstr("run 2 has the noted head\n"));
  check.noted->rows_behind = 3;
  EXPECT_THAT(database_check_text(check, "r.db"),
              HasSubstr("run 2 had the noted head; 3 rows came behind it\n"));
}

TEST(DatabaseCheckText, of_a_damaged_one_has_a_line_for_each_finding_and_no_head) {
  DatabaseCheck check{.runs = 1, .entries = 2};
  check.heads = {{1, "aa"}};
  check.findings = {{"entry", 2, "body", "odd\x1b"}, {"file", 0, "", "page 3"}};
  EXPECT_EQ(database_check_text(check, "r.db"),
            "r.db: table entry row 2 column body: odd?\nr.db: table file row 0 column -: page "
            "3\nr.db: 1 runs, 2 rows, 2 findings\n");
}

TEST(DatabaseCheckText, as_a_document_has_the_same_figures) {
  DatabaseCheck check{.runs = 1, .entries = 2};
  check.heads = {{1, "aa"}};
  check.retired = {{1, 4}};
  check.findings = {{"entry", 2, "body", "odd"}};
  Json json = database_check_json(check, "r.db", false);
  EXPECT_EQ(json, Json::parse(R"({"path": "r.db", "runs": 1, "entries": 2,
      "heads": [{"run": 1, "chain": "aa"}], "samples_retired": [{"run": 1, "rows": 4}],
      "findings": [{"table": "entry", "row": 2, "column": "body", "text": "odd"}]})"));
  json = database_check_json(check, "r.db", true);
  EXPECT_TRUE(json.at("noted").is_null());
  check.noted = DatabaseCheck::Noted{1, 5};
  EXPECT_EQ(database_check_json(check, "r.db", true)["noted"],
            Json::parse(R"({"run": 1, "rows_behind": 5})"));
  EXPECT_FALSE(database_check_json(check, "r.db", false).contains("noted"));
}

TEST(RequireSoundDatabase, refuses_with_the_first_finding) {
  const ScratchFolder folder;
  make_database(folder / "a.db", 3);
  EXPECT_NO_THROW(require_sound_database(folder / "a.db"));
  raw_sql(folder / "a.db", "UPDATE entry SET checksum = 1 WHERE id = 2");
  const Error error = error_of([&] { require_sound_database(folder / "a.db"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("the database does not verify: entry 2, the row was changed "
                                      "after it was stored"));
}

TEST(LeftOutText, names_a_hundred_and_counts_the_rest) {
  std::vector<LeftOut> left = {{"schema", 0, "a trigger\x1b"}, {"entry", 7, "no checksum"}};
  EXPECT_EQ(left_out_text(left),
            "left out: table schema: a trigger?\nleft out: table entry row 7: no checksum\n");
  EXPECT_EQ(left_out_json(left)[1], Json::parse(R"({"table": "entry", "row": 7,
                                                    "reason": "no checksum"})"));
  left.assign(100, {"entry", 7, "x"});
  EXPECT_THAT(left_out_text(left), testing::Not(HasSubstr("more")));
  left.assign(101, {"entry", 7, "x"});
  EXPECT_THAT(left_out_text(left), testing::EndsWith("row 7: x\nleft out: 1 more\n"));
  left.assign(105, {"entry", 7, "x"});
  EXPECT_THAT(left_out_text(left), testing::EndsWith("left out: 5 more\n"));
  EXPECT_EQ(left_out_json(left).size(), 105u) << "the document has them all";
}

TEST(SalvageText, says_what_is_new_and_what_is_missing) {
  Salvage done;
  done.copy.runs = {{1, "aa", "aa", 3}, {2, "bb", "cc", 1}};
  done.copy.entries = 4;
  EXPECT_EQ(salvage_text(done, "a.db", "b.db"),
            "run 1: 3 rows, chain aa\nrun 2: 1 rows, chain cc, a new one: the run is not what it "
            "was\nb.db: 2 runs, 4 rows; 0 left out of a.db\n");
  EXPECT_TRUE(misses_rows(done));
  done.copy.runs.pop_back();
  EXPECT_FALSE(misses_rows(done));
  done.copy.left_out = {{"schema", 0, "a trigger"}};
  EXPECT_FALSE(misses_rows(done)) << "no loss";
  EXPECT_FALSE(names_rows(done.copy.left_out));
  done.copy.left_out.push_back({"entry", 2, "odd"});
  EXPECT_TRUE(misses_rows(done));
  EXPECT_TRUE(names_rows(done.copy.left_out));
  EXPECT_EQ(salvage_json(done, "a.db", "b.db"), Json::parse(R"({"from": "a.db", "path": "b.db",
      "rows": 4, "runs": [{"run": 1, "rows": 3, "chain": "aa", "stored_chain": "aa"}],
      "left_out": [{"table": "schema", "row": 0, "reason": "a trigger"},
                   {"table": "entry", "row": 2, "reason": "odd"}]})"));
}

TEST(SalvageText, databases_of_servers_are_copied_by_their_own_programs) {
  for (const auto& [from, to] :
       {std::pair{"postgresql://u:secret@h/d", "b.db"}, {"a.db", "postgresql://u:secret@h/d"}}) {
    const Error error = error_of([&] { require_files(from, to); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("only files are copied row by row"));
    EXPECT_THAT(error.remedy(), HasSubstr("pg_dump"));
    EXPECT_THAT(error.line(), testing::Not(HasSubstr("secret")));
  }
  EXPECT_NO_THROW(require_files("a.db", "b.db"));
}

FrontProofCheck checked_proof() {
  return {.verdict = ProofVerdict::holds,
          .configurations = 10,
          .evaluated = 4,
          .dominated = 3,
          .failed = 2,
          .open = 0,
          .leaves = 6,
          .front = 4,
          .certain = 1,
          .kernels = 8,
          .kernels_measured = 5,
          .alarms = 7,
          .alpha = 0.05};
}

TEST(FrontProofText, counts_what_was_recomputed_and_says_what_it_rests_on) {
  FrontProofCheck check = checked_proof();
  const std::string counts =
      "p.jsonl: the proof holds\n  10 configurations in 6 boxes: 4 evaluated, 3 dominated, 2 "
      "failed, 0 open\n  front: 4 points, 1 certain; kernels: 5 of 8 measured; 7 alarms\n";
  EXPECT_THAT(front_proof_text(check, "p.jsonl"),
              testing::StartsWith(counts + "  operations and bytes follow from the contracts"));
  EXPECT_THAT(front_proof_text(check, "p.jsonl"), HasSubstr("--journal compares them\n"));
  check.rows_compared = true;
  EXPECT_THAT(front_proof_text(check, "p.jsonl"),
              testing::EndsWith("intervals and runs are those of the journal\n"));
  check.undecided = "no device record";
  EXPECT_EQ(front_proof_text(check, "p.jsonl"),
            counts +
                "  not decided, it has no device record: operations, bytes, peaks and formulas are "
                "taken as stated\n  intervals follow from the rows of the journal\n");
  check.rows_compared = false;
  EXPECT_THAT(front_proof_text(check, "p.jsonl"),
              testing::EndsWith("  intervals are taken as stated; --journal compares the rows\n"));
}

TEST(FrontProofText, tells_gaps_and_rules_where_there_are_some) {
  FrontProofCheck check = checked_proof();
  check.verdict = ProofVerdict::conditional;
  check.reason = "open";
  check.gap = 0.0525;
  EXPECT_THAT(front_proof_text(check, "p"), testing::StartsWith("p: the proof holds with a "
                                                                "condition: open\n"));
  EXPECT_THAT(front_proof_text(check, "p"), testing::Not(HasSubstr("gap")));
  check.open = 1;
  EXPECT_THAT(front_proof_text(check, "p"), HasSubstr("  gap 5.25 %\n"));
  check.gap = std::numeric_limits<double>::infinity();
  EXPECT_THAT(front_proof_text(check, "p"), HasSubstr("  gap without limit: a front has nothing"));
  EXPECT_THAT(front_proof_text(check, "p"), testing::Not(HasSubstr("combinations")));
  check.stated_exclusions = 1;
  EXPECT_THAT(front_proof_text(check, "p"),
              HasSubstr("  1 combinations are left out by rules that it states, not shows\n"));
  EXPECT_TRUE(front_proof_json(check, "p")["gap"].is_null());
}

TEST(FrontProofText, of_a_broken_one_names_the_line_alone) {
  FrontProofCheck check = checked_proof();
  check.reason = "listed twice";
  for (const auto& [verdict, word] : {std::pair{ProofVerdict::broken, "broken"},
                                      {ProofVerdict::unreadable, "cannot be checked"}}) {
    check.verdict = verdict;
    check.line = 0;
    EXPECT_EQ(front_proof_text(check, "p"),
              std::string("p: the proof ") + word + ": listed twice\n");
    check.line = 1;
    EXPECT_EQ(front_proof_text(check, "p"),
              std::string("p:1: the proof ") + word + ": listed twice\n");
    EXPECT_EQ(front_proof_json(check, "p")["verdict"], word);
  }
  const Json json = front_proof_json(check, "p");
  EXPECT_EQ(json["line"], 1);
  EXPECT_EQ(json["evaluated"], 4);
  EXPECT_EQ(json["kernels_measured"], 5);
  EXPECT_EQ(json["alpha"], 0.05);
  EXPECT_EQ(json["rows_compared"], false);
}

// What each finding says, of a database of four rows.
class FindingTexts : public testing::Test {
 protected:
  FindingTexts() { make_database(path_, 4); }
  std::vector<std::string> found(const std::string& sql, bool is_rehashed = false) {
    raw_sql(path_, sql);
    if (is_rehashed) rehash(path_);
    std::vector<std::string> out;
    for (const DatabaseFinding& f : check_database(path_).findings) {
      out.push_back(f.table + ' ' + std::to_string(f.row) + ' ' + f.column + ": " + f.text);
    }
    return out;
  }
  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(FindingTexts, of_rows_say_what_became_of_them) {
  using testing::ElementsAre;
  EXPECT_THAT(
      found("UPDATE entry SET key = 'x' WHERE id = 2"),
      ElementsAre("entry 2 checksum: the row was changed after it was stored",
                  "entry 2 chain: a row of run 1 was changed, removed, inserted or moved at "
                  "or before this one"));
  EXPECT_THAT(found("DELETE FROM sample_block; DELETE FROM entry"),
              ElementsAre("run 1 chain: the last rows of this run are missing"));
  EXPECT_THAT(found("UPDATE run SET command = 'x'"),
              testing::Contains("run 1 checksum: its own columns were changed"));
}

TEST_F(FindingTexts, of_figures_say_what_gives_another_one) {
  using testing::ElementsAre;
  EXPECT_THAT(
      found("UPDATE entry SET body = json_set(body, '$.duration_ns_min', 5.0) WHERE id = 2", true),
      ElementsAre("entry 2 body: duration_ns_min is 5; its samples give 999.25"));
  EXPECT_THAT(
      found("UPDATE entry SET body = json_set(body, '$.duration_ns_min', 999.25, "
            "'$.duration_ns_interval[1]', 9.0) WHERE id = 2",
            true),
      ElementsAre("entry 2 body: duration_ns_interval high is 9; its samples give 1001.25"));
  EXPECT_THAT(found("UPDATE entry SET key = 'x' WHERE id = 3", true),
              testing::Contains("entry 3 key: this is not the kernel case of its body"));
}

TEST_F(FindingTexts, of_orphans_and_foreign_parts_name_them) {
  const auto findings = found(
      "PRAGMA foreign_keys = OFF; INSERT INTO sample_block VALUES (77, x'00'); CREATE TABLE o(x)");
  EXPECT_THAT(findings, testing::ElementsAre("sample_block 77 entry: names no row of table entry",
                                             "schema 0 : the database has a table 'o'"));
}

TEST_F(FindingTexts, of_a_head_that_no_run_has_name_it) {
  const auto text = [&](const std::optional<std::int64_t>& run) {
    return check_database(path_, NotedHead{"abc", run}).findings.at(0).text;
  };
  EXPECT_EQ(text(1),
            "run 1 has not, and never had, the head abc: its rows are not those that the "
            "head was noted of");
  EXPECT_EQ(text({}),
            "no run has, or ever had, the head abc: its rows are not those that the head "
            "was noted of");
}

}  // namespace
}  // namespace halmark
