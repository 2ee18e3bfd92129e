// halmark judge: a kernel's source before the gates, and its score against a baseline.
#include "judge/judge.hpp"

#include <memory>

#include "cli/console/session.hpp"
#include "judge/verdict_view.hpp"
#include "report/views/kernel_views.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::cli {
namespace {

struct JudgeOptions {
  judge::JudgeRequest request;
  tune::CaseRequest asked{.dtypes = {"f32"}, .backend = "judged"};
  int rounds = 5;
  double seconds = 0.2;
};

CommandResult execute(const GlobalOptions& global, JudgeOptions o) {
  judge::read_source(o.request.path);  // a misspelt name is said before what else is missing
  const std::string assumed = tune::take_usual(o.asked);
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin machinery = judge::machinery_of(o.request.path, found);
  const std::vector<KernelCase> cases = tune::kernel_cases(o.asked);
  LocalMachine machine = local_machine();
  rows_are_of(machine, machinery, o.asked.device);
  MeasuringSession session(global, "judge", &machinery, machine);
  session.measuring.rounds = o.rounds;
  session.measuring.seconds = o.seconds;
  session.keep();
  const judge::Judged judged = judge::judge_source(o.request, cases, session.measuring, found);
  // What was seen of the peaks judges these rows, and is not kept: it may be the source's own.
  session.progress.finish();
  if (session.peaks) session.machine.measured = session.peaks->device();
  const judge::Verdict verdict = judge::verdict_of(judged, session.judge());
  report::View view = judge::verdict_view(verdict, judged);
  report::add_assumed(view, assumed);
  CommandResult result = {std::move(view), judge::exit_code_of(verdict)};
  session.say_what_is_kept(result);
  return result;
}

}  // namespace

Action add_judge(OptionSet& app) {
  auto o = std::make_shared<JudgeOptions>();
  app.add_option("source", o->request.path, "Kernel source: .c, .cpp, .cc, .cl or .cu")->required();
  app.add_option("--op", o->asked.op, "Op that it computes: gemm, rmsnorm, softmax, ...");
  app.add_option("--params", o->asked.params, "Problems to measure, as bench has them");
  app.add_option("--dtype", o->asked.dtypes, "dtype that it is written for")->delimiter(',');
  app.add_option("--device", o->asked.device, "Device of the backend that runs it");
  app.add_option("--baseline", o->request.baseline,
                 "BACKEND or BACKEND:KERNEL that it is scored against, or none (default: cpu, "
                 "opencl or cuda, by its language)");
  app.add_option("--keep", o->request.keep, "Folder for the plugin that is built of it")
      ->only_output();
  app.add_option("--flag", o->request.flags, "Of the compiler: --flag=-ffast-math");
  app.add_option("--compile-limit", o->request.compile_limit_s, "Seconds that the compiler has")
      ->check(within(0.1, 600.0));
  app.add_option("--rounds", o->rounds, "Fresh processes per problem")->check(within(1, 99));
  app.add_option("--seconds", o->seconds, "Sampling time per problem and round")
      ->check(within(0.001, 600.0));
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
