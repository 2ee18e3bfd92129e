#include "golden.hpp"

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

}  // namespace

testing::AssertionResult is_as_expected(const std::string& text, const std::string& name) {
  const std::string path = HALMARK_SOURCE_DIR "/tests/golden/expected/" + name;
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
