#include "latency/interpolation/interpolation.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "kernels/contract.hpp"
#include "latency/interpolation/conformal.hpp"

namespace halmark {

namespace {

// Curves and what moves them need no more points than this.
constexpr std::size_t outside_points_max = 20'000;

std::int32_t number_of(std::map<std::string, std::int32_t>& of, const std::string& name) {
  return of.try_emplace(name, as_int(of.size())).first->second;
}

std::optional<std::int32_t> known_number(const std::map<std::string, std::int32_t>& of,
                                         const std::string& name) {
  const auto* found = find_value(of, name);
  return !found ? std::nullopt : std::optional(*found);
}

}  // namespace

Interpolation::Interpolation(std::span<const LatencyPoint> points, const Device& measured_on,
                             ShardShare share, CurveSolver solver, StatedErrors stated)
    : points_(points.begin(), points.end()),
      measured_on_(measured_on, share),
      resources_(measured_on),
      solver_(std::move(solver)),
      stated_(stated),
      source_(measured_on.id) {
  for (const auto i : indices(points_)) add(i);
  std::erase_if(families_, [this](const auto& entry) {
    const bool is_small = entry.second.known.size() < (stated_ ? 2 : points_min);
    if (is_small) left_out_ += entry.second.known.size();
    return is_small;
  });
}

void Interpolation::add(std::size_t index) {
  const LatencyPoint& point = points_[index];
  const OpContract* contract = find_contract(point.problem.op);
  auto place = interpolation_place(point.problem);
  const auto estimate_ns = contract == nullptr
                               ? std::nullopt
                               : measured_on_.local_ns(contract->work(point.problem.params));
  if (!place || !estimate_ns || point.ns <= 0) {
    ++left_out_;
    return;
  }
  Family& family = families_[place->group];
  if (family.known.empty()) {
    family.launch_ns = point.ns;
    family.names = std::move(place->names);
    family.lengths = std::move(place->range_lengths);
  }
  family.launch_ns = std::min(family.launch_ns, point.ns);
  family.points.push_back(index);
  family.known.push_back({.at = std::move(place->at),
                          .size = place->free,
                          .ns = point.ns,
                          .estimate_ns = *estimate_ns,
                          .shape = number_of(family.shapes, place->shape),
                          .line = number_of(family.lines, place->line)});
}

const InterpolationFamily& Interpolation::inside(Family& family) const {
  if (!family.inside) {
    family.inside = std::make_unique<InterpolationFamily>(family.known, family.launch_ns, stated_);
  }
  return *family.inside;
}

const Extrapolation* Interpolation::outside(Family& family) const {
  if (family.outside || !solver_) return family.outside.get();
  std::vector<Extrapolation::Point> points;
  const auto chosen =
      spread(family.known.size(), outside_points_max, [](std::size_t) { return true; });
  for (const std::size_t i : chosen) {
    const auto times = resources_.of(points_[family.points[i]].problem);
    if (!times) continue;
    points.push_back({family.known[i].at, *times, family.known[i].ns});
    family.outside_points.push_back(family.points[i]);
  }
  if (points.size() < EfficiencyCurve::samples_min) return nullptr;
  family.outside = std::make_unique<Extrapolation>(std::move(points), family.lengths, solver_);
  return family.outside.get();
}

Interpolation::Family* Interpolation::family_of(const InterpolationPlace& place) const {
  return find_value(families_, place.group);
}

double Interpolation::launch_ns(const Problem& problem) const {
  const auto place = interpolation_place(problem);
  const Family* family = place ? family_of(*place) : nullptr;
  return family == nullptr ? 0 : family->launch_ns;
}

const EfficiencyCurve* Interpolation::curve(const Problem& problem) const {
  const auto place = interpolation_place(problem);
  Family* family = place ? family_of(*place) : nullptr;
  const Extrapolation* beyond = family == nullptr ? nullptr : outside(*family);
  return beyond == nullptr ? nullptr : &beyond->curve();
}

bool Interpolation::is_outside(const Problem& problem) const {
  const auto place = interpolation_place(problem);
  Family* family = place ? family_of(*place) : nullptr;
  if (family == nullptr) return false;
  const auto octaves = Extrapolation::beyond(place->at, inside(*family).kriging(), family->lengths);
  return std::ranges::any_of(octaves, [](double o) { return o > 0; });
}

std::optional<Latency> Interpolation::extrapolated(Family& family, const Problem& problem,
                                                   const InterpolationPlace& place,
                                                   std::span<const double> octaves) const {
  if (std::ranges::max(octaves) > outside_max_octaves + octave_rounding) return std::nullopt;
  const Extrapolation* beyond = outside(family);
  const auto times = resources_.of(problem);
  if (beyond == nullptr || !times) return std::nullopt;
  const auto figures = beyond->at(place.at, *times);
  if (!figures) return std::nullopt;
  std::string which;
  for (const auto d : indices(octaves)) {
    if (octaves[d] > 0) append_item(which, ", ", family.names[d]);
  }
  Latency out{.ns = figures->ns,
              .low_ns = figures->low_ns,
              .high_ns = figures->high_ns,
              .provenance = Provenance::interpolated};
  out.origin = "extrapolated by efficiency curve";
  out.reason = out.origin + " of " + source_ + " (" + beyond->curve().text() + "): " + which +
               " outside of what was measured; " +
               (figures->is_calibrated ? "90 % interval, of held-out sizes"
                                       : "spread, not calibrated so far outside");
  return out;
}

std::optional<Latency> Interpolation::latency(const Problem& problem) const {
  const OpContract* contract = find_contract(problem.op);
  const auto place = interpolation_place(problem);
  if (contract == nullptr || !place) return std::nullopt;
  Family* family = family_of(*place);
  if (family == nullptr) return std::nullopt;
  const auto estimate_ns = measured_on_.local_ns(contract->work(problem.params));
  if (!estimate_ns) return std::nullopt;
  const InterpolationFamily& between = inside(*family);
  const auto octaves = Extrapolation::beyond(place->at, between.kriging(), family->lengths);
  const double beyond = std::ranges::max(octaves);
  if (beyond > 0 && !stated_) return extrapolated(*family, problem, *place, octaves);
  if (beyond > outside_max_octaves + octave_rounding) return std::nullopt;
  const auto figures = between.at({.at = place->at,
                                   .size = place->free,
                                   .estimate_ns = *estimate_ns,
                                   .shape = known_number(family->shapes, place->shape),
                                   .line = known_number(family->lines, place->line),
                                   .beyond_octaves = beyond});
  if (!figures) return std::nullopt;
  Latency out{.ns = figures->ns,
              .low_ns = figures->low_ns,
              .high_ns = figures->high_ns,
              .provenance = Provenance::interpolated};
  out.reason =
      "interpolated between neighbours measured on " + source_ + "; " +
      (stated_ ? figures->is_calibrated ? "90 % interval, of rows that the table leaves out"
                                        : "spread, not calibrated so far from what was measured"
       : !figures->is_calibrated ? "spread, not calibrated: too few points"
       : figures->is_shape_known
           ? "90 % interval, of left-out points"
           : "a shape that was not measured: 90 % interval, of left-out shapes");
  return out;
}

std::vector<Interpolation::Check> Interpolation::check(LeaveOut what, std::size_t count) const {
  std::vector<Check> out;
  std::size_t total = 0;
  for (const auto& [group, family] : families_) total += family.points.size();
  for (auto& [group, family] : families_) {
    const std::size_t share = (count * family.points.size() + total - 1) / total;
    const InterpolationFamily& of = inside(family);
    const auto chosen = what == LeaveOut::shape ? of.unused_shapes(share) : of.unused_points(share);
    for (const std::size_t i : chosen) {
      const InterpolationFamily::Place place = of.place_of(i);
      InterpolationFamily::LeftOut left_out{.point = i};
      if (what == LeaveOut::shape) left_out.shape = place.shape;
      const auto figures = of.at(place, left_out);
      if (!figures) continue;
      out.push_back({&points_[family.points[i]], figures->ns, figures->low_ns, figures->high_ns,
                     figures->is_calibrated});
    }
  }
  return out;
}

std::vector<Interpolation::SizeCheck> Interpolation::check_sizes() const {
  std::vector<SizeCheck> out;
  for (auto& [group, family] : families_) {
    const Extrapolation* beyond = outside(family);
    if (beyond == nullptr) continue;
    for (const auto end : {Extrapolation::End::low, Extrapolation::End::high}) {
      for (const Extrapolation::Check& c : beyond->held_out(0, end)) {
        out.push_back({&points_[family.outside_points[c.point]], c.octaves, c.ns});
      }
    }
  }
  return out;
}

std::vector<std::string> Interpolation::methods() const {
  std::vector<std::string> out;
  for (const auto& [group, family] : families_) {
    if (!family.inside) continue;
    out.push_back(group + ": " + family.inside->method() +
                  (family.outside ? "; " + family.outside->curve().text() : ""));
  }
  return out;
}

}  // namespace halmark
