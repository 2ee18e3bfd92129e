// The words of the ops as columns of one Parquet file, a row group per op, and the manifest that
// states it: both as forecast_files and ForecastSource read them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/digest.hpp"
#include "kernels/contract.hpp"
#include "latency/imported/table_layout.hpp"
#include "onboard/fit.hpp"
#include "parquet/parquet_writer.hpp"

namespace halmark::onboard {
namespace {

bool is_column(const ParamSpec& spec) { return !spec.derived; }

// Of every op, each parameter's name once; one that is a type for some op is text.
std::vector<ParquetColumn> columns_of(std::span<const FittedKind> kinds) {
  std::vector<ParquetColumn> out = {{"kind", ParquetKind::text, false},
                                    {"kernel_source", ParquetKind::text, false},
                                    {"latency", ParquetKind::real, false}};
  for (const FittedKind& kind : kinds) {
    for (const ParamSpec& spec : find_contract(kind.op)->params()) {
      const bool is_known = std::ranges::any_of(
          out, [&](const ParquetColumn& column) { return column.name == op_column(spec.name); });
      if (!is_column(spec) || is_known) continue;
      out.push_back({op_column(spec.name),
                     spec.kind == ParamKind::dtype ? ParquetKind::text : ParquetKind::integer,
                     true});
    }
  }
  return out;
}

// Four digits say more of a time than it repeats to.
double rounded_ms(double ns) {
  const double scale = std::pow(10.0, 4 - std::ceil(std::log10(ns)));
  return std::round(ns * scale) / scale * 1e-6;
}

ParquetCell cell_of(const ParquetColumn& column, const Problem& problem) {
  for (const ParamSpec& spec : find_contract(problem.op)->params()) {
    if (!is_column(spec) || op_column(spec.name) != column.name) continue;
    if (column.kind == ParquetKind::text) return dtype_name(problem.params.dtype(spec.name));
    return problem.params.at(spec.name);
  }
  return std::monostate{};
}

std::string parquet_of(std::span<const FittedKind> kinds, const std::string& kernel_source) {
  const std::vector<ParquetColumn> columns = columns_of(kinds);
  std::string out;
  ParquetWriter writer(columns, [&](std::string_view bytes) { out += bytes; });
  for (const FittedKind& kind : kinds) {
    for (const LatencyPoint& point : kind.points) {
      std::vector<ParquetCell> row = {std::string_view(kind.kind.name),
                                      std::string_view(kernel_source), rounded_ms(point.ns)};
      for (std::size_t c = row.size(); c < columns.size(); ++c) {
        row.push_back(cell_of(columns[c], point.problem));
      }
      writer.add(row);
    }
    writer.end_group();
  }
  writer.finish();
  return out;
}

// As a manifest has it: errors of what is predicted, 5th and 95th percentile.
std::string ends_text(const InterpolationFamily::StatedErrors::Ratios& ratios) {
  constexpr double least = -0.98;  // a manifest takes no less: fifty times as long
  return fmt::format("low = {:.4f}, high = {:.4f}", std::max(least, 1 / ratios.high - 1),
                     1 / ratios.low - 1);
}

std::string series_text(const ForecastSeries& series) {
  std::string out =
      fmt::format("  {{ name = \"{}\", of = {}, rows = {}, ", series.name, series.of, series.rows);
  if (series.median)
    out += fmt::format("median = {:.4f}, p90 = {:.4f}, ", *series.median, *series.p90);
  return out + fmt::format("{}, off_line = {{ {} }} }},\n", ends_text(series.errors.of_points),
                           ends_text(series.errors.of_shapes));
}

}  // namespace

Tables tables(std::span<const FittedKind> kinds, const TablesOf& of) {
  Tables out{.parquet = parquet_of(kinds, of.backend), .manifest = {}};
  std::size_t rows = 0;
  for (const FittedKind& kind : kinds) rows += kind.points.size();
  out.manifest = fmt::format(
      "# Written by halmark onboard; configs/forecasts/README.md says what the figures are.\n"
      "source = \"{}\"\n\n[[file]]\npath = \"{}\"\ndevice = \"{}\"\nengine = \"{}\"\n"
      "release = \"{}\"\nsha256 = \"{}\"\nbytes = {}\nrows = {}\n",
      of.source, of.file, of.id, of.backend, of.release, sha256_of(out.parquet), out.parquet.size(),
      rows);
  for (const FittedKind& kind : kinds) {
    out.manifest += fmt::format(
        "[[file.kind]]\nname = \"{}\"\nengine = \"{}\"\nrelease = \"{}\"\nrows_of_table = {}\n"
        "rows = {}\nseries = [\n",
        kind.kind.name, of.backend, of.release, kind.points.size(), kind.points.size());
    for (const ForecastSeries& series : kind.kind.series) out.manifest += series_text(series);
    out.manifest += "]\n";
  }
  return out;
}

}  // namespace halmark::onboard
