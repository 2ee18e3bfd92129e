// The table of faults (tests/fault/README.md): every row has tests, and every test that it names is
// there. `scripts/test --fault NN` reads the same table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

constexpr int rows_wanted = 34;

struct Named {
  std::string program, test;  // "journal", "DiskFull.storing_goes_on"
};

std::string table_text() {
  const auto& files = tracked_files();
  const auto it = std::ranges::find(files, "tests/fault/README.md", &SourceFile::path);
  return it == files.end() ? "" : it->text;
}

// By row, as the table names them.
std::map<int, std::vector<Named>> rows_of(const std::string& text) {
  static const std::regex begin(R"(^\| *([0-9]+) *\|)"), name(R"(`([a-z_0-9]+)\.(\w+\.\w+)`)");
  std::map<int, std::vector<Named>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, begin)) continue;
    std::vector<Named>& row = out[std::stoi(found[1])];
    for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it) {
      row.push_back({(*it)[1], (*it)[2]});
    }
  }
  return out;
}

// "Suite.test" of all sources of tests, with the files that have it.
std::multimap<std::string, std::string> known_tests() {
  static const std::regex test(R"(TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  std::multimap<std::string, std::string> out;
  for (const SourceFile& file : tracked_files()) {
    if (!file.path.starts_with("tests/") || !is_cpp(file.path)) continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), test), end; it != end; ++it) {
      out.emplace((*it)[2].str() + '.' + (*it)[3].str(), file.path);
    }
  }
  return out;
}

struct Program {
  std::string name, folder, sources;
};

std::vector<Program> known_programs() {
  static const std::regex added(R"((halmark_add_test\(|target_sources\(test_)(\w+)([^)]*)\))");
  std::vector<Program> out;
  for (const SourceFile& file : tracked_files()) {
    if (!file.path.ends_with("CMakeLists.txt")) continue;
    const std::string folder = file.path.substr(0, file.path.rfind('/') + 1);
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), added), end; it != end; ++it) {
      out.push_back({(*it)[2], folder, (*it)[3]});
    }
  }
  return out;
}

bool exists(const Named& named, const std::multimap<std::string, std::string>& tests,
            const std::vector<Program>& programs) {
  const auto [begin, end] = tests.equal_range(named.test);
  return std::any_of(begin, end, [&](const auto& found) {
    const std::string& path = found.second;
    return std::ranges::any_of(programs, [&](const Program& program) {
      return program.name == named.program && path.starts_with(program.folder) &&
             program.sources.find(path.substr(path.rfind('/') + 1)) != std::string::npos;
    });
  });
}

TEST(Faults, each_has_a_test_that_exists) {
  const auto rows = rows_of(table_text());
  const auto tests = known_tests();
  const auto programs = known_programs();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(rows_wanted));
  for (int number = 1; number <= rows_wanted; ++number) {
    ASSERT_TRUE(rows.contains(number)) << number;
    // Of a server that is lost the fleet's own tests tell.
    EXPECT_TRUE(number == 25 || !rows.at(number).empty()) << "row " << number << " has no test";
    for (const Named& named : rows.at(number)) {
      EXPECT_TRUE(exists(named, tests, programs))
          << "row " << number << ": " << named.program << '.' << named.test;
    }
  }
}

TEST(Faults, the_rule_reads_rows_and_nothing_else) {
  const auto rows =
      rows_of("| # | fault |\n|---|---|\n| 7 | x `/dev/full` | `a_b.Suite.test_1`, `c.D.e` |\n");
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows.at(7).size(), 2u);
  EXPECT_EQ(rows.at(7)[0].program, "a_b");
  EXPECT_EQ(rows.at(7)[1].test, "D.e");
}

}  // namespace
}  // namespace halmark::architecture
