// Every word that the code's own tables print is in the glossary: statuses, signals, samplers,
// rules to stop, strategies, cache modes, sources, warnings, every closed set, the headings of all
// tables, and what outputs hold: headings, units, verdicts.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "core/kernel_case.hpp"
#include "core/latency.hpp"
#include "core/measured/measurement.hpp"
#include "history/comparison.hpp"
#include "history/digest.hpp"
#include "host/protocol.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/sampling/interference.hpp"
#include "report/glossary.hpp"
#include "search/sampler.hpp"
#include "simulate/sharding/shard_table.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using report::find_term;

// All C++ sources of the program.
std::string sources() {
  std::string out;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(halmark::test::in_source()) / "framework")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    if (entry.path().parent_path().filename() == "glossary") continue;  // its own words
    std::ifstream file(entry.path());
    out.append(std::istreambuf_iterator<char>(file), {});
  }
  return out;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    out.insert((*it)[1]);
  }
  return out;
}

template <class Enum>
void expect_explained(std::string_view (*name_of)(Enum), int last) {
  for (int i = 0; i <= last; ++i) {
    const std::string name(name_of(static_cast<Enum>(i)));
    EXPECT_TRUE(name.empty() || find_term(name) != nullptr) << name;
  }
}

TEST(GlossaryCoverage, statuses_modes_sources_and_strategies) {
  expect_explained(status_name, static_cast<int>(Status::cancelled));
  expect_explained(history::change_name, static_cast<int>(history::Change::failed));
  expect_explained(history::news_name, static_cast<int>(history::News::created));
  expect_explained(cache_mode_name, static_cast<int>(CacheMode::in_stack));
  expect_explained(provenance_name, static_cast<int>(Provenance::imported));
  expect_explained(simulate::strategy_name, static_cast<int>(simulate::ShardStrategy::context));
}

TEST(GlossaryCoverage, statuses_of_envelopes) {
  std::ifstream file(fs::path(halmark::test::in_source()) / "framework/core/text/error.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto names = matches(text, "return \"(\\w+)\";");
  EXPECT_GE(names.size(), 8u);
  for (const std::string& name : names) EXPECT_NE(find_term(name), nullptr) << name;
}

TEST(GlossaryCoverage, signals_of_the_gate) {
  EXPECT_GE(gate_signals().size(), 12u);
  for (const GateSignal& signal : gate_signals()) {
    EXPECT_NE(find_term(signal.name), nullptr) << signal.name;
  }
  for (const char* name :
       {signal_name::wall_cpu_ratio, signal_name::cpus_used, signal_name::run_delay_fraction,
        signal_name::involuntary_switches_per_s, signal_name::steal_fraction,
        signal_name::load_per_cpu, signal_name::throttled_periods}) {
    EXPECT_NE(find_term(name), nullptr) << name;
  }
}

TEST(GlossaryCoverage, samplers_and_rules_to_stop) {
  for (const std::string& name : sampler_names()) {
    EXPECT_NE(find_term(name), nullptr) << name;
  }
  for (int i = 0; i <= static_cast<int>(protocol::StopReason::pilot); ++i) {
    const std::string name(protocol::name_of(static_cast<protocol::StopReason>(i)));
    EXPECT_TRUE(name.empty() || find_term(name) != nullptr) << name;
  }
}

TEST(GlossaryCoverage, warnings) {
  const auto codes = matches(sources(), "(W-[A-Z]+-\\d\\d)");
  EXPECT_GE(codes.size(), 8u);
  for (const std::string& code : codes) EXPECT_NE(find_term(code), nullptr) << code;
}

