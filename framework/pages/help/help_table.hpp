// The help of a program as values: what man pages and completions are made from.
#pragma once

#include <string>
#include <vector>

namespace halmark {

struct HelpOption {
  std::vector<std::string> names;  // "--out", "-o"; of a positional its name alone: "sweep"
  bool is_positional = false;
  bool is_required = false;
  bool takes_value = true;
  std::vector<std::string> choices;  // empty = any value
  std::string description;
};

struct HelpCommand {
  std::string name, summary;
  std::string example;  // lines
  std::vector<HelpOption> options;
  std::vector<HelpCommand> commands;
};

// Of the program itself: `options` are those of every command.
struct HelpTable {
  HelpCommand program;
  std::string version;
};

// Description in one line, cut at the first sentence break that fits into `width` characters.
std::string short_description(const std::string& description, std::size_t width);

}  // namespace halmark
