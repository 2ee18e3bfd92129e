// Which forecast tables there are: configs/forecasts/manifest.toml, written by scripts/forecasts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields/fields.hpp"
#include "latency/interpolation/interpolation_family.hpp"

namespace halmark {

// Rows of one implementation. Errors are relative: of rows that were left out, as what was kept
// predicts them.
struct ForecastSeries {
  std::string name;                   // "bfloat16 torch.nn.functional.linear VLLM"
  std::size_t of = 0, rows = 0;       // that the table has, that were kept
  std::optional<double> median, p90;  // nothing where all were kept
  InterpolationFamily::StatedErrors errors;
};
template <class V, Of<ForecastSeries> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("rows_of_table", m.of);
  v("rows", m.rows);
  v("error_median", m.median);
  v("error_p90", m.p90);
}

struct ForecastKind {
  std::string name;             // of a layout: "gemm"
  std::string engine, release;  // that it was measured on: others than the file's where it has none
  std::size_t rows_of_table = 0, rows = 0;
  std::vector<ForecastSeries> series;

  std::string source() const { return "forecast " + engine + ' ' + release; }
};
template <class V, Of<ForecastKind> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("engine", m.engine);
  v("release", m.release);
  v("rows_of_table", m.rows_of_table);
  v("rows", m.rows);
  v("series", m.series);
}

// The tables of one engine on one device.
struct ForecastFile {
  std::string device, engine, release;
  std::string path, sha256;
  std::size_t rows = 0, bytes = 0;
  std::string source;  // package that they are from
  std::vector<ForecastKind> kinds;
};
template <class V, Of<ForecastFile> M>
void fields(V& v, M& m) {
  v("device", m.device);
  v("engine", m.engine);
  v("release", m.release);
  v("file", m.path);
  v("sha256", m.sha256);
  v("rows", m.rows);
  v("bytes", m.bytes);
  v("source", m.source);
  v("kinds", m.kinds);
}

// Of all manifests of the folders, those of earlier ones first. `device`: of this one alone, whose
// part of a manifest is read alone; "" = of all. Throws Error (exit 2) for a damaged manifest.
std::vector<ForecastFile> forecast_files(const std::vector<std::filesystem::path>& folders,
                                         std::string_view device = {});

// That of the engine, else of vllm, else the first; null where there are no files.
const ForecastFile* forecast_of(std::span<const ForecastFile> files, std::string_view engine);

}  // namespace halmark
