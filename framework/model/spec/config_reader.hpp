// Typed access to one model configuration: the language tower first, then the levels around it.
// Every refusal names the file, the field, what was found and what was expected. It remembers what
// was asked for, so that what nobody asked for can be named.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json/json_type.hpp"

namespace halmark {

// A value as refusals print it, cut where it is long.
std::string shown(const Json& value);

class ConfigReader {
 public:
  // `config` must be an object and must outlive the reader.
  ConfigReader(const Json& config, std::string where);
  ~ConfigReader();
  ConfigReader(ConfigReader&&) noexcept;
  ConfigReader& operator=(ConfigReader&&) noexcept;

  // Nothing when the field is absent or says so: null, false, 0 and [] are alike. Sizes lie in
  // 1..2^31.
  std::optional<std::int64_t> size(std::string_view field) const;
  std::int64_t required_size(std::string_view field) const;
  // Like size, and what says nothing is 0 where it is stated.
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
  // Whether anyone asked for it.
  bool is_asked(std::string_view field) const { return asked_.contains(field); }
  std::vector<std::string> keys(std::string_view field) const;  // of an object; none for others
  // As it stands, for objects whose keys are no names of fields; null where it is absent.
  const Json* value(std::string_view field) const { return find(field); }
  // Present and saying something: not null, false, 0 or empty.
  bool is_set(std::string_view field) const;
  bool is_one(std::string_view field) const;  // the number 1
  bool is_text(std::string_view field, std::string_view text) const;
  bool is_letters(std::string_view field) const;  // any text
  bool is_list(std::string_view field) const;

  // Absent fields have the values that the class of this type has upstream; those that are asked
  // for are recorded in assumed(). See upstream_defaults.hpp.
  void take_defaults_of(std::string_view model_type);

  // As above with a default that is recorded in assumed().
  std::int64_t size_or(std::string_view field, std::int64_t fallback);
  bool flag_or(std::string_view field, bool fallback);
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  // Every later reader of an absent `field` finds `value`.
  void set_default(std::string_view field, const Value& value);
  // Follows from others: no assumption.
  void set_derived(std::string_view field, const Value& value);
  // Architectures name one thing differently. `other` may be a path: "attn_config.kv_n_heads".
  // Refuses a configuration that has both and contradicts itself.
  void also_named(std::string_view field, std::string_view other);
  // Fields that a family knows and that say nothing about its operators.
  void ignore(std::initializer_list<std::string_view> fields) const {
    asked_.insert(fields.begin(), fields.end());
  }
  void assume(std::string text) { assumed_.push_back(std::move(text)); }
  const std::vector<std::string>& assumed() const { return assumed_; }

  // model_type candidates, outermost first.
  std::vector<std::string> model_types() const;
  bool is_nested() const { return levels_.size() > 1; }  // a language tower within another model
  // Fields of the language tower that say something and that nobody asked for, as paths, sorted.
  // Those around it are about the model that it is a part of.
  std::vector<std::string> not_asked() const;
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(std::string_view field, const std::string& problem) const;

 private:
  const Json* find(std::string_view field) const;
  const Json* find_stated(std::string_view path) const;
  const Json* find_upstream(std::string_view field) const;
  std::int64_t whole_number(std::string_view field, const Json& value, std::int64_t low) const;

  std::vector<const Json*> levels_;  // innermost first: the language tower, what it is nested in
  std::string where_;
  std::map<std::string, std::string, std::less<>> other_names_;
  std::unique_ptr<Json> defaults_, upstream_;  // objects
  // What a const reader remembers of being read: no figure depends on it.
  mutable std::set<std::string, std::less<>> asked_;
  mutable std::vector<std::string> assumed_;
};

}  // namespace halmark
