// The program as main declares it, with one command, and what can be typed of it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "cli/console/command.hpp"

namespace halmark::cli {

using Words = std::vector<std::string>;
// Of each option that was given, "tune --seed", its values as the parser hands them to its target:
// nothing else sets a target.
using Request = std::map<std::string, Words>;

inline bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }
inline bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

// "tune", "study export"; "halmark" of the program.
inline std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const bool is_nested = parent != nullptr && parent->get_parent() != nullptr;
  return (is_nested ? path_of(*parent) + ' ' : "") + app.get_name();
}

inline std::string key_of(const CLI::App& app, const CLI::Option& option) {
  return path_of(app) + ' ' + option.get_name();
}

// The program with one command, as main declares it.
class Program {
 public:
  explicit Program(const Command& command) : options_(app_) {
    add_global_options(options_, global);
    OptionSet declared =
        options_.add_subcommand(std::string(command.name), std::string(command.summary));
    action_ = command.add(declared);
  }
  // As main does, "halmark" left out. Throws CLI::ParseError.
  void parse(Words words) {
    std::ranges::reverse(words);
    app_.parse(words);
  }
  CommandResult run() {
    global.command = command_line();
    return action_(global);
  }
  std::string command_line() const { return options_.command_line(); }
  CLI::App& app() { return app_; }
  Request request() const {
    Request out;
    for (const CLI::App* app = &app_; app != nullptr;) {
      for (const CLI::Option* option : app->get_options()) {
        if (option->count() > 0) out[key_of(*app, *option)] = option->results();
      }
      const auto subs = app->get_subcommands();
      app = subs.empty() ? nullptr : subs.front();
    }
    return out;
  }
  GlobalOptions global;

 private:
  CLI::App app_{"", "halmark"};
  OptionSet options_;
  Action action_;
};

// As a shell takes them apart.
inline Words shell_words(const std::string& line) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("printf '%s\\n' " + line).c_str(), "r"),
                                                   pclose);
  Words out;
  std::string word;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    if (c != '\n') {
      word += static_cast<char>(c);
      continue;
    }
    out.push_back(std::move(word));
    word.clear();
  }
  return out;
}

struct Offered {
  std::string key;
  CLI::Option* option;
};

// Options of the command that `path` names, and those of the program.
inline std::vector<Offered> offered(Program& program, const Words& path) {
  std::vector<CLI::App*> levels = {&program.app(), &program.app()};
  for (const std::string& name : path) levels[0] = levels[0]->get_subcommand(name);
  std::vector<Offered> out;
  std::set<std::string> names = {"--help"};
  for (CLI::App* level : levels) {
    for (CLI::Option* option : level->get_options()) {
      if (names.insert(option->get_name()).second) out.push_back({key_of(*level, *option), option});
    }
  }
  return out;
}

// The commands of `app`, each by its words: what needs a command of its own is none.
inline void add_paths(const CLI::App& app, const Words& path, std::vector<Words>& out) {
  if (app.get_require_subcommand_min() == 0) out.push_back(path);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    Words own = path;
    own.push_back(sub->get_name());
    add_paths(*sub, own, out);
  }
}

inline std::vector<Words> paths_of(const Command& command) {
  std::vector<Words> out;
  Program program(command);
  add_paths(*program.app().get_subcommand(std::string(command.name)), {std::string(command.name)},
            out);
  return out;
}

}  // namespace halmark::cli
