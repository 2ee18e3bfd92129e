// The field's words: words.txt lists expressions that no identifier and no printed sentence holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

struct Rule {
  std::string kind, instead;
  std::regex expression;
};

// "KIND EXPRESSION -> WHAT TO SAY"; "#" begins a comment.
std::vector<Rule> rules_of(const std::string& text) {
  std::vector<Rule> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t kind_end = line.find(' '), arrow = line.find(" -> ");
    EXPECT_NE(arrow, std::string::npos) << line;
    out.push_back({line.substr(0, kind_end), line.substr(arrow + 4),
                   std::regex(line.substr(kind_end + 1, arrow - kind_end - 1),
                              std::regex::ECMAScript | std::regex::icase)});
  }
  return out;
}

std::vector<Rule> rules() {
  for (const SourceFile& file : tracked_files()) {
    if (file.path == "tests/architecture/words.txt") return rules_of(file.text);
  }
  return {};
}

// "NetworkDoor", "call_door" -> {"network", "door"}, {"call", "door"}.
std::vector<std::string> parts_of(const std::string& identifier) {
  static const std::regex part("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+");
  return {std::sregex_token_iterator(identifier.begin(), identifier.end(), part), {}};
}

bool is_blank(std::string::const_iterator begin, std::string::const_iterator end) {
  return std::all_of(begin, end, [](char c) { return c == ' '; });
}

// String literals without those of #include lines; adjacent ones are one, as for the compiler.
std::vector<std::string> literals_of(const std::string& text) {
  static const std::regex literal(R"re("((?:\\.|[^"\\\n])*)")re");
  std::vector<std::string> out;
  std::istringstream lines(text);
  bool is_adjacent = false;  // nothing but blanks since the last literal
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include")) continue;
    const std::size_t comment = line.find("  // ");
    const std::string code = line.substr(0, line.starts_with("//") ? 0 : comment);
    auto behind = code.cbegin();
    for (std::sregex_iterator at(code.begin(), code.end(), literal), end; at != end; ++at) {
      is_adjacent = is_adjacent && is_blank(behind, (*at)[0].first);
      if (is_adjacent) {
        out.back() += (*at)[1].str();
      } else {
        out.push_back((*at)[1]);
      }
      is_adjacent = true;
      behind = (*at)[0].second;
    }
    is_adjacent = is_adjacent && is_blank(behind, code.cend());
  }
  return out;
}

bool is_product(const std::string& path) {
  for (const char* folder : {"framework/", "search/", "kernels/", "plugins/"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

TEST(Words, no_identifier_has_a_word_of_our_own) {
  const std::vector<Rule> all = rules();
  std::vector<std::string> faults;
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path) || !is_product(file.path)) continue;
    std::map<std::string, std::string> parts;  // with a name that has them
    for (const std::string& name : identifiers_of(file.text)) {
      for (const std::string& part : parts_of(name)) parts.emplace(part, name);
    }
    for (const auto& [part, name] : parts) {
      for (const Rule& rule : all) {
        if (rule.kind == "identifier" && std::regex_match(part, rule.expression))
          faults.push_back(file.path + ": " + name + "; " + rule.instead);
      }
    }
  }
  EXPECT_THAT(faults, testing::IsEmpty());
}

TEST(Words, nothing_printed_has_a_word_of_our_own) {
  std::vector<std::string> faults;
  for (const Rule& rule : rules()) {
    if (rule.kind != "printed") continue;
    for (const SourceFile& file : tracked_files()) {
      if (!is_product(file.path) || !(is_cpp(file.path) || file.path.ends_with(".js"))) continue;
      for (const std::string& text : literals_of(file.text)) {
        if (std::regex_search(text, rule.expression))
          faults.push_back(file.path + ": \"" + text + "\"; " + rule.instead);
      }
    }
  }
  EXPECT_THAT(faults, testing::IsEmpty());
}

TEST(Words, no_page_has_a_phrase_of_our_own) {
  std::vector<std::string> faults;
  for (const Rule& rule : rules()) {
    if (rule.kind != "page") continue;
    for (const SourceFile& file : tracked_files()) {
      if (!file.path.ends_with(".md") || file.path.starts_with("tests/golden")) continue;
      std::istringstream lines(file.text);
      int number = 0;
      for (std::string line; std::getline(lines, line);) {
        ++number;
        if (std::regex_search(line, rule.expression))
          faults.push_back(file.path + ":" + std::to_string(number) + ": " + rule.instead);
      }
    }
  }
  EXPECT_THAT(faults, testing::IsEmpty());
}

TEST(Words, the_list_is_there_and_its_rules_find_what_they_name) {
  EXPECT_GT(rules().size(), 20u);
  EXPECT_THAT(parts_of("callNetworkDoor_of"),
              testing::ElementsAre("call", "Network", "Door", "of"));
  EXPECT_THAT(literals_of("f(\"a \\\"b\\\"\");  // \"c\"\n#include \"d\"\n"),
              testing::ElementsAre("a \\\"b\\\""));
  EXPECT_THAT(literals_of("f(\"it went \"\n  \"on\", \"a\");\nx = \"b\";\n\"c\"\n"),
              testing::ElementsAre("it went on", "a", "b", "c"));
  const auto some = rules_of("# c\nprinted \\bdear -> expensive\n");
  ASSERT_EQ(some.size(), 1u);
  EXPECT_TRUE(std::regex_search("the dearest kernel", some[0].expression));
}

bool finds(const Rule& rule, const std::string& text) {
  return rule.kind == "identifier" ? std::regex_match(text, rule.expression)
                                   : std::regex_search(text, rule.expression);
}

// A kind that no test above asks for, or an expression with a slip, would hold nothing.
TEST(Words, every_rule_has_a_known_kind_and_finds_an_example) {
  const std::map<std::string, std::vector<std::string>> examples = {
      {"identifier",
       {"Nobody", "anew", "dearer", "strangers", "elsewhere", "fullest", "unclaimed", "unheard",
        "laid", "came", "books", "supposed", "twins", "door", "hear", "paper", "bought"}},
      {"printed",
       {"whoever asks", "measured anew", "the dearest kernel", "was bought", "is busy elsewhere",
        "the fullest rank", "a fabric on paper", "requests put off", "the sweep went on",
        "they took turns", "measured between their neighbours", "a step stands alone",
        "as it comes", "as many ranks as the next"}},
      {"page",
       {"Somebody else", "begins anew", "dearer layouts", "kernels take turns",
        "between its neighbours", "on paper", "the fullest stage", "is put off",
        "the sweep goes on", "trials of strangers", "layouts of so many shards"}}};
  for (const Rule& rule : rules()) {
    const auto of_kind = examples.find(rule.kind);
    ASSERT_NE(of_kind, examples.end()) << rule.kind << ": " << rule.instead;
    EXPECT_EQ(
        std::ranges::count_if(of_kind->second, [&](const auto& text) { return finds(rule, text); }),
        1)
        << rule.kind << ": " << rule.instead;
    EXPECT_FALSE(finds(rule, "every front point passed")) << rule.instead;
  }
}

}  // namespace
}  // namespace halmark::architecture
