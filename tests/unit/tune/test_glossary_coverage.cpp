// Every word that the code's own tables print is in the glossary: statuses, signals, samplers,
// rules to stop, strategies, cache modes, sources, warnings, and the headings of all tables.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "core/kernel_case.hpp"
#include "core/latency.hpp"
#include "core/measured/measurement.hpp"
#include "history/comparison.hpp"
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

// TextTable table({"check", "verdict", "what"}) and Column rows {"time", true, true, ...}.
TEST(GlossaryCoverage, headings_of_all_tables) {
  const std::string text = sources();
  std::set<std::string> headings;
  const std::regex table(R"re(TextTable\s*\w*\s*[({]\s*\{([^}]*)\})re");
  for (std::sregex_iterator it(text.begin(), text.end(), table), end; it != end; ++it) {
    headings.merge(matches((*it)[1], "\"([^\"]*)\""));
  }
  headings.merge(matches(text, "\\{\"([^\"]+)\", (?:true|false), (?:true|false),"));
  headings.erase("");
  EXPECT_GT(headings.size(), 150u) << "tables are made in another way";
  for (const std::string& heading : headings) {
    EXPECT_NE(find_term(heading), nullptr) << "'" << heading << "' is explained nowhere";
  }
}

}  // namespace
}  // namespace halmark
