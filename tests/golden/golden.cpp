#include "golden.hpp"
#include "tests/checkout.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace halmark::golden {
namespace {

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Holds plain values only.
bool is_flat(const Json& json) {
  for (const Json& value : json) {
    if (value.is_structured() && !value.empty()) return false;
  }
  return true;
}

constexpr std::size_t columns_max = 100;

// Plain members share a line as long as it lasts; what has structure begins one.
void print(const Json& json, const std::string& indent, std::string& out) {
  if (!json.is_structured() || is_flat(json)) {
    out += dump_json(json);
    return;
  }
  const std::string inner = indent + "  ";
  out += json.is_object() ? "{" : "[";
  bool is_first = true, was_plain = false;
  for (const auto& [key, value] : json.items()) {
    const std::string name = json.is_object() ? dump_json(Json(key)) + ": " : "";
    const bool is_plain = !value.is_structured() || value.empty();
    const std::size_t length = name.size() + (is_plain ? dump_json(value).size() : 0);
    const std::size_t column = out.size() - out.rfind('\n') - 1;
    const bool shares = was_plain && is_plain && column + length + 2 <= columns_max;
    out += (is_first ? "" : ",") + (shares ? " " : '\n' + inner) + name;
    print(value, inner, out);
    is_first = false;
    was_plain = is_plain;
  }
  out += '\n' + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string reviewable(const Json& json) {
  std::string out;
  print(json, "", out);
  return out + '\n';
}

testing::AssertionResult is_as_expected(const std::string& text, const std::string& name) {
  const std::string path = test::in_source("/tests/golden/expected/") + name;
  if (std::getenv("HALMARK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return testing::AssertionSuccess();
  }
  const std::string expected = whole(path);
  if (text == expected) return testing::AssertionSuccess();
  std::istringstream a(expected), b(text);
  std::string was, is;
  int line = 0;
  do {
    ++line;
    was.clear();
    is.clear();
    std::getline(a, was);
    std::getline(b, is);
  } while (was == is && (a || b));
  return testing::AssertionFailure()
         << name << ':' << line << "\n  expected: " << was << "\n  is:       " << is;
}

}  // namespace halmark::golden
