#include "history/digest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::history {
namespace {

// A slowdown that was called, or that stands as surely as one: the nights before it are those from
// `begin` on.
struct Alert {
  std::int64_t begin = 0, run = 0;  // runs
};

double level(const Night& night) { return std::log(night.adjusted_ns); }

double median_level(const std::vector<Night>& nights, std::int64_t begin, std::int64_t end) {
  std::vector<double> levels;
  for (const Night& night : nights) {
    if (night.run >= begin && night.run < end) levels.push_back(level(night));
  }
  return levels.empty() ? 0 : median(levels);
}

// Alerts older than the recent nights have no q any more: by Bonferroni over all places.
bool is_sure(const ChangePoint& change, const NightReport& report) {
  const double places = static_cast<double>(report.series.size() * report.rules.recent);
  return change.is_agreed && change.p * places <= report.rules.false_discovery;
}

std::optional<Alert> alert_of(const SeriesHistory& series, const NightReport& report) {
  const HistoryRules& rules = report.rules;
  const double size_min = std::max(std::log1p(rules.floor), rules.noise_floor * series.noise);
  const bool is_called = series.change == Change::slower;
  if (is_called && series.duet) return Alert{.begin = 0, .run = series.duet->run};
  std::optional<Alert> open;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < series.changes.size(); ++i) {
    const ChangePoint& change = series.changes[i];
    const bool is_last_called = is_called && i + 1 == series.changes.size();
    const std::int64_t run = series.nights[change.at].run;
    const bool counts = change.size() >= size_min && (is_last_called || is_sure(change, report));
    if (counts && change.after > change.before && !open) open = Alert{begin, run};
    const bool may_end = change.size() >= size_min && change.after < change.before && open;
    if (may_end) {
      const double baseline = median_level(series.nights, open->begin, open->run);
      if (change.after <= baseline + std::log1p(rules.floor)) open.reset();
    }
    begin = run;
  }
  return open;
}

std::size_t place_of(const SeriesHistory& series, std::int64_t run) {
  const auto at = std::ranges::find_if(series.nights, [&](const Night& n) { return n.run >= run; });
  return static_cast<std::size_t>(at - series.nights.begin());
}

// The first night that is back, of a slowdown that has ended.
std::optional<std::size_t> recovery_of(const SeriesHistory& series, const Alert& alert,
                                       const HistoryRules& rules) {
  const std::vector<Night>& nights = series.nights;
  const std::size_t at = place_of(series, alert.run);
  if (at == 0 || at >= nights.size()) return std::nullopt;
  const double baseline = median_level(nights, alert.begin, alert.run);
  const bool has_old_build =
      nights.back().build == nights[at - 1].build && nights[at].build != nights[at - 1].build;
  if (series.duet) {
    if (has_old_build || series.change == Change::faster) return nights.size() - 1;
    return std::nullopt;
  }
  // Half of what was lost, as the slow nights themselves say.
  const double size = level(nights[at]) - baseline;
  const double near = std::max(std::log1p(rules.floor), 2 * series.noise);
  std::size_t back = nights.size();
  while (back > at && level(nights[back - 1]) <= baseline + std::min(size / 2, near)) --back;
  const std::size_t count = nights.size() - back;
  if (count >= rules.confirmed || (count > 0 && has_old_build)) return back;
  return std::nullopt;
}

class Fold {
 public:
  Fold(const NightReport& told, const NightReport& now, const std::vector<RunFacts>& runs)
      : told_(told), now_(now) {
    for (const RunFacts& run : runs) facts_.emplace(run.run, &run);
    for (const SeriesHistory& one : told.series) told_by_name_.emplace(one.name, &one);
  }

  Digest digest() {
    out_.since = night_of(told_.runs.back());
    out_.night = night_of(now_.runs.back());
    out_.series = now_.series.size();
    for (const SeriesHistory& one : now_.series) add(one);
    const auto order = [](const NewsLine& a, const NewsLine& b) {
      if (a.news != b.news) return a.news < b.news;
      return std::abs(std::log(a.ratio.value_or(1))) > std::abs(std::log(b.ratio.value_or(1)));
    };
    std::ranges::stable_sort(out_.lines, order);
    std::ranges::stable_sort(out_.still_slower, order);
    return std::move(out_);
  }

