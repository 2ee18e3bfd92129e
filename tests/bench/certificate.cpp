// What proving a front costs: the kernels of configs/sweeps/certify.toml on this machine, measured
// until nothing can beat the front or the sweep's budget ends. Where bounds are too loose for the
// share asked for, the gap that is proved by then and the kernel whose bound leaves it.
#include "child.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr double share_limit_percent = 25;
const std::string program = test::in_build("/bin/halmark");

Json certificate_of(const std::filesystem::path& folder) {
  // A shell, since the envelope is on stdout.
  const std::string out = (folder / "certify.json").string();
  const std::string command = std::string("'") + program + "' tune '" + test::in_source() +
                              "/configs/sweeps/certify.toml' --sampler certify --quiet --json" +
                              " --proof '" + (folder / "front.hmproof").string() + "' --db '" +
                              (folder / "certify.db").string() + "' > '" + out + "'";
  const ChildRun run = run_program({"/bin/sh", "-c", command});
  if (run.exit_code != 0) {
    throw Error(ExitCode::error, "halmark tune ended with " + std::to_string(run.exit_code));
  }
  return read_json_file(out).at("data").at("certificate");
}

// 0 = proved, 4 = proved up to the stated gap or condition.
bool is_verified(const std::filesystem::path& folder) {
  const ChildRun run = run_program({program, "verify-front", (folder / "front.hmproof").string(),
                                    "--journal", (folder / "certify.db").string()});
  return run.exit_code == 0 || run.exit_code == static_cast<int>(ExitCode::partial);
}

void measure(Figures& figures) {
  const ScratchFolder folder(test::in_build());
  const Json c = certificate_of(folder.path());
  const double share = c.at("predicted_share");
  figures.report("certificate_kernels_measured",
                 100 * c.at("kernels_measured").get<double>() / c.at("kernels").get<double>(), "%");
  if (c.at("state") == "certified") {
    figures.at_most("certificate_share_of_exhaustive_time", 100 * share, "%", share_limit_percent);
  } else {
    figures.report("certificate_share_of_exhaustive_time", 100 * share, "%");
    const Json& gap = c.at("gap");
    if (gap.is_number()) figures.report("certificate_gap", 100 * gap.get<double>(), "%");
    note("open: " + c.at("open_configuration").get<std::string>() + ", by the bound of " +
         c.at("open_kernel").get<std::string>());
  }
  figures.at_least("certificate_verified", is_verified(folder.path()) ? 1 : 0, "yes", 1);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
