// The flags of one release of a serving engine, as its package defines them: configs/engines, one
// file per engine and version.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace halmark::exports {

struct EngineFlag {
  enum class Type { boolean, integer, number, text } type = Type::text;
  std::vector<std::string> choices;  // empty = any
  bool has_no = false;               // --no-X is there too
};

struct EngineTable {
  std::string engine, version;
  std::vector<std::string> command;       // words that start it
  std::string source;                     // of the table, for people
  bool is_verified = true;                // read from the released package
  std::vector<std::string> options_file;  // keys that a file of further options may have
  std::map<std::string, EngineFlag> flags;

  std::string name() const { return engine + ' ' + version; }
  bool has(const std::string& flag) const { return flags.contains(flag); }
  bool has_option(const std::string& key) const;
  bool allows(const std::string& flag, const std::string& value) const;
};

// Versions that have a table, oldest first.
std::vector<std::string> engine_versions(const std::string& engine,
                                         const std::vector<std::filesystem::path>& folders);

// Of the version, or the latest that has a table where it is "" or "latest". Throws Error (exit 2):
// for a version without a table, naming those that have one, and for a table that is none.
EngineTable read_engine_table(const std::string& engine, const std::string& version,
                              const std::vector<std::filesystem::path>& folders);

}  // namespace halmark::exports
