// Nights that never were: noise drawn from rows and duets that were measured, regimes of the
// memory, 500 series. How many nights raise a false alert, and how soon a real slowdown is found.
// Where a night runs a new build, the fifth of its series that moved most take turns with the old
// one, as in halmark tune; where it does not, two nights have to agree.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "history/nights.hpp"
#include "history/statistics/false_alarms.hpp"
#include "history/suspicion.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

using history::Change;
using history::HistoryRules;
using history::Series;
using history::SeriesHistory;
using history::SeriesRow;

constexpr std::size_t series_count = 500;
constexpr int window = 60;    // nights that a history looks back
constexpr int processes = 9;  // of a case and night
constexpr double slowdown = 0.05;

// With a new build: those most suspect.
constexpr std::size_t duets_of_night = series_count / 2;

// Of each case the nights that may be drawn, and of each night its processes: how far each lies
// from the median, in logarithms.
using NightOfDraws = std::vector<double>;
using CasePool = std::vector<NightOfDraws>;

// tests/data/history_noise.csv: case,run,ns; by case and run.
using MeasuredRows = std::map<std::string, std::map<std::string, std::vector<double>>>;

MeasuredRows read_rows(const std::string& path) {
  std::ifstream file(path);
  MeasuredRows out;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    std::istringstream cells(line);
    std::string name, run, ns;
    std::getline(cells, name, ',');
    std::getline(cells, run, ',');
    std::getline(cells, ns, ',');
    out[name][run].push_back(std::log(std::stod(ns)));
  }
  if (out.empty()) throw Error(ExitCode::unfit, "no rows to draw from", path);
  return out;
}

// Whole runs: what one night had, another has. They hold all that the machine did meanwhile.
std::vector<CasePool> runs_of(MeasuredRows rows) {
  std::vector<CasePool> out;
  for (auto& [name, runs] : rows) {
    std::vector<double> medians;
    for (const auto& [run, times] : runs) medians.push_back(median(times));
    out.emplace_back();
    for (auto& [run, times] : runs) {
      for (double& time : times) time -= median(medians);
      out.back().push_back(std::move(times));
    }
  }
  return out;
}

// Processes one by one, each against its own run: nights differ by the regimes alone.
std::vector<CasePool> processes_of(MeasuredRows rows) {
  std::vector<CasePool> out;
  for (auto& [name, runs] : rows) {
    NightOfDraws all;
    for (auto& [run, times] : runs) {
      const double centre = median(times);
      for (const double time : times) all.push_back(time - centre);
    }
    out.push_back({std::move(all)});
  }
  return out;
}

// tests/data/duet_noise.csv: case,log_ratio; one build against itself, pair by pair.
std::vector<std::vector<double>> read_duets(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::vector<double>> out;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    const std::size_t comma = line.rfind(',');
    out[line.substr(0, comma)].push_back(std::stod(line.substr(comma + 1)));
  }
  if (out.empty()) throw Error(ExitCode::unfit, "no duets to draw from", path);
  std::vector<std::vector<double>> pools;
  for (auto& [name, ratios] : out) pools.push_back(std::move(ratios));
  return pools;
}

double draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return uniform_01(hash_u64(hash_combine(hash_combine(seed, a), b), c));
}

std::size_t pick(double uniform, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(uniform * static_cast<double>(count)));
}

// The memory of a night: full speed, or what neighbours leave of it, for three nights on average;
// every tenth process meets the other state than its night.
class Regimes {
 public:
  Regimes(std::uint64_t seed, int nights) : seed_(seed) {
    double speed = 1;
    for (int night = 0; night < nights; ++night) {
      const auto n = static_cast<std::uint64_t>(night);
      if (draw(seed, 1, n, 0) < 1.0 / 3) speed = draw(seed, 1, n, 1) < 0.5 ? 1 : 0.55;
      speeds_.push_back(speed);
    }
  }
  double at(int night, std::uint64_t process) const {
    const double own = speeds_[static_cast<std::size_t>(night)];
    const bool is_other = draw(seed_, 2, static_cast<std::uint64_t>(night), process) < 0.1;
    return is_other ? 1.55 - own : own;
  }

