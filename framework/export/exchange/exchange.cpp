#include "export/exchange/exchange.hpp"

#include <algorithm>
#include <array>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "core/text/units.hpp"
#include "parquet/parquet_writer.hpp"
#include "report/csv_rows.hpp"

namespace halmark::exports {
namespace {

struct Format {
  const char* name;
  std::vector<TextFile> (*files)(const MetricTable&);
};

const std::array<Format, 9> formats = {{
    {"gbench",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"gbench.json", gbench_text(t)}};
     }},
    {"gha",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"gha-smaller.json", gha_text(t, false)},
                                    {"gha-bigger.json", gha_text(t, true)}};
     }},
    {"bmf",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"bmf.json", bmf_text(t)}};
     }},
    {"csv",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"metrics.csv", metrics_csv(t)}};
     }},
    {"prometheus",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"halmark.prom", prometheus_text(t)}};
     }},
    {"parquet",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"metrics.parquet", metrics_parquet(t)}};
     }},
    {"otlp",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"otlp.json", otlp_text(t)}};
     }},
    {"perfetto",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"halmark.pftrace", perfetto_trace(t)}};
     }},
    {"optuna",
     [](const MetricTable& t) {
       return std::vector<TextFile>{{"study.log", t.study()}};
     }},
}};

// The one that a tool with one time per row is shown.
const Metric* time_of(const MetricRow& row) {
  for (const char* name : {"duration_ns", "latency_ns", "request_latency_ns"}) {
    const auto* it = find_or_null(row.metrics, name, &Metric::name);
    if (it) return it;
  }
  return nullptr;
}

std::string interval_text(const Metric& m) {
  if (!m.low || !m.high || m.value <= 0) return {};
  return "± " + number_text((*m.high - *m.low) / 2 / m.value * 100, 3) + " %";
}

std::string metric_unit(const std::string& name) {
  for (const auto& [end, unit] : {std::pair{"_ns", "ns"},
                                  {"_bytes", "bytes"},
                                  {"_ratio", "1"},
                                  {"_j_per_token", "J/token"},
                                  {"bytes_per_s", "bytes/s"},
                                  {"flops_per_s", "FLOP/s"},
                                  {"tokens_per_s", "tokens/s"},
                                  {"_per_device", "tokens/s"},
                                  {"_tokens", "USD/M tokens"}}) {
    if (name.ends_with(end)) return unit;
  }
  return "1";
}

// Prometheus wants base units: seconds, bytes, ratios.
std::pair<std::string, double> base_unit(const Metric& m) {
  if (m.name.ends_with("_ns"))
    return {m.name.substr(0, m.name.size() - 3) + "_seconds", m.value / ns_per_s};
  if (m.name.ends_with("_per_s")) return {m.name.substr(0, m.name.size() - 2) + "_second", m.value};
  return {m.name, m.value};
}

std::string label_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

}  // namespace

const std::vector<std::string>& exchange_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Format& f : formats) out.emplace_back(f.name);
    return out;
  }();
  return names;
}

std::vector<TextFile> exchange_files(const std::string& format, const MetricTable& table) {
  const auto* it =
      std::ranges::find(formats, format, [](const Format& f) { return std::string(f.name); });
  if (it == formats.end()) {
    throw refused("nothing is written as '" + printable(format) + "'", "--as",
                  suggestion(format, exchange_names()));
  }
  if (table.rows.empty()) throw refused("there is no row with a figure", table.origin);
  return it->files(table);
}

std::string gbench_text(const MetricTable& t) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    const MetricRow& row = t.rows[i];
    const Metric* time = time_of(row);
    if (time == nullptr) continue;
    Json out = {{"name", row.name},
                {"family_index", i},
                {"per_family_instance_index", 0},
                {"run_name", row.name},
                {"run_type", "iteration"},
                {"repetitions", 1},
                {"repetition_index", 0},
                {"threads", 1},
                {"iterations", std::max(1, row.processes)},
                {"real_time", time->value},
                {"cpu_time", time->value},
                {"time_unit", "ns"}};
    for (const Metric& m : row.metrics) {
      if (&m != time) out[m.name] = m.value;
    }
    rows.push_back(std::move(out));
  }
  // num_cpus and what follows are asked for by every reader and not known of a stored run.
  const Json context = {{"date", t.started_utc},     {"host_name", t.fingerprint},
                        {"executable", t.tool},      {"num_cpus", 1},
                        {"mhz_per_cpu", 0},          {"cpu_scaling_enabled", false},
                        {"caches", Json::array()},   {"load_avg", Json::array()},
                        {"library_version", t.tool}, {"library_build_type", "release"},
                        {"json_schema_version", 1},  {"halmark_origin", t.origin}};
  return dump_json({{"context", context}, {"benchmarks", rows}}, 1) + '\n';
}

