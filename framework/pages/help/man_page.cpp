#include "pages/help/man_page.hpp"

#include <algorithm>

#include "core/text/text.hpp"

namespace halmark {
namespace {

// Text as roff prints it: no escapes, no requests, and hyphens that can be copied.
std::string roff(const std::string& text) {
  std::string out;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    is_line_start = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  return text;
}

std::string lines(const std::string& text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

std::string value_of(const HelpOption& option) {
  if (!option.takes_value) return {};
  if (option.choices.empty()) return " \\fIVALUE\\fR";
  std::string out;
  for (const std::string& word : option.choices) out += (out.empty() ? " " : "|\\:") + roff(word);
  return out;
}

void add_options(const HelpCommand& command, std::string& out) {
  for (const bool is_positional : {true, false}) {
    for (const HelpOption& option : command.options) {
      if (option.is_positional != is_positional) continue;
      std::string names = join(option.names, ", ", [&](const std::string& name) {
        return (is_positional ? "\\fI" : "\\fB") + roff(name) + "\\fR";
      });
      out += ".TP\n" + names + (is_positional ? "" : value_of(option)) + '\n' +
             roff(option.description) + (option.is_required ? " (required)" : "") + '\n';
    }
  }
}

std::string synopsis(const HelpCommand& command, const std::string& name) {
  std::string out = ".B " + roff(name) + '\n';
  if (!command.commands.empty()) out += ".I COMMAND\n";
  for (const HelpOption& option : command.options) {
    if (!option.is_positional) continue;
    out += option.is_required ? ".I " + roff(option.names.front()) + '\n'
                              : ".RI [ " + roff(option.names.front()) + " ]\n";
  }
  return out + "[options]\n";
}

std::string page(const HelpTable& help, const HelpCommand& command, const std::string& name,
                 const std::string& title) {
  std::string out = ".TH " + upper(title) + " 1 \"\" \"" + help.version + "\" \"User Commands\"\n";
  out += ".ad l\n.SH NAME\n" + roff(title) + " \\- " + roff(command.summary) + '\n';
  out += ".SH SYNOPSIS\n" + synopsis(command, name);
  if (!command.options.empty()) out += ".SH OPTIONS\n";
  add_options(command, out);
  for (const HelpCommand& sub : command.commands) {
    if (&command == &help.program) break;  // those have pages of their own
    out += ".SH " + upper(roff(sub.name)) + '\n' + roff(sub.summary) + "\n.PP\n" +
           synopsis(sub, name + ' ' + sub.name);
    add_options(sub, out);
    if (!sub.example.empty()) out += lines(sub.example);
  }
  if (!command.example.empty()) out += ".SH EXAMPLES\n" + lines(command.example);
  return out;
}

constexpr const char* exit_status =
    ".SH EXIT STATUS\n"
    ".TP\n0\nDone; noise is a warning, not an error.\n"
    ".TP\n1\nAn error: storage, memory, a defect.\n"
    ".TP\n2\nInput was refused, in one line with its place; nothing was written.\n"
    ".TP\n3\nA gate failed; of compare and history: something is slower; of bisect: nothing "
    "changed.\n"
    ".TP\n4\nDone in part; of compare: something is undecided or invalid; of bisect: no commit "
    "yet.\n"
    ".TP\n5\nThis machine or its plugins cannot do it.\n"
    ".TP\n6\nA result was wrong.\n"
    ".TP\n130, 143\nInterrupted; the same command resumes.\n";

}  // namespace

std::vector<ManPage> man_pages(const HelpTable& help) {
  const std::string& name = help.program.name;
  std::string overview = page(help, help.program, name, name) + ".SH COMMANDS\n";
  std::string others;
  for (const HelpCommand& command : help.program.commands) {
    overview +=
        ".TP\n.BR " + roff(name + '-' + command.name) + " (1)\n" + roff(command.summary) + '\n';
  }
  std::vector<ManPage> out = {{name + ".1", overview + exit_status}};
  for (const HelpCommand& command : help.program.commands) {
    const std::string title = name + '-' + command.name;
    out.push_back({title + ".1", page(help, command, name + ' ' + command.name, title) +
                                     ".SH SEE ALSO\n.BR " + roff(name) +
                                     " (1): options of every command, exit status\n"});
  }
  return out;
}

}  // namespace halmark
