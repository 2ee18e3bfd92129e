#include "report/views/backend_views.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/views/backend_mix.hpp"

namespace halmark::report {
namespace {

constexpr const char* usual_variant = "default";

Json time_json(const BackendTime& t) {
  const KernelPoint& p = t.point;
  Json out = {{"backend", t.backend},
              {"variant", t.variant},
              {"implementation", p.implementation},
              {"duration_ns_median", optional_number(p.duration_ns)},
              {"ci_low_ns", optional_number(p.low_ns)},
              {"ci_high_ns", optional_number(p.high_ns)},
              {"mfu", optional_number(p.mfu)},
              {"roofline_fraction", optional_number(p.roofline_fraction)},
              {"rounds", p.rounds},
              {"status", status_name(p.status)},
              {"reason", p.reason},
              {"winner", t.is_winner},
              {"tied", t.is_tied}};
  if (!p.mfu) out["mfu_reason"] = p.mfu_reason;
  return out;
}

std::string verdict_text(const BackendTime& t, bool has_ties) {
  if (t.is_winner) return has_ties ? "tied" : "wins";
  return t.is_tied ? "tied" : "";
}

bool has_ties(const BackendComparison& c) {
  return std::ranges::count(c.times, true, &BackendTime::is_tied) > 1;
}

std::string factor_text(const BackendTime& t, const BackendTime& best) {
  if (!t.point.duration_ns || !best.point.duration_ns) return std::string(absent_text);
  return number_text(*t.point.duration_ns / *best.point.duration_ns, 3) + " x";
}

std::string table_of(const BackendComparison& c) {
  TextTable table({"backend", "implementation", ">median", ">interval", ">of the best", ">mfu",
                   ">roofline", "", "status"});
  for (const BackendTime& t : c.times) {
    const KernelPoint& p = t.point;
    const std::string name = t.variant == usual_variant ? t.backend : t.backend + ' ' + t.variant;
    table.add({name, implementation_name(p.implementation),
               p.duration_ns ? duration_text(*p.duration_ns) : "-",
               p.duration_ns ? duration_text(*p.low_ns) + " .. " + duration_text(*p.high_ns) : "-",
               factor_text(t, c.times.front()), rounded_percent_text(p.mfu),
               rounded_percent_text(p.roofline_fraction), verdict_text(t, has_ties(c)),
               std::string(status_name(p.status)) + (p.reason.empty() ? "" : ": " + p.reason)});
  }
  std::string out = c.problem + '\n' + table.text();
  for (const std::string& note : c.notes) out += "  " + note + '\n';
  return out + '\n';
}

// Problems by the backend that won them alone; "" = no time at all, "tied" = several share it.
struct Wins {
  std::map<std::string, std::size_t> alone;
  std::size_t tied = 0, none = 0;
};

Wins wins_of(std::span<const BackendComparison> comparisons) {
  Wins out;
  for (const BackendComparison& c : comparisons) {
    for (const BackendTime& t : c.times) out.alone.try_emplace(t.backend, 0);
    std::map<std::string, int> tied;
    for (const BackendTime& t : c.times) {
      if (t.is_tied) ++tied[t.backend];
    }
    if (tied.empty()) {
      ++out.none;
    } else if (tied.size() > 1) {
      ++out.tied;
    } else {
      ++out.alone[tied.begin()->first];
    }
  }
  return out;
}

}  // namespace

BackendComparison compared(std::string problem, std::string dtype, std::vector<BackendTime> times) {
  const auto ns = [](const BackendTime& t) {
    return t.point.duration_ns.value_or(std::numeric_limits<double>::max());
  };
  std::ranges::stable_sort(times, {}, ns);
  if (!times.empty() && times.front().point.duration_ns) {
    times.front().is_winner = true;
    const double slowest_of_best = *times.front().point.high_ns;
    for (BackendTime& t : times) t.is_tied = t.point.low_ns && *t.point.low_ns <= slowest_of_best;
  }
  return {std::move(problem), std::move(dtype), std::move(times), {}};
}

View backends_view(std::span<const BackendComparison> comparisons) {
  Json problems = Json::array();
  std::string text;
  for (const BackendComparison& c : comparisons) {
    Json times = json_list(c.times, time_json);
    problems.push_back({{"problem", c.problem},
                        {"dtype", c.dtype},
                        {"times", std::move(times)},
                        {"notes", c.notes}});
    text += table_of(c);
  }
  const Wins wins = wins_of(comparisons);
  Json by_backend = Json::object();
  text += std::to_string(comparisons.size()) + " problems:";
  for (const auto& [backend, count] : wins.alone) {
    by_backend[backend] = count;
    text += ' ' + backend + " wins " + std::to_string(count) + ',';
  }
  text += ' ' + std::to_string(wins.tied) + " cannot be told apart";
  if (wins.none > 0) text += ", " + std::to_string(wins.none) + " without a time";
  View out = {.data = {{"problems", std::move(problems)},
                       {"wins", std::move(by_backend)},
                       {"tied", wins.tied},
                       {"without_a_time", wins.none}},
              .text = text + '\n'};
  if (const auto mix = best_mix(comparisons)) {
    View what_if = mix_view(*mix);
    out.data["what_if"] = std::move(what_if.data);
    out.text += what_if.text;
  }
  return out;
}

}  // namespace halmark::report
