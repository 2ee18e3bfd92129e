#include <array>

#include "cli/console/command.hpp"

namespace halmark::cli {

AddCommand add_aa, add_agent, add_backup, add_bench, add_bisect, add_board, add_compare,
    add_compare_devices, add_completion, add_config, add_deploy_check, add_devices, add_doctor,
    add_explain, add_export, add_fabric, add_fleet, add_forecasts, add_history, add_import, add_man,
    add_judge, add_launch, add_model, add_models, add_new_plugin, add_onboard, add_ops, add_peaks,
    add_plan_mix, add_plan_size, add_rank_qpu, add_record, add_report, add_retire, add_run,
    add_salvage, add_simulate, add_serve, add_study, add_trace, add_tune, add_verify,
    add_verify_front, add_winners;

std::span<const Command> commands() {
  static constexpr std::array table = {
      Command{"devices", "List backends and devices, and why a backend is absent", add_devices, 2},
      Command{"peaks", "Measure peak FLOP/s and bandwidth; write a device file", add_peaks, 2},
      Command{"onboard", "Measure a device without tables; forecasts know it by a name",
              add_onboard},
      Command{"aa", "Measure kernels against themselves; write this machine's limits", add_aa},
      Command{"bench", "Measure kernels of one op", add_bench},
      Command{"judge", "A kernel's source: built, checked, measured, scored", add_judge},
      Command{"winners", "List the fastest kernel variants that bench has stored", add_winners},
      Command{"model", "Forecast a step: tokens/s, fit, bounds, FLOPs by operator", add_model},
      Command{"explain", "Say what a word or a percentage in the output means", add_explain},
      Command{"trace", "Read a torch-profiler trace; compare it with a model", add_trace},
      Command{"models", "List the known models with their sizes", add_models},
      Command{"ops", "List the ops with what each computes; the parameters of one", add_ops},
      Command{"forecasts", "Known devices with forecast kernels, and their errors", add_forecasts},
      Command{"fabric", "Topologies: links, routes, bandwidth per level", add_fabric},
      Command{"simulate", "Steps, training, serving and plans of shards, event by event",
              add_simulate},
      Command{"plan-size", "Devices, energy, cost and carbon that a job needs", add_plan_size},
      Command{"plan-mix", "How many of each device type serve a load at least cost", add_plan_mix},
      Command{"rank-qpu", "Rank published QPUs for a circuit; sample it, simulated", add_rank_qpu},
      Command{"tune", "Measure, model and search a sweep; print its Pareto front", add_tune, 2},
      Command{"run", "Execute a whole layer stack and compare with the estimate", add_run},
      Command{"report", "Write the report of a stored run again", add_report, 2},
      Command{"export", "A point of a front as files that a serving engine starts from",
              add_export},
      Command{"import", "Steps that an engine measured by its own benchmark; shown by export",
              add_import},
      Command{"deploy-check", "Run an exported command here: the engine beside the prediction",
              add_deploy_check},
      Command{"compare", "Two runs, nights or files: what became slower; exit 3 gates",
              add_compare},
      Command{"compare-devices", "Devices side by side, each against its peaks",
              add_compare_devices},
      Command{"record", "What this machine reaches of its peaks, as one file that travels",
              add_record},
      Command{"board", "Many machines ranked by their records, as a page", add_board},
      Command{"history", "Series of kernels over all nights: where they changed", add_history},
      Command{"bisect", "Which commit changed a figure: builds, measures pairs", add_bisect},
      Command{"retire", "Delete raw samples of older runs; their figures stay", add_retire},
      Command{"serve", "The page: choose device, shards and batch, see what happens", add_serve},
      Command{"study", "Studies: list, show, copy, and serve a search to any program", add_study},
      Command{"agent", "This machine measures what a fleet's database asks for", add_agent},
      Command{"launch", "Start agents by Slurm, ssh or Kubernetes", add_launch},
      Command{"fleet", "What the agents of a shared database do, how fast, what failed", add_fleet},
      Command{"verify", "Check every row and chain of a results database", add_verify},
      Command{"salvage", "Copy what is sound of a damaged results database into a new one",
              add_salvage},
      Command{"verify-front", "Check the proof of a certified front, step by step",
              add_verify_front},
      Command{"backup", "Verified copies of the results database and its studies", add_backup},
      Command{"config", "Settings and their sources; the keys of files as schemas", add_config},
      Command{"new-plugin", "Write a plugin project of your own to start from", add_new_plugin},
      Command{"doctor", "Check plugins, libraries, permissions and this machine", add_doctor},
      Command{"completion", "Print the completion of bash, zsh or fish", add_completion},
      Command{"man", "Write the man pages of all commands into a folder", add_man},
  };
  return table;
}

}  // namespace halmark::cli
