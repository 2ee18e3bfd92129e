// The script of the fake plugin: HALMARK_FAKE_SCRIPT = "key=value;key=value". README.md lists the
// keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fake {

class Script {
 public:
  Script() = default;
  // Throws std::invalid_argument that names an unknown key or a part without '='.
  explicit Script(std::string_view text);
  static Script from_environment();

  std::string text(std::string_view key, std::string_view fallback = "") const;
  double number(std::string_view key, double fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  bool flag(std::string_view key) const { return integer(key, 0) != 0; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// Faults by phase. One per plugin instance: the counters of `after` belong to the instance.
class Faults {
 public:
  explicit Faults(const Script& script) : script_(script) {}
  // Does what the script wants at this phase; returns when it wants nothing (any more).
  void at(std::string_view phase);

 private:
  bool is_due(std::string_view key, std::string_view phase);
  void nap(std::string_view phase);
  const Script& script_;
  std::map<std::string, std::int64_t, std::less<>> calls_;
  bool naps_ = false;
};

}  // namespace fake
