// halmark simulate: what a plan does, event by event. One file per subcommand.
#include "cli/console/command.hpp"

namespace halmark::cli {

Action add_simulate_serving(OptionSet& app);

Action add_simulate(OptionSet& app) {
  OptionSet serving = app.add_subcommand("serving", "A stream of requests on a server's engines");
  serving.add_example("  halmark simulate serving qwen3-32b --device h100 --devices 2 --rate 4");
  const Action serve = add_simulate_serving(serving);
  return [serve](const GlobalOptions& global) { return serve(global); };
}

}  // namespace halmark::cli
