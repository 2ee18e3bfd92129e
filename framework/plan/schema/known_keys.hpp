// Which keys the readers of a file know: found by watching them read, so that schema and reader
// cannot differ.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

enum class KeyType {
  string,
  strings,  // a list, or one for a list of one; so are integers
  integer,
  integers,
  number,
  boolean,
  value,   // a number, a string, true or false
  values,  // a list of such
  table,
  tables,
};

struct KnownKey {
  std::set<KeyType> types;  // of every reader that asked
  bool is_required = true;  // until a reader does without it
  std::optional<double> low, high;
  std::vector<std::string> choices;
  std::string fallback;  // as it would be written; "" = none
};

// By path: "measure.rounds", "workload[].batch", "facts.*" where any name may stand.
using KnownKeys = std::map<std::string, KnownKey>;

// While one lives, what readers on its thread ask of any TOML table is added to `keys`, which must
// outlive it. They do not nest.
class KeyWatch {
 public:
  explicit KeyWatch(KnownKeys& keys);
  ~KeyWatch();
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;
};

// The entry of `path` while somebody watches, else null.
KnownKey* watched_key(const std::string& path);

// Notes of a reader; nothing happens while nobody watches.
void note_optional(const std::string& path);
void note_type(const std::string& path, KeyType type);
void note_range(const std::string& path, double low, double high);
void note_choices(const std::string& path, const std::vector<std::string>& choices);
void note_fallback(const std::string& path, const std::string& text);

}  // namespace halmark
