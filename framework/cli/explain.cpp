// halmark explain: what the words and percentages that Halmark prints mean.

#include "cli/console/terminal.hpp"
#include "core/input/places.hpp"
#include "core/text/text.hpp"
#include "report/views/glossary_view.hpp"
#include "tune/plan/plain_question.hpp"

namespace halmark::cli {

Action add_explain(OptionSet& app) {
  const auto words = app.add<std::vector<std::string>>(
      "word", "A word, a heading or a topic: mfu, of roof, gate; alone: all");
  return [words](const GlobalOptions&) {
    const int width = stdout_columns();
    if (words->empty()) return shown(report::glossary_view(width));
    // "halmark explain of roof" needs no quotes.
    std::string wanted = join(*words, " ");
    try {
      return shown(report::explained_view(wanted, width, config_dirs("nightly")));
    } catch (const Error&) {
      const std::string line =
          tune::command_for(wanted, config_dirs("models"), config_dirs("devices"));
      if (line.empty()) throw;
      throw refused("'" + printable(wanted) + "' is no word of the output", {}, "try: " + line);
    }
  };
}

}  // namespace halmark::cli
