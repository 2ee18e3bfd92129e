#include "options/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "core/ranges.hpp"
#include "core/text/text.hpp"
#include "options/known_synonyms.hpp"

namespace halmark {

const CLI::App& root_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : root_of(*app.get_parent());
}

std::string path_of(const CLI::App& app) {
  std::string out = app.get_parent() == nullptr ? std::string() : path_of(*app.get_parent());
  append_item(out, " ", app.get_name());
  return out;
}

namespace {

// Long names of the options that may stand behind `app`, the program's included.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  std::vector<const CLI::App*> levels = {&app};
  if (app.get_parent() != nullptr) levels.push_back(&root_of(app));
  for (const CLI::App* level : levels) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    }
  }
  return out;
}

// The command that was named: of "halmark simulate serving" the last word's.
const CLI::App& innermost(const CLI::App& app) {
  const auto subs = app.get_subcommands();
  return subs.empty() ? app : innermost(*subs.front());
}

// The first word that nothing on the command line knows, with the nearest one that something does.
std::optional<Error> unknown_word(
    const CLI::App& app, const std::vector<std::string>& commands,
    const std::function<std::string(const std::string&)>& understood) {
  const CLI::App& named = innermost(app);
  const std::vector<std::string> rest = app.remaining(true);
  const auto option =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with('-'); });
  if (option != rest.end()) {
    const std::string name = option->substr(0, option->find('='));
    return refused("unknown option '" + name + "'", {},
                   meant_option(name, rest, named, option_names(named)));
  }
  if (rest.empty()) return std::nullopt;
  std::string words = &named == &app ? "" : named.get_name();
  for (const CLI::Option* taken : named.get_options()) {
    if (!taken->get_positional()) continue;
    for (const std::string& word : taken->results()) words += ' ' + word;
  }
  const bool takes_words = words != named.get_name();
  words += (words.empty() ? "" : " ") + join(rest, " ");
  if (&named != &app) {
    // "tune llama 70b on 4 h100": a question that begins with a command.
    const std::string line = understood(words);
    const bool is_question = !line.empty() && (rest.size() > 1 || takes_words);
    return refused("unexpected argument '" + rest.front() + "'", {},
                   is_question ? "try: " + line : meant_word(rest.front(), named));
  }
  if (const std::string line = understood(words); !line.empty()) {
    return refused("'" + printable(words) + "' is no command", {}, "try: " + line);
  }
  const std::string first = rest.front().substr(0, rest.front().find(' '));
  return refused("unknown command '" + first + "'", {}, suggestion(first, commands));
}

}  // namespace

Error usage_error(const CLI::ParseError& error, const CLI::App& app,
                  const std::vector<std::string>& commands,
                  const std::function<std::string(const std::string&)>& understood) {
  if (auto unknown = unknown_word(app, commands, understood)) return *unknown;
  std::string what = error.what();
  while (!what.empty() && what.back() == '\n') what.pop_back();
  constexpr std::string_view conversion = "Could not convert: ";
  if (what.starts_with(conversion)) {
    const std::size_t is = what.find(" = ");
    what = what.substr(conversion.size(), is - conversion.size()) + ": '" +
           what.substr(std::min(what.size(), is + 3)) + "' is no number of its kind";
  }
  return refused(what, {}, "see " + path_of(innermost(app)) + " --help");
}

void refuse_unread(const CLI::App& above) {
  if (above.get_subcommands().empty()) return;
  const CLI::App& named = innermost(above);
  for (const CLI::Option* option : above.get_options()) {
    if (option->count() == 0) continue;
    const bool is_own =
        !named.get_options([&](const CLI::Option* own) { return *own == *option; }).empty();
    const bool is_word = option->get_positional();
    const std::string given =
        "'" + (is_word ? option->results().front() : option->get_name()) + "'";
    throw CLI::ParseError(
        is_word  ? "unexpected argument " + given
        : is_own ? given + " stands before '" + named.get_name() + "', whose option it is"
                 : path_of(named) + " has no option " + given,
        CLI::ExitCodes::ExtrasError);
  }
}

namespace {

bool names_no_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    if (word.starts_with('-') || at->get_subcommands({}).empty()) return false;
    const auto subs = at->get_subcommands({});
    const auto* named = find_or_null(subs, word, &CLI::App::get_name);
    if (!named) return true;
    at = *named;
  }
  return false;
}

}  // namespace

void settle_question(const CLI::App& app, std::vector<std::string>& words) {
  if (!names_no_command(app, words)) return;
  std::erase_if(words, [](const std::string& word) { return word == "--help" || word == "-h"; });
  const auto subs = app.get_subcommands({});
  if (contains(subs, words.front(), &CLI::App::get_name)) return;
  // A command's name within a question is a word of it.
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  for (auto word = words.begin() + 1; word != option; ++word) words.front() += ' ' + *word;
  words.erase(words.begin() + 1, option);
}

}  // namespace halmark
