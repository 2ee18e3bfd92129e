// halmark compare: two sides, series by series; exit 3 where something is slower.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/paths.hpp"
#include "history/view/comparison_view.hpp"

namespace halmark::cli {

Action add_compare(OptionSet& app) {
  struct Options {
    std::string before, after, floor = "3%";
    std::vector<std::string> out;
  };
  auto o = std::make_shared<Options>();
  const char* const side = "A run, a date, a database, FILE.db:RUN, or Google Benchmark JSON";
  app.add_option("before", o->before, side)->required();
  app.add_option("after", o->after, "What is compared with it, of the same kind")->required();
  app.add_option("--floor", o->floor, "Smaller changes of a time are none (default 3%)");
  app.add_option("--out,-o", o->out, "File to write, format by suffix: .json .md");
  return [o](const GlobalOptions& global) {
    const std::string database = database_path(global);
    const history::Comparison comparison = history::compare_sides(
        history::load_side(o->before, database), history::load_side(o->after, database),
        {.floor = history::parse_floor(o->floor, "--floor")});
    for (const std::string& path : o->out) history::write_comparison(comparison, path);
    CommandResult result = shown(history::comparison_view(comparison));
    result.exit_code = history::comparison_exit(comparison);
    return result;
  };
}

}  // namespace halmark::cli
