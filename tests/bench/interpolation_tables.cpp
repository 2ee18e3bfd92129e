#include "interpolation_tables.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/text/error.hpp"
#include "figures.hpp"
#include "latency/imported/kernel_table.hpp"
#include "plan/device/device_file.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

// The device that a table's path says it is of; "gb200" goes before "b200".
std::optional<std::string> device_of(const std::string& path) {
  static const std::vector<std::pair<std::string, std::string>> known = {
      {"gb200", "gb200"},   {"b200", "b200"}, {"b300", "b300"}, {"h200", "h200"},
      {"h100", "h100-sxm"}, {"h20_", "h20"},  {"a100", "a100"}, {"mi300x", "mi300x"},
      {"l40s", "l40s"},     {"l4_", "l4"}};
  for (const auto& [word, id] : known) {
    if (path.find(word) != std::string::npos) return id;
  }
  return std::nullopt;
}

// "h100_sxm/gemm/trtllm/1.3.0rc20/gemm_perf.parquet" is "h100_sxm_trtllm_gemm".
std::string name_of(const std::filesystem::path& file) {
  std::string stem = file.filename().string();
  if (file.extension() != ".parquet") return stem.substr(0, stem.find(".csv"));
  stem = stem.substr(0, stem.find("_perf"));
  const auto version = file.parent_path(), engine = version.parent_path();
  const auto system = engine.parent_path().parent_path();
  return system.filename().string() + '_' + engine.filename().string() + '_' + stem;
}

std::string engine_of(const std::filesystem::path& file) {
  if (file.extension() != ".parquet") return {};
  return file.parent_path().parent_path().filename().string();
}

// As the columns of the tables have it.
std::string dtype_of(const SeriesIdentity& of) {
  if (of.dtype == "f8_e4m3fn") return of.block.empty() ? "fp8" : "fp8_block";
  return of.dtype == "bf16" ? "bfloat16" : of.dtype;
}

std::string joined(std::initializer_list<std::string> words, char between) {
  std::string out;
  for (const std::string& word : words) {
    if (!word.empty()) out += (out.empty() ? "" : std::string(1, between)) + word;
  }
  return out;
}

// Attention of several types teaches together, as it does in a search.
void merge_attention(ImportedTable& table) {
  std::vector<KernelSeries> out;
  for (KernelSeries& series : table.series) {
    if (series.identity.op == "attention") series.identity.dtype.clear();
    const auto same = std::ranges::find(out, series.identity, &KernelSeries::identity);
    if (series.identity.op != "attention" || same == out.end()) {
      out.push_back(std::move(series));
      continue;
    }
    for (const LatencyPoint& point : series.points.all()) same->points.add(point);
  }
  table.series = std::move(out);
}

// Both halves of a fused row carry the same time: one is enough.
bool is_repeated(const KernelSeries& series) { return series.part == "down"; }

}  // namespace

std::vector<std::filesystem::path> table_files(const std::filesystem::path& data) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "kernels")) {
    const std::string name = entry.path().filename().string();
    if (name.find(".csv") != std::string::npos || name.ends_with(".parquet")) {
      out.push_back(entry.path());
    }
  }
  std::ranges::sort(out);
  return out;
}

std::optional<MeasuredTable> measured_table(const std::filesystem::path& file,
                                            const std::filesystem::path& data) {
  MeasuredTable out{.name = name_of(file), .engine = engine_of(file), .device = {}, .series = {}};
  const auto id = device_of(std::filesystem::relative(file, data).string());
  if (!id) {
    note(out.name + ": no known device in its path");
    return std::nullopt;
  }
  out.device = read_device(test::in_source("/configs/devices/") + *id + ".toml");
  ImportedTable read;
  std::string layout;
  try {
    const CsvTable table = CsvTable::read(file.string());
    const TableLayouts layouts = known_layouts(table);
    if (layouts.empty()) throw Error(ExitCode::refused, "no known layout");
    // Layouts of one set of columns are told apart by what the rows are of.
    const auto named = std::ranges::find_if(
        layouts, [&](const TableLayout& l) { return out.name.find(l.name) != std::string::npos; });
    layout = named == layouts.end() ? layouts.front().name : named->name;
    read = kernel_table(table, layouts);
  } catch (const Error& error) {
    note(out.name + ": " + error.what());
    return std::nullopt;
  }
  for (const auto& [reason, rows] : read.skipped) {
    note(out.name + ": " + std::to_string(rows) + " rows skipped: " + reason);
  }
  merge_attention(read);
  std::set<std::string> names;
  for (const KernelSeries& series : read.series) {
    if (is_repeated(series)) continue;
    const SeriesIdentity& of = series.identity;
    const std::string op = of.op == layout ? "" : of.op;
    TableSeries to{.family = layout, .dtype = dtype_of(of)};
    to.name =
        joined({"interpolation", out.name, op == "attention" || op == "grouped_gemm" ? "" : op,
                of.kernel_source, to.dtype, of.backend, of.other, series.part},
               '_');
    std::ranges::replace_if(
        to.name, [](char c) { return c == ' ' || c == '/'; }, '_');
    for (int again = 2; !names.insert(to.name).second; ++again) to.name += std::to_string(again);
    to.points = series.points.all();
    out.series.push_back(std::move(to));
  }
  return out;
}

}  // namespace halmark::bench
