#include "options/option_set.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include "core/lists.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "options/usage_error.hpp"
#include "pages/help/examples.hpp"

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
Option Option::with(const std::string& other) {
  option_->needs(other);
  return *this;
}
Option Option::holding(std::shared_ptr<void> target) {
  option_->each([target](const std::string&) {});
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
Option Option::only_output() {
  option_->configurable(false);
  return *this;
}
bool Option::is_given() const { return option_->count() > 0; }
Option Option::check(const Within& range) {
  if (range.is_whole) {
    option_->check(CLI::Range(as_int(range.low), as_int(range.high)));
  } else {
    option_->check(CLI::Range(range.low, range.high));
  }
  return *this;
}
Option Option::check(const OneOf& words) {
  option_->check(CLI::IsMember(words.words));
  return *this;
}

namespace {

// "4k" is 4000 and "4K" 4096, as vLLM reads its counts of tokens (human_readable_int); "1.5m" too.
// Nothing else is changed: what is no number is refused as it was typed.
std::string whole_number(std::string text) {
  if (text.size() < 2) return text;
  const std::string_view letters = "kmgKMG";
  const std::size_t letter = letters.find(text.back());
  if (letter == std::string_view::npos) return text;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end) *
                       std::pow(letter < 3 ? 1000.0 : 1024.0, as_double(letter % 3 + 1));
  const bool is_whole = end == text.c_str() + text.size() - 1 && std::abs(value) < 1e15 &&
                        std::nearbyint(value) == value;
  return is_whole ? std::to_string(as_int64(value)) : text;
}

template <class T>
constexpr bool is_count = std::is_integral_v<T>;
template <class T>
constexpr bool is_count<std::optional<T>> = is_count<T>;
template <class T>
constexpr bool is_count<std::vector<T>> = is_count<T>;

// Where the value that stands without the option is a number, the help has it.
template <class T>
std::string with_default(const std::string& description, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    const bool is_said =
        description.find("default") != std::string::npos ||
        description.find_first_of("0123456789", description.find('(')) != std::string::npos;
    if (value > T{} && !is_said)
      return description + " (default " + number_text(as_double(value)) + ')';
  }
  return description;
}

}  // namespace

template <class T>
Option OptionSet::add_option(const std::string& names, T& target, const std::string& description) {
  CLI::Option* option = app_.add_option(names, target, with_default(description, target));
  if constexpr (is_count<T>) option->transform(whole_number, "");
  return Option(option);
}
Option OptionSet::add_flag(const std::string& names, bool& target, const std::string& description) {
  return Option(app_.add_flag(names, target, description));
}

constexpr std::string_view example_head = "\nExamples:\n";

OptionSet OptionSet::add_subcommand(const std::string& name, const std::string& summary) {
  app_.require_subcommand(1);
  if (app_.get_parent() != nullptr) app_.callback([&app = app_] { refuse_unread(app); });
  CLI::App* sub = app_.add_subcommand(name, summary);
  sub->fallthrough();
  const std::string above = app_.get_parent() == nullptr ? "" : app_.get_name() + ' ';
  const std::string_view example = example_of(above + name);
  sub->footer(example.empty() ? std::string() : std::string(example_head).append(example));
  return OptionSet(*sub);
}
void OptionSet::allow_no_subcommand() { app_.require_subcommand(0, 1); }
bool OptionSet::is_chosen() const { return app_.parsed(); }

namespace {

// Words of "TEXT:{front,all}", as the check of a closed set describes itself.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

HelpCommand help_of(const CLI::App& app) {
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
  for (const CLI::App* sub : app.get_subcommands({})) out.commands.push_back(help_of(*sub));
  return out;
}

// A list is printed as it was split: joined by its delimiter, else with its name before each value.
void add_words(const CLI::Option& option, std::string& out) {
  std::vector<std::string> values;
  for (const std::string& value : option.results()) {
    const bool is_joined = option.get_delimiter() != '\0' && !values.empty();
    const std::string shown = without_password(value);
    if (is_joined) {
      values.back() += option.get_delimiter() + shown;
    } else {
      values.push_back(shown);
    }
  }
  const std::string name = ' ' + option.get_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  if (is_flag) values = {values.back()};  // the last one counts
  for (const std::string& value : values) {
    if (option.get_positional()) {
      out += ' ' + shell_word(value);
    } else if (is_flag && value == "true") {
      out += name;
    } else {
      // A value that is optional, or that looks like an option, has to be one word with its name.
      const bool is_optional = option.get_items_expected_min() == 0 && !value.empty();
      const bool is_bound = is_optional || value.starts_with('-');
      out += name + (is_bound ? '=' : ' ') + shell_word(value);
    }
  }
}

// Positionals first: a list in front of them would take them for its own.
void add_words(const CLI::App& app, std::string& out) {
  append_item(out, " ", app.get_name());
  for (const CLI::App* sub : app.get_subcommands()) add_words(*sub, out);
  for (const bool is_positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0 || !option->get_configurable()) continue;
      if (option->get_positional() == is_positional) add_words(*option, out);
    }
  }
}

}  // namespace

std::string OptionSet::command_line() const {
  std::string out;
  add_words(root_of(app_), out);
  return out;
}

HelpTable OptionSet::help() const { return {help_of(root_of(app_)), {}}; }

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
