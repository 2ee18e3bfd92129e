#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "core/numeric/clock.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

TEST(NumberText, is_the_shortest_that_reads_back) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(3), "3");
  EXPECT_EQ(number_text(-1e300), "-1e+300");
  for (const double value : {1.0 / 3, 5e-324, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
  }
}

TEST(NumberText, of_four_digits_rounds_and_drops_trailing_zeros) {
  EXPECT_EQ(number_text(0.0123456, 4), "0.01235");
  EXPECT_EQ(number_text(1.5, 4), "1.5");
  EXPECT_EQ(number_text(123456, 4), "1.235e+05");
}

TEST(Join, puts_words_between_items_but_not_before_the_first) {
  const std::vector<std::string> words = {"a", "b"};
  EXPECT_EQ(join(words, ", "), "a, b");
  EXPECT_EQ(join(words, "+", [](const std::string& w) { return w.size(); }), "1+1");
  EXPECT_EQ(join(std::vector<int>{}, ", "), "");
  std::string list;
  append_item(list, " and ", "x");
  append_item(list, " and ", "y");
  EXPECT_EQ(list, "x and y");
}

TEST(RangesText, has_runs_of_neighbours_as_one) {
  EXPECT_EQ(ranges_text(std::vector{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(ranges_text(std::vector{3}), "3");
}

TEST(LowerCase, changes_letters_of_ascii_alone) {
  EXPECT_EQ(lower_case("Content-TYPE 9_\xC3\x84"), "content-type 9_\xC3\x84");
}

TEST(SecondsSince, is_the_age_of_a_moment) {
  const auto minute_ago = SteadyClock::now() - std::chrono::minutes(1);
  EXPECT_GE(seconds_since(minute_ago), 60);
  EXPECT_LT(seconds_since(minute_ago), 120);
  EXPECT_LE(seconds_since(SteadyClock::now() + std::chrono::hours(1)), 0);
}

TEST(IsDate, is_of_ten_characters_with_digits_and_two_dashes) {
  EXPECT_TRUE(is_date("2026-11-22"));
  EXPECT_TRUE(is_date("0000-99-99")) << "the form alone";
  for (const char* bad : {"", "2026-11-2", "2026-11-222", "2026/11-22", "2026-11 22", "202a-11-22",
                          "2026-1:-22", "2026-11-2/"}) {
    EXPECT_FALSE(is_date(bad)) << bad;
  }
}

TEST(LowerCase, changes_the_first_and_the_last_letter_and_not_their_neighbours) {
  EXPECT_EQ(lower_case("@AZ[`az{"), "@az[`az{");
}

TEST(Digest, sha256_gives_the_published_answers) {
  // FIPS 180-2, appendix B, and the empty message.
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The buffer of xxHash's own sanity check.
std::string sanity_buffer(std::size_t length) {
  std::uint64_t generator = 2654435761U;
  std::string out;
  for (std::size_t i = 0; i < length; ++i) {
    out += static_cast<char>(generator >> 56);
    generator *= 11400714785074694797ULL;
  }
  return out;
}

TEST(Digest, xxh3_gives_the_answers_of_the_sanity_check_of_xxhash) {
  EXPECT_EQ(xxh3_of(""), 0x2D06800538D394C2ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(1)), 0xC44BDFF4074EECDBULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(6)), 0x27B56A84CD2D7325ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(12)), 0xA713DAF0DFBB77E7ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(24)), 0xA3FE70BF9D3510EBULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(48)), 0x397DA259ECBA1F11ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(80)), 0xBCDEFBBB2C47C90AULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(195)), 0xCD94217EE362EC3AULL);
}

