// Every report says on what its times rest, in lines of its own.
#include "tune/search/priced/priced_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/lists.hpp"
#include "core/version.hpp"
#include "model/spec/coverage.hpp"
#include "report/times_from.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/loop.hpp"
#include "tune/search/priced/priced_search.hpp"
#include "tune/search/priced/served_search.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {

namespace {

// The plan's sweep says what its times come from, whoever named it.
Sweep priced_by(Sweep sweep, const LatencyChoice& choice) {
  sweep.latency = choice.sources;
  return sweep;
}

NamedEngine serving_engine(const Sweep& sweep, const LatencyChoice& choice,
                           const Folders& devices) {
  if (!sweep.served) return choice.engine.is_asked ? choice.engine : NamedEngine();
  return counted_engine(choice, target_device(choice, devices), devices);
}

// What joins the devices where no table has the collective and no fabric is named.
std::string link_line(const TunePlan& plan) {
  const std::vector<Link>& links = plan.target().datasheet->links;
  const bool is_alone = std::ranges::max(plan.sweep().shards) == 1;
  if (is_alone || plan.target().fabric || links.empty()) return {};
  const Link& fastest = *std::ranges::max_element(links, {}, &Link::bytes_per_s);
  return fmt::format("link: collectives that no table has over {}, {:.4g} GB/s of a device one way",
                     fastest.name, fastest.bytes_per_s / 1e9);
}

void add_cache_line(const PrecisionFacts& facts, const NamedEngine& engine, ServedReport& report) {
  for (const ServedPoint& point : report.front) {
    std::string line = cache_line(point.configuration.precision, facts, engine);
    if (!line.empty()) return report.basis.push_back(std::move(line));
  }
}

std::string events_line(double requests, std::size_t by_formula) {
  std::string out = fmt::format(
      "events: all clients begin together and send {} requests each; TTFT and TPOT are means over "
      "them, as halmark simulate serving has them",
      requests);
  if (by_formula == 0) return out;
  return out +
         fmt::format("; of {} that take too long here by a formula, TTFT within 30 %", by_formula);
}

std::string tool_text() { return fmt::format("halmark {} ({})", tool_version, tool_build); }

}  // namespace

PricedSweep::PricedSweep(const Sweep& sweep, LatencyChoice choice, const Folders& models,
                         const Folders& devices, const Folders& fabrics)
    : choice_(std::move(choice)),
      devices_(devices),
      plan_(priced_plan(priced_by(sweep, choice_), target_device(choice_, devices), models, fabrics,
                        serving_engine(sweep, choice_, devices))) {}

std::uint64_t PricedSweep::trials() const {
  const std::int64_t asked = plan_->sweep().trials;
  return asked > 0 ? as_uint64(asked) : plan_->configurations();
}

SearchedFront PricedSweep::front_facts() const {
  SearchedFront out;
  out.device = choice_.device;
  out.memory_fraction = plan_->sweep().serving_devices.memory_fraction;
  return out;
}

std::vector<std::string> PricedSweep::basis(const PricedLatencies& latencies) const {
  const Device& device = *plan_->target().datasheet;
  std::vector<std::string> out = {
      fmt::format("{} ({}), {}", device.name, device.id,
                  latencies.chain.has(SourceKind::journal)
                      ? "not touched now: measured times are those of its journal"
                  : device.folder.empty() ? "never touched: nothing below was measured on it"
                                          : "not touched now: its tables were measured on it by "
                                            "halmark onboard")};
  std::vector<std::string> lines = report::table_lines(latencies.table_use());
  std::ranges::copy(latencies.sources, std::back_inserter(lines));
  std::ranges::move(lines_of(latencies.chain.asked().quarantined()), std::back_inserter(lines));
  for (std::string& line : lines) out.push_back("times: " + std::move(line));
  if (const auto& network = plan_->sweep().serving_devices.network_bytes_per_s) {
    out.push_back(fmt::format("network between link domains: {} GB/s per device", *network / 1e9));
  }
  return out;
}

std::variant<RunReport, ServedReport> PricedSweep::search(
    const std::function<bool()>& should_stop, const std::function<void(std::size_t)>& progress,
    const PricedExtras& extras) const {
  const auto& serving = plan_->sweep().serving_devices;
  const Target& target = plan_->target();
  const PricedLatencies latencies =
      priced_latencies(choice_, *target.datasheet, devices_, serving.network_bytes_per_s,
                       target.fabric ? &*target.fabric : nullptr);
  if (!plan_->sweep().served) {
    const auto engine = step_engine(latencies, plan_->spec(), Phase::decode);
    PricedExtras around = extras;
    if (engine) around.engine = &*engine;
    RunReport report =
        search_steps(*plan_, latencies.chain, should_stop, choice_.bounds_compete, around);
    report.tool = tool_text();
    report.machine = basis(latencies);
    if (engine) report.machine.push_back("engine: " + engine->source);
    report.notes = model_lines(plan_->spec());
    if (extras.steering != nullptr) report.notes.push_back(extras.steering->note());
    report.tables = latencies.table_use();
    report.quarantined = latencies.chain.asked().quarantined();
    return report;
  }
  const auto fitted = engine_terms(latencies, &plan_->spec());
  ServedCosts costs = served_costs(latencies, fitted);
  costs.usd_per_device_hour = serving.usd_per_device_hour;
  ServedReport report =
      search_served(*plan_, latencies.chain, costs, should_stop, progress, extras);
  report.tool = tool_text();
  report.basis = basis(latencies);
  std::ranges::move(model_lines(plan_->spec()), std::back_inserter(report.basis));
  if (fitted) report.engine = fitted->engine;
  if (auto line = link_line(*plan_); !line.empty()) report.basis.push_back(std::move(line));
  if (report.by_formula)
    report.basis.push_back(events_line(costs.engine->waves, *report.by_formula));
  if (fitted) report.basis.push_back("engine: " + serving::source_text(*fitted));
  add_cache_line(served_facts(plan_->spec(), *target.datasheet, latencies.engine), latencies.engine,
                 report);
  if (extras.steering != nullptr) report.basis.push_back(extras.steering->note());
  report.tables = latencies.table_use();
  report.quarantined = latencies.chain.asked().quarantined();
  return report;
}

}  // namespace halmark::tune
