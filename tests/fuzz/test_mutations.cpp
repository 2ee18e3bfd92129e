// The fuzzers' entry points under seeded mutations of their corpus, with any compiler: a few
// seconds of what the fuzzers do for as long as one lets them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "feed.hpp"

namespace halmark::fuzz {
namespace {

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::string> out;
  const std::filesystem::path folder = name == "parquet"
                                           ? HALMARK_SOURCE_DIR "/tests/data/parquet"
                                           : HALMARK_SOURCE_DIR "/tests/fuzz/corpus/" + name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
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

void mutate(const std::string& name, void (*feed)(std::string_view)) {
  const std::vector<std::string> seeds = corpus(name);
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) ASSERT_NO_THROW(feed(seed));
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::string text = Mutation(i).of(seeds[i % seeds.size()]);
    ASSERT_NO_THROW(feed(text)) << "mutation " << i << ":\n" << text;
  }
}

TEST(Mutations, a_model_configuration_is_read_or_refused) {
  mutate("model_config", feed_model_config);
}
TEST(Mutations, a_table_of_kernels_is_read_or_refused) {
  mutate("kernel_table", feed_kernel_table);
}
TEST(Mutations, a_device_file_is_read_or_refused) { mutate("device", feed_device); }

TEST(Mutations, a_fabric_file_is_read_or_refused) { mutate("fabric", feed_fabric); }

// Numbers of the footer and of pages are single bytes, so that each change states something else;
// what is stated must not become memory.
TEST(Mutations, a_parquet_file_is_read_or_refused) {
  struct rusage before {
  }, after{};
  getrusage(RUSAGE_SELF, &before);
  mutate("parquet", feed_parquet);
  const std::vector<std::string> seeds = corpus("parquet");
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
#ifdef HALMARK_HAS_TRACE
TEST(Mutations, a_trace_is_read_or_refused) { mutate("trace", feed_trace); }
#endif

TEST(Mutations, hostile_documents_are_refused) {
  const std::string deep(100'000, '['), nested = "{\"kernels\":" + std::string(5000, '{');
  for (const std::string& text :
       {deep, nested, std::string(20u << 20, ' '), std::string("{\"a\":NaN}"),
        std::string("{\"layers\": 1e999}"), std::string("\0", 1)}) {
    EXPECT_NO_THROW(feed_model_config(text));
    EXPECT_NO_THROW(feed_kernel_table(text));
    EXPECT_NO_THROW(feed_device(text));
    EXPECT_NO_THROW(feed_fabric(text));
    EXPECT_NO_THROW(feed_parquet(text));
#ifdef HALMARK_HAS_TRACE
    EXPECT_NO_THROW(feed_trace(text));
#endif
  }
}

}  // namespace
}  // namespace halmark::fuzz