 private:
  std::uint64_t seed_;
  std::vector<double> speeds_;
};

class World {
 public:
  World(const std::vector<CasePool>& pool, std::uint64_t seed, int nights)
      : pool_(pool), seed_(seed), regimes_(seed, nights) {}

  // `step`: the code is slower by so much from the night `step_at` on.
  void add_night(Series& into, std::uint64_t series, int night, double step, int step_at) const {
    const auto n = static_cast<std::uint64_t>(night);
    const CasePool& pool = pool_[series % pool_.size()];
    const NightOfDraws& run = pool[pick(draw(seed_, 3 + series, n, 0), pool.size())];
    const double share = static_cast<double>(series / pool_.size() % 5) / 4;
    for (std::uint64_t process = 0; process < processes; ++process) {
      const double residual = run[pick(draw(seed_, 3 + series, n, 1 + process), run.size())];
      // Series of a night are measured one after the other: their moments differ.
      const double speed = regimes_.at(night, series * processes + process);
      const double code = night >= step_at ? 1 + step : 1;
      into.rows.push_back({.run = night,
                           .round = static_cast<int>(process),
                           .ns = 1e6 * code * std::exp(residual) * std::pow(speed, -share),
                           .state = {.bytes_per_s = probe(speed, series, n, process)}});
    }
  }

 private:
  // Single probes scatter by +-8 % within a regime.
  double probe(double speed, std::uint64_t series, std::uint64_t night,
               std::uint64_t process) const {
    return 7e10 * speed * (0.92 + 0.16 * draw(seed_, 1000 + series, night, process));
  }

  const std::vector<CasePool>& pool_;
  std::uint64_t seed_;
  Regimes regimes_;
};

// Builds that take turns: single pairs as they were measured. Old and new were one build, so either
// could have been the other; without that the mean of a few pairs would be a change of the code.
class Duets {
 public:
  explicit Duets(std::vector<std::vector<double>> pools) : pools_(std::move(pools)) {}

  history::StoredDuet heard(std::uint64_t seed, std::uint64_t series, std::uint64_t night,
                            double step) const {
    return {.run = 0,
            .old_build = {},
            .new_build = {},
            .verdict = history::judge_duet(duet(seed, series, night, step), HistoryRules{}.floor)};
  }
  // Mean over many duets of equal builds.
  double pairs_of_equal_builds() const {
    constexpr std::uint64_t duets = 2000;
    double pairs = 0;
    for (std::uint64_t i = 0; i < duets; ++i) {
      pairs += static_cast<double>(duet(77, i, 0, 0).log_ratios.size());
    }
    return pairs / duets;
  }
  // Standard deviation of single pairs, of the case in the middle.
  double spread() const {
    std::vector<double> spreads;
    for (const auto& pool : pools_) {
      double squares = 0;
      for (const double ratio : pool) squares += ratio * ratio;
      spreads.push_back(std::sqrt(squares / static_cast<double>(pool.size())));
    }
    return median(spreads);
  }

 private:
  Duet duet(std::uint64_t seed, std::uint64_t series, std::uint64_t night, double step) const {
    const std::vector<double>& pool = pools_[series % pools_.size()];
    constexpr int pairs = 5;  // of a duet, and again while it wants more
    Duet out{.choosing_pairs = pairs};
    const auto add_pairs = [&] {
      for (int i = 0; i < pairs; ++i) {
        const std::size_t n = out.log_ratios.size();
        const double at = draw(seed, 1'000'000 + series, night, n);
        const double side = draw(seed, 2'000'000 + series, night, n) < 0.5 ? -1 : 1;
        out.log_ratios.push_back(side * pool[pick(at, pool.size())] + std::log1p(step));
      }
    };
    add_pairs();
    const double floor = HistoryRules{}.floor;
    while (wants_more_pairs(out, floor)) add_pairs();
    return out;
  }

