// Each shell gets a script in its own terms: bash a function of words, zsh _arguments, fish lines
// of `complete`. Files are offered where nothing else is known of a value.
#include "pages/help/completion.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr std::size_t description_width = 70;

// `before` in front of each of the characters.
std::string escaped(std::string text, std::string_view characters, std::string_view before) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (characters.find(text[i]) == std::string_view::npos) continue;
    text.insert(i, before);
    i += before.size();
  }
  return text;
}

std::string identifier(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

// In single quotes, which bash and zsh end for a quote of the text.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

// Option names, then names of commands, of one level.
std::string words_of(const HelpCommand& command, const HelpCommand& program) {
  std::vector<std::string> words;
  for (const HelpCommand* level : {&command, &program}) {
    for (const HelpOption& option : level->options) {
      if (!option.is_positional) append_all(words, option.names);
    }
    if (&command == &program) break;
  }
  for (const HelpCommand& sub : command.commands) words.push_back(sub.name);
  return join(words, " ");
}

// A case of the function for `command`, whose path of names is `path`, and for those below it.
void add_bash_cases(const HelpCommand& command, const HelpCommand& program, const std::string& path,
                    std::string& out) {
  out += "    " + quoted(path) + ")\n      words=" + quoted(words_of(command, program)) + '\n';
  std::string choices;
  for (const HelpCommand* level : {&command, &program}) {
    for (const HelpOption& option : level->options) {
      if (option.is_positional || !option.takes_value) continue;
      std::string names = join(option.names, "|");
      choices += "        " + names + ") is_value=1 choices=" + quoted(join(option.choices, " ")) +
                 " ;;\n";
    }
    if (&command == &program) break;
  }
  out += "      case $before in\n" + choices + "      esac ;;\n";
  for (const HelpCommand& sub : command.commands) {
    add_bash_cases(sub, program, path.empty() ? sub.name : path + ' ' + sub.name, out);
  }
}

// Words that go on a path of commands.
void add_bash_paths(const HelpCommand& command, const std::string& path, std::string& out) {
  for (const HelpCommand& sub : command.commands) {
    const std::string longer = path.empty() ? sub.name : path + ' ' + sub.name;
    out += "      " + quoted(path + '/' + sub.name) + ") path=" + quoted(longer) + " ;;\n";
    add_bash_paths(sub, longer, out);
  }
}

std::string bash(const HelpTable& help) {
  const std::string name = help.program.name;
  std::string out =
      "# Completion of " + name + " for bash: source it, or save it as " + name +
      " in bash-completion's folder.\n_" + name +
      "() {\n  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i\n"
      "  local path='' words='' choices='' is_value=''\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case $path/${COMP_WORDS[i]} in\n";
  add_bash_paths(help.program, "", out);
  out += "    esac\n  done\n  case $path in\n";
  add_bash_cases(help.program, help.program, "", out);
  return out +
         "  esac\n  [[ -n $is_value ]] && words=$choices\n"
         "  local IFS=$' \\n'\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n}\n"
         "complete -o default -F _" +
         name + ' ' + name + '\n';
}

std::string zsh_text(const std::string& description) {
  return escaped(short_description(description, description_width), "[]:\\", "\\");
}

// The specifications of _arguments of one level.
void add_zsh_options(const HelpCommand& command, std::string& out) {
  for (const HelpOption& option : command.options) {
    const std::string value =
        option.choices.empty() ? ":value:_files" : ":value:(" + join(option.choices, " ") + ")";
    if (option.is_positional) {
      out += ' ' + quoted("*:" + escaped(option.names.front(), ":", "\\") + value.substr(6));
      continue;
    }
    for (const std::string& name : option.names) {
      out += ' ' + quoted(name + (option.takes_value && name.starts_with("--") ? "=" : "") + '[' +
                          zsh_text(option.description) + ']' + (option.takes_value ? value : ""));
    }
  }
}

// A function for `command` and those of its own commands.
void add_zsh_functions(const HelpCommand& command, const HelpCommand& program,
                       const std::string& function, std::string& out) {
  for (const HelpCommand& sub : command.commands) {
    add_zsh_functions(sub, program, function + '_' + identifier(sub.name), out);
  }
  out += function + "() {\n";
  std::string options;
  add_zsh_options(program, options);
  if (&command != &program) add_zsh_options(command, options);
  if (command.commands.empty()) {
    out += "  _arguments -S" + options + "\n}\n";
    return;
  }
  out += "  local context state line\n  local -a commands=(";
  for (const HelpCommand& sub : command.commands) {
    out += ' ' + quoted(escaped(sub.name, ":", "\\") + ':' + zsh_text(sub.summary));
  }
  out += ")\n  _arguments -C -S" + options +
         " '1: :->command' '*:: :->rest'\n  case $state in\n"
         "    command) _describe command commands ;;\n    rest)\n      case $words[1] in\n";
  for (const HelpCommand& sub : command.commands) {
    out += "        " + sub.name + ") " + function + '_' + identifier(sub.name) + " ;;\n";
  }
  out += "      esac ;;\n  esac\n}\n";
}

std::string zsh(const HelpTable& help) {
  std::string out = "#compdef " + help.program.name + '\n';
  add_zsh_functions(help.program, help.program, '_' + help.program.name, out);
  return out + "if [ \"$funcstack[1]\" = \"_" + help.program.name + "\" ]; then\n  _" +
         help.program.name + " \"$@\"\nelse\n  compdef _" + help.program.name + ' ' +
         help.program.name + "\nfi\n";
}

std::string fish_quoted(const std::string& text) {
  return '\'' + escaped(text, "'\\", "\\") + '\'';
}

void add_fish(const HelpCommand& command, const std::string& program, const std::string& when,
              std::string& out) {
  const std::string line =
      "complete -c " + program + (when.empty() ? "" : " -n " + fish_quoted(when));
  for (const HelpOption& option : command.options) {
    if (option.is_positional) continue;
    std::string spelled = line;
    for (const std::string& name : option.names) {
      spelled += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.takes_value) spelled += " -r";
    if (!option.choices.empty()) spelled += " -f -a " + fish_quoted(join(option.choices, " "));
    out += spelled + " -d " +
           fish_quoted(short_description(option.description, description_width)) + '\n';
  }
  const std::string none_yet = when.empty() ? "__fish_use_subcommand" : when;
  for (const HelpCommand& sub : command.commands) {
    out += "complete -c " + program + " -n " + fish_quoted(none_yet) + " -f -a " + sub.name +
           " -d " + fish_quoted(short_description(sub.summary, description_width)) + '\n';
    add_fish(sub, program,
             (when.empty() ? "" : when + "; and ") + "__fish_seen_subcommand_from " + sub.name,
             out);
  }
}

std::string fish(const HelpTable& help) {
  std::string out;
  add_fish(help.program, help.program.name, "", out);
  return out;
}

}  // namespace

std::string completion_script(const HelpTable& help, std::string_view shell) {
  if (shell == "bash") return bash(help);
  if (shell == "zsh") return zsh(help);
  if (shell == "fish") return fish(help);
  throw refused("no completion for the shell '" + printable(shell) + "'", {},
                suggestion(shell, {"bash", "zsh", "fish"}));
}

}  // namespace halmark
