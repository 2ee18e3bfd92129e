// Every kind of file that is read from outside and how large it may be. Here and nowhere else.
#pragma once

#include <cstdint>
#include <string_view>

namespace halmark {

struct InputKind {
  std::string_view name;        // in a message: "a TOML file"
  std::uint64_t bytes_max = 0;  // exactly this many are still read
  std::string_view remedy;      // beside "cannot be read"; may be empty
  bool may_be_pipe = true;      // "-" stands for standard input
};

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

inline constexpr InputKind toml_input{"a TOML file", mebibyte, "name an existing TOML file"};
inline constexpr InputKind json_input{"a JSON file", 16 * mebibyte, "name an existing JSON file"};
// Imported tables and traces; of a compressed one both the file and what it unpacks to.
inline constexpr InputKind table_input{"a table", 1024 * mebibyte, "name a CSV or Parquet file"};
inline constexpr InputKind trace_input{"a trace", 1024 * mebibyte,
                                       "name a torch-profiler trace (.json or .json.gz)"};
inline constexpr InputKind proof_input{"a proof", 64 * mebibyte,
                                       "name what halmark tune --proof wrote"};
inline constexpr InputKind study_input{"a journal of studies", 1024 * mebibyte, "", false};
// A database is read page by page by its library: only its first bytes are read through here.
inline constexpr InputKind database_input{"a database", std::uint64_t{1} << 47, "", false};
inline constexpr InputKind plugin_input{"a plugin", 1024 * mebibyte, "", false};
inline constexpr InputKind source_input{"a kernel's source", mebibyte, "name an existing source",
                                        false};
inline constexpr InputKind template_input{"a file of the template", mebibyte, "", false};

// What a JSON document may hold beside its bytes (json_bytes_max, json_depth_max): each value costs
// up to 64 bytes of memory, so 16 MiB of "[]," alone would be 360 MiB.
inline constexpr std::size_t json_values_max = 2'000'000;
// A compressed file may become this many times its size; looked at from the first MiB on.
inline constexpr double unpacked_ratio_max = 200;
// Of a table in CSV.
inline constexpr std::size_t csv_field_bytes_max = 64u << 10;
inline constexpr std::size_t csv_columns_max = 1024;

}  // namespace halmark