  std::vector<std::vector<double>> pools_;
};

void forget_first_night(Series& series) {
  const std::int64_t first = series.rows.front().run;
  std::erase_if(series.rows, [first](const SeriesRow& row) { return row.run == first; });
}

bool is_alert(const SeriesHistory& s) {
  return s.change == Change::slower || s.change == Change::faster;
}

// Of one world: nights with an alert although no code changed. With duets every night runs a new
// build, without them none does.
int false_nights(const std::vector<CasePool>& pool, const Duets* duets, std::uint64_t seed,
                 int nights) {
  const World world(pool, seed, window + nights);
  std::vector<Series> all(series_count);
  int out = 0;
  for (int night = 0; night < window + nights; ++night) {
    for (std::uint64_t s = 0; s < series_count; ++s) {
      world.add_night(all[s], s, night, 0, 1 << 30);
      if (night >= window) forget_first_night(all[s]);
    }
    if (night < window) continue;
    std::vector<SeriesHistory> judged;
    std::vector<std::pair<double, std::size_t>> suspects;
    for (const Series& one : all) {
      judged.push_back(follow_series(one, {}));
      suspects.emplace_back(suspicion_of(judged.back()), judged.size() - 1);
    }
    if (duets != nullptr) {
      std::ranges::sort(suspects, std::greater<>());
      for (std::size_t i = 0; i < duets_of_night; ++i) {
        const std::size_t s = suspects[i].second;
        apply_duet(judged[s], duets->heard(seed, s, static_cast<std::uint64_t>(night), 0));
      }
    }
    judge_night(judged, {});
    if (std::ranges::any_of(judged, is_alert)) ++out;
  }
  return out;
}

// Of a night: how suspect a series is that is just among those that take turns.
double suspicion_of_last_duet(const World& world, int night) {
  constexpr std::uint64_t asked = 100;  // of all series
  std::vector<double> suspicions;
  for (std::uint64_t s = 0; s < asked; ++s) {
    Series one;
    for (int n = night - window; n <= night; ++n) world.add_night(one, s * 5 + 1, n, 0, 1 << 30);
    suspicions.push_back(suspicion_of(follow_series(one, {})));
  }
  return quantile(suspicions, 1 - static_cast<double>(duets_of_night) / series_count);
}

// One series of 500 becomes slower, with a new build: nights until it is called, 0 = not within
// three. The old build is met in the first two.
int nights_until_found(const std::vector<CasePool>& pool, const Duets* duets, std::uint64_t seed,
                       std::uint64_t which) {
  const World world(pool, seed, window + 3);
  Series one;
  std::optional<history::StoredDuet> heard;
  for (int night = 0; night < window + 3; ++night) {
    world.add_night(one, which, night, slowdown, window);
    if (night >= window) forget_first_night(one);
    if (night < window) continue;
    const bool meets_old = duets != nullptr && night < window + 2;
    const SeriesHistory followed = follow_series(one, {});
    if (meets_old && suspicion_of(followed) >= suspicion_of_last_duet(world, night)) {
      heard = duets->heard(seed, which, static_cast<std::uint64_t>(night), slowdown);
    }
    // The others of that night are quiet: nothing lowers the bar of the control.
    SeriesHistory quiet;
    quiet.change = Change::same;
    std::vector<SeriesHistory> judged(series_count, quiet);
    judged[0] = followed;
    if (heard) apply_duet(judged[0], *heard);
    judge_night(judged, {});
    if (judged[0].change == Change::slower) return night - window + 1;
  }
  return 0;
}

int asked(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::max(1, std::atoi(text));
}