 private:
  std::string night_of(std::int64_t run) const {
    const auto known = facts_.find(run);
    return known == facts_.end() ? std::string() : known->second->night;
  }

  void add(const SeriesHistory& one) {
    const auto known = told_by_name_.find(one.name);
    const SeriesHistory* told = known == told_by_name_.end() ? nullptr : known->second;
    const std::string loss = loss_of(one, now_);
    const bool was_lost = told != nullptr && !loss_of(*told, told_).empty();
    if (!loss.empty()) {
      if (!was_lost && told != nullptr) say(News::lost, one, one.nights.size()).cause = loss;
      return;
    }
    if (told == nullptr) {
      if (!one.nights.empty()) say(News::created, one, 0);
      return;
    }
    if (was_lost && one.nights.back().run > told_.runs.back()) {
      say(News::recovered, one, one.nights.size() - 1).cause = "measured again";
    }
    const std::optional<Alert> before = alert_of(*told, told_);
    if (before) {
      add_told(one, *before);
    } else if (const std::optional<Alert> alert = alert_of(one, now_)) {
      if (!recovery_of(one, *alert, now_.rules)) say_change(News::slower, one, alert->run);
    } else if (one.change == Change::faster && told->change != Change::faster) {
      say_change(News::faster, one, place_of_change(one));
    }
  }

  void add_told(const SeriesHistory& one, const Alert& alert) {
    const double baseline = median_level(one.nights, alert.begin, alert.run);
    if (const auto back = recovery_of(one, alert, now_.rules)) {
      NewsLine& line = say(News::recovered, one, *back);
      const double slow = median_level(one.nights, alert.run, one.nights[*back].run) - baseline;
      line.ratio = std::exp(-slow);
      line.cause = cause_of(one, *back, -slow);
      return;
    }
    const std::int64_t place = place_of_change(one);
    if (one.change == Change::slower && place > told_.runs.back()) {
      say_change(News::slower, one, place);
      return;
    }
    const std::size_t at = place_of(one, alert.run);
    NewsLine line = line_of(News::slower, one, at);
    const double slow = median_level(one.nights, alert.run, one.nights.back().run + 1) - baseline;
    line.ratio = one.duet && one.ratio ? one.ratio : std::exp(slow);
    out_.still_slower.push_back(std::move(line));
  }

  // "" where the series has what it should.
  std::string loss_of(const SeriesHistory& one, const NightReport& report) const {
    if (one.nights.empty()) return {};
    if (one.change == Change::failed || one.change == Change::invalid) return one.reason;
    const std::int64_t last = one.nights.back().run;
    const auto known = facts_.find(last);
    if (one.change != Change::waiting || known == facts_.end()) return {};
    // Nights of its own command, in their order, and how far apart those are that measured it.
    std::vector<std::string> due;
    for (const std::int64_t run : report.runs) {
      const auto facts = facts_.find(run);
      if (facts == facts_.end() || facts->second->command != known->second->command) continue;
      if (due.empty() || due.back() != facts->second->night) due.push_back(facts->second->night);
    }
    const auto index = [&](std::int64_t run) {
      return std::ranges::find(due, night_of(run)) - due.begin();
    };
    std::ptrdiff_t longest = 1;
    for (std::size_t i = 1; i < one.nights.size(); ++i) {
      longest = std::max(longest, index(one.nights[i].run) - index(one.nights[i - 1].run));
    }
    const std::ptrdiff_t missed = static_cast<std::ptrdiff_t>(due.size()) - 1 - index(last);
    const std::ptrdiff_t bearable = longest == 1 ? 0 : 2 * longest;  // those that take turns
    if (one.nights.size() < 2 || missed <= bearable) return {};
    return "not measured since " + night_of(last) + ", in " + std::to_string(missed) +
           (missed == 1 ? " night" : " nights") + " of " + known->second->command;
  }

  static std::int64_t place_of_change(const SeriesHistory& one) {
    if (one.duet) return one.duet->run;
    return one.changes.empty() ? one.nights.back().run : one.nights[one.changes.back().at].run;
  }

  NewsLine line_of(News news, const SeriesHistory& one, std::size_t at) const {
    NewsLine line{.news = news, .name = one.name};
    line.run_after = at < one.nights.size() ? one.nights[at].run : now_.runs.back();
    if (at > 0 && at <= one.nights.size()) line.run_before = one.nights[at - 1].run;
    line.night = night_of(line.run_after);
    return line;
  }

