#include "measure/campaign/duet/duet_campaign.hpp"

#include <cmath>
#include <memory>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "host/process/arena.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/retry.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {
namespace {

constexpr std::size_t sides = 2;

KernelCase in_a_loop(KernelCase kernel_case) {
  kernel_case.mode = kernel_case.staging();
  kernel_case.neighbours.clear();
  return kernel_case;
}

class DuetCampaign {
 public:
  DuetCampaign(std::span<const KernelCase> cases, const DuetOptions& options) : options_(options) {
    for (const KernelCase& asked : cases) {
      cases_.push_back(in_a_loop(asked));
      duets_.push_back({.kernel_case = asked,
                        .old_build = options.sides[0].build,
                        .new_build = options.sides[1].build});
    }
    times_.resize(cases_.size());
    prepare_arenas();
  }

  std::vector<Duet> run() {
    for (int pair = 0; pair < options_.pairs && !stopped(); ++pair) {
      const std::uint64_t seed = hash_combine(options_.seed, as_uint64(pair));
      for (const GroupedCases& grouped : round_order(cases_, seed)) run_group(grouped, pair, seed);
    }
    for (const auto i : indices(duets_)) {
      if (times_[i][0].empty()) continue;
      duets_[i].old_ns = median(times_[i][0]);
      duets_[i].new_ns = median(times_[i][1]);
    }
    return std::move(duets_);
  }

 private:
  using Crews = std::array<std::unique_ptr<Crew>, sides>;

  bool stopped() const { return options_.should_stop && options_.should_stop(); }

  bool is_open(std::size_t index) const { return duets_[index].status == Status::ok; }

  void prepare_arenas() {
    ArenaNeed need;
    for (const KernelCase& kernel_case : cases_) {
      try {
        need.add(kernel_case);
      } catch (const Error&) {
        // Its trial says what is wrong with it.
      }
    }
    arenas_ = make_arenas(need.wanted, {.least = std::move(need.least)});
  }

  void run_group(const GroupedCases& grouped, int pair, std::uint64_t seed) {
    Crews crews;
    for (const std::size_t index : grouped.cases) {
      if (stopped()) break;
      if (is_open(index) && ensure(crews, grouped.group, duets_[index])) {
        meet(crews, index, pair, seed);
      }
      ++done_;
      if (!options_.progress) continue;
      options_.progress(done_, cases_.size() * as_size(options_.pairs),
                        cases_[index].problem.text());
    }
    for (auto& crew : crews) {
      if (crew) crew->quit();
    }
  }

  // False when one of the builds has no workers; the duet then says why.
  bool ensure(Crews& crews, const CaseGroup& group, Duet& duet) {
    for (const auto side : indices(sides)) {
      if (crews[side] && crews[side]->alive()) continue;
      auto started = Crew::start({.group = group,
                                  .plugin_path = options_.sides[side].plugin_path,
                                  .open_options = {},
                                  .environment = options_.sides[side].environment,
                                  .cache_dir = {},
                                  .limits = options_.limits,
                                  .worker_program = options_.sides[side].worker_program,
                                  .needs_group = group.is_collective,
                                  .cuts = {},
                                  .arenas = arenas_});
      if (!started) {
        fail(duet, side, started.failure.status, started.failure.reason);
        return false;
      }
      crews[side] = std::move(*started);
      duet.plugin_name = crews[side]->plugin().name;
    }
    duet.plugin_name = crews[0]->plugin().name;
    return true;
  }

  void fail(Duet& duet, std::size_t side, Status status, const std::string& reason) const {
    duet.status = status;
    duet.is_new_at_fault = side == 1;  // the old build begins the first pair
    duet.reason = (side == 0 ? "the old build: " : "the new build: ") + reason;
  }

  // Who begins changes from turn to turn and from pair to pair, so that being second is no
  // disadvantage. Each turn is a whole trial: what is wrong in one ends the duet.
  void meet(Crews& crews, std::size_t index, int pair, std::uint64_t seed) {
    Duet& duet = duets_[index];
    const TrialOptions trial{
        .rule = options_.rule,
        .wall_cap_s = options_.wall_cap_s,
        .thresholds = options_.thresholds,
        .peaks = options_.peaks,
        .input_seed = hash_combine(seed, 0x696e + index),
        .check_seed = hash_combine(seed, 0x636b + index),
        .checked_executions = checked_executions(options_.pairs * options_.turns)};
    std::array<std::vector<double>, sides> turns;
    for (const int turn : below(options_.turns)) {
      const auto first = as_size((turn + pair) % 2);
      for (const std::size_t side : {first, 1 - first}) {
        const Measurement row = confirmed_trial(*crews[side], index, trial, history_[side]);
        // A disturbed turn disturbed its neighbour alike, or its pair stands out among the others.
        const bool has_time = has_latency(row.status) || row.status == Status::invalid;
        if (!has_time || !(row.duration_ns_median > 0)) {
          return fail(duet, side, row.status, row.reason);
        }
        turns[side].push_back(row.duration_ns_median);
      }
    }
    for (const auto side : indices(sides)) {
      times_[index][side].push_back(median(turns[side]));
    }
    duet.log_ratios.push_back(ratio_of(turns));
  }

  // A time that its own clocks contradict is measured once more: a busy machine does not lie twice.
  Measurement confirmed_trial(Crew& crew, std::size_t index, const TrialOptions& trial,
                              GateHistory& history) const {
    Measurement row = run_trial(crew, cases_[index], trial, history);
    if (!is_unconfirmed(row) || !crew.alive()) return row;
    return better_of(std::move(row), run_trial(crew, cases_[index], trial, history), 1);
  }

  static double ratio_of(const std::array<std::vector<double>, sides>& turns) {
    std::vector<double> ratios = mapped(indices(turns[0]), [&](const auto turn) {
      return std::log(turns[1][turn] / turns[0][turn]);
    });
    return median(ratios);
  }

  const DuetOptions& options_;
  std::vector<KernelCase> cases_;
  std::vector<Duet> duets_;
  std::vector<std::array<std::vector<double>, sides>> times_;  // of each case, per pair
  // Of both builds, which are never staged at once: two arenas differ by a third in the speed of
  // their pages, however equal they look.
  std::vector<SharedMemory> arenas_;
  std::array<GateHistory, sides> history_;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<Duet> run_duets(std::span<const KernelCase> cases, const DuetOptions& options) {
  return DuetCampaign(cases, options).run();
}

}  // namespace halmark
