#include "pages/help/help_table.hpp"

#include <algorithm>

namespace halmark {

std::string short_description(const std::string& description, std::size_t width) {
  const std::string line = description.substr(0, description.find('\n'));
  if (line.size() <= width) return line;
  const std::size_t sentence = std::min(line.find("; "), line.find(". "));
  if (sentence != std::string::npos && sentence <= width) return line.substr(0, sentence);
  const std::size_t word = line.rfind(' ', width - 3);
  return line.substr(0, word == std::string::npos ? width - 3 : word) + "...";
}

}  // namespace halmark
