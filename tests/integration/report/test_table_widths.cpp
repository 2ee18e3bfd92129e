// Tables on terminals of three widths and in files: they fit, nothing is cut, every row can be told
// from every other.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

// What bold and colours are switched by takes no column.
int columns_of(const std::string& text) {
  const std::string shown = std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
  return static_cast<int>(std::ranges::count_if(
      shown, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    out.push_back(line);
  }
  return out;
}

class TableWidth : public HalmarkTest, public testing::WithParamInterface<int> {
 protected:
  TableWidth() {
    gate_as_users_do();  // where others are used, their path is a line
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;timer=device_event";
    tiny_sweep("fake", "shards = [1]");
    write("s.toml", served_sweep);
  }
  // On a terminal of this test's width; every line fits and none is marked as cut.
  std::string shown(const Arguments& arguments) const {
    Launch launch = this->launch(arguments);
    launch.stdout_columns = GetParam();
    launch.environment["COLUMNS"] = "";
    const Outcome o = undisturbed([&] { return run(launch); });
    EXPECT_THAT(o.exit_code, testing::AnyOf(0, 4)) << o.err;
    for (const std::string& line : lines_of(o.out)) {
      EXPECT_LE(columns_of(line), GetParam()) << line;
      EXPECT_FALSE(line.ends_with('~') || line.find("~ ") != std::string::npos) << line;
    }
    return o.out;
  }
};

TEST_P(TableWidth, known_devices_fit_with_every_id_and_every_peak) {
  const std::string text = shown({"devices", "--known"});
  for (const Json& device : data_of({"devices", "--known"})["known"]) {
    EXPECT_THAT(text, HasSubstr(device["id"].get<std::string>() + ' '));
    for (const Json& peak : device["peaks"]) {
      EXPECT_THAT(text, HasSubstr(peak["path"].get<std::string>()));
    }
  }
}

TEST_P(TableWidth, a_served_front_fits_and_its_configurations_are_whole) {
  const std::string text = shown({"tune", "s.toml", "--db", "x.db"});
  EXPECT_THAT(text, HasSubstr("x4 t2048 bf16"));
}

TEST_P(TableWidth, a_report_fits_and_shows_every_column) {
  tune_tiny("r.db");
  const Json data = data_of({"report", "--db", "r.db"});
  const std::string text = shown({"report", "--db", "r.db"});
  for (const Json& point : data["front"]) {
    EXPECT_THAT(text, HasSubstr(point["label"].get<std::string>() + ' '));
  }
  for (const char* title : {"latency", "interval", "bottleneck", "from", "prediction"}) {
    EXPECT_THAT(text, HasSubstr(title));
  }
  shown({"history", "--db", "r.db"});
  shown({"study", "show", "--all", "--db", "r.db"});
  shown({"models"});
}

TEST_P(TableWidth, rows_of_bench_fit_and_differ) {
  const std::string text = shown({"bench", "--backend", "fake", "--op", "gemm", "--params",
                                  "m=[1,2,4],n=64,k=32", "--dtype", "f32", "--no-store"});
  for (const char* row : {"m=1 ", "m=2 ", "m=4 "}) EXPECT_THAT(text, HasSubstr(row));
}

INSTANTIATE_TEST_SUITE_P(Columns, TableWidth, testing::Values(80, 120, 200), [](const auto& info) {
  return test::case_name({"columns", info.param});
});

class TableFile : public HalmarkTest {};

TEST_F(TableFile, what_all_rows_share_is_said_once) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;timer=device_event";
  const Outcome o = undisturbed({"bench", "--backend", "fake", "--op", "gemm", "--params",
                                 "m=[1,2,4],n=64,k=32", "--dtype", "f32", "--no-store"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::vector<std::string> lines = lines_of(o.out);
  for (const char* shared : {"n=64", "k=32", "fake:0"}) {
    EXPECT_EQ(std::ranges::count_if(lines,
                                    [&](const std::string& l) { return l.find(shared) != l.npos; }),
              1)
        << shared << '\n'
        << o.out;
  }
  const Json rows =
      undisturbed_data_of({"bench", "--backend", "fake", "--op", "gemm", "--params",
                           "m=[1,2,4],n=64,k=32", "--dtype", "f32", "--no-store"})["rows"];
  EXPECT_THAT(rows[0]["problem"].get<std::string>(), HasSubstr("k=32")) << "whole in the document";
}

TEST_F(TableFile, a_device_is_one_line_and_nothing_is_cut) {
  const Outcome o = halmark({"devices", "--known", "--where", "vendor == \"AMD\""});
  const Json known = data_of({"devices", "--known", "--where", "vendor == \"AMD\""})["known"];
  ASSERT_GT(known.size(), 2u);
  std::set<std::string> seen;
  for (const std::string& line : lines_of(o.out)) {
    EXPECT_EQ(line.find('~'), std::string::npos) << line;
    for (const Json& device : known) {
      const std::string id = device["id"];
      if (line.starts_with(id + ' ')) {
        EXPECT_TRUE(seen.insert(id).second);
        EXPECT_THAT(line, HasSubstr(device["peaks"].back()["path"].get<std::string>()));
      }
    }
  }
  EXPECT_EQ(seen.size(), known.size());
}

}  // namespace
}  // namespace halmark::integration
