#include "tree.hpp"
#include "tests/checkout.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace halmark::architecture {
namespace {

namespace fs = std::filesystem;

std::string whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> listed_by_git() {
  // The owner of a checkout is often another user than the one that tests it in a container.
  const CommandOutput list =
      output_of("git -C '" + root().string() + "' -c safe.directory='*' ls-files -z 2>/dev/null");
  std::vector<std::string> out;
  if (list.status != 0) return out;
  std::istringstream names(list.text);
  for (std::string name; std::getline(names, name, '\0');) out.push_back(name);
  return out;
}

std::vector<std::string> listed_by_walking() {
  std::vector<std::string> out;
  for (auto it = fs::recursive_directory_iterator(root()); it != fs::end(it); ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() && (name == "build" || name == "results" || name == ".git")) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file()) {
      out.push_back(fs::relative(it->path(), root()).generic_string());
    }
  }
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

fs::path root() { return test::in_source(); }

const std::vector<SourceFile>& tracked_files() {
  static const std::vector<SourceFile> files = [] {
    std::vector<std::string> names = listed_by_git();
    if (names.empty()) names = listed_by_walking();
    std::vector<SourceFile> out;
    for (const std::string& name : names) {
      if (fs::is_regular_file(root() / name)) out.push_back({name, whole(root() / name)});
    }
    return out;
  }();
  return files;
}

bool is_header(std::string_view path) { return path.ends_with(".hpp") || path.ends_with(".h"); }

bool is_cpp(std::string_view path) {
  return is_header(path) || path.ends_with(".cpp") || path.ends_with(".c");
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> out;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t begin = line.find_first_of("<\"", at);
    if (begin == std::string::npos) continue;
    const std::size_t end = line.find_first_of(">\"", begin + 1);
    if (end == std::string::npos) continue;
    out.push_back({line.substr(begin + 1, end - begin - 1), line[begin] == '"', number});
  }
  return out;
}

std::string code_only(std::string_view text) {
  std::string out;
  enum class In { code, line_comment, block_comment, literal } in = In::code;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (in == In::code && c == '/' && (next == '/' || next == '*')) {
      in = next == '/' ? In::line_comment : In::block_comment;
    } else if (in == In::code && (c == '"' || (c == '\'' && (i == 0 || !is_word(text[i - 1]))))) {
      in = In::literal;
      quote = c;
    } else if (in == In::literal && c == '\\') {
      ++i;
    } else if ((in == In::literal && (c == quote || c == '\n')) ||
               (in == In::line_comment && c == '\n')) {
      in = In::code;
      out += c == '\n' ? '\n' : ' ';
      continue;
    } else if (in == In::block_comment && c == '*' && next == '/') {
      in = In::code;
      ++i;
      continue;
    }
    out += in == In::code || c == '\n' ? c : ' ';
  }
  return out;
}

std::vector<std::string> identifiers_of(std::string_view text) {
  std::set<std::string> out;
  std::istringstream lines(code_only(text));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("#include") != std::string::npos) continue;
    for (std::size_t i = 0; i < line.size();) {
      std::size_t end = i;
      while (end < line.size() && is_word(line[end])) ++end;
      if (end > i && std::isdigit(static_cast<unsigned char>(line[i])) == 0) {
        out.insert(line.substr(i, end - i));
      }
      i = std::max(end, i + 1);
    }
  }
  return {out.begin(), out.end()};
}

CommandOutput output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  CommandOutput out;
  std::array<char, 4096> buffer{};
  std::size_t n = 0;
  while ((n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) out.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

}  // namespace halmark::architecture
