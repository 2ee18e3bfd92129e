// How well the time of a kernel follows from its neighbours, on third-party tables: every checked
// point is predicted without itself, or without its whole shape, and was not used to calibrate;
// sizes held out by efficiency curves; whole devices from the others.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "figures.hpp"
#include "interpolation_tables.hpp"
#include "latency/interpolation/device_transfer.hpp"
#include "latency/interpolation/interpolation.hpp"
#include "latency/interpolation/line_interpolation.hpp"
#include "tests/shared_data.hpp"
#include "tune/sources/curve_solver.hpp"

namespace halmark::bench {
namespace {

using Leave = Interpolation::LeaveOut;

constexpr std::size_t checks = 2000;  // per series and question

// Percent; 0 = no target.
struct Targets {
  double median = 0, p90 = 0, unseen_median = 0;
};

Targets targets_of(const TableSeries& series) {
  if (series.family == "gemm") return {2.5, 10, 3};
  if (series.family.ends_with("_attention")) return {.median = 2};
  if (series.family == "moe" && series.dtype == "fp8_block") return {.p90 = 10};
  return {};
}

struct Errors {
  std::vector<double> percent;  // ascending
  double covered = 0;           // percent
  double median() const { return at(0.5); }
  double p90() const { return at(0.9); }
  double at(double share) const {
    return percent[static_cast<std::size_t>(share * static_cast<double>(percent.size() - 1))];
  }
};

// Of anything with a point, a time and, where it has one, an interval.
template <class Checks>
Errors errors_of(const Checks& checked) {
  Errors out;
  for (const auto& c : checked) {
    const double ns = c.point->ns;
    out.percent.push_back(100 * std::abs(c.ns / ns - 1));
    if constexpr (requires { c.low_ns; }) out.covered += c.low_ns <= ns && ns <= c.high_ns ? 1 : 0;
  }
  out.covered *= 100 / static_cast<double>(checked.size());
  std::ranges::sort(out.percent);
  return out;
}

void figure(Figures& figures, const std::string& name, double value, double limit) {
  limit > 0 ? figures.at_most(name, value, "%", limit) : figures.report(name, value, "%");
}

// Fewer checks than this leave the share of covered ones uncertain by more than its target is wide.
constexpr std::size_t coverage_checks_min = 1000;

void coverage(Figures& figures, const std::string& name, const Errors& errors, double low,
              double high) {
  if (errors.percent.size() < coverage_checks_min) {
    figures.report(name + "_covered", errors.covered, "%");
    return;
  }
  figures.at_least(name + "_covered_low_end", errors.covered, "%", low);
  figures.at_most(name + "_covered_high_end", errors.covered, "%", high);
}

// The same left-out points on straight lines between their neighbours along the free size, where
// they have any, by both.
void against_lines(Figures& figures, const TableSeries& series,
                   const std::vector<Interpolation::Check>& checked) {
  std::map<std::string, std::int32_t> lines;
  std::vector<LineInterpolation::Point> points;
  std::map<std::string, std::size_t> places;
  for (const LatencyPoint& point : series.points) {
    const auto place = interpolation_place(point.problem);
    if (!place) return;
    const auto line = lines.try_emplace(place->group + place->line, lines.size()).first->second;
    places.try_emplace(point.problem.text(), points.size());
    points.push_back({line, place->free, point.ns});
  }
  const LineInterpolation linear(points);
  std::vector<Interpolation::Check> ours, straight;
  for (const Interpolation::Check& c : checked) {
    const std::size_t index = places.at(c.point->problem.text());
    const auto ns = linear.at(points[index].line, points[index].size, index);
    if (!ns) continue;
    ours.push_back(c);
    straight.push_back({c.point, ns->ns});
  }
  if (ours.empty()) return;
  const Errors a = errors_of(ours), b = errors_of(straight);
  figures.report(series.name + "_linear_median", b.median(), "%");
  figures.report(series.name + "_linear_p90", b.p90(), "%");
  const bool is_target = series.family == "moe" && series.dtype != "fp8_block";
  for (const auto& [what, ratio] :
       {std::pair("median", a.median() / b.median()), std::pair("p90", a.p90() / b.p90())}) {
    const std::string name = series.name + "_over_linear_" + what;
    is_target ? figures.at_most(name, std::round(1e3 * ratio) / 1e3, "x", 1)
              : figures.report(name, ratio, "x");
  }
}

void check_series(Figures& figures, const TableSeries& series, const Device& device) {
  const Interpolation of(series.points, device, {}, tune::curve_solver());
  const auto alone_checks = of.check(Leave::point, checks);
  const auto unseen_checks = of.check(Leave::shape, checks);
  if (alone_checks.empty() || unseen_checks.empty()) {
    note(series.name + ": too few points");
    return;
  }
  const Targets targets = targets_of(series);
  const Errors alone = errors_of(alone_checks), unseen = errors_of(unseen_checks);
  figure(figures, series.name + "_median", alone.median(), targets.median);
  figure(figures, series.name + "_p90", alone.p90(), targets.p90);
  coverage(figures, series.name, alone, 88, 92);
  figure(figures, series.name + "_unseen_shape_median", unseen.median(), targets.unseen_median);
  figure(figures, series.name + "_unseen_shape_p90", unseen.p90(), 0);
  coverage(figures, series.name + "_unseen_shape", unseen, 85, 93);
  against_lines(figures, series, alone_checks);
  const auto sizes = of.check_sizes();
  if (!sizes.empty()) {
    const Errors held_out = errors_of(sizes);
    figures.report(series.name + "_held_out_sizes_median", held_out.median(), "%");
    figures.report(series.name + "_held_out_sizes_p90", held_out.p90(), "%");
  }
  for (const std::string& line : of.methods()) note(series.name + ": " + line);
}

// Every device from the others, family by family.
struct KnownOn {
  Device device;
  std::vector<const TableSeries*> series;
};

void check_device(Figures& figures, const std::string& family, const KnownOn& left_out,
                  const std::vector<KnownOn>& all) {
  DeviceTransfer transfer({}, tune::curve_solver());
  for (const KnownOn& other : all) {
    if (other.device.id == left_out.device.id) continue;
    for (const TableSeries* series : other.series) transfer.add(series->points, other.device);
  }
  const ResourceRates rates(left_out.device);
  std::vector<Interpolation::Check> calibrated, others;
  for (const TableSeries* series : left_out.series) {
    const std::size_t step = series->points.size() / checks + 1;
    for (std::size_t i = 0; i < series->points.size(); i += step) {
      const LatencyPoint& point = series->points[i];
      const auto figure = transfer.at(point.problem, rates);
      if (!figure) continue;
      (figure->is_calibrated ? calibrated : others)
          .push_back({&point, figure->ns, figure->low_ns, figure->high_ns, figure->is_calibrated});
    }
  }
  const std::string name = "transfer_" + family + "_to_" + left_out.device.id;
  if (!calibrated.empty()) {
    const Errors errors = errors_of(calibrated);
    figures.report(name + "_median", errors.median(), "%");
    figures.report(name + "_p90", errors.p90(), "%");
    coverage(figures, name, errors, 80, 95);
  }
  if (!others.empty()) {
    const Errors errors = errors_of(others);
    figures.report(name + "_uncalibrated_median", errors.median(), "%");
    figures.report(name + "_uncalibrated_covered", errors.covered, "%");
  }
}

void check_devices(Figures& figures, const std::vector<MeasuredTable>& tables) {
  std::map<std::string, std::vector<KnownOn>> families;
  for (const MeasuredTable& table : tables) {
    // One engine on all devices: another has other kernels. NCCL is one everywhere.
    if (table.engine != "trtllm" && table.engine != "nccl") continue;
    for (const TableSeries& series : table.series) {
      std::vector<KnownOn>& known = families[series.family];
      auto on =
          std::ranges::find(known, table.device.id, [](const KnownOn& k) { return k.device.id; });
      if (on == known.end()) on = known.insert(on, {table.device, {}});
      on->series.push_back(&series);
    }
  }
  for (const auto& [family, known] : families) {
    if (known.size() < 2) continue;
    for (const KnownOn& left_out : known) check_device(figures, family, left_out, known);
  }
}

void measure(Figures& figures) {
  note(
      "interpolation: other methods on the bf16 / fp8 / fp8_block rows of gemm_h100: leave one m "
      "out, linear in m: median 2.0 / 1.4 / 2.9, p90 11.6 / 5.7 / 32.4; unseen (n, k), "
      "utilisation of two nearest shapes: median 2.5 / 1.8 / 2.1, p90 10.0 / 9.5 / 8.9 (percent)");
  note(
      "transfer: its two exponents were chosen on gemm, moe and nccl of A100, H100 and L40S, and "
      "on "
      "no attention, mla_bmm or custom_allreduce. Methods and reaches are chosen per series by the "
      "left-out points of its calibrating third; figures are of the other two");
  const std::filesystem::path data = test::shared_data();
  if (!std::filesystem::exists(data / "kernels")) {
    figures.absent("interpolation", "skipped", "%", "", "data not found: " + data.string());
    return;
  }
  const char* only = std::getenv("HALMARK_BENCH_TABLES");
  std::vector<MeasuredTable> tables;
  for (const std::filesystem::path& file : table_files(data)) {
    if (only != nullptr && file.string().find(only) == std::string::npos) continue;
    auto table = measured_table(file, data);
    if (!table) continue;
    for (const TableSeries& series : table->series) check_series(figures, series, table->device);
    tables.push_back(*std::move(table));
  }
  check_devices(figures, tables);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