TEST(Url, a_password_is_shown_nowhere) {
  EXPECT_EQ(without_password("postgresql://u:p@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("postgresql://u:p%40q@h:5432/d"), "postgresql://u@h:5432/d");
  EXPECT_EQ(without_password("postgresql://u:p@q/r@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("postgresql://h/d?password=p&user=u"),
            "postgresql://h/d?password=...&user=u");
  EXPECT_EQ(without_password("postgresql://u:p@/d?host=/run&password=q"),
            "postgresql://u@/d?host=/run&password=...");
}

TEST(Url, what_has_no_password_stays_as_it_is) {
  for (const char* text : {"sqlite:///a.db", "postgresql://h:5432/d?user=a@b", "a.db",
                           "postgresql://u@h:5432/d", "postgresql://u@[::1]:5432/d"}) {
    EXPECT_EQ(without_password(text), text);
  }
}

TEST(Url, only_what_names_a_scheme_is_a_url) {
  EXPECT_EQ(url_scheme("postgresql+psycopg2://h/d"), "postgresql+psycopg2");
  EXPECT_EQ(url_scheme("mysql://h/d"), "mysql");
  for (const char* path : {"a.db", "/a/b.db", "://h", "c://d", "folder/a://b", "postgresql:/h"}) {
    EXPECT_EQ(url_scheme(path), "") << path;
  }
}

TEST(Url, a_driver_of_python_says_nothing_about_the_server) {
  for (const char* url : {"postgresql://h/d", "postgresql+psycopg2://h/d"}) {
    EXPECT_TRUE(is_postgresql_url(url));
    EXPECT_EQ(libpq_url(url), "postgresql://h/d");
  }
  EXPECT_EQ(libpq_url("postgres://h/d"), "postgres://h/d");
  for (const char* other : {"sqlite:///a.db", "postgresqlx://h", "postgresql", "a.db", ""}) {
    EXPECT_FALSE(is_postgresql_url(other)) << other;
  }
}

TEST(Url, options_that_are_there_stay_as_they_are) {
  EXPECT_EQ(with_options("postgresql://h/d", {{"a", "1"}, {"b", "2"}}), "postgresql://h/d?a=1&b=2");
  EXPECT_EQ(with_options("postgresql://h/d?xa=0&b=9", {{"a", "1"}, {"b", "2"}}),
            "postgresql://h/d?xa=0&b=9&a=1");
}

TEST(Url, passwords_are_hidden_wherever_they_stand_in_a_text) {
  EXPECT_EQ(with_passwords_hidden("a 'postgresql://u:p@h/d' and :p@h; password=q",
                                  passwords_in("journal:postgresql://u:p@h/d?password=q&x=1")),
            "a 'postgresql://u@h/d' and @h; password=...");
  EXPECT_TRUE(passwords_in("postgresql://u@h:5432/d").empty());
}

const std::vector<std::string> ops{"gemm", "attention", "rmsnorm", "layernorm", "rope", "copy"};

TEST(Error, the_line_has_where_what_and_remedy) {
  EXPECT_EQ(refused("key 'x' is unknown", "a.toml:3:1", "did you mean 'y'?").line(),
            "a.toml:3:1: key 'x' is unknown; did you mean 'y'?");
  EXPECT_EQ(refused("bad").line(), "bad");
  EXPECT_EQ(refused("bad").exit_code(), ExitCode::refused);
  EXPECT_EQ(unfit("no device").exit_code(), ExitCode::unfit);
}

TEST(Error, the_line_carries_no_control_characters) {
  EXPECT_EQ(refused("name \x1b[31m\r\nred", "f\x07").line(), "f?: name ?[31m? red");
}

TEST(Nearest, the_nearest_spelling_comes_first) {
  EXPECT_EQ(nearest("gem", ops).front(), "gemm");
  EXPECT_EQ(nearest("GEMM", ops).front(), "gemm");
  EXPECT_EQ(nearest("atention", ops).front(), "attention");
  EXPECT_EQ(nearest("rmsnrom", ops).front(), "rmsnorm");
  EXPECT_EQ(nearest("norm", ops), (std::vector<std::string>{"rmsnorm", "layernorm"}))
      << "a fragment is near to what contains it";
}

TEST(Nearest, far_candidates_are_left_out_and_the_count_is_held) {
  EXPECT_TRUE(nearest("convolution", ops).empty());
  const std::vector<std::string> many{"aa", "ab", "ac", "ad", "ae"};
  EXPECT_EQ(nearest("a", many).size(), 3u);
  EXPECT_EQ(nearest("a", many, 1).size(), 1u);
}

TEST(Suggestion, names_near_spellings_else_what_is_known) {
  EXPECT_EQ(suggestion("gem", {"gemm", "gemv"}), "did you mean 'gemm' or 'gemv'?");
  EXPECT_EQ(suggestion("zzzzzzzz", {"gemm", "copy"}), "known: gemm, copy");
  EXPECT_EQ(suggestion("zzzzzzzz", {}), "nothing is known here");
  const std::string many = suggestion("zzzzzzzz", std::vector<std::string>(20, "gemm"));
  EXPECT_TRUE(many.ends_with(", ...")) << many;
}

// Distances of spelling: two always, of longer words a third of their letters.
TEST(Nearest, is_within_two_slips_or_a_third_of_the_letters) {
  const auto is_near = [](const std::string& wanted, const std::string& candidate) {
    return !nearest(wanted, {candidate}).empty();
  };
  EXPECT_TRUE(is_near("abc", "axy")) << "two replaced";
  EXPECT_FALSE(is_near("abc", "xyz"));
  EXPECT_TRUE(is_near("abcdefghi", "abcdefxyz")) << "three of nine";
  EXPECT_FALSE(is_near("abcdefghi", "abcdewxyz")) << "four of nine";
  EXPECT_TRUE(is_near("abcdefghi", "abcdef")) << "three left out";
  EXPECT_FALSE(is_near("abcdefghi", "abcde"));
  EXPECT_TRUE(is_near("abcdef", "abcdefghi"));
  EXPECT_TRUE(is_near("b", "aaaaaaaaaaaaaaab")) << "a fragment of it";
  EXPECT_FALSE(is_near("", "abc")) << "nothing is a fragment of nothing";
  EXPECT_EQ(nearest("gemn", {"gemma", "gemm", "gem"}),
            (std::vector<std::string>{"gemm", "gem", "gemma"}));
}

TEST(Suggestion, lists_up_to_twelve_and_joins_with_or) {
  EXPECT_EQ(suggestion("gem", {"gema", "gemb", "gemc"}), "did you mean 'gema', 'gemb' or 'gemc'?");
  EXPECT_EQ(suggestion("gem", {"gemm"}), "did you mean 'gemm'?");
  std::vector<std::string> known;
  std::string joined;
  for (char c = 'a'; c < 'a' + 12; ++c) {
    known.emplace_back(1, c);
    joined += (joined.empty() ? "" : ", ") + known.back();
  }
  EXPECT_EQ(suggestion("zzzzzzzz", known), "known: " + joined);
  known.emplace_back("m");
  EXPECT_EQ(suggestion("zzzzzzzz", known), "known: " + joined + ", ...");
}

// The header of a database as the file format of SQLite describes it, written by hand.

std::string header() {
  std::string out("SQLite format 3\0", 16);
  out.resize(100, '\0');
  return out;
}

void put(std::string& bytes, std::size_t at, std::initializer_list<int> values) {
  for (const int value : values) bytes[at++] = static_cast<char>(value);
}

TEST(SqliteHeader, has_its_numbers_at_the_documented_places) {
  const test::ScratchFolder folder;
  std::string bytes = header();
  put(bytes, 16, {0x10, 0x00});              // pages of 4096 bytes
  put(bytes, 28, {0x00, 0x01, 0x02, 0x03});  // 66,051 of them
  put(bytes, 60, {0x11, 0x22, 0x33, 0x44});
  put(bytes, 68, {0xA1, 0xB2, 0xC3, 0xD4});
  test::write_file(folder / "a.db", bytes + "more");
  const auto found = read_sqlite_header(folder / "a.db");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file_bytes, 66'051u * 4096u);
  EXPECT_EQ(found->user_version, 0x11223344u);
  EXPECT_EQ(found->application_id, 0xA1B2C3D4u);
  put(bytes, 16, {0x00, 0x01});  // stands for 65,536
  test::write_file(folder / "a.db", bytes);
  EXPECT_EQ(read_sqlite_header(folder / "a.db")->file_bytes, 66'051ull * 65'536ull);
  put(bytes, 16, {0x02, 0x00});
  test::write_file(folder / "a.db", bytes);
  EXPECT_EQ(read_sqlite_header(folder / "a.db")->file_bytes, 66'051ull * 512ull);
}

TEST(SqliteHeader, of_another_or_a_shorter_file_is_none) {
  const test::ScratchFolder folder;
  std::string bytes = header();
  bytes[0] = 's';
  test::write_file(folder / "a.db", bytes);
  EXPECT_FALSE(read_sqlite_header(folder / "a.db"));
  test::write_file(folder / "a.db", header().substr(0, 99));
  EXPECT_FALSE(read_sqlite_header(folder / "a.db"));
  test::write_file(folder / "a.db", header());
  EXPECT_TRUE(read_sqlite_header(folder / "a.db"));
}

}  // namespace
}  // namespace halmark
