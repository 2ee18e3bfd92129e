// Files that state more than they have: refused before anything of that size is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parquet/parquet_cells.hpp"
#include "parquet/parquet_limits.hpp"
#include "parquet/thrift_writer.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

// A file of one column with one page, of which every number can be wrong.
struct Stated {
  std::int64_t rows = 3, group_rows = 3, values = 3, groups = 1;
  std::int64_t data_page = 4, bytes = -1;  // of the chunk; -1: what it has
  std::int32_t physical = 2, chunk_physical = 2, repetition = 0, codec = 0;
  std::int32_t page_values = 3, page_bytes = -1, unpacked_bytes = 24, encoding = 0;
  std::string page = std::string(24, '\1');
  std::vector<std::string> names = {"m"};
  bool is_encrypted = false;
};

std::string page_of(const Stated& stated) {
  ThriftWriter out;
  out.integer(1, 0);
  out.integer(2, stated.unpacked_bytes);
  out.integer(
      3, stated.page_bytes < 0 ? static_cast<std::int32_t>(stated.page.size()) : stated.page_bytes);
  out.structure(5, [&] {
    out.integer(1, stated.page_values);
    out.integer(2, stated.encoding);
    out.integer(3, 3);
    out.integer(4, 3);
  });
  return out.finish() + stated.page;
}

void append_group(ThriftWriter& out, const Stated& stated, std::int64_t bytes) {
  out.list_of_structures(1, stated.names.size());
  for (std::size_t i = 0; i < stated.names.size(); ++i) {
    out.element_structure([&] {
      out.wide(2, 4);
      out.structure(3, [&] {
        out.integer(1, stated.chunk_physical);
        out.integer(4, stated.codec);
        out.wide(5, stated.values);
        out.wide(7, bytes);
        out.wide(9, stated.data_page);
      });
      if (stated.is_encrypted) out.structure(8, [] {});
    });
  }
  out.wide(3, stated.group_rows);
}

std::string file_of(const Stated& stated) {
  const std::string page = page_of(stated);
  const std::int64_t bytes =
      stated.bytes < 0 ? static_cast<std::int64_t>(page.size()) : stated.bytes;
  ThriftWriter out;
  out.list_of_structures(2, stated.names.size() + 1);
  out.element_structure([&] { out.integer(5, static_cast<std::int32_t>(stated.names.size())); });
  for (const std::string& name : stated.names) {
    out.element_structure([&] {
      out.integer(1, stated.physical);
      out.integer(3, stated.repetition);
      out.binary(4, name);
    });
  }
  out.wide(3, stated.rows);
  out.list_of_structures(4, static_cast<std::size_t>(stated.groups));
  for (std::int64_t i = 0; i < stated.groups; ++i) {
    out.element_structure([&] { append_group(out, stated, bytes); });
  }
  const std::string footer = out.finish();
  std::string size(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) size[i] = static_cast<char>(footer.size() >> (8 * i));
  return std::string(parquet_magic) + page + footer + size + std::string(parquet_magic);
}

std::uint64_t read_rows(const std::string& bytes) {
  const ParquetReader reader(bytes, "t.parquet");
  std::uint64_t rows = 0;
  for (ParquetCells cells(reader); cells.next();) ++rows;
  return rows;
}

