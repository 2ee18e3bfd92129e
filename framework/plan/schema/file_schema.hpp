// The schema of a kind of file: what its readers know, with what each key means.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_type.hpp"
#include "plan/schema/known_keys.hpp"

namespace halmark {

struct KeyMeaning {
  std::string_view key;  // its path, or the end of one: "source" is every key of that name
  std::string_view text;
};

struct FileSchema {
  std::string name, title;
  std::string written_as;  // how a shipped file of this kind is found
  KnownKeys keys;          // those that some reader takes a value of
  std::span<const KeyMeaning> meanings;
};

// Of sweeps, sweeps of kernels, device files, spaces, traffic and nodes.
std::vector<std::string> plan_schema_names();
// Watches the readers while they read a file that has every key. Throws std::out_of_range for
// another name.
FileSchema plan_schema(const std::string& name);

// What a watch found, without keys that a reader only asks after to refuse them.
KnownKeys keys_with_values(KnownKeys watched);
// "" where nothing says it.
std::string_view meaning_of(const FileSchema& schema, std::string_view path);

// JSON Schema, draft 2020-12.
Json json_schema(const FileSchema& schema);
// A page of tables, one per table of the file.
std::string schema_markdown(const FileSchema& schema);

}  // namespace halmark
