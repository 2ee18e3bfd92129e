// A third-party table of kernel times as points: what was measured elsewhere, by whom, in ns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "latency/imported/csv_table.hpp"
#include "latency/imported/latency_points.hpp"
#include "latency/imported/series.hpp"
#include "latency/imported/table_layout.hpp"

namespace halmark {

// Times of one implementation.
struct KernelSeries {
  SeriesIdentity identity;
  std::string part;  // of a fused kernel, whose time is shared out: "up", "down"
  LatencyPoints points;
};

struct ImportedTable {
  std::string name;                            // file
  std::string device;                          // that it says it is of; "" = it does not
  std::vector<KernelSeries> series;            // as they appear, those without blocks first
  std::map<std::string, std::size_t> skipped;  // reason -> rows
  std::size_t rows = 0;                        // read, skipped ones included
  std::map<std::uint32_t, double> power_w;     // by line, of a text with a column `power`
};

// Throws Error (exit 2) with file:line for a field that is no number, a time that no kernel takes,
// a problem that its contract refuses, a column that is there twice. Rows of a data type or
// distribution that no contract knows, and rows that no layout is for, are skipped and counted.
ImportedTable kernel_table(const CsvTable& table, const TableLayouts& layouts);

// `layout_path` empty: the built-in layouts that fit. Throws Error (exit 2) when none does.
ImportedTable read_kernel_table(const std::string& path, const std::string& layout_path = {});

}  // namespace halmark