std::string gha_text(const MetricTable& t, bool is_bigger_better) {
  Json out = Json::array();
  for (const MetricRow& row : t.rows) {
    for (const Metric& m : row.metrics) {
      if (m.is_bigger_better != is_bigger_better) continue;
      Json one = {
          {"name", row.name + ' ' + m.name}, {"unit", metric_unit(m.name)}, {"value", m.value}};
      if (std::string range = interval_text(m); !range.empty()) one["range"] = range;
      one["extra"] = "device " + row.device + ", " + row.provenance + ", " + t.origin;
      out.push_back(std::move(one));
    }
  }
  return dump_json(out, 1) + '\n';
}

std::string bmf_text(const MetricTable& t) {
  Json out = Json::object();
  for (const MetricRow& row : t.rows) {
    Json& measures = out[row.name];
    for (const Metric& m : row.metrics) {
      const bool is_time = &m == time_of(row);
      Json one = {{"value", m.value}};
      if (m.low && m.high) one["lower_value"] = *m.low, one["upper_value"] = *m.high;
      measures[is_time ? "latency" : m.name] = std::move(one);
    }
  }
  return dump_json(out, 1) + '\n';
}

std::string metrics_csv(const MetricTable& t) {
  report::CsvRows csv;
  for (const MetricRow& row : t.rows) {
    for (const Metric& m : row.metrics) {
      csv("name", row.name);
      csv("op", row.op);
      csv("device", row.device);
      csv("status", row.status);
      csv("provenance", row.provenance);
      csv("processes", row.processes);
      csv("metric", m.name);
      csv("value", m.value);
      csv("low", m.low);
      csv("high", m.high);
      csv("interval_reason", m.low ? "" : "no interval is known");
      csv.end_row();
    }
  }
  return csv.text();
}

std::string prometheus_text(const MetricTable& t) {
  const std::string subject = t.is_of_kernels ? "halmark_kernel_" : "halmark_deployment_";
  std::vector<std::string> families;
  for (const MetricRow& row : t.rows) {
    for (const Metric& m : row.metrics) {
      const std::string name = base_unit(m).first;
      if (!contains(families, name)) families.push_back(name);
    }
  }
  std::string out;
  for (const std::string& family : families) {
    out += "# HELP " + subject + family + " Of " +
           (t.is_of_kernels ? "one execution of a kernel" : "a point of a front") +
           " by halmark.\n# TYPE " + subject + family + " gauge\n";
    for (const MetricRow& row : t.rows) {
      for (const Metric& m : row.metrics) {
        const auto [name, value] = base_unit(m);
        if (name != family) continue;
        out += subject + family + "{case=\"" + label_text(row.name) + "\",device=\"" +
               label_text(row.device) + "\",provenance=\"" + label_text(row.provenance) + "\"} " +
               number_text(value) + '\n';
      }
    }
  }
  return out;
}

std::string metrics_parquet(const MetricTable& t) {
  std::string out;
  const auto text = [](const char* name) { return ParquetColumn{name, ParquetKind::text, false}; };
  ParquetWriter writer({text("name"),
                        text("op"),
                        text("device"),
                        text("status"),
                        text("provenance"),
                        {"processes", ParquetKind::integer, false},
                        text("metric"),
                        {"value", ParquetKind::real, false},
                        {"low", ParquetKind::real, true},
                        {"high", ParquetKind::real, true}},
                       [&](std::string_view bytes) { out += bytes; });
  const auto cell = [](const std::optional<double>& v) {
    return v ? ParquetCell(*v) : ParquetCell();
  };
  for (const MetricRow& row : t.rows) {
    for (const Metric& m : row.metrics) {
      const std::array<ParquetCell, 10> cells = {std::string_view(row.name),
                                                 std::string_view(row.op),
                                                 std::string_view(row.device),
                                                 std::string_view(row.status),
                                                 std::string_view(row.provenance),
                                                 std::int64_t{row.processes},
                                                 std::string_view(m.name),
                                                 m.value,
                                                 cell(m.low),
                                                 cell(m.high)};
      writer.add(cells);
    }
  }
  writer.finish();
  return out;
}

}  // namespace halmark::exports
