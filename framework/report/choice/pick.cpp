#include "report/choice/pick.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// How much worse than the best of the front, as a factor of at least 1.
double factor_of(double value, double best) {
  const double low = std::min(value, best), high = std::max(value, best);
  if (low <= 0) return high <= 0 ? 1 : std::numeric_limits<double>::infinity();
  return high / low;
}

struct Column {
  Objective objective;
  std::vector<double> values;
  std::size_t best = 0, worst = 0;
};

Column column_of(std::span<const Evaluation> points, Objective objective) {
  Column out{.objective = objective};
  for (const Evaluation& e : points) {
    const auto value = objective_value(e, objective);
    if (!value) {
      throw refused("the points have no " + std::string(objective_name(objective)), "--pick",
                    "take knee, or another objective");
    }
    out.values.push_back(*value);
  }
  const auto minimised = [&](std::size_t i) {
    return is_maximised(objective) ? -out.values[i] : out.values[i];
  };
  for (std::size_t i = 1; i < out.values.size(); ++i) {
    if (minimised(i) < minimised(out.best)) out.best = i;
    if (minimised(i) > minimised(out.worst)) out.worst = i;
  }
  return out;
}

std::size_t knee(std::span<const Column> columns, std::size_t points) {
  std::size_t out = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const auto i : indices(points)) {
    double sum = 0;
    for (const Column& c : columns) {
      const double best = c.values[c.best];
      const double range = std::log(factor_of(c.values[c.worst], best));
      const double way = std::log(factor_of(c.values[i], best));
      if (range > 0) sum += std::pow(std::isinf(range) ? double(way > 0) : way / range, 2);
    }
    if (sum < least) {
      least = sum;
      out = i;
    }
  }
  return out;
}

std::string loss_text(const Column& c, std::size_t index) {
  const double factor = factor_of(c.values[index], c.values[c.best]);
  if (factor < 1.005) return {};  // "1 times less"
  const std::string much = std::isinf(factor) ? "much" : number_text(factor, 3) + " times";
  return figure_text(c.objective, c.values[index]) + ", where point " + std::to_string(c.best + 1) +
         " has " + objective_text(c.objective, c.values[c.best]) + " (" + much +
         (is_maximised(c.objective) ? " more)" : " less)");
}

// "latency" is of a step or of a request, as the points are.
Objective wanted(const std::string& how, const Evaluation& point) {
  const std::string name = how.substr(5);
  const auto objective = point.served ? parse_request_objective(name) : parse_objective(name);
  if (objective) return *objective;
  std::vector<std::string> names;
  for (const ObjectiveRow& row : objective_rows()) names.emplace_back(row.name);
  throw refused("'" + name + "' is no objective", "--pick", suggestion(name, names));
}

// The admitted point with the most of `values`; of equals the first. Nothing where none is
// admitted.
template <class Admits>
std::optional<std::size_t> most(const std::vector<double>& values, const Admits& admits) {
  std::optional<std::size_t> out;
  for (const auto i : indices(values)) {
    if (admits(i) && (!out || values[i] > values[*out])) out = i;
  }
  return out;
}

constexpr double near_best = 0.9;
// A few points of probability are not worth most of the throughput.
constexpr double nearly_as_sure = 0.1;

constexpr const char* cheapest = "the most tokens/s per device of the ";

Pick sure_to_keep(const SearchedFront& front, const std::vector<double>& per_device) {
  std::vector<double> sureness = mapped(front.points, [&](const Evaluation& e) {
    return e.served->has_interval ? service_level_probability(*e.served, front.levels) : -1;
  });
  const auto count =
      std::ranges::count_if(sureness, [](double p) { return p >= sure_to_keep_levels; });
  if (const auto i =
          most(per_device, [&](std::size_t k) { return sureness[k] >= sure_to_keep_levels; })) {
    return {*i, cheapest + std::to_string(count) + " points with P(SLO met) >= 90 %", {}};
  }
  const double highest = std::ranges::max(sureness);
  const auto i =
      most(per_device, [&](std::size_t k) { return sureness[k] >= highest - nearly_as_sure; });
  if (highest < 0) {
    return {*i,
            cheapest + std::to_string(per_device.size()) +
                " points that keep every level at the stated times, which are bounds: P(SLO met) "
                "is not known",
            {}};
  }
  return {*i,
          "no point has P(SLO met) >= 90 % (the highest: " + number_text(100 * highest, 3) +
              " %): the most tokens/s per device within 10 points of it",
          {}};
}

