// One byte of a small database is changed, at places of every kind: header, schema, pages of tables
// and indexes, cells, values, overflow, free space, the -wal. Whoever reads it says the same as
// before, or refuses with a name.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "journal/rows/row_codec.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "verify/database.hpp"
#include "verify/salvage.hpp"

namespace halmark {
namespace {

using namespace test;
namespace fs = std::filesystem;

void make_small_database(const std::string& path) {
  const auto store = open_store(path);
  for (const char* plan : {"aa", "bb"}) {
    const std::int64_t run = store->begin_run(run_info(plan));
    store->append(run, RunMachine{{"cpu: one", "memory: 2"}});
    store->append(run, UsedPeaks{"id = \"cpu:0\"\n", 2});
    for (std::uint64_t i = 1; i <= 3; ++i) store->append(run, numbered_measurement(i, 3));
    store->append(run, numbered_measurement(4, 400));  // reaches into overflow pages
    store->append(run, full_evaluation());
    store->append(run, full_validation());
  }
}

// All that a report is made of, as text; throws Error as commands do.
std::string said_of(const std::string& path) {
  const auto store = open_store_read_only(path);
  const auto run = store->latest_sweep();
  if (!run) throw refused("the database has no run", path);
  const RunInfo info = store->run_info(*run);
  std::string out = std::to_string(*run) + info.command + info.plan_hash + info.plan_text +
                    info.fingerprint + info.tool_version + info.tool_build + info.started_utc +
                    store->chain_head(*run);
  for (const Measurement& m : store->run_measurements(*run)) {
    out += dump_json(Json(m)) + journal::pack_samples(m);
  }
  for (const Evaluation& e : store->rows<Evaluation>(*run)) out += dump_json(Json(e));
  for (const Validation& v : store->rows<Validation>(*run)) {
    out += dump_json(journal::validation_json(v));
  }
  for (const Winner& w : store->rows<Winner>(*run)) out += dump_json(Json(w));
  for (const UsedPeaks& p : store->rows<UsedPeaks>(*run)) out += p.device_text;
  if (const auto machine = store->machine(*run)) out += machine->lines.at(0);
  store->require_sound();
  return out;
}

// Nothing where everything was said as before; else what was refused. Anything but an Error with
// exit code 2 that names the file is a failure of the test.
std::string refusal_of(const std::string& path, const std::string& expected) {
  try {
    EXPECT_EQ(said_of(path), expected);
    return {};
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::refused) << e.line();
    EXPECT_EQ(e.where(), path) << e.line();
    EXPECT_FALSE(e.remedy().empty() && e.line().empty());
    return e.line();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "a defect: " << e.what();
    return e.what();
  }
}

// Whether verify names something, or refuses.
bool is_found(const std::string& path) {
  try {
    return !check_database(path).findings.empty();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::refused) << e.line();
    EXPECT_EQ(e.where(), path) << e.line();
    return true;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "a defect: " << e.what();
    return true;
  }
}

class DamageEverywhere : public testing::Test {
 protected:
  DamageEverywhere() {
    make_small_database(folder_ / "sound.db");
    bytes_ = file_bytes(folder_ / "sound.db");
    expected_ = said_of(folder_ / "sound.db");
  }

  static std::string flipped(std::string bytes, std::size_t at, int mask) {
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ mask);
    return bytes;
  }

  std::string damaged_file(std::size_t at, int mask) {
    const std::string bytes = flipped(bytes_, at, mask);
    write_file(folder_ / "a.db", bytes);
    return folder_ / "a.db";
  }

  void expect_named_or_harmless(std::size_t at, int mask) {
    SCOPED_TRACE("byte " + std::to_string(at) + " xor " + std::to_string(mask));
    const std::string path = damaged_file(at, mask);
    if (!refusal_of(path, expected_).empty()) ++refused_;
    if (is_found(path)) ++found_;
    ++tried_;
  }

  ScratchFolder folder_;
  std::string bytes_, expected_;
  int tried_ = 0, refused_ = 0, found_ = 0;
};

