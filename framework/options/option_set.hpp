// The options of one command. The parser's library is compiled once, in option_set.cpp and
// main.cpp: instantiating it in every command took half of their compile time.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "pages/help/help_table.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace halmark {

struct Within {
  double low, high;
  bool is_whole;  // how the bounds are printed, and what the value is parsed as
};
inline Within within(int low, int high) { return {double(low), double(high), true}; }
inline Within within(double low, double high) { return {low, high, false}; }

struct OneOf {
  std::vector<std::string> words;
};
inline OneOf one_of(std::initializer_list<const char*> words) {
  return {{words.begin(), words.end()}};
}

// What add_option returns, to be refined: add_option(...)->required().
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* operator->() { return this; }
  Option required();
  Option delimiter(char separator);  // of the values of a list
  Option expected(int low, int high);
  Option default_str(const std::string& text);  // the value where the option stands alone
  Option excludes(const std::string& other);
  Option with(
      const std::string& other);  // which was added before: it is read beside that one alone
  Option allow_extra_args(bool allowed);      // whether words behind its value belong to it
  Option type_name(const std::string& text);  // of its value, in the help
  Option check(const Within& range);
  Option check(const OneOf& words);
  // It says how or where a result is shown and changes none: no part of command_line().
  Option only_output();
  Option holding(std::shared_ptr<void> target);  // which lives as long as the option
  bool is_given() const;                         // asked after parsing

 private:
  CLI::Option* option_;
};

// An option with its value: what was given, else the default. Copies stand for the same one.
template <class T>
class Value : public Option {
 public:
  Value(Option option, std::shared_ptr<T> value) : Option(option), value_(std::move(value)) {}
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  Value required() { return Option::required(), *this; }
  Value delimiter(char separator) { return Option::delimiter(separator), *this; }
  Value excludes(const std::string& other) { return Option::excludes(other), *this; }
  Value with(const std::string& other) { return Option::with(other), *this; }
  template <class Rule>
  Value check(const Rule& rule) {
    return Option::check(rule), *this;
  }

 private:
  std::shared_ptr<T> value_;
};

// Copies stand for the same options.
class OptionSet {
 public:
  explicit OptionSet(CLI::App& app) : app_(app) {}
  // `names`: "--op", "--out,-o", or "model" for a positional. `target` must live until the command
  // has run. T: the types instantiated in option_set.cpp.
  template <class T>
  Option add_option(const std::string& names, T& target, const std::string& description);
  Option add_flag(const std::string& names, bool& target, const std::string& description);
  // The same where the command alone reads it: its name, what it is and its value are one line.
  template <class T>
  Value<T> add(const std::string& names, const std::string& description, T value = {}) {
    const auto target = std::make_shared<T>(std::move(value));
    return {add_option(names, *target, description).holding(target), target};
  }
  Value<bool> add_flag(const std::string& names, const std::string& description) {
    const auto target = std::make_shared<bool>(false);
    return {add_flag(names, *target, description).holding(target), target};
  }
  // A command of the command; one of them must be named. It reads its own options and those of the
  // program: one of the command above it is refused, wherever it stands. Its help ends with its
  // examples (pages/help/examples.hpp).
  OptionSet add_subcommand(const std::string& name, const std::string& summary);
  void allow_no_subcommand();  // after the last was added: the command itself does something, too
  bool is_chosen() const;      // asked after parsing
  // After parsing: the command that reproduces the request, as words of a shell. It has every
  // option that was given to the program, passwords hidden.
  std::string command_line() const;
  // Of the whole program, its version left out.
  HelpTable help() const;

 private:
  CLI::App& app_;
};

}  // namespace halmark
