#include "pages/help/first_help.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace halmark {
namespace {

struct Use {
  std::string_view title;
  std::vector<std::string_view> commands;
};

const std::array uses = {
    Use{"A model on a device that need not be here",
        {"model", "tune", "export", "plan-size", "compare-devices", "simulate", "serve"}},
    Use{"This machine",
        {"doctor", "devices", "peaks", "bench", "judge", "run", "report", "record"}},
    Use{"What became slower", {"compare", "history", "bisect"}},
    Use{"Words and lists", {"explain", "models", "ops"}},
};

constexpr std::string_view first_steps =
    R"(First steps:
  halmark model qwen3-32b --device h100 --tp 2  a step, not measured here
  halmark tune qwen3-32b --device h100          its deployments, one chosen
  halmark tune quickstart                       a model on this CPU, measured
  halmark bench --op gemm                       a kernel and its share of peak

halmark help COMMAND: options, examples; halmark help --all: every command.
)";

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

// A cell of a table: a bar would end it.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void add_option_table(const HelpCommand& command, std::string& out) {
  std::string rows;
  for (const HelpOption& option : command.options) {
    if (option.names.empty() || option.names.front() == "--help") continue;
    std::string names;
    for (const std::string& name : option.names)
      names += (names.empty() ? "`" : ", `") + name + '`';
    std::string words;
    for (const std::string& word : option.choices) words += (words.empty() ? ": " : ", ") + word;
    rows += "| " + names + " | " + cell(option.description + words) +
            (option.is_required ? " (required)" : "") + " |\n";
  }
  if (!rows.empty()) out += "\n| option | |\n|---|---|\n" + rows;
}

void add_command_section(const HelpCommand& command, const std::string& path, std::size_t level,
                         std::string& out) {
  out += '\n' + std::string(level, '#') + ' ' + path + "\n\n" + command.summary + ".\n";
  std::string line;
  for (const char c : command.example + '\n') {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) out += (out.ends_with(".\n") ? "\n  " : "  ") + line + '\n';
    line.clear();
  }
  add_option_table(command, out);
  for (const HelpCommand& sub : command.commands) {
    add_command_section(sub, path + ' ' + sub.name, level + 1, out);
  }
}

}  // namespace

std::string first_help(const HelpTable& help) {
  std::string out = help.program.summary + "\nUsage: halmark COMMAND [OPTIONS]\n";
  for (const Use& use : uses) {
    out += '\n' + std::string(use.title) + ":\n";
    for (const std::string_view name : use.commands) {
      const auto at = std::ranges::find(help.program.commands, name, &HelpCommand::name);
      out += "  " + padded(name, 17) + short_description(at->summary, 61) + '\n';
    }
  }
  return out + '\n' + std::string(first_steps);
}

std::string commands_markdown(const HelpTable& help) {
  std::string out =
      "# Commands\n\nEvery command with its examples and options, from the program's own help. "
      "[Commands by use](../../guide/commands.md) says what each answers. Written by `halmark man "
      "results/schema/reference --markdown`.\n\n## Options of every command\n";
  add_option_table(help.program, out);
  for (const HelpCommand& command : help.program.commands) {
    add_command_section(command, help.program.name + ' ' + command.name, 2, out);
  }
  return out;
}

}  // namespace halmark
