// Typed access to one model configuration: nested text_config first, then the level above.
// Every refusal names the file, the field, what was found and what was expected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"

namespace halmark {

class ConfigReader {
 public:
  // `config` must be an object and must outlive the reader.
  ConfigReader(const Json& config, std::string where);

  // Nothing when the field is absent or null. Sizes lie in 1..2^31.
  std::optional<std::int64_t> size(std::string_view field) const;
  std::int64_t required_size(std::string_view field) const;
  // Like size, and 0 is a value.
  std::optional<std::int64_t> count(std::string_view field) const;
  std::optional<std::vector<std::int64_t>> counts(std::string_view field) const;
  std::optional<double> number(std::string_view field) const;
  std::optional<bool> flag(std::string_view field) const;
  std::optional<std::string> text(std::string_view field) const;
  std::optional<std::vector<std::string>> texts(std::string_view field) const;
  // Lists whose entries may be null.
  std::optional<std::vector<std::optional<double>>> numbers(std::string_view field) const;
  std::optional<std::vector<bool>> flags(std::string_view field) const;
  // A list of objects, each read like a configuration of its own.
  std::optional<std::vector<ConfigReader>> objects(std::string_view field) const;
  bool has(std::string_view field) const { return find(field) != nullptr; }
  // Present and saying something: not null, false, 0 or empty.
  bool is_set(std::string_view field) const;
  bool is_one(std::string_view field) const;  // the number 1

  // As above with a default that is recorded in assumed().
  std::int64_t size_or(std::string_view field, std::int64_t fallback);
  bool flag_or(std::string_view field, bool fallback);
  // Every later reader of an absent `field` finds `value`.
  void set_default(std::string_view field, const Json& value);
  void set_derived(std::string_view field,
                   const Json& value);  // follows from others: no assumption
  // Architectures name one thing differently. `other` may be a path: "attn_config.kv_n_heads".
  // Refuses a configuration that has both and contradicts itself.
  void also_named(std::string_view field, std::string_view other);
  void assume(std::string text) { assumed_.push_back(std::move(text)); }
  const std::vector<std::string>& assumed() const { return assumed_; }

  // model_type candidates, outermost first.
  std::vector<std::string> model_types() const;
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(std::string_view field, const std::string& problem) const;

 private:
  const Json* find(std::string_view field) const;
  const Json* find_stated(std::string_view path) const;
  std::int64_t whole_number(std::string_view field, const Json& value, std::int64_t low) const;

  const Json* outer_;
  const Json* inner_;  // text_config, or outer_ when there is none
  std::string where_;
  std::map<std::string, std::string, std::less<>> other_names_;
  Json defaults_ = Json::object();
  std::vector<std::string> assumed_;
};

}  // namespace halmark
