// Nights that never were: noise drawn from rows that were measured, regimes of the memory, 500
// series. How many nights raise a false alert, and how soon a real slowdown is found.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "history/nights.hpp"

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

void forget_first_night(Series& series) {
  const std::int64_t first = series.rows.front().run;
  std::erase_if(series.rows, [first](const SeriesRow& row) { return row.run == first; });
}

bool is_alert(const SeriesHistory& s) {
  return s.change == Change::slower || s.change == Change::faster;
}

// Of one world: nights with an alert although no code changed.
int false_nights(const std::vector<CasePool>& pool, std::uint64_t seed, int nights) {
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
    for (const Series& one : all) judged.push_back(follow_series(one, {}));
    judge_night(judged, {});
    if (std::ranges::any_of(judged, is_alert)) ++out;
  }
  return out;
}

// One series of 500 becomes slower: nights until it is called, 0 = not within three.
int nights_until_found(const std::vector<CasePool>& pool, std::uint64_t seed, std::uint64_t which) {
  const World world(pool, seed, window + 3);
  Series one;
  for (int night = 0; night < window + 3; ++night) {
    world.add_night(one, which, night, slowdown, window);
    if (night >= window) forget_first_night(one);
    if (night < window) continue;
    // The others of that night are quiet: nothing lowers the bar of the control.
    SeriesHistory quiet;
    quiet.change = Change::same;
    std::vector<SeriesHistory> judged(series_count, quiet);
    judged[0] = follow_series(one, {});
    judge_night(judged, {});
    if (judged[0].change == Change::slower) return night - window + 1;
  }
  return 0;
}

// Upper end of the exact one-sided 95 % interval of a share (Clopper and Pearson), by bisection.
double upper_95(int events, int trials) {
  const auto at_most_events = [&](double share) {
    double sum = 0, term = trials * std::log1p(-share);
    for (int k = 0; k <= events; ++k) {
      sum += std::exp(term);
      term += std::log(static_cast<double>(trials - k) / (k + 1)) + std::log(share / (1 - share));
    }
    return sum;
  };
  double low = 1e-12, high = 1 - 1e-12;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (at_most_events(middle) > 0.05 ? low : high) = middle;
  }
  return high;
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

void false_alerts(const std::vector<CasePool>& pool, const std::string& noise, Figures& figures) {
  const int nights = asked("HALMARK_HISTORY_NIGHTS", 2000);
  constexpr int worlds = 2;
  std::array<int, worlds> found{};
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < worlds; ++w) {
    threads.emplace_back([&, w] { found[w] = false_nights(pool, 1000 + w, nights / worlds); });
  }
  threads.clear();
  const int events = found[0] + found[1], trials = nights / worlds * worlds;
  note(noise + ": " + std::to_string(events) + " of " + std::to_string(trials) +
       " nights with a false alert");
  figures.at_most("history_false_alert_upper_95_" + noise, 100 * upper_95(events, trials), "%", 1);
}

struct Found {
  double in_two = 0, in_three = 0;  // percent of the slowdowns
};

Found detection(const std::vector<CasePool>& pool) {
  const int trials = asked("HALMARK_HISTORY_SLOWDOWNS", 2000);
  int in_two = 0, in_three = 0;
  for (int t = 0; t < trials; ++t) {
    const auto n = static_cast<std::uint64_t>(t);
    const int nights = nights_until_found(pool, 5000 + n, n % series_count);
    in_two += nights == 1 || nights == 2 ? 1 : 0;
    in_three += nights > 0 ? 1 : 0;
  }
  return {100.0 * in_two / trials, 100.0 * in_three / trials};
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    const MeasuredRows rows =
        read_rows(std::string(HALMARK_SOURCE_DIR) + "/tests/data/history_noise.csv");
    const std::vector<CasePool> processes = processes_of(rows), runs = runs_of(rows);
    figures.report("history_variation_of_nights_by_processes", 100 * night_variation(processes),
                   "%");
    figures.report("history_variation_of_nights_by_runs", 100 * night_variation(runs), "%");
    const std::vector<CasePool> quiet = scaled(processes, 0.01);
    figures.report("history_5_percent_found_in_two_nights_at_0.5_percent",
                   detection(scaled(processes, 0.005)).in_two, "%");
    const Found at_1 = detection(quiet);
    figures.at_least("history_5_percent_found_in_two_nights_at_1_percent", at_1.in_two, "%", 95);
    figures.report("history_5_percent_found_in_three_nights_at_1_percent", at_1.in_three, "%");
    figures.report("history_5_percent_found_in_two_nights_as_measured", detection(processes).in_two,
                   "%");
    false_alerts(quiet, "at_1_percent", figures);
    false_alerts(processes, "as_measured", figures);
    false_alerts(runs, "by_runs", figures);
  });
}
