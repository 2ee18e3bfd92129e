// A third-party table of kernel times as points: what was measured elsewhere, by whom, in ns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "latency/imported/csv_table.hpp"
#include "latency/imported/table_layout.hpp"
#include "latency/latency_point.hpp"

namespace halmark {

// Times of one implementation.
struct KernelSeries {
  std::string name;  // "moe_torch_flow_cutlass bfloat16"; "" when the table has one
  std::vector<LatencyPoint> points;
};

struct ImportedTable {
  std::string name;  // file
  std::vector<KernelSeries> series;
  std::map<std::string, std::size_t> skipped;  // reason -> rows
  std::size_t rows = 0;                        // read, skipped ones included
};

// Throws Error (exit 2) with file:line for a field that is no number, a time that is not positive
// and finite, a problem that its contract refuses. Rows of a data type or distribution that no
// contract knows are skipped and counted.
ImportedTable kernel_table(const CsvTable& table, const TableLayout& layout);

// `layout_path` empty: the built-in layout that fits. Throws Error (exit 2) when none does.
ImportedTable read_kernel_table(const std::string& path, const std::string& layout_path = {});

}  // namespace halmark