Pick fast_enough(const SearchedFront& front, const std::vector<double>& per_device) {
  std::vector<double> of_user = mapped(front.points, [&](const Evaluation& e) {
    return objective_value(e, Objective::interactivity)
        .value_or(std::numeric_limits<double>::infinity());
  });
  const auto count =
      std::ranges::count_if(of_user, [](double r) { return r >= user_tokens_per_s; });
  if (const auto i =
          most(per_device, [&](std::size_t k) { return of_user[k] >= user_tokens_per_s; })) {
    return {*i, cheapest + std::to_string(count) + " points with 20 tokens/s a user or more", {}};
  }
  const double best = std::ranges::max(per_device);
  const auto i = most(of_user, [&](std::size_t k) { return per_device[k] >= near_best * best; });
  return {
      *i,
      "no point has 20 tokens/s a user (the fastest: " + number_text(std::ranges::max(of_user), 3) +
          "): the lowest TPOT within 10 % of the most tokens/s per device",
      {}};
}

}  // namespace

std::vector<std::string> given_up(std::span<const Evaluation> points,
                                  std::span<const Objective> objectives, std::size_t index) {
  std::vector<std::string> out;
  for (const Objective o : objectives) {
    if (std::string text = loss_text(column_of(points, o), index); !text.empty()) {
      out.push_back(std::move(text));
    }
  }
  return out;
}

std::set<std::size_t> ends_of(std::span<const Evaluation> points,
                              std::span<const Objective> objectives) {
  std::set<std::size_t> out;
  for (const Objective o : objectives) {
    const auto has = [&](const Evaluation& e) { return objective_value(e, o).has_value(); };
    if (std::ranges::all_of(points, has)) out.insert(column_of(points, o).best);
  }
  return out;
}

Pick pick_point(std::span<const Evaluation> points, std::span<const Objective> objectives,
                const std::string& how) {
  std::vector<Column> columns =
      mapped(objectives, [&](const Objective o) { return column_of(points, o); });
  Pick out;
  if (how == "knee") {
    out.index = knee(columns, points.size());
    out.because = "picked as the knee: of all points the nearest to the best of every objective";
  } else if (how.starts_with("best:")) {
    const Column column = column_of(points, wanted(how, points.front()));
    out.index = column.best;
    out.because = "picked for the best " + std::string(row_of(column.objective).title) +
                  " of the front, " + objective_text(column.objective, column.values[column.best]);
  } else {
    throw refused("'" + how + "' picks nothing", "--pick", pick_help);
  }
  out.gives_up = given_up(points, objectives, out.index);
  return out;
}

Pick pick_point(const SearchedFront& front, const std::string& how) {
  if (front.points.empty()) {
    throw refused("no configuration keeps every level", front.title, front.nearest_miss);
  }
  const bool is_served = front.points.front().served.has_value();
  if (how != "cheapest" && !(how.empty() && is_served)) {
    return pick_point(front.points, front.objectives, how.empty() ? "knee" : how);
  }
  if (!is_served) throw refused("'cheapest' is of requests, and these are steps", "--pick", "knee");
  const std::vector<double> per_device =
      column_of(front.points, Objective::tokens_per_s_per_device).values;
  Pick out =
      front.levels.empty() ? fast_enough(front, per_device) : sure_to_keep(front, per_device);
  out.gives_up = given_up(front.points, front.objectives, out.index);
  return out;
}

}  // namespace halmark