// Coefficient of variation of a night's median, for the case in the middle.
double night_variation(const std::vector<CasePool>& pool) {
  const World world(pool, 9, 200);
  std::vector<double> spreads;
  for (std::uint64_t which = 0; which < pool.size(); ++which) {  // those that follow no memory
    std::vector<double> nights;
    for (int night = 0; night < 200; ++night) {
      Series one;
      world.add_night(one, which, night, 0, 1000);
      nights.push_back(median(history::log_times(one.rows)));
    }
    double squares = 0;
    for (const double level : nights) squares += std::pow(level - mean(nights), 2);
    spreads.push_back(std::sqrt(squares / static_cast<double>(nights.size() - 1)));
  }
  return median(spreads);
}

// The same shapes, as of a machine whose nights vary by so much.
std::vector<CasePool> scaled(std::vector<CasePool> pool, double variation) {
  for (CasePool& one : pool) {
    const double factor = variation / night_variation({one});
    for (NightOfDraws& night : one) {
      for (double& residual : night) residual *= factor;
    }
  }
  return pool;
}

void false_alerts(const std::vector<CasePool>& pool, const Duets* duets, const std::string& noise,
                  Figures& figures) {
  const int nights = asked("HALMARK_HISTORY_NIGHTS", 2000);
  constexpr int worlds = 2;
  std::array<int, worlds> found{};
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < worlds; ++w) {
    threads.emplace_back(
        [&, w] { found[w] = false_nights(pool, duets, 1000 + w, nights / worlds); });
  }
  threads.clear();
  const int events = found[0] + found[1], trials = nights / worlds * worlds;
  note(noise + ": " + std::to_string(events) + " of " + std::to_string(trials) +
       " nights with a false alert");
  figures.at_most("history_false_alert_upper_95_" + noise,
                  100 * history::share_upper_95(events, trials), "%", 1);
}

struct Found {
  double in_one = 0, in_two = 0, in_three = 0;  // percent of the slowdowns
};

Found detection(const std::vector<CasePool>& pool, const Duets* duets) {
  const int trials = asked("HALMARK_HISTORY_SLOWDOWNS", 1000);
  std::array<int, 4> found{};
  for (int t = 0; t < trials; ++t) {
    const auto n = static_cast<std::uint64_t>(t);
    ++found[static_cast<std::size_t>(nights_until_found(pool, duets, 5000 + n, n % series_count))];
  }
  const auto percent = [&](int count) { return 100.0 * count / trials; };
  return {percent(found[1]), percent(found[1] + found[2]), percent(found[1] + found[2] + found[3])};
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    const std::string data = halmark::test::in_source("/tests/data/");
    const MeasuredRows rows = read_rows(data + "history_noise.csv");
    const Duets duets(read_duets(data + "duet_noise.csv"));
    const std::vector<CasePool> processes = processes_of(rows), runs = runs_of(rows);
    figures.report("history_variation_of_nights_by_processes", 100 * night_variation(processes),
                   "%");
    figures.report("history_variation_of_nights_by_runs", 100 * night_variation(runs), "%");
    figures.report("history_spread_of_pairs_of_duets", 100 * duets.spread(), "%");
    figures.report("history_pairs_of_a_duet_of_equal_builds", duets.pairs_of_equal_builds(), "");
    const std::vector<CasePool> quiet = scaled(processes, 0.01);
    for (const auto& [noise, pool] :
         {std::pair("at_1_percent", &quiet), std::pair("as_measured", &processes),
          std::pair("by_runs", &runs)}) {
      const std::string name = std::string("history_5_percent_found_") + noise;
      const Found with = detection(*pool, &duets), without = detection(*pool, nullptr);
      figures.at_least(name + "_in_two_nights_of_a_new_build", with.in_two, "%", 95);
      figures.report(name + "_in_the_first", with.in_one, "%");
      figures.report(name + "_in_two_nights_without_duets", without.in_two, "%");
      figures.report(name + "_in_three_nights_without_duets", without.in_three, "%");
      false_alerts(*pool, &duets, std::string(noise) + "_with_duets", figures);
      false_alerts(*pool, nullptr, std::string(noise) + "_without_duets", figures);
    }
  });
}
