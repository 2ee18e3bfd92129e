// Formats of other tools: pure folds over rows, the same bytes for the same rows.
#pragma once

#include <string>
#include <vector>

#include "export/exchange/metric_rows.hpp"
#include "export/text_file.hpp"

namespace halmark::exports {

// "gbench", "gha", "bmf", "csv", "prometheus", "parquet", "otlp", "perfetto", "optuna".
const std::vector<std::string>& exchange_names();

// Throws Error (exit 2) for another name, and where there is no row.
std::vector<TextFile> exchange_files(const std::string& format, const MetricTable& table);

// Google Benchmark JSON: one row per case, for compare.py and what reads its rows as series.
std::string gbench_text(const MetricTable& table);
// github-action-benchmark: an array of what is to become smaller, or larger.
std::string gha_text(const MetricTable& table, bool is_bigger_better);
// Bencher Metric Format: latency with the confidence interval of the figure.
std::string bmf_text(const MetricTable& table);
std::string metrics_csv(const MetricTable& table);
// Prometheus text format for a textfile collector: base units, no timestamps.
std::string prometheus_text(const MetricTable& table);
std::string metrics_parquet(const MetricTable& table);
// OTLP metrics in JSON, a gauge for each metric and end of its interval. Throws Error (exit 2)
// where no time is stored.
std::string otlp_text(const MetricTable& table);
// The table's timeline as a trace of Perfetto: slices with begin and end in ns, from 0 on.
std::string perfetto_trace(const MetricTable& table);

}  // namespace halmark::exports
