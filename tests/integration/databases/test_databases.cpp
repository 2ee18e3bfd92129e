// What was done to a database, as commands meet it: foreign parts, damage, forged figures, another
// file in its place. A refusal is one line with a name; nothing is ever a defect of halmark.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/journal/rehash.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string fixtures = test::in_source("/tests/data/fixtures");

Arguments words(const std::string& line) {
  std::istringstream in(line);
  Arguments out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

class Databases : public HalmarkTest {
 protected:
  Databases() {
    for (const auto& entry : fs::directory_iterator(fixtures)) {
      if (entry.is_regular_file()) fs::copy_file(entry.path(), path(entry.path().filename()));
    }
  }

  Outcome line(const std::string& text) const { return halmark(words(text)); }
  Outcome undisturbed_line(const std::string& text) const { return undisturbed(words(text)); }

  void expect_refusal(const std::string& command, const std::string& name) const {
    SCOPED_TRACE(command);
    const Outcome o = line(command);
    EXPECT_EQ(o.exit_code, 2) << o.err;
    EXPECT_TRUE(is_one_line(o.err));
    EXPECT_THAT(o.err, AllOf(HasSubstr(name), Not(HasSubstr("defect"))));
  }

  static constexpr const char* bench =
      "bench --op gemm --params m=16,n=16,k=16 --dtype f32 --backend fake --db ";
};

struct Part {
  const char* name;
  const char* sql;
  const char* says;
};

class ForeignParts : public Databases, public testing::WithParamInterface<Part> {};

TEST_P(ForeignParts, stop_every_writer_until_the_database_is_salvaged) {
  sql(path("dense.db"), GetParam().sql);
  const std::string before = read("dense.db");
  tiny_sweep("fake", "shards = [1]");
  expect_refusal(std::string(bench) + "dense.db", GetParam().says);
  expect_refusal("tune tiny.toml --db dense.db", GetParam().says);
  expect_refusal(
      "run ./tiny.json --phase decode --batch 2 --context 32 --dtype f32 --backend fake --db "
      "dense.db",
      GetParam().says);
  EXPECT_THAT(line(std::string(bench) + "dense.db").err, HasSubstr("halmark salvage dense.db"));
  EXPECT_EQ(line("verify dense.db").exit_code, 2);
  EXPECT_EQ(read("dense.db"), before);
  const Outcome done = line("salvage dense.db sound.db");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
  EXPECT_THAT(done.out, HasSubstr("sound.db: 1 runs, 226 rows"));
  EXPECT_EQ(read("dense.db"), before);
  EXPECT_EQ(data_of({"verify", "sound.db"})["heads"],
            read_json_file(std::string(fixtures) + "/expected/verify-dense.json")["data"]["heads"]);
  EXPECT_EQ(undisturbed_line(std::string(bench) + "sound.db").exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Parts, ForeignParts,
    testing::Values(
        Part{"trigger_that_swallows",
             "CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
             "a trigger 't'"},
        Part{"trigger_that_halves",
             "CREATE TRIGGER t AFTER INSERT ON entry BEGIN UPDATE entry SET body = replace(body, "
             "'1', '0') WHERE id = new.id; END",
             "a trigger 't'"},
        Part{"view", "CREATE VIEW v AS SELECT * FROM entry", "a view 'v'"},
        Part{"table", "CREATE TABLE other(x)", "a table 'other'"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Databases, salvage_lists_what_it_leaves_out_and_takes_no_other_name) {
  sql(path("dense.db"), "UPDATE entry SET body = body || ' ' WHERE id = 7");
  const Outcome done = line("salvage dense.db sound.db --json");
  ASSERT_EQ(done.exit_code, 4) << done.err;
  const Json data = envelope_of(done.out)["data"];
  EXPECT_EQ(data["left_out"][0]["row"], 7);
  EXPECT_EQ(data["rows"].get<int>() + static_cast<int>(data["left_out"].size()), 226);
  EXPECT_EQ(line("verify sound.db").exit_code, 0);
  expect_refusal("salvage dense.db sound.db", "is not overwritten");
  expect_refusal("salvage dense.toml new.db", "not a results database");
  expect_refusal("salvage absent.db new.db", "absent.db");
  EXPECT_FALSE(fs::exists(path("new.db")));
  EXPECT_THAT(line("salvage --help").out, HasSubstr("halmark salvage results.db sound.db"));
}

TEST_F(Databases, studies_may_have_further_tables_and_no_code) {
  const Json before = data_of(words("study list --db dense.db"));
  sql(path("dense.db.study"), "CREATE TABLE mine(x)");
  EXPECT_EQ(data_of(words("study list --db dense.db")), before);
  sql(path("dense.db.study"),
      "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END");
  for (const char* command : {"study list --db dense.db", "study show --db dense.db",
                              "study export --db dense.db --to journal:x.log"}) {
    expect_refusal(command, "a trigger 't'");
  }
  EXPECT_THAT(line("study list --db dense.db").err, HasSubstr("halmark salvage dense.db.study"));
  const Outcome done = line("salvage dense.db.study sound.study");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
  EXPECT_EQ(data_of(words("study list --study sqlite:sound.study"))["studies"], before["studies"]);
  Arguments old = {"study", "show", "dense decode, run 1", "--all", "--study", "sqlite:old.study"};
  sql(path("dense.db.study"), "DROP TRIGGER t");
  fs::rename(path("dense.db.study"), path("old.study"));
  const Json said = data_of(old);
  old.back() = "sqlite:sound.study";
  EXPECT_EQ(data_of(old), said);
}

// A row that rotted: the commands that read it name it, and nothing rests on what is left.
TEST_F(Databases, a_rotten_row_is_named_by_every_command_that_reads_it) {
  sql(path("certify.db"), "UPDATE entry SET body = body || ' ' WHERE id = 2");
  const Outcome report = line("report --db certify.db");
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_THAT(report.err, HasSubstr("entry 2"));
  EXPECT_THAT(line("verify certify.db").out, HasSubstr("table entry row 2 column checksum"));
  EXPECT_EQ(line("verify certify.db").exit_code, 2);
  expect_refusal("tune certify.toml --latency journal:certify.db --device-file device.toml",
                 "entry 2");
}

TEST_F(Databases, a_run_that_was_cut_or_renamed_is_named) {
  const std::string whole = read("certify.db");
  for (const char* edit :
       {"DELETE FROM entry WHERE id = 2", "DELETE FROM entry WHERE id = 52",
        "UPDATE run SET fingerprint = 'another'", "UPDATE run SET command = 'x'"}) {
    SCOPED_TRACE(edit);
    write("certify.db", whole);
    sql(path("certify.db"), edit);
    const Outcome report = line("report --db certify.db");
    EXPECT_EQ(report.exit_code, 2);
    EXPECT_THAT(report.err, HasSubstr("certify.db"));
    EXPECT_EQ(line("verify certify.db").exit_code, 2);
  }
}

// Whatever a byte was: the same figures, or a refusal with the name of the file.
TEST_F(Databases, a_flipped_byte_changes_no_figure_unnoticed) {
  const std::string whole = read("certify.db");
  const Json report = data_of(words("report --db certify.db"));
  const Json verify = data_of(words("verify certify.db"));
  int refused = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::size_t at = i < 12 ? i * 9 : (i * 7919 * 131) % whole.size();
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    write("certify.db", bytes);
    for (const char* command : {"report --db certify.db --json", "verify certify.db --json"}) {
      const Outcome o = line(command);
      EXPECT_THAT(o.out, Not(HasSubstr("defect")));
      if (o.exit_code == 0) {
        EXPECT_EQ(envelope_of(o.out)["data"], command[0] == 'r' ? report : verify);
        continue;
      }
      EXPECT_EQ(o.exit_code, 2) << o.out << o.err;
      EXPECT_THAT(o.out, HasSubstr("certify.db"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 60);
}

TEST_F(Databases, pages_of_nothing_are_damage_to_every_command) {
  for (const char* name : {"certify.db", "certify.db.study"}) {
    std::string bytes = read(name);
    for (std::size_t at = 2048; at + 64 < bytes.size(); at += 512)
      bytes.replace(at, 64, 64, '\x5a');
    write(name, bytes);
  }
  tiny_sweep("fake", "shards = [1]");
  for (const std::string command :
       {"report --db certify.db", "report --run 1 --db certify.db", "winners --db certify.db",
        "verify certify.db", "study list --db certify.db", "study show --all --db certify.db",
        "tune tiny.toml --db certify.db",
        "tune certify.toml --latency journal:certify.db --device-file device.toml",
        "run ./tiny.json --phase decode --batch 2 --context 32 --dtype f32 --backend fake --db "
        "certify.db"}) {
    SCOPED_TRACE(command);
    const Outcome o = line(command);
    EXPECT_EQ(o.exit_code, 2) << o.out << o.err;
    EXPECT_THAT(o.out + o.err, AllOf(HasSubstr("certify.db"), Not(HasSubstr("defect"))));
  }
}

// All hashes are right again: what is left is what follows from other figures.
TEST_F(Databases, a_forged_figure_is_found_by_what_it_follows_from) {
  const std::string whole = read("dense.db");
  const auto forged = [&](const std::string& edit) {
    write("dense.db", whole);
    sql(path("dense.db"), edit);
    test::rehash(path("dense.db"));
    return line("verify dense.db");
  };
  EXPECT_EQ(forged("UPDATE entry SET body = body").exit_code, 0);
  const Outcome median = forged(
      "UPDATE entry SET body = json_set(body, '$.duration_ns_median', json_extract(body, "
      "'$.duration_ns_median') / 2) WHERE id = 3");
  EXPECT_EQ(median.exit_code, 2);
  EXPECT_THAT(median.out, HasSubstr("table entry row 3 column body: duration_ns_median"));
  const Outcome step = forged(
      "UPDATE entry SET body = json_set(body, '$.estimate.step_ns', json_extract(body, "
      "'$.estimate.step_ns') / 2) WHERE id = 169");
  EXPECT_EQ(step.exit_code, 2);
  EXPECT_THAT(step.out, HasSubstr("table entry row 169 column body: step_ns"));
  const Outcome part = forged(
      "UPDATE entry SET body = json_set(body, '$.estimate.operators[0].ns', 1.0) WHERE id = 169");
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.out, HasSubstr("follow from no rows of the run"));
}

TEST_F(Databases, a_noted_head_is_compared_with_those_of_all_runs) {
  const std::string head = data_of({"verify", "dense.db"})["heads"][0]["chain"];
  const Outcome same = line("verify dense.db --chain " + head);
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_THAT(same.out, HasSubstr("run 1 has the noted head"));
  EXPECT_EQ(line("verify dense.db --run 1 --chain " + head).exit_code, 0);
  expect_refusal("verify dense.db --chain " + head.substr(1), "64 hexadecimal digits");
  expect_refusal("verify dense.db --run 1", "--chain");
  // Rows are rewritten with all that follows from them.
  sql(path("dense.db"), "DELETE FROM entry WHERE kind = 'validation'");
  test::rehash(path("dense.db"));
  EXPECT_EQ(line("verify dense.db").exit_code, 0);
  const Outcome forged = line("verify dense.db --chain " + head);
  EXPECT_EQ(forged.exit_code, 2);
  EXPECT_THAT(forged.out, AllOf(HasSubstr(head), HasSubstr("table run")));
  EXPECT_EQ(line("verify dense.db --run 2 --chain " + head).exit_code, 2);
}

// A report, a resumed sweep and the check of a database rest on figures of rows, not on samples.
TEST_F(Databases, retired_samples_change_no_figure_and_are_stated) {
  tiny_sweep("fake", "shards = [1]");
  tune_tiny("r.db");
  ASSERT_EQ(undisturbed_line(std::string(bench) + "r.db").exit_code, 0);
  const auto report = [&] {
    Json out = data_of(words("report --db r.db"));
    out.erase("chain_head");  // that they are gone is a row
    return out;
  };
  const Json before = report();
  const std::string whole = read("r.db");
  const Outcome planned = line("retire --keep-runs 1 --dry-run --db r.db");
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("would be retired"));
  EXPECT_EQ(read("r.db"), whole);
  const Json done = data_of(words("retire --keep-runs 1 --db r.db"));
  EXPECT_EQ(done["runs"].size(), 1u);
  EXPECT_GT(done["rows"], 10);
  EXPECT_EQ(sql_count(path("r.db"),
                      "SELECT count(*) FROM sample_block JOIN entry ON entry.id = "
                      "sample_block.entry WHERE run = 1"),
            0);
  EXPECT_EQ(Json::diff(before, report()), Json::array());
  const Json checked = data_of(words("verify r.db"));
  EXPECT_EQ(checked["findings"], Json::array());
  EXPECT_EQ(checked["samples_retired"], (Json::array({{{"run", 1}, {"rows", done["rows"]}}})));
  EXPECT_THAT(line("verify r.db").out, HasSubstr("run 1: samples retired of"));
  const Outcome again = line("tune tiny.toml --db r.db");
  EXPECT_THAT(again.out, HasSubstr("nothing was measured now")) << again.err;
  EXPECT_EQ(line("salvage r.db sound.db").exit_code, 0);
  sql(path("r.db"), "DELETE FROM sample_block");
  EXPECT_EQ(line("verify r.db").exit_code, 2) << "no row says that those of the last run are";
}

TEST_F(Databases, retire_states_what_a_row_takes_and_refuses_in_one_line) {
  tiny_sweep("fake", "shards = [1]");
  tune_tiny("r.db");
  const Json planned = data_of(words("retire --older-than 1h --dry-run --db r.db"));
  EXPECT_EQ(planned["runs"], Json::array()) << "it began just now";
  EXPECT_GT(planned["sample_bytes_per_row"], 0);
  EXPECT_GT(planned["bytes_per_row"], 0);
  expect_refusal("retire --db r.db", "--keep-runs N");
  expect_refusal("retire --older-than month --db r.db", "--older-than");
  expect_refusal("retire --keep-runs 1 --db absent.db", "absent.db");
  sql(path("r.db"), "UPDATE entry SET body = body || ' ' WHERE id = 7");
  ASSERT_EQ(undisturbed_line(std::string(bench) + "r.db").exit_code, 0);
  expect_refusal("retire --keep-runs 1 --db r.db", "entry 7");
  EXPECT_FALSE(fs::exists(path("absent.db")));
}

struct SideFile {
  const char* name;
  std::function<void(const std::string&)> make;  // beside the database
  const char* says;
};
void PrintTo(const SideFile& file, std::ostream* out) { *out << file.name; }

class SideFiles : public Databases, public testing::WithParamInterface<SideFile> {};

// SQLite opens what has the names of its own files: a FIFO held it for ever.
TEST_P(SideFiles, that_are_none_of_a_database_are_named_and_not_waited_for) {
  write("mine.txt", "precious");
  GetParam().make(path("dense.db"));
  const std::string before = read("dense.db");
  for (const std::string& command :
       {std::string("verify dense.db"), std::string("report --db dense.db"), bench + "dense.db"s}) {
    const bool is_of_writers = std::string(GetParam().name).starts_with("lock");
    if (is_of_writers && command.find("bench") != 0) continue;
    expect_refusal(command, GetParam().says);
  }
  EXPECT_EQ(read("mine.txt"), "precious");
  EXPECT_EQ(read("dense.db"), before);
}

INSTANTIATE_TEST_SUITE_P(
    Names, SideFiles,
    testing::Values(
        SideFile{"log_fifo", [](auto& db) { mkfifo((db + "-wal").c_str(), 0600); },
                 "dense.db-wal: this belongs to a database, and is no regular file"},
        SideFile{"log_device", [](auto& db) { fs::create_symlink("/dev/zero", db + "-wal"); },
                 "dense.db-wal"},
        SideFile{"log_folder", [](auto& db) { fs::create_directory(db + "-wal"); }, "dense.db-wal"},
        SideFile{"journal_fifo", [](auto& db) { mkfifo((db + "-journal").c_str(), 0600); },
                 "dense.db-journal"},
        SideFile{"journal",
                 [](auto& db) { std::ofstream(db + "-journal") << std::string(600, 'x'); },
                 "a rollback journal lies beside the database"},
        SideFile{"memory_fifo", [](auto& db) { mkfifo((db + "-shm").c_str(), 0600); },
                 "dense.db-shm"},
        SideFile{"lock_of_another_kind",
                 [](auto& db) {
                   fs::rename(fs::path(db).parent_path() / "mine.txt", db + ".lock");
                   fs::copy_file(db + ".lock", fs::path(db).parent_path() / "mine.txt");
                 },
                 "dense.db.lock"},
        SideFile{"lock_link", [](auto& db) { fs::create_symlink("mine.txt", db + ".lock"); },
                 "is a symbolic link"},
        SideFile{"lock_fifo", [](auto& db) { mkfifo((db + ".lock").c_str(), 0600); },
                 "dense.db.lock"}),
    [](const auto& info) { return std::string(info.param.name); });

// `cp other.db r.db` under a sweep: the same file, other bytes.
TEST_F(Databases, that_another_was_copied_over_in_place_end_the_sweep_and_keep_both) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  Process process(launch({"tune", "tiny.toml", "--db", "r.db"}));
  ASSERT_TRUE(process.await_lines("tune ", 3)) << process.err();
  fs::copy_file(std::string(fixtures) + "/dense.db", path("r.db"),
                fs::copy_options::overwrite_existing);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_THAT(o.err,
              AllOf(HasSubstr("was overwritten by another program"), HasSubstr("r.db.rescued")));
  EXPECT_EQ(data_of({"verify", "r.db.rescued"})["findings"], Json::array());
  EXPECT_GE(
      sql_count(path("r.db.rescued"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"),
      told_trials(o.err));
  EXPECT_EQ(data_of({"verify", "r.db"})["findings"], Json::array());
}

// Somebody tidies up while a sweep is measured.
class ReplacedDatabase : public HalmarkTest, public testing::WithParamInterface<bool> {};

TEST_P(ReplacedDatabase, ends_the_sweep_at_its_next_row_and_keeps_every_row) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  Process process(launch({"tune", "tiny.toml", "--db", "r.db"}));
  ASSERT_TRUE(process.await_lines("tune ", 3)) << process.err();
  if (GetParam()) {
    fs::rename(path("r.db"), path("other.db"));
  } else {
    fs::remove(path("r.db"));
  }
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_THAT(o.err, AllOf(HasSubstr(GetParam() ? "was moved away" : "was deleted"),
                           HasSubstr("r.db.rescued")));
  EXPECT_EQ(data_of({"verify", "r.db.rescued"})["findings"], Json::array());
  EXPECT_GE(
      sql_count(path("r.db.rescued"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"),
      told_trials(o.err));
  const Outcome later = halmark({"tune", "tiny.toml", "--db", "r.db.rescued"});
  EXPECT_THAT(later.exit_code, testing::AnyOf(0, 4)) << "4: a row that neighbours spoiled";
  EXPECT_THAT(later.out + later.err, HasSubstr(", resumed: "));
}

INSTANTIATE_TEST_SUITE_P(Ways, ReplacedDatabase, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "moved" : "deleted");
});

}  // namespace
}  // namespace halmark::integration
