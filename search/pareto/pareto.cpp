#include "search/pareto/pareto.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/lists.hpp"

namespace halmark {
namespace {

std::vector<std::size_t> lexicographic_order(std::span<const Objectives> points) {
  auto order = mapped(indices(points), std::identity());
  std::ranges::stable_sort(order, [&](auto a, auto b) { return points[a] < points[b]; });
  return order;
}

// Minimal (y, z) pairs seen so far: z strictly falls as y grows.
class Staircase {
 public:
  bool dominated(double y, double z) const {
    const auto it = steps_.upper_bound(y);
    return it != steps_.begin() && std::prev(it)->second <= z;
  }
  void insert(double y, double z) {
    const auto above = steps_.upper_bound(y);
    if (above != steps_.begin() && std::prev(above)->second <= z) return;
    auto it = steps_.lower_bound(y);
    while (it != steps_.end() && it->second >= z) it = steps_.erase(it);
    steps_.insert_or_assign(y, z);
  }

 private:
  std::map<double, double> steps_;
};

// Sweeps points in lexicographic order; a point is dominated when an earlier, different one is at
// least as good in the remaining one or two objectives.
std::vector<std::size_t> sweep(std::span<const Objectives> points) {
  const std::vector<std::size_t> order = lexicographic_order(points);
  Staircase seen;
  std::vector<std::size_t> front;
  const Objectives* last_kept = nullptr;
  for (const std::size_t i : order) {
    const Objectives& p = points[i];
    const double y = p.size() > 1 ? p[1] : 0, z = p.size() > 2 ? p[2] : 0;
    if (last_kept != nullptr && *last_kept == p) {
      front.push_back(i);
    } else if (!seen.dominated(y, z)) {
      front.push_back(i);
      last_kept = &p;
      seen.insert(y, z);
    }
  }
  std::ranges::sort(front);
  return front;
}

double hypervolume_2d(std::vector<Objectives> points, double reference_x, double reference_y) {
  std::ranges::sort(points);
  double volume = 0, y = reference_y;
  for (const Objectives& p : points) {
    if (p[1] < y) {
      volume += (reference_x - p[0]) * (y - p[1]);
      y = p[1];
    }
  }
  return volume;
}

// The area that a growing set of (x, y) dominates below a reference: steps of falling y.
class Area {
 public:
  Area(double reference_x, double reference_y) : x_end_(reference_x), y_end_(reference_y) {}

  void insert(double x, double y) {
    auto it = steps_.upper_bound(x);
    double height = y_end_;  // of the area's edge over x, before
    if (it != steps_.begin()) {
      const auto left = std::prev(it);
      if (left->second <= y) return;
      height = left->second;
      if (left->first == x) it = left;
    }
    double from = x;
    while (it != steps_.end() && it->second >= y) {
      area_ += (it->first - from) * (height - y);
      from = it->first;
      height = it->second;
      it = steps_.erase(it);
    }
    area_ += ((it == steps_.end() ? x_end_ : it->first) - from) * (height - y);
    steps_.emplace_hint(it, x, y);
  }
  double area() const { return area_; }

 private:
  double x_end_, y_end_, area_ = 0;
  std::map<double, double> steps_;
};

// Beume et al. 2009: the area grows along the third objective.
double hypervolume_3d(std::vector<Objectives> points, std::span<const double> reference) {
  std::ranges::sort(points, {}, [](const Objectives& p) { return p[2]; });
  Area area(reference[0], reference[1]);
  double volume = 0;
  for (const auto i : indices(points)) {
    area.insert(points[i][0], points[i][1]);
    const double top = i + 1 < points.size() ? points[i + 1][2] : reference[2];
    volume += area.area() * (top - points[i][2]);
  }
  return volume;
}

// Slices along the last objective: between two neighbouring values, the points below it count.
double slices(std::vector<Objectives> points, std::span<const double> reference) {
  const std::size_t last = reference.size() - 1;
  if (reference.size() == 1) {
    double best = reference[0];
    for (const Objectives& p : points) best = std::min(best, p[0]);
    return reference[0] - best;
  }
  if (reference.size() == 2) return hypervolume_2d(std::move(points), reference[0], reference[1]);
  if (reference.size() == 3) return hypervolume_3d(std::move(points), reference);
  std::ranges::sort(points, {}, [&](const Objectives& p) { return p[last]; });
  double volume = 0;
  std::vector<Objectives> below;
  for (const auto i : indices(points)) {
    below.emplace_back(points[i].begin(), points[i].end() - 1);
    const double top = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    if (top <= points[i][last]) continue;
    const auto keep = non_dominated(below);
    std::vector<Objectives> front = mapped(keep, [&](const std::size_t k) { return below[k]; });
    below = std::move(front);
    volume += slices(below, reference.first(last)) * (top - points[i][last]);
  }
  return volume;
}

}  // namespace

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (const auto i : indices(a)) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<std::size_t> non_dominated(std::span<const Objectives> points) {
  if (points.empty()) return {};
  if (points.front().size() <= 3) return sweep(points);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::ranges::none_of(points, [&](const auto& p) { return dominates(p, points[i]); })) {
      front.push_back(i);
    }
  }
  return front;
}

std::vector<int> non_dominated_ranks(std::span<const Objectives> points) {
  std::vector<int> ranks(points.size(), -1);
  auto left = mapped(indices(points), std::identity());
  for (int rank = 0; !left.empty(); ++rank) {
    std::vector<Objectives> rest = mapped(left, [&](const std::size_t i) { return points[i]; });
    for (const std::size_t k : non_dominated(rest)) ranks[left[k]] = rank;
    std::erase_if(left, [&](std::size_t i) { return ranks[i] >= 0; });
  }
  return ranks;
}

std::vector<double> crowding_distances(std::span<const Objectives> points,
                                       std::span<const int> ranks) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<double> distance(points.size(), 0);
  if (points.empty()) return distance;
  const int worst = *std::ranges::max_element(ranks);
  for (int rank = 0; rank <= worst; ++rank) {
    std::vector<std::size_t> members;
    for (const auto i : indices(points)) {
      if (ranks[i] == rank) members.push_back(i);
    }
    for (const auto d : indices(points.front())) {
      std::ranges::stable_sort(members, {}, [&](std::size_t i) { return points[i][d]; });
      const double span = points[members.back()][d] - points[members.front()][d];
      distance[members.front()] = distance[members.back()] = inf;
      for (std::size_t k = 1; k + 1 < members.size() && span > 0; ++k) {
        distance[members[k]] += (points[members[k + 1]][d] - points[members[k - 1]][d]) / span;
      }
    }
  }
  return distance;
}

double hypervolume(std::span<const Objectives> points, std::span<const double> reference) {
  std::vector<Objectives> inside;
  for (const Objectives& p : points) {
    bool is_inside = true;
    for (const auto d : indices(p)) is_inside = is_inside && p[d] < reference[d];
    if (is_inside) inside.push_back(p);
  }
  return inside.empty() ? 0 : slices(std::move(inside), reference);
}

}  // namespace halmark