  NewsLine& say(News news, const SeriesHistory& one, std::size_t at) {
    return out_.lines.emplace_back(line_of(news, one, at));
  }

  void say_change(News news, const SeriesHistory& one, std::int64_t run) {
    const std::size_t at = place_of(one, run);
    NewsLine& line = say(news, one, at);
    line.ratio = one.ratio;
    line.interval = one.interval;
    line.cause = one.duet ? "build " + one.duet->old_build + " to " + one.duet->new_build
                          : cause_of(one, at, one.ratio ? std::log(*one.ratio) : 0);
  }

  // Median of a figure of up to `recent` nights on one side of the change.
  std::optional<double> around(const SeriesHistory& one, std::size_t begin, std::size_t end,
                               std::optional<double> Night::*figure) const {
    std::vector<double> values;
    for (std::size_t i = begin; i < end; ++i) {
      if (one.nights[i].*figure) values.push_back(*(one.nights[i].*figure));
    }
    return values.empty() ? std::nullopt : std::optional(median(values));
  }

  // `size`: ln of the ratio of times. What moved with the change, the likeliest first.
  std::string cause_of(const SeriesHistory& one, std::size_t at, double size) const {
    if (at == 0 || at >= one.nights.size()) return "unknown";
    const Night &before = one.nights[at - 1], &after = one.nights[at];
    if (before.build != after.build) return "build " + before.build + " to " + after.build;
    const auto old_run = facts_.find(before.run), new_run = facts_.find(after.run);
    if (old_run != facts_.end() && new_run != facts_.end()) {
      const RunFacts &a = *old_run->second, &b = *new_run->second;
      if (!a.machine.empty() && !b.machine.empty()) {
        for (const std::string& line : b.machine) {
          if (std::ranges::find(a.machine, line) == a.machine.end()) return "machine: now " + line;
        }
      }
      if (a.tool != b.tool) return "halmark " + a.tool + " to " + b.tool;
    }
    const std::size_t recent = now_.rules.recent;
    const std::size_t begin = at > recent ? at - recent : 0, end = one.nights.size();
    const auto moved = [&](std::optional<double> Night::*figure, double least) {
      const auto a = around(one, begin, at, figure), b = around(one, at, end, figure);
      const bool has_moved = a && b && std::log(*b / *a) * size < 0 &&
                             std::abs(std::log(*b / *a)) >= std::max(least, std::abs(size) / 2);
      return has_moved ? std::optional(std::array{*a, *b}) : std::nullopt;
    };
    constexpr double same_clock = 0.02, same_memory = 0.10;
    if (const auto clock = moved(&Night::clock_hz, same_clock)) {
      return "clock " + number_text((*clock)[0] / 1e9, 3) + " to " +
             number_text((*clock)[1] / 1e9, 3) + " GHz";
    }
    if (const auto memory = moved(&Night::bytes_per_s, same_memory)) {
      return "memory " + number_text((*memory)[0] / 1e9, 3) + " to " +
             number_text((*memory)[1] / 1e9, 3) + " GB/s";
    }
    return "unknown";
  }

  const NightReport &told_, &now_;
  std::map<std::int64_t, const RunFacts*> facts_;
  std::map<SeriesName, const SeriesHistory*> told_by_name_;
  Digest out_;
};

}  // namespace

std::string_view news_name(News news) {
  constexpr std::array<std::string_view, 5> names = {"SLOWER", "LOST", "RECOVERED", "FASTER",
                                                     "NEW"};
  return names[static_cast<std::size_t>(news)];
}

bool NewsLine::has_usable_interval() const {
  return ratio && interval.low > 0 && interval.high - interval.low <= std::abs(*ratio - 1);
}

ExitCode digest_exit(const Digest& digest) {
  const bool is_bad = std::ranges::any_of(digest.lines, [](const NewsLine& line) {
    return line.news == News::slower || line.news == News::lost;
  });
  return is_bad ? ExitCode::gate_failed : ExitCode::ok;
}

Digest digest_of(const NightReport& told, const NightReport& now,
                 const std::vector<RunFacts>& runs) {
  return Fold(told, now, runs).digest();
}

}  // namespace halmark::history
