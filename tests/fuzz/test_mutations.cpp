// Every reader of readers.def with its seeds and with seeded mutations of them, with any compiler:
// a few seconds of what the fuzzers do for as long as one lets them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "../unit/case_name.hpp"
#include "feed.hpp"
#include "tests/checkout.hpp"

namespace halmark::fuzz {
namespace {

std::vector<std::string> seeds_of(std::string_view folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(test::in_source()) / folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);  // the order decides which mutation is of which seed
  std::vector<std::string> out;
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    out.push_back(text.str());
  }
  return out;
}

// What tends to break readers: limits of integers, numbers that are none, wrong types, brackets.
const char* const tokens[] = {"0",
                              "-1",
                              "1e999",
                              "1e308",
                              "9223372036854775807",
                              "null",
                              "true",
                              "\"\"",
                              "[]",
                              "{}",
                              "nan",
                              "inf",
                              "18446744073709551616",
                              "[[[[",
                              "2147483648",
                              "0.5",
                              "-0.0",
                              "\"\\u0000\"",
                              "\xff\xfe",
                              "}"};

class Mutation {
 public:
  explicit Mutation(std::uint64_t seed) : random_(seed) {}

  std::string of(std::string text) {
    for (std::size_t i = 0; i <= below(4); ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void change(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        break;
      case 2:
        text.insert(at, tokens[below(std::size(tokens))]);
        break;
      case 3:
        replace_value(text, at);
        break;
      case 4:
        text.erase(at, below(20));
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(40)));
    }
  }

  // The value behind the next colon or equals sign.
  void replace_value(std::string& text, std::size_t from) {
    const std::size_t begin = text.find_first_of(":=", from);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_of(",}\n", begin), text.size());
    text.replace(begin + 1, end - begin - 1, std::string(" ") + tokens[below(std::size(tokens))]);
  }

  std::mt19937_64 random_;
};

// Of the short run; the nightly one asks for more of them.
std::uint64_t times_as_many() {
  const char* text = std::getenv("HALMARK_MUTATIONS");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

class Readers : public testing::TestWithParam<Reader> {};
INSTANTIATE_TEST_SUITE_P(All, Readers, testing::ValuesIn(readers),
                         [](const auto& info) { return test::case_name({info.param.name}); });

TEST_P(Readers, survive_their_seeds) {
  const Reader& reader = GetParam();
  const std::vector<std::string> seeds = seeds_of(reader.seeds);
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) EXPECT_NO_THROW(reader.feed(seed)) << seed;
}

using Mutations = Readers;
INSTANTIATE_TEST_SUITE_P(Seeded, Mutations, testing::ValuesIn(readers),
                         [](const auto& info) { return test::case_name({info.param.name}); });

TEST_P(Mutations, are_read_or_refused) {
  const Reader& reader = GetParam();
  const std::vector<std::string> seeds = seeds_of(reader.seeds);
  ASSERT_FALSE(seeds.empty());
  const std::uint64_t end = static_cast<std::uint64_t>(reader.mutations) * times_as_many();
  for (std::uint64_t i = 0; i < end; ++i) {
    const std::string text = Mutation(i).of(seeds[i % seeds.size()]);
    ASSERT_NO_THROW(reader.feed(text)) << "mutation " << i << ":\n" << text;
  }
}

TEST_P(Readers, refuse_hostile_documents) {
  const std::string deep(100'000, '['), nested = "{\"kernels\":" + std::string(5000, '{');
  for (const std::string& text :
       {deep, nested, std::string(20u << 20, ' '), std::string("{\"a\":NaN}"),
        std::string("{\"layers\": 1e999}"), std::string("\0", 1), std::string()}) {
    EXPECT_NO_THROW(GetParam().feed(text)) << text.substr(0, 20) << " ... of " << text.size();
  }
}

// Numbers of the footer and of pages are single bytes, so that each change states something else;
// what is stated must not become memory.
TEST(Bytes, of_a_parquet_file_become_no_memory) {
  struct rusage before {
  }, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::vector<std::string> seeds = seeds_of("tests/data/parquet");
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::mt19937_64 random(i);
    std::string bytes = seeds[i % seeds.size()];
    // Most of what is believed stands in the footer and in the first bytes of pages.
    const std::size_t range = std::min<std::size_t>(bytes.size(), 700);
    const std::size_t from = i % 3 == 0 ? 0 : bytes.size() - range;
    for (std::size_t n = 0; n <= i % 3; ++n) {
      bytes[from + random() % range] = static_cast<char>(random());
    }
    ASSERT_NO_THROW(feed_parquet(bytes)) << "byte mutation " << i;
  }
  getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 512 << 10) << "KiB";
#endif
}

// A database of three rows, one byte changed: what has no checksum has a rule.
TEST(Bytes, of_a_database_are_read_or_refused) {
  const std::vector<std::string> seeds = seeds_of("tests/fuzz/corpus/database");
  for (std::uint64_t i = 0; i < 100 * times_as_many(); ++i) {
    std::mt19937_64 random(i);
    std::string bytes = seeds[i % seeds.size()];
    for (std::size_t n = 0; n <= i % 3; ++n) {
      // Every second change in the header and the schema, which decide how the rest is read.
      const std::size_t range =
          i % 2 == 0 ? std::min<std::size_t>(bytes.size(), 4096) : bytes.size();
      bytes[random() % range] = static_cast<char>(random());
    }
    ASSERT_NO_THROW(feed_database(bytes)) << "byte mutation " << i;
  }
}

}  // namespace
}  // namespace halmark::fuzz
