// halmark rank-qpu: which published QPU runs a circuit best; counts of the circuit, simulated.
#include <memory>

#include "circuit/rank_request.hpp"
#include "cli/console/terminal.hpp"

namespace halmark::cli {

Action add_rank_qpu(OptionSet& app) {
  auto asked = std::make_shared<circuit::RankRequest>();
  app.add_option("circuit", asked->path, "OpenQASM 2 or 3 file")->required();
  app.add_option("--shots", asked->shots, "Of which the cost is said")
      ->check(within(1, 100'000'000));
  app.add_option("--sample", asked->samples, "Simulate, and count this many shots")
      ->check(within(1, 10'000'000));
  app.add_option("--seed", asked->seed, "Of --sample").with("--sample");
  app.add_option("--noise", asked->noise, "With --sample: noise of this QPU's errors")
      .with("--sample");
  app.add_option("--as", asked->version, "Print the circuit as OpenQASM 2 or 3 instead")
      ->check(within(2, 3));
  return [asked](const GlobalOptions&) { return shown(circuit::answer(*asked)); };
}

}  // namespace halmark::cli
