// Files of served reports: rows with every figure in full, and which format a suffix asks for.
#include <algorithm>
#include <array>
#include <filesystem>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/times_from.hpp"

namespace halmark {

std::string served_csv(const ServedReport& r) {
  std::string out =
      "key,mode,devices,concurrency,token_budget,precision,ttft_ns,tpot_ns,request_ns,"
      "requests_per_s,tokens_per_s,tokens_per_s_per_device,memory_bytes,memory_bytes_per_rank,"
      "energy_j_per_token,usd_per_million_tokens,mfu,is_saturated,slo_probability,provenance,"
      "binding,ttft_provenance,ttft_series,tpot_provenance,tpot_series,quarantined,"
      "quarantined_example\r\n";
  const auto number = [](std::optional<double> value) {
    return value ? report::exact_text(*value) : std::string();
  };
  const auto row = [&](const Configuration& d, const ServedEstimate& e,
                       std::optional<double> probable, const std::string& from,
                       const std::string& binding) {
    const ServingFigures& f = e.figures;
    out += report::csv_text(d.key()) + ',' + std::string(serving_mode_name(d.served->mode)) + ',' +
           std::to_string(d.devices()) + ',' + std::to_string(d.served->concurrency) + ',' +
           std::to_string(d.served->token_budget) + ',' + report::csv_text(d.precision.name);
    for (const double value : {f.ttft_ns, f.tpot_ns, f.request_ns, f.requests_per_s, f.tokens_per_s,
                               f.tokens_per_s_per_device}) {
      out += ',' + number(value);
    }
    out += ',' + std::to_string(f.memory_bytes) + ',' + std::to_string(f.memory_bytes_per_rank);
    for (const auto& value : {f.energy_j_per_token, f.usd_per_million_tokens, f.mfu}) {
      out += ',' + number(value);
    }
    out += std::string(e.is_saturated ? ",true," : ",false,") + number(probable) + ',' +
           report::csv_text(from) + ',' + report::csv_text(binding);
  };
  const auto origin = [&](const TimesFrom& times) {
    out += ',' + report::csv_text(report::shares_text(times.provenance)) + ',' +
           report::csv_text(report::series_text(times));
  };
  for (const ServedPoint& p : r.front) {
    row(p.configuration, p.estimate, probability(r, p.estimate), report::shares_text(p.provenance),
        "");
    origin(p.ttft);
    origin(p.tpot);
    out += ',' + std::to_string(p.ttft.quarantined + p.tpot.quarantined) + ',' +
           report::csv_text(p.ttft.quarantined > 0 ? p.ttft.example : p.tpot.example) + "\r\n";
  }
  for (const MissedPoint& p : r.nearest) {
    row(p.configuration, p.estimate, probability(r, p.estimate), "", p.violations.front().text());
    out += ",,,,,,\r\n";
  }
  return out;
}

namespace {

struct ServedFormat {
  const char* suffix;
  std::string (*render)(const ServedReport& report);
};
constexpr std::array<ServedFormat, 4> served_formats{
    {{".html", served_html},
     {".json", [](const ServedReport& r) { return dump_json(served_json(r), 1) + '\n'; }},
     {".csv", served_csv},
     {".md", served_markdown}}};

const ServedFormat& served_format_of(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension();
  const auto* format = std::ranges::find(served_formats, suffix, &ServedFormat::suffix);
  if (format != served_formats.end()) return *format;
  throw refused("unknown format '" + suffix + "' of a report on served deployments", path,
                "known: .html, .json, .csv, .md");
}

}  // namespace

void check_served_report_path(const std::string& path) { served_format_of(path); }

void write_served_report(const ServedReport& r, const std::string& path) {
  write_whole_file(served_format_of(path).render(r), path);
}

}  // namespace halmark
