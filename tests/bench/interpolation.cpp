// How well the time of a kernel follows from its neighbours, on third-party tables: every checked
// point is predicted without itself, or without its whole shape, and was not used to calibrate.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "figures.hpp"
#include "latency/imported/kernel_table.hpp"
#include "latency/interpolation.hpp"
#include "plan/device_file.hpp"

namespace halmark::bench {
namespace {

using Leave = Interpolation::LeaveOut;

constexpr std::size_t checks = 3000;  // per series and question

// Percent; 0 = no target.
struct Targets {
  double median = 0, p90 = 0, unseen_median = 0;
};

Targets targets_of(const std::string& layout) {
  if (layout == "gemm") return {2.5, 10, 3};
  if (layout == "context_attention" || layout == "generation_attention") return {.median = 2};
  return {};
}

// The device that a table's name says it is of.
std::optional<std::string> device_of(const std::string& name) {
  static const std::vector<std::pair<std::string, std::string>> known = {
      {"h100", "h100-sxm"}, {"h200", "h200"},     {"h20_", "h20"}, {"b200", "b200"},
      {"a100", "a100"},     {"mi300x", "mi300x"}, {"l4_", "l4"}};
  for (const auto& [word, id] : known) {
    if (name.find(word) != std::string::npos) return id;
  }
  return std::nullopt;
}

struct Errors {
  std::vector<double> percent;
  double covered = 0;
};

Errors errors_of(const std::vector<Interpolation::Check>& checked) {
  Errors out;
  for (const Interpolation::Check& c : checked) {
    const double ns = c.point->ns;
    out.percent.push_back(100 * std::abs(c.ns / ns - 1));
    out.covered += c.low_ns <= ns && ns <= c.high_ns ? 1 : 0;
  }
  out.covered *= 100 / static_cast<double>(checked.size());
  std::ranges::sort(out.percent);
  return out;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void figure(Figures& figures, const std::string& name, double value, double limit) {
  limit > 0 ? figures.at_most(name, value, "%", limit) : figures.report(name, value, "%");
}

// Fewer checks than this leave the share of covered ones uncertain by more than its target is wide.
constexpr std::size_t coverage_checks_min = 1000;

void coverage(Figures& figures, const std::string& name, double covered, std::size_t checked) {
  if (checked < coverage_checks_min) {
    figures.report(name + "_covered", covered, "%");
    return;
  }
  figures.at_least(name + "_covered_low_end", covered, "%", 88);
  figures.at_most(name + "_covered_high_end", covered, "%", 92);
}

// As the columns of the tables have it.
std::string named(const KernelSeries& series) {
  const SeriesIdentity& of = series.identity;
  const std::string dtype = of.dtype == "f8_e4m3fn" ? of.block.empty() ? "fp8" : "fp8_block"
                            : of.dtype == "bf16"    ? "bfloat16"
                                                    : of.dtype;
  std::string out;
  for (const std::string& word : {of.kernel_source, dtype, series.part}) {
    if (!word.empty()) out += '_' + word;
  }
  return of.op == "attention" ? "" : out;
}

// Attention of several types teaches together, as it does in a search.
void merge_attention(ImportedTable& table) {
  std::vector<KernelSeries> out;
  for (KernelSeries& series : table.series) {
    if (out.empty() || series.identity.op != "attention") {
      out.push_back(std::move(series));
      continue;
    }
    for (const LatencyPoint& point : series.points.all()) out.front().points.add(point);
  }
  table.series = std::move(out);
}

void check_series(Figures& figures, const std::string& table, const Targets& targets,
                  const KernelSeries& series, const Device& device) {
  std::string name = "interpolation_" + table + named(series);
  std::ranges::replace(name, ' ', '_');
  const Interpolation of(series.points.all(), device, {});
  if (of.check(Leave::shape, 1).empty()) {
    note(name + ": too few points");
    return;
  }
  const Errors alone = errors_of(of.check(Leave::point, checks));
  figure(figures, name + "_median", at_share(alone.percent, 0.5), targets.median);
  figure(figures, name + "_p90", at_share(alone.percent, 0.9), targets.p90);
  coverage(figures, name, alone.covered, alone.percent.size());
  const Errors unseen = errors_of(of.check(Leave::shape, checks));
  figure(figures, name + "_unseen_shape_median", at_share(unseen.percent, 0.5),
         targets.unseen_median);
  figure(figures, name + "_unseen_shape_p90", at_share(unseen.percent, 0.9), 0);
  figures.report(name + "_unseen_shape_covered", unseen.covered, "%");
}

// Both halves of a fused row carry the same time: one is enough.
bool is_repeated(const KernelSeries& series) { return series.part == "down"; }

void check_table(Figures& figures, const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::string stem = name.substr(0, name.find(".csv"));
  const CsvTable csv = CsvTable::read(file.string());
  const TableLayouts layouts = known_layouts(csv);
  const auto id = device_of(name);
  if (layouts.empty() || !id) {
    note(name + ": no known " + (layouts.empty() ? "layout" : "device in its name"));
    return;
  }
  ImportedTable read = kernel_table(csv, layouts);
  merge_attention(read);
  for (const auto& [reason, rows] : read.skipped) {
    note(name + ": " + std::to_string(rows) + " rows skipped: " + reason);
  }
  const Device device = read_device(HALMARK_SOURCE_DIR "/configs/devices/" + *id + ".toml");
  for (const KernelSeries& series : read.series) {
    if (!is_repeated(series)) {
      check_series(figures, stem, targets_of(layouts.front().name), series, device);
    }
  }
}

void measure(Figures& figures) {
  note(
      "interpolation: other methods on the bf16 / fp8 / fp8_block rows of gemm_h100: leave one m "
      "out, linear in m: median 2.0 / 1.4 / 2.9, p90 11.6 / 5.7 / 32.4; unseen (n, k), "
      "utilisation of two nearest shapes: median 2.5 / 1.8 / 2.1, p90 10.0 / 9.5 / 8.9 (percent)");
  const char* given = std::getenv("HALMARK_SHARED_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(given != nullptr ? given : HALMARK_SHARED_DATA) / "kernels";
  if (!std::filesystem::exists(folder)) {
    figures.absent("interpolation", "skipped", "%", "", "data not found: " + folder.string());
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().find(".csv") != std::string::npos) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) check_table(figures, file);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
