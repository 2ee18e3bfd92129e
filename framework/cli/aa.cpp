// halmark aa: kernels against themselves, limits that this machine supports, false alarms.
#include <memory>

#include "cli/console/session.hpp"
#include "history/view/duets_view.hpp"
#include "tune/evaluate/agreement/agreement.hpp"
#include "tune/evaluate/agreement/duets.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::cli {
namespace {

struct AaOptions {
  tune::CaseRequest asked;
  int pairs = 50, rounds = 3;
  double seconds = 0.02;
  std::string out;
};

// What comparisons called, once more as duets of the build with itself.
report::View chain_of(const tune::Agreement& agreement, const FoundPlugin& plugin,
                      tune::KernelMeasuring measuring) {
  const history::ComparisonRules rules;
  history::FalseAlarms alarms = history::false_alarms(agreement.rows, agreement.rounds, rules);
  if (!alarms.called.empty() && !interrupted()) {
    measuring.rounds = DuetOptions{}.pairs;
    const DuetSide side =
        named_side("now", {.now_path = plugin.path, .now_hash = plugin.hash, .builds_folder = {}});
    const std::vector<Duet> duets = tune::compare_live(alarms.called, {.old_side = side,
                                                                       .new_side = side,
                                                                       .measuring = measuring,
                                                                       .floor = rules.floor,
                                                                       .progress = {}});
    history::confirm(alarms, duets, rules.floor);
  }
  return history::false_alarms_view(alarms, rules.floor);
}

CommandResult execute(const GlobalOptions& global, const AaOptions& options) {
  const bool is_asked = !options.asked.op.empty();
  if (is_asked && options.asked.dtypes.empty()) {
    throw refused("--dtype is required", {}, "see halmark aa --help");
  }
  const std::vector<KernelCase> cases =
      is_asked ? tune::kernel_cases(options.asked)
               : tune::usual_cases(options.asked.backend, options.asked.device);
  const PluginDevice on = plugin_device(global, options.asked.backend, options.asked.device);
  MeasuringSession session(global, "aa", &on.plugin, on.machine);
  session.measuring.rounds = options.rounds;
  session.measuring.seconds = options.seconds;
  const std::string path =
      options.out.empty() ? measured_limits_path(on.machine.fingerprint).string() : options.out;
  const tune::Agreement agreement = tune::measure_agreement(
      cases, {.measuring = session.measuring, .pairs = options.pairs, .path = path});
  const report::View chain = chain_of(agreement, on.plugin, session.measuring);
  session.finish();
  CommandResult result = tune::agreement_view(agreement);
  result.data.update(chain.data);
  result.text += chain.text + '\n';
  if (interrupted()) return result;
  if (agreement.pairs() == 0) result.exit_code = ExitCode::partial;
  result.data["path"] = path;
  result.text +=
      "written to " + path +
      (options.out.empty() ? "; tune, bench and run read it, a sweep's [measure] wins\n" : "\n");
  return result;
}

}  // namespace

Action add_aa(OptionSet& app) {
  auto o = std::make_shared<AaOptions>();
  app.add_option("--pairs", o->pairs, "Pairs of repeats per kernel")->check(within(1, 10'000));
  app.add_option("--rounds", o->rounds, "Fresh processes per repeat")->check(within(2, 9));
  app.add_option("--seconds", o->seconds, "Sampling time per process")->check(within(0.001, 60.0));
  app.add_option("--op", o->asked.op, "Op to measure instead of the usual kernels");
  app.add_option("--params", o->asked.params, "With --op, as of halmark bench");
  app.add_option("--dtype", o->asked.dtypes, "With --op: dtypes, comma-separated")->delimiter(',');
  app.add_option("--backend", o->asked.backend, "Backend, for example cpu");
  app.add_option("--device", o->asked.device, "Device of the backend");
  app.add_option("--out,-o", o->out,
                 "File to write (default: the one that this machine's runs read)");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
