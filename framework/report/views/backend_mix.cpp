#include "report/views/backend_mix.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

using Times = std::map<std::string, std::optional<double>>;

// Of one problem: the least median of each backend.
Times best_of(const BackendComparison& c) {
  Times out;
  for (const BackendTime& t : c.times) {
    std::optional<double>& best = out[t.backend];
    if (t.point.duration_ns)
      best = std::min(best.value_or(*t.point.duration_ns), *t.point.duration_ns);
  }
  return out;
}

// A backend without a time of one problem has none of the sum.
void add(Times& sum, const Times& more, bool is_first) {
  if (is_first) {
    sum = more;
    return;
  }
  for (auto& [backend, ns] : sum) {
    const auto* found = find_value(more, backend);
    const bool has_both = ns && found && *found;
    ns = has_both ? std::optional(*ns + **found) : std::nullopt;
  }
}

std::string op_of(const BackendComparison& c) { return c.problem.substr(0, c.problem.find(' ')); }

std::optional<BackendMix::Choice> choice_of(const std::string& op, const Times& times) {
  std::optional<BackendMix::Choice> out;
  for (const auto& [backend, ns] : times) {
    if (ns && (!out || *ns < out->duration_ns)) out = {op, backend, *ns};
  }
  return out;
}

}  // namespace

double BackendMix::duration_ns() const {
  double out = 0;
  for (const Choice& c : ops) out += c.duration_ns;
  return out;
}

std::optional<BackendMix> best_mix(std::span<const BackendComparison> comparisons) {
  BackendMix out;
  std::vector<std::pair<std::string, Times>> by_op;
  for (const BackendComparison& c : comparisons) {
    const Times times = best_of(c);
    const std::string op = op_of(c);
    auto found = std::ranges::find(by_op, op, &std::pair<std::string, Times>::first);
    const bool is_new = found == by_op.end();
    if (is_new) found = by_op.insert(by_op.end(), {op, {}});
    add(found->second, times, is_new);
    add(out.alone, times, &c == comparisons.data());
  }
  for (const auto& [op, times] : by_op) {
    const auto choice = choice_of(op, times);
    if (!choice) return std::nullopt;
    out.ops.push_back(*choice);
  }
  const auto differs = [&](const BackendMix::Choice& c) {
    return c.backend != out.ops.front().backend;
  };
  if (std::ranges::none_of(out.ops, differs)) return std::nullopt;
  return out;
}

View mix_view(const BackendMix& mix) {
  View out;
  Json ops = Json::array();
  std::string choices;
  for (const BackendMix::Choice& c : mix.ops) {
    ops.push_back({{"op", c.op}, {"backend", c.backend}, {"duration_ns", c.duration_ns}});
    append_item(choices, ", ", c.op + " on " + c.backend);
  }
  Json alone = Json::object();
  std::string others;
  for (const auto& [backend, ns] : mix.alone) {
    alone[backend] = optional_number(ns);
    append_item(others, ", ", backend + ' ' + (ns ? duration_text(*ns) : "without some of them"));
  }
  out.data = {{"ops", std::move(ops)}, {"duration_ns", mix.duration_ns()}, {"alone", alone}};
  out.text = "what if: " + choices + ": " + duration_text(mix.duration_ns()) +
             " for each problem once; alone: " + others +
             "\n  what moves between devices is not in it, so it is on no front\n";
  return out;
}

}  // namespace halmark::report