std::string refusal(const Stated& stated) {
  const Error error = test::error_of([&] { read_rows(file_of(stated)); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("t.parquet"));
  return error.line();
}

TEST(ParquetLimits, the_file_itself_is_read) { EXPECT_EQ(read_rows(file_of({})), 3u); }

TEST(ParquetLimits, counts_that_contradict_each_other_are_refused) {
  EXPECT_THAT(refusal({.rows = 4}), HasSubstr("3 rows, but it states 4"));
  EXPECT_THAT(refusal({.values = 4}), HasSubstr("column 'm' has 4 values for 3 rows"));
  EXPECT_THAT(refusal({.rows = -1, .group_rows = -1, .values = -1}), HasSubstr("states no rows"));
  EXPECT_THAT(refusal({.page_values = 4}), HasSubstr("more rows than their group"));
  EXPECT_THAT(refusal({.page_values = 2}), HasSubstr("fewer rows than their group"));
  EXPECT_THAT(refusal({.page = std::string(16, '\1')}), HasSubstr("fewer values than it states"));
  EXPECT_THAT(refusal({.chunk_physical = 5}), HasSubstr("another type than its schema"));
}

TEST(ParquetLimits, places_outside_the_file_are_refused) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t place :
       {most, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 20}) {
    EXPECT_THAT(refusal({.data_page = place}), HasSubstr("does not lie inside the file")) << place;
  }
  EXPECT_THAT(refusal({.bytes = most}), HasSubstr("does not lie inside the file"));
  EXPECT_THAT(refusal({.page_bytes = 1 << 20}), HasSubstr("a page ends behind its column"));
  EXPECT_THAT(refusal({.page_bytes = 1 << 30}), HasSubstr("the limit is 134217728"));
}

TEST(ParquetLimits, columns_are_flat_of_a_known_type_and_once_there) {
  EXPECT_THAT(refusal({.names = {"m", "n", "m"}}), HasSubstr("column 'm' is there twice"));
  EXPECT_THAT(refusal({.repetition = 2}), HasSubstr("column 'm' is repeated"));
  EXPECT_THAT(refusal({.physical = 3}), HasSubstr("column 'm' is INT96"));
  EXPECT_THAT(refusal({.physical = 9}), HasSubstr("column 'm' has no known type"));
  EXPECT_THAT(refusal({.is_encrypted = true}), HasSubstr("column 'm' is encrypted"));
  EXPECT_THAT(refusal({.codec = 42}), HasSubstr("column 'm': is compressed with codec 42"));
  EXPECT_THAT(refusal({.encoding = 77}), HasSubstr("column 'm': is encoded with an unknown"));
  EXPECT_THAT(refusal({.names = std::vector<std::string>(1025, "m")}),
              HasSubstr("more than 1024 columns"));
}

// Two billion rows in 160 bytes, of a column that repeats one value of a dictionary or states none.
TEST(ParquetLimits, rows_are_in_proportion_to_the_file) {
  constexpr std::int64_t rows = 2'000'000'000;
  EXPECT_THAT(refusal({.rows = rows, .group_rows = rows, .values = rows}),
              HasSubstr("out of proportion"));
  EXPECT_THAT(refusal({.rows = 9'000'000,
                       .group_rows = 3'000'000,
                       .values = 3'000'000,
                       .groups = 3,
                       .names = {"a", "b"}}),
              HasSubstr("out of proportion"));
}

// A page that many groups share, each of which would unpack or read it again.
TEST(ParquetLimits, pages_are_paid_for_each_time_they_are_read) {
  const std::string page(std::size_t{4} << 20, '\1');
  EXPECT_THAT(refusal({.rows = 3000,
                       .group_rows = 3,
                       .values = 3,
                       .groups = 1000,
                       .unpacked_bytes = static_cast<std::int32_t>(page.size()),
                       .page = page}),
              HasSubstr("200 times its"));
}

// In a process of its own: what an earlier case of this one had at its most would hide a growth.
TEST(ParquetLimits, nothing_that_is_stated_is_allocated) {
  const pid_t child = fork();
  if (child == 0) {
    struct rusage before {
    }, after{};
    getrusage(RUSAGE_SELF, &before);
    for (const std::int32_t codec : {1, 2, 6}) {
      Stated stated{.codec = codec, .unpacked_bytes = 2'000'000'000};
      refusal(stated);
      stated.unpacked_bytes = 100 << 20;
      refusal(stated);
    }
    getrusage(RUSAGE_SELF, &after);
    _exit(HasFailure() || after.ru_maxrss - before.ru_maxrss >= 256 << 10 ? 1 : 0);  // KiB
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace halmark
