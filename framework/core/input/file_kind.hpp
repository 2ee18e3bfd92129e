// What a file is, by its first bytes and its top keys, so that every refusal says it and names the
// command that takes it. The table of kinds is in file_kind_table.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/input/input_kind.hpp"

namespace halmark {

enum class FileFormat { binary, json, toml, csv, text };

struct FileKind {
  std::string_view id;     // what readers ask for: "trace"
  std::string_view name;   // in a message: "a torch-profiler trace"
  std::string_view taken;  // what takes it: "halmark trace FILE"; empty: nothing does
  FileFormat format;
  // "a&b;c": a and b, or c. First bytes (binary), keys (JSON, TOML; "*.key": one below any other),
  // columns (CSV), or what the first line of a text begins with; of bytes and texts what stands
  // behind a '&' is anywhere in them, "@68 x" at that byte.
  std::string_view marks;
};
std::span<const FileKind> file_kinds();

inline constexpr std::size_t sniffed_bytes = std::size_t{1} << 20;

// "a torch-profiler trace", "JSON with the keys 'a' and 'b'", "data of an unknown kind".
std::string kind_text(std::string_view beginning);
// The first kind of the table that it is; nullptr where it is only of a format, or unknown.
const FileKind* kind_of(std::string_view beginning);
// Whether it is of that kind.
bool is_kind(std::string_view beginning, std::string_view id);

// Throws Error (exit 2), "this is X, not Y; Z takes it", for a text of another kind than `wanted`.
// What is broken, and what a reader alone can judge (a model's configuration, a table), passes.
void require_kind(std::string_view beginning, const std::string& where, std::string_view wanted);
// The whole of a file of that kind. Throws as InputFile and require_kind do.
std::string read_kind(const std::string& path, const InputKind& kind, std::string_view wanted);
// The refusal itself, for those that take several kinds; `expected`: "a results database or ...".
class Error;
Error other_kind(std::string_view beginning, const std::string& where, std::string_view expected);

// The first bytes of a file that is there; "" of anything else, of a pipe too.
std::string beginning_of(const std::string& path);
// Whether the word is the path of a regular file. A name without a separator or point is none.
bool names_file(const std::string& word);

}  // namespace halmark