// TextTable table({"check", "verdict", "what"}) and cells.number("time", ...).
TEST(GlossaryCoverage, headings_of_all_tables) {
  const std::string text = sources();
  std::set<std::string> headings;
  const std::regex table(R"re(TextTable\s*\w*\s*[({]\s*\{([^}]*)\})re");
  for (std::sregex_iterator it(text.begin(), text.end(), table), end; it != end; ++it) {
    headings.merge(matches((*it)[1], "\">?([^\"]*)\""));
  }
  headings.merge(matches(text, R"re((?:cells\.\w+\(\{?|\w+\(cells, )"([^"]+)")re"));
  headings.erase("");
  EXPECT_GT(headings.size(), 150u) << "tables are made in another way";
  for (const std::string& heading : headings) {
    EXPECT_NE(find_term(heading), nullptr) << "'" << heading << "' is explained nowhere";
  }
}

// What golden outputs and the guide's transcripts hold, as a user reads it.
std::string printed_outputs() {
  std::string out;
  const fs::path tree = halmark::test::in_source();
  for (const char* folder : {"tests/golden/expected", "results/guide"}) {
    for (const auto& entry : fs::directory_iterator(tree / folder)) {
      std::ifstream file(entry.path());
      std::string text{std::istreambuf_iterator<char>(file), {}};
      if (entry.path().extension() != ".md") out += text;
      const std::regex block("```(?:console[^\n]*)?\n([^`]*)```");
      for (std::sregex_iterator at(text.begin(), text.end(), block), end; at != end; ++at) {
        out += (*at)[1];
      }
    }
  }
  return out;
}

std::vector<std::string> cells_of(const std::string& line) {
  const std::regex gap(" {2,}");
  return {std::sregex_token_iterator(line.begin(), line.end(), gap, -1), {}};
}

// A line of names above a line with figures.
TEST(GlossaryCoverage, headings_as_they_are_printed) {
  std::istringstream lines(printed_outputs());
  const std::regex percentile("p(50|90|99)|90 %|95 %|1:2|2/1"), digit("[0-9]");
  const std::regex no_heading("^$|^-$|^\\$.*|.*\\.\\.\\.$");
  std::set<std::string> headings;
  std::string above;
  for (std::string line; std::getline(lines, line); above = line) {
    const auto cells = cells_of(above);
    const bool has_names = !std::regex_search(std::regex_replace(above, percentile, ""), digit);
    const bool has_figures =
        std::regex_search(line, digit) && cells_of(line).size() >= cells.size();
    if (cells.size() < 4 || !has_names || !has_figures || above.starts_with("-")) continue;
    headings.insert(cells.begin(), cells.end());
  }
  EXPECT_GT(headings.size(), 80u) << "tables are printed in another way";
  for (const std::string& heading : headings) {
    if (std::regex_match(heading, no_heading)) continue;
    EXPECT_NE(find_term(heading), nullptr) << "'" << heading << "' is explained nowhere";
  }
}

TEST(GlossaryCoverage, units_as_they_are_printed) {
  const auto units = matches(
      printed_outputs(),
      R"([0-9.] ((?:[numkKMGTP]i?)?(?:s|B|W|J|Wh|g|FLOP|Hz|bE|USD)(?:/(?:s|byte))?)(?![\w/]))");
  EXPECT_GT(units.size(), 15u);
  for (const std::string& unit : units) EXPECT_NE(find_term(unit), nullptr) << unit;
}

// Verdicts stand alone in a cell, in capitals: SLOWER, UNDECIDED, TIE.
TEST(GlossaryCoverage, verdicts_as_they_are_printed) {
  const auto verdicts = matches(printed_outputs(), "(?:^|\n|  )([A-Z]{3,}(?:_[A-Z]+)*)(?:  |\n)");
  EXPECT_GE(verdicts.size(), 3u);
  for (const std::string& verdict : verdicts) EXPECT_NE(find_term(verdict), nullptr) << verdict;
}

// Closed sets: enum_names<Status>("ok", "suspect", ...), whatever room has them.
TEST(GlossaryCoverage, names_of_every_closed_set) {
  const std::string text = sources();
  const std::regex set(R"(enum_names<[\w:]+>\(([^)]*)\))");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), set), end; at != end; ++at) {
    names.merge(matches((*at)[1], "\"(\\w[^\"]*)\""));
  }
  EXPECT_GT(names.size(), 120u);
  for (const std::string& name : names) EXPECT_NE(find_term(name), nullptr) << name;
}

TEST(GlossaryCoverage, the_fields_own_abbreviations) {
  for (const char* word : {"SLO", "P(SLO met)", "TTFT", "TPOT", "ITL", "MFU", "knee", "goodput",
                           "provisional", "fingerprint", "pareto", "baseline", "S", "link domain",
                           "at best", "forecast", "GiB", "throughput", "trial"}) {
    EXPECT_NE(find_term(word), nullptr) << word;
  }
}

// A definition says what its word stands for, in a sentence that has more than the word itself.
TEST(GlossaryCoverage, definitions_say_something) {
  for (const report::Term& term : report::glossary()) {
    const std::string meaning(term.meaning);
    EXPECT_GE(std::ranges::count(meaning, ' '), 3) << term.word << ": " << meaning;
    EXPECT_TRUE(meaning.ends_with('.')) << term.word;
    EXPECT_FALSE(meaning.starts_with("Of a command.") || meaning.starts_with("Of a front."))
        << term.word;
  }
}

}  // namespace
}  // namespace halmark
