#include "history/digest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "history/standing.hpp"

namespace halmark::history {
namespace {

// Of a slowdown that stands, a further step that was called, and not by `told`. Places move by a
// night as nights are added.
bool has_new_step(const SeriesHistory& told, const SeriesHistory& now, std::int64_t since) {
  if (now.change != Change::slower || now.duet) return false;
  const std::size_t place = place_of(now, place_of_change(now));
  if (place <= place_of(now, since) + 1) return false;
  return told.change != Change::slower || place_of(now, place_of_change(told)) + 1 < place;
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
    out_.run = now_.runs.back();
    out_.fingerprint = now_.fingerprint;
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
      if (!was_lost) say(News::lost, one, one.nights.size()).cause = loss;
    } else if (told == nullptr || told->nights.empty()) {
      if (!one.nights.empty()) say(News::created, one, 0);
    } else if (was_lost && one.nights.back().run > told_.runs.back()) {
      say(News::recovered, one, one.nights.size() - 1).cause = "measured again";
    } else {
      compare(one, *told);
    }
  }

  void compare(const SeriesHistory& one, const SeriesHistory& told) {
    const std::optional<Standing> before = standing_of(told, told_);
    std::optional<Standing> now = standing_of(one, now_);
    const bool was_slow = before && !before->back;
    if (was_slow && !now) {  // no detector sees it now: the nights say whether it has ended
      now = before;
      follow(one, now_.rules, *now);
    }
    if (was_slow && now->back) {
      say_recovery(one, *now);
    } else if (now && !now->back) {
      const bool is_relapse = before && place_of(one, now->run) > place_of(one, before->run) + 1;
      if (!was_slow || is_relapse) {
        say_slower(one, *now);
      } else if (has_new_step(told, one, now->run)) {
        say_change(News::slower, one, place_of_change(one));
      } else {
        NewsLine line = line_of(News::slower, one, place_of(one, now->run));
        line.ratio = ratio_now(one, *now);
        out_.still_slower.push_back(std::move(line));
      }
    } else if (one.change == Change::faster && told.change != Change::faster && !before) {
      say_change(News::faster, one, place_of_change(one));
    }
  }

  // Of the nights since the last change against those before the slowdown.
  static double ratio_now(const SeriesHistory& one, const Standing& it) {
    if (one.duet && one.ratio) return *one.ratio;
    const std::int64_t begin = std::max(it.run, place_of_change(one));
    return std::exp(median_level(one.nights, begin, one.nights.back().run + 1) -
                    median_level(one.nights, it.begin, it.end));
  }

  void say_slower(const SeriesHistory& one, const Standing& it) {
    const bool is_called = one.change == Change::slower && place_of_change(one) == it.run;
    if (is_called) return say_change(News::slower, one, it.run);
    const std::size_t at = place_of(one, it.run);
    NewsLine& line = say(News::slower, one, at);
    line.ratio = ratio_now(one, it);
    line.cause = cause_of(one, at, std::log(*line.ratio));
  }

  void say_recovery(const SeriesHistory& one, const Standing& it) {
    NewsLine& line = say(News::recovered, one, *it.back);
    const double slow = median_level(one.nights, it.run, one.nights[*it.back].run) -
                        median_level(one.nights, it.begin, it.end);
    line.ratio = std::exp(-slow);
    line.cause = cause_of(one, *it.back, -slow);
  }

  // "" where the series has what it should.
  std::string loss_of(const SeriesHistory& one, const NightReport& report) const {
    if (one.change == Change::failed || one.change == Change::invalid) return one.reason;
    if (one.change != Change::waiting || one.nights.empty()) return {};
    // Nights of the commands that have measured it, in their order, and how far apart those are
    // that did.
    std::set<std::string> commands;
    for (const std::int64_t run : one.measured) {
      if (const auto known = facts_.find(run); known != facts_.end()) {
        commands.insert(known->second->command);
      }
    }
    std::vector<std::string> due;
    for (const std::int64_t run : report.runs) {
      const auto facts = facts_.find(run);
      if (facts == facts_.end() || !commands.contains(facts->second->command)) continue;
      if (due.empty() || due.back() != facts->second->night) due.push_back(facts->second->night);
    }
    const auto index = [&](std::int64_t run) {
      return std::ranges::lower_bound(due, night_of(run)) - due.begin();
    };
    std::ptrdiff_t longest = 1;
    for (std::size_t i = 1; i < one.measured.size(); ++i) {
      longest = std::max(longest, index(one.measured[i]) - index(one.measured[i - 1]));
    }
    const std::int64_t last = one.measured.back();
    const std::ptrdiff_t missed = static_cast<std::ptrdiff_t>(due.size()) - 1 - index(last);
    const std::ptrdiff_t bearable = longest == 1 ? 0 : 2 * longest;  // those that take turns
    if (one.measured.size() < 2 || missed <= bearable) return {};
    return "not measured since " + night_of(last) + ", in " + std::to_string(missed) +
           (missed == 1 ? " night" : " nights") + " on which it was due";
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
          if (!contains(a.machine, line)) return "machine: now " + line;
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
    if (const auto clock = moved(&Night::clock_hz, ComparisonRules{}.same_clock)) {
      return "clock " + number_text((*clock)[0] / 1e9, 3) + " to " +
             number_text((*clock)[1] / 1e9, 3) + " GHz";
    }
    if (const auto memory = moved(&Night::bytes_per_s, ComparisonRules{}.same_memory)) {
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
