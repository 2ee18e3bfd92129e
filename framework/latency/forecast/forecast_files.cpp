#include "latency/forecast/forecast_files.hpp"

#include <algorithm>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

constexpr std::string_view file_head = "[[file]]";
constexpr std::string_view preferred_engine = "vllm";
constexpr std::int64_t rows_max = 1'000'000'000;

std::size_t count(const TomlTable& table, std::string_view key) {
  return static_cast<std::size_t>(table.integer(key, 0, rows_max));
}

std::optional<double> number_if(const TomlTable& table, std::string_view key) {
  return table.has(key) ? std::optional(table.number(key, 0, 1e6)) : std::nullopt;
}

// Predictions are 1 + error times the truth, so the truth is its inverse of them.
InterpolationFamily::StatedErrors::Ratios ratios(const TomlTable& table) {
  return {1 / (1 + table.number_or("high", -0.99, 1e6, 0)),
          1 / (1 + table.number_or("low", -0.99, 1e6, 0))};
}

ForecastSeries read_series(const TomlTable& table) {
  ForecastSeries out{.name = table.string("name"),
                     .of = count(table, "of"),
                     .rows = count(table, "rows"),
                     .median = number_if(table, "median"),
                     .p90 = number_if(table, "p90")};
  out.errors = {ratios(table), ratios(table)};
  if (const auto off_line = table.table("off_line")) out.errors.of_shapes = ratios(*off_line);
  return out;
}

ForecastFile read_file(const TomlTable& table, const std::filesystem::path& folder) {
  ForecastFile out{.device = table.string("device"),
                   .engine = table.string("engine"),
                   .release = table.string("release"),
                   .path = (folder / table.string("path")).string(),
                   .sha256 = table.string("sha256"),
                   .rows = count(table, "rows"),
                   .bytes = count(table, "bytes")};
  for (const TomlTable& of : table.tables("kind")) {
    ForecastKind& kind = out.kinds.emplace_back();
    kind.name = of.string("name");
    kind.engine = of.string("engine");
    kind.release = of.string("release");
    kind.rows_of_table = count(of, "rows_of_table");
    kind.rows = count(of, "rows");
    for (const TomlTable& series : of.tables("series")) kind.series.push_back(read_series(series));
  }
  return out;
}

// A manifest of all devices takes longer to read than the tables of one: its files are read apart.
void read_manifest(const std::filesystem::path& folder, std::string_view device,
                   std::vector<ForecastFile>& out) {
  const std::string path = (folder / "manifest.toml").string();
  const std::string text = read_input(path, toml_input);
  const std::string wanted = "device = \"" + std::string(device) + '"';
  std::string source;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.size(), text.find(file_head, begin + 1));
    const std::string part = text.substr(begin, end - begin);
    begin = end;
    if (part.starts_with(file_head) && !device.empty() && part.find(wanted) == part.npos) continue;
    const TomlTable table = TomlTable::parse(part, path);
    if (!part.starts_with(file_head)) source = table.string_or("source", "");
    for (const TomlTable& file : table.tables("file")) {
      out.push_back(read_file(file, folder));
      out.back().source = source;
    }
  }
}

}  // namespace

std::vector<ForecastFile> forecast_files(const std::vector<std::filesystem::path>& folders,
                                         std::string_view device) {
  std::vector<ForecastFile> out;
  for (const std::filesystem::path& folder : folders) {
    std::error_code absent;
    if (std::filesystem::exists(folder / "manifest.toml", absent)) {
      read_manifest(folder, device, out);
    }
  }
  return out;
}

const ForecastFile* forecast_of(std::span<const ForecastFile> files, std::string_view engine) {
  for (const std::string_view wanted : {engine, preferred_engine}) {
    const auto* found = find_or_null(files, wanted, &ForecastFile::engine);
    if (found) return found;
  }
  return files.empty() ? nullptr : &files.front();
}

}  // namespace halmark
