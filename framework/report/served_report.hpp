// ServedReport: what a search over served loads found, as values; its formats are pure folds.
// Nothing in it was measured as a whole: every figure says from where the times of its kernels are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"
#include "core/chosen/rival.hpp"
#include "core/json/json_type.hpp"
#include "core/latency.hpp"
#include "report/choice/pick.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/times_from.hpp"

namespace halmark {

struct ServedPoint {
  Configuration configuration;
  ServedEstimate estimate;
  // Share of the time of a prompt step and a decode step, by where their kernels' times are from.
  std::map<Provenance, double> provenance;
  TimesFrom ttft, tpot;    // of the prompt step alone, of the decode step alone
  std::string bottleneck;  // operator with the largest share of a decode step
};

// A configuration that could run and misses a level.
struct MissedPoint {
  Configuration configuration;
  ServedEstimate estimate;
  std::vector<ServiceViolation> violations;  // the binding one first
};

struct ServedReport {
  std::string title, model, command, tool;
  std::vector<std::string> basis;  // lines: device, sources, files
  std::vector<TableUse> tables;    // that were named as sources
  QuarantinedTimes quarantined;
  std::string engine = {};  // whose terms intervals are of; "" = of kernels alone
  RequestShape request;
  std::vector<Objective> objectives;
  std::vector<ServiceLevel> levels;
  std::size_t configurations = 0;               // priced or refused
  std::uint64_t possible = 0;                   // of the whole space
  std::map<std::string, std::size_t> refused;   // by reason: "out_of_memory"
  std::map<std::string, std::string> examples;  // of each reason, in words
  std::size_t missed = 0;                       // by a service level
  std::map<Objective, std::size_t> missed_by;   // binding level
  std::vector<ServedPoint> front;               // by the first objective
  std::vector<MissedPoint> nearest;             // least missed first
  // Of a benchmark in an engine: figures of the front and of what nearly keeps the levels are means
  // over its simulated requests; of these, too long to be simulated, a formula's. Nothing: all are.
  std::optional<std::size_t> by_formula = {};
  std::string least =
      {};               // of types that do not fit: with what they do; "" = all fit, or not known
  double priced_s = 0;  // wall time of pricing and front
  std::string assumed = {};         // what was not stated, and which options do; "" = all was
  std::optional<Pick> chosen = {};  // of the front
  std::string next = {};            // the line to type with it
  std::optional<Rival> rival = {};  // of the chosen one
  // Of all that was tried the first ones, for who stores the search; no format shows them.
  static constexpr std::size_t tried_max = 4096;
  std::vector<Evaluation> tried = {};

  // Something was tried, and nothing could run.
  bool fits_nothing() const { return configurations > 0 && front.empty() && missed == 0; }
};

// What the probability is computed from, or why there is none, in one sentence.
std::string probability_basis(const ServedReport& report);
// Of keeping all levels; nothing without levels, or where the times state no interval.
std::optional<double> probability(const ServedReport& report, const ServedEstimate& estimate);
// "x64 t8192 fp8 tp8 ep8", "... 2 x (tp4) + 3 x (tp8 ep8)"
std::string served_label(const Configuration& configuration);

// One line: of what misses a level the nearest to keeping it.
std::string nearest_miss(const ServedReport& report);

// In lines of at most `width` columns; no cell is cut. Without limit for files and pipes.
std::string report_text(const ServedReport& report, bool color,
                        int width = report::unlimited_width);
std::string report_markdown(const ServedReport& report);
std::string report_csv(const ServedReport& report);
std::string report_html(const ServedReport& report);  // one page, which loads nothing
Json report_json(const ServedReport& report);

// As check_report_path.
void check_served_report_path(const std::string& path);
// By suffix (.html .json .csv .md). Throws Error: exit 2 for another, exit 1 for a storage error.
void write_report(const ServedReport& report, const std::string& path);

}  // namespace halmark
