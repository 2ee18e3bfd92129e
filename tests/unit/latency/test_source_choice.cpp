#include "latency/source_choice.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;

TEST(SourceChoice, reads_every_source_with_its_file) {
  EXPECT_EQ(parse_source("measured", "").kind, SourceKind::measured);
  EXPECT_EQ(parse_source("interpolated", "").kind, SourceKind::interpolated);
  EXPECT_EQ(parse_source("transferred", "").kind, SourceKind::transferred);
  EXPECT_EQ(parse_source("fabric", "").kind, SourceKind::fabric);
  EXPECT_EQ(parse_source("roofline", "").kind, SourceKind::roofline);
  const SourceChoice journal = parse_source("journal:a:b.db", "");
  EXPECT_EQ(journal.kind, SourceKind::journal);
  EXPECT_EQ(journal.file, "a:b.db");
  EXPECT_EQ(parse_source("imported:t.csv", "").kind, SourceKind::imported);
  EXPECT_EQ(parse_source("forecast", "").kind, SourceKind::forecast);
  EXPECT_EQ(parse_source("forecast", "").file, "");
  EXPECT_EQ(parse_source("forecast:sglang", "").file, "sglang");
}

TEST(SourceChoice, refusals_say_where_and_what_to_write) {
  const auto refusal = [](const char* text) {
    return error_of([&] { parse_source(text, "--latency"); }).line();
  };
  says(refusal("rofline"), "did you mean 'roofline'");
  says(refusal("rofline"), "--latency");
  says(refusal("journal"), "write journal:FILE");
  says(refusal("imported:"), "names no file");
  says(refusal("roofline:x"), "takes no file");
  says(refusal("forecast:"), "names no engine");
}

TEST(SourceChoice, kinds_are_in_order_of_trust) {
  EXPECT_LT(SourceKind::measured, SourceKind::journal);
  EXPECT_LT(SourceKind::journal, SourceKind::imported);
  EXPECT_LT(SourceKind::imported, SourceKind::forecast);
  EXPECT_LT(SourceKind::forecast, SourceKind::interpolated);
  EXPECT_LT(SourceKind::interpolated, SourceKind::transferred);
  EXPECT_LT(SourceKind::transferred, SourceKind::fabric);
  EXPECT_LT(SourceKind::fabric, SourceKind::roofline);
}

}  // namespace
}  // namespace halmark
