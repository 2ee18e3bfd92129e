// The source tree as text: which files there are, and what each one includes and names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::architecture {

struct SourceFile {
  std::string path;  // from the root of the tree, '/'-separated
  std::string text;
};

struct Include {
  std::string name;  // between the quotes or brackets
  bool is_quoted = false;
  int line = 0;
};

std::filesystem::path root();
// Everything that git tracks; in a tree without git, everything outside build folders. Binary files
// come with their bytes.
const std::vector<SourceFile>& tracked_files();
bool is_cpp(std::string_view path);  // .cpp .hpp .h .c
bool is_header(std::string_view path);

std::vector<Include> includes_of(std::string_view text);
// The text with comments and literals blanked, line by line the same.
std::string code_only(std::string_view text);
// Identifiers outside comments, strings and include lines, each once.
std::vector<std::string> identifiers_of(std::string_view text);

// Everything a command prints on stdout and stderr; throws when it cannot be started.
struct CommandOutput {
  int status = 0;
  std::string text;
};
CommandOutput output_of(const std::string& command);

}  // namespace halmark::architecture