TEST_F(DamageEverywhere, in_the_header_the_schema_and_the_head_of_each_page) {
  for (std::size_t at = 0; at < 112; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) expect_named_or_harmless(at, mask);
  }
  constexpr std::size_t page_bytes = 16384;
  for (std::size_t page = page_bytes; page < bytes_.size(); page += page_bytes) {
    for (std::size_t at = page; at < page + 24; ++at) {
      expect_named_or_harmless(at, 0x01);
      expect_named_or_harmless(at, 0xff);
    }
  }
  RecordProperty("refused", refused_);
  EXPECT_GT(refused_, tried_ / 8);
}

TEST_F(DamageEverywhere, at_seeded_places_of_the_whole_file) {
  constexpr std::uint64_t seed = 20261123;
  for (std::uint64_t i = 0; i < 800; ++i) {
    const auto at = as_size(uniform_below(hash_u64(seed, 2 * i), bytes_.size()));
    const auto mask = static_cast<int>(1 + uniform_below(hash_u64(seed, 2 * i + 1), 255));
    expect_named_or_harmless(at, mask);
  }
  EXPECT_GT(found_, refused_) << "verify looks at every run, a report at one";
}

TEST_F(DamageEverywhere, where_the_file_ends_too_early) {
  for (std::size_t size = 1; size < bytes_.size(); size += 997) {
    SCOPED_TRACE(size);
    write_file(folder_ / "a.db", bytes_.substr(0, size));
    EXPECT_FALSE(refusal_of(folder_ / "a.db", expected_).empty());
    EXPECT_TRUE(is_found(folder_ / "a.db"));
  }
}

TEST_F(DamageEverywhere, in_the_log_of_a_writer_that_was_killed) {
  const std::string live = folder_ / "live.db", dead = folder_ / "a.db";
  {
    const auto store = open_store(live);
    const std::int64_t run = store->begin_run(run_info());
    for (std::uint64_t i = 1; i <= 3; ++i) store->append(run, numbered_measurement(i));
    fs::copy(live, dead, fs::copy_options::overwrite_existing);
    fs::copy(live + "-wal", dead + "-wal");
  }
  const std::string log = file_bytes(dead + "-wal"), file = file_bytes(dead);
  const std::string whole = said_of(dead);
  std::set<std::string> said;
  for (std::uint64_t i = 0; i < 300; ++i) {
    fs::remove(dead + "-shm");
    write_file(dead, file);
    write_file(dead + "-wal", flipped(log, uniform_below(hash_u64(7, i), log.size()), 0x10));
    try {
      said.insert(said_of(dead));
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::refused) << e.line();
      EXPECT_THAT(e.line(), testing::HasSubstr("-wal")) << "or it was no row that is missing";
      ++refused_;
    }
  }
  // A last commit that does not hold is one that was cut short, for all that anybody can tell: it
  // is not there. Every other state is refused.
  EXPECT_EQ(said.size(), 1u);
  EXPECT_FALSE(said.contains(whole));
  EXPECT_GT(refused_, 150);
}

TEST_F(DamageEverywhere, leaves_what_is_sound_for_salvage) {
  constexpr std::uint64_t seed = 5;
  int copied = 0;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const auto at = as_size(uniform_below(hash_u64(seed, i), bytes_.size()));
    SCOPED_TRACE("byte " + std::to_string(at));
    const std::string path = damaged_file(at, 0x55), to = folder_ / "copy.db";
    const std::string before = file_bytes(path);
    fs::remove(to);
    try {
      const Salvage done = salvage_database(path, to);
      EXPECT_TRUE(done.check.findings.empty());
      EXPECT_TRUE(check_database(to).findings.empty());
      EXPECT_GE(done.copy.entries + static_cast<std::int64_t>(done.copy.left_out.size()), 1);
      ++copied;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::refused) << e.line();
      EXPECT_FALSE(fs::exists(to));
    }
    EXPECT_EQ(file_bytes(path), before);
    EXPECT_FALSE(fs::exists(to + ".new"));
  }
  EXPECT_GT(copied, 130);
}

}  // namespace
}  // namespace halmark
