#include "options/option_set.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

namespace halmark {

Option Option::required() {
  option_->required();
  return *this;
}
Option Option::delimiter(char separator) {
  option_->delimiter(separator);
  return *this;
}
Option Option::expected(int low, int high) {
  option_->expected(low, high);
  return *this;
}
Option Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}
Option Option::excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}
Option Option::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return *this;
}
Option Option::type_name(const std::string& text) {
  option_->type_name(text);
  return *this;
}
bool Option::is_given() const { return option_->count() > 0; }
Option Option::check(const Within& range) {
  if (range.is_whole) {
    option_->check(CLI::Range(static_cast<int>(range.low), static_cast<int>(range.high)));
  } else {
    option_->check(CLI::Range(range.low, range.high));
  }
  return *this;
}
Option Option::check(const OneOf& words) {
  option_->check(CLI::IsMember(words.words));
  return *this;
}

template <class T>
Option OptionSet::add_option(const std::string& names, T& target, const std::string& description) {
  return Option(app_.add_option(names, target, description));
}
Option OptionSet::add_flag(const std::string& names, bool& target, const std::string& description) {
  return Option(app_.add_flag(names, target, description));
}

bool OptionSet::is_given(const std::string& name) const { return app_.count(name) > 0; }

OptionSet OptionSet::add_subcommand(const std::string& name, const std::string& summary) {
  app_.require_subcommand(1);
  CLI::App* sub = app_.add_subcommand(name, summary);
  sub->fallthrough();
  return OptionSet(*sub);
}
void OptionSet::allow_no_subcommand() { app_.require_subcommand(0, 1); }
bool OptionSet::is_chosen() const { return app_.parsed(); }

constexpr std::string_view example_head = "\nExample:\n";
void OptionSet::add_example(const std::string& text) {
  app_.footer(std::string(example_head) + text);
}

namespace {

// Words of "TEXT:{front,all}", as the check of a closed set describes itself.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

HelpCommand help_of(CLI::App& app) {
  HelpCommand out{.name = app.get_name(), .summary = app.get_description()};
  if (const std::string footer = app.get_footer(); footer.starts_with(example_head)) {
    out.example = footer.substr(example_head.size());
  }
  for (const CLI::Option* option : app.get_options()) {
    HelpOption one{.is_positional = option->get_positional(),
                   .is_required = option->get_required(),
                   .takes_value = option->get_items_expected_max() > 0,
                   .choices = choices_of(*option),
                   .description = option->get_description()};
    if (one.is_positional) one.names.push_back(option->get_name(true));
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    out.options.push_back(std::move(one));
  }
  for (CLI::App* sub : app.get_subcommands({})) out.commands.push_back(help_of(*sub));
  return out;
}

}  // namespace

HelpTable OptionSet::help() const {
  CLI::App* root = &app_;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return {help_of(*root), {}};
}

#define HALMARK_OPTION_TYPE(T) \
  template Option OptionSet::add_option<T>(const std::string&, T&, const std::string&)
HALMARK_OPTION_TYPE(std::string);
HALMARK_OPTION_TYPE(int);
HALMARK_OPTION_TYPE(double);
HALMARK_OPTION_TYPE(std::int64_t);
HALMARK_OPTION_TYPE(std::uint64_t);
HALMARK_OPTION_TYPE(std::vector<std::string>);
HALMARK_OPTION_TYPE(std::vector<int>);
HALMARK_OPTION_TYPE(std::vector<std::int64_t>);
HALMARK_OPTION_TYPE(std::optional<std::string>);
HALMARK_OPTION_TYPE(std::optional<int>);
HALMARK_OPTION_TYPE(std::optional<double>);
HALMARK_OPTION_TYPE(std::optional<std::int64_t>);
HALMARK_OPTION_TYPE(std::optional<std::uint64_t>);
#undef HALMARK_OPTION_TYPE

}  // namespace halmark
