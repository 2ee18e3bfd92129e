// What a million rows cost: bytes of the file per row, and the time until it can be asked.
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "core/numeric/cast.hpp"
#include "journal_fixture.hpp"

namespace halmark {
namespace {

using namespace test;

// Four thousand; HALMARK_GROWTH_ROWS asks for more.
std::uint64_t rows_wanted() {
  const char* text = std::getenv("HALMARK_GROWTH_ROWS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 4000;
}

TEST(Growth, of_a_million_rows_stays_below_two_and_a_half_gigabytes_and_two_seconds) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  {
    const auto store = open_store(path);
    const std::int64_t run = store->begin_run(run_info());
    constexpr std::uint64_t together = 1000;
    for (std::uint64_t first = 1; first <= rows_wanted(); first += together) {
      std::vector<Measurement> rows;
      for (std::uint64_t i = 0; i < together; ++i) rows.push_back(numbered_measurement(first + i));
      store->append(run, std::span<const Measurement>(rows));
    }
  }
  const auto bytes = as_double(std::filesystem::file_size(path));
  const double per_row = bytes / as_double(rows_wanted());
  RecordProperty("bytes_per_row", static_cast<int>(per_row));
  EXPECT_LT(per_row * 1e6, 2.5e9);
  const auto begin = std::chrono::steady_clock::now();
  { const auto store = open_store(path); }
  const std::chrono::duration<double> opened = std::chrono::steady_clock::now() - begin;
  RecordProperty("ms_to_open", static_cast<int>(1e3 * opened.count()));
  EXPECT_LT(opened.count(), 2);
}

}  // namespace
}  // namespace halmark
