// Reads files and databases for the sources of framework/latency, which know neither. Everything
// about trust and bounds is theirs.
#include "tune/sources/priced_latencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/input/places.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "journal/run_identity.hpp"
#include "latency/forecast/carried_forecast.hpp"
#include "latency/imported/imported_source.hpp"
#include "latency/interpolation/interpolated_source.hpp"
#include "latency/journal_source.hpp"
#include "latency/launch_floor.hpp"
#include "latency/roofline_source.hpp"
#include "model/graph/context_split.hpp"
#include "plan/device/device_file.hpp"
#include "tune/sources/curve_solver.hpp"
#include "tune/sources/served_engine.hpp"
#include "tune/sources/table_sources.hpp"

namespace halmark::tune {

namespace {

// Rows of the latest run. Throws Error (exit 2) for a file without a run, or of another machine
// than `target` was measured on.
std::vector<Measurement> journal_rows(const std::string& file, const Device& target,
                                      const std::string& where) {
  const auto store = open_store_read_only(file);
  const auto run = store->latest_sweep();
  const std::string shown = without_password(file);
  if (!run) throw refused("there is no run in " + shown, where);
  const std::string fingerprint = store->run_info(*run).fingerprint;
  std::vector<Measurement> rows = store->run_measurements(*run);
  if (!are_rows_of(target, fingerprint, rows)) {
    throw refused(shown + " was measured on " + fingerprint + ", which is not " + target.id +
                      (fingerprint == target.fingerprint ? " with all its cores" : ""),
                  where, "name the device file that halmark peaks wrote there, on the same cores");
  }
  store->require_sound();
  return rows;
}

class SourcesAssembly {
 public:
  SourcesAssembly(const LatencyChoice& choice, const Device& target, const Folders& devices,
                  std::optional<double> network, const fabric::Topology* fabric)
      : choice_(choice), target_(target), network_(network), fabric_(fabric), devices_(devices) {
    if (!choice.tables_device.empty()) measured_on_ = known_device(choice.tables_device, devices);
  }

  PricedLatencies run() {
    sort_choices();
    check_choices();
    if (has_interpolation_) {
      interpolated_ = std::make_unique<InterpolatedSource>(target_, network_, curve_solver());
    }
    // Tables that are said to be of another device can only be carried over.
    if (has_transfer_ || (has_interpolation_ && !are_exact())) {
      transferred_ = std::make_unique<TransferredSource>(target_, network_, curve_solver());
    }
    for (const std::string& file : journals_) add_journal(file);
    add_tables();
    if (interpolated_) add_interpolation();
    if (transferred_) add_transfer();
    if (fabric_ != nullptr) add_fabric();
    if (has_forecast_) add_forecast();
    out_.device = target_.id;
    out_.engine = counted_engine(choice_.engine, engine_,
                                 out_.forecast == nullptr ? "" : out_.forecast->file().engine);
    if (has_roofline_) add_roofline();
    out_.transfer_bytes_per_s =
        network_ ? network_ : roofline::Links(target_, network_).bytes_per_s(2);
    return std::move(out_);
  }

 private:
  void sort_choices() {
    for (const std::string& text : choice_.sources) {
      const SourceChoice source = parse_source(text, choice_.where);
      switch (source.kind) {
        case SourceKind::measured:
          throw refused("source '" + text + "' is this machine, not " + choice_.device,
                        choice_.where,
                        "leave --latency out to measure here, or name journal:FILE, "
                        "imported:FILE, forecast, interpolated, transferred, roofline");
        case SourceKind::journal:
          journals_.push_back(source.file);
          break;
        case SourceKind::imported:
          tables_.push_back(source.file);
          break;
        case SourceKind::forecast:
          has_forecast_ = true;
          if (!source.file.empty()) engine_ = source.file;
          break;
        case SourceKind::interpolated:
          has_interpolation_ = true;
          break;
        case SourceKind::transferred:
          has_transfer_ = true;
          break;
        case SourceKind::fabric:
          if (fabric_ != nullptr) break;
          throw refused("'fabric' has no topology to price collectives over", choice_.where,
                        "name one: fabric = \"NAME\" in the sweep, or --fabric NAME");
        case SourceKind::roofline:
          has_roofline_ = true;
          break;
      }
    }
  }

  bool are_exact() const { return !measured_on_ || measured_on_->id == target_.id; }

  void check_choices() const {
    if (has_interpolation_ && tables_.empty() && journals_.empty()) {
      throw refused("'interpolated' has nothing to lie between", choice_.where,
                    "add journal:FILE or imported:FILE, a table of kernel times");
    }
    if (has_transfer_ && tables_.empty()) {
      throw refused("'transferred' has nothing to carry over", choice_.where,
                    "add imported:FILE, a table of kernel times of another device");
    }
    if (!are_exact() && !has_interpolation_ && !has_transfer_ && !tables_.empty()) {
      throw refused("tables of " + measured_on_->id + " hold no time of " + target_.id,
                    choice_.where, "add 'transferred' to carry them over");
    }
  }

  void add_journal(const std::string& file) {
    auto source = std::make_unique<JournalSource>(journal_rows(file, target_, choice_.where),
                                                  target_, without_password(file));
    out_.sources.push_back(
        fmt::format("{}: {} kernels measured on {}", file, source->size(), target_.id));
    if (interpolated_) interpolated_->add(source->points(), target_);
    if (source->size() > 0) out_.chain.add(SourceKind::journal, std::move(source));
  }

  void add_tables() {
    if (tables_.empty()) return;
    TableSources::Measured measured{.target = target_, .on = measured_on_};
    if (transferred_) measured.others = known_devices(devices_);
    TableSources tables(tables_, {choice_.layout, choice_.series, choice_.series_where}, measured);
    if (interpolated_) tables.teach(*interpolated_);
    if (transferred_) tables.teach(*transferred_);
    tables.teach(launch_floor_);
    if (are_exact()) {
      auto imported = std::make_unique<ImportedSource>(roofline::Ceilings(target_, 0, 1, network_));
      tables.hand_over(*imported);
      if (imported->size() > 0) out_.chain.add(SourceKind::imported, std::move(imported));
    }
    out_.tables = tables.use();
    if (!tables.has_points() && journals_.empty() && !has_roofline_) {
      throw refused("these tables give no time at all: " + tables.why_none(), choice_.where,
                    "name others, or add roofline");
    }
  }

  // Exchanges between devices that something else joins are not those that were measured.
  ForecastSource::Joins joins() const {
    return
        [links = roofline::Links(target_, network_), fabric = out_.fabric](std::int64_t devices) {
          const std::int64_t domain = links.domain_devices;
          if (!links.link_bytes_per_s || (domain > 0 && devices > domain)) return false;
          if (fabric == nullptr) return true;
          const double alike = fabric->bytes_per_s(devices) / *links.link_bytes_per_s;
          return devices <= fabric->devices() && alike >= 0.5 && alike <= 2;
        };
  }

  void add_forecast() {
    const FoundForecasts found = found_forecasts(target_, devices_);
    const std::optional<NearDevice>& near = found.near;
    const std::string& engine = engine_.empty() ? choice_.engine.name : engine_;
    const ForecastFile* file = forecast_of(found.files, engine);
    const bool is_other =
        file != nullptr && !engine.empty() && engine != no_engine && file->engine != engine;
    if (file == nullptr || (is_other && !engine_.empty())) {
      const std::string none = "no forecast tables of " + target_.id +
                               (engine_.empty() ? "" : " under " + printable(engine_));
      if (!has_roofline_ || !engine_.empty()) {
        throw refused(none, choice_.where,
                      "halmark forecasts lists what there is; roofline gives bounds");
      }
      out_.sources.push_back(none + " or a device like it: bounds instead");
      return;
    }
    const Device& measured_on = near ? near->device : target_;
    auto source = std::make_unique<ForecastSource>(*file, measured_on, network_, joins());
    out_.sources.push_back(
        fmt::format("{}{}: kernels on {} that others measured ({}), thinned; 90 % intervals of {}",
                    source->name(), is_other ? ", because there is none of " + engine : "",
                    measured_on.id, file->source,
                    near ? "devices that were left out: transferred to " + target_.id +
                               ", of which there are no tables, by what binds"
                         : "the rows that were left out"));
    out_.forecast = source.get();
    if (near) {
      out_.chain.add(SourceKind::transferred, std::make_unique<CarriedForecast>(
                                                  std::move(source), *near, target_, network_));
    } else {
      out_.chain.add(SourceKind::forecast, std::move(source));
    }
  }

  void say_left_out(const char* who, const QuarantinedTimes& left_out) {
    if (left_out.kernels == 0) return;
    out_.sources.push_back(
        fmt::format("{} leaves out {} of {} points, faster than the roofline; the first:", who,
                    left_out.kernels, left_out.asked));
    out_.sources.push_back(left_out.problem);
    out_.sources.push_back(left_out.reason);
    out_.sources.push_back("of " + left_out.source);
  }

  void add_interpolation() {
    out_.sources.emplace_back(
        "interpolated between points, with intervals that hold 90 % of left-out points, of "
        "left-out "
        "shapes for a shape that is not there; beyond the measured sizes by efficiency curve");
    say_left_out("interpolation", interpolated_->left_out());
    out_.chain.add(SourceKind::interpolated, std::move(interpolated_));
  }

  void add_transfer() {
    out_.sources.push_back(
        "transferred from tables of other devices by the resource that binds; 90 % intervals only "
        "where two of them or more can be left out in turn, spreads else");
    say_left_out("transfer", transferred_->left_out());
    out_.chain.add(SourceKind::transferred, std::move(transferred_));
  }

  void add_fabric() {
    const roofline::Links links(target_, network_);
    auto source = std::make_unique<FabricSource>(
        *fabric_, roofline::Ceilings(target_, 0, 1, network_), links.reduces_in_switch);
    const bool is_of_target = fabric_->device.empty() || fabric_->device == target_.id;
    out_.sources.push_back(fmt::format(
        "collectives and transfers over fabric {}{}", fabric_->id,
        is_of_target ? "" : ", its links (of " + fabric_->device + ") taken as they are"));
    out_.sources.push_back(
        fmt::format("  by curves of measured systems in a node, else closed forms: measured times "
                    "were {} to {} "
                    "of those",
                    node_spread.low, network_spread.high));
    out_.fabric = source.get();
    out_.chain.add(SourceKind::fabric, std::move(source));
  }

  // What a launch in the engine of the forecast takes, of kernels that no table has.
  double launch_ns() const {
    const auto terms = out_.forecast == nullptr ? std::nullopt : engine_terms(out_);
    return terms ? terms->launch_ns : 0;
  }

  void add_roofline() {
    const double launch = launch_ns();
    const double floor_ns = std::max(launch_floor_.ns(), launch);
    out_.sources.push_back(
        "roofline of " + target_.id +
        (floor_ns == 0
             ? std::string(": the fastest possible time, not an expectation")
             : fmt::format(": the fastest possible time, and not below {:.2f} us, {}",
                           floor_ns / 1e3,
                           launch == floor_ns ? "a launch in " + out_.engine.name
                                              : "what the smallest kernels of the tables take")));
    out_.chain.add(SourceKind::roofline,
                   std::make_unique<RooflineSource>(target_, network_, floor_ns));
  }

  const LatencyChoice& choice_;
  const Device& target_;
  std::optional<double> network_;
  const fabric::Topology* fabric_;
  const Folders& devices_;
  std::optional<Device> measured_on_;  // the tables, where the user says so
  std::vector<std::string> journals_, tables_;
  bool has_forecast_ = false, has_interpolation_ = false, has_transfer_ = false,
       has_roofline_ = false;
  std::string engine_;        // of forecasts, where the source names it
  LaunchFloor launch_floor_;  // of the device that the tables were measured on
  std::unique_ptr<InterpolatedSource> interpolated_;
  std::unique_ptr<TransferredSource> transferred_;
  PricedLatencies out_;
};

}  // namespace

std::vector<TableUse> PricedLatencies::table_use() const {
  std::vector<TableUse> out = tables;
  if (forecast != nullptr) std::ranges::move(forecast->use(), std::back_inserter(out));
  const auto& given = chain.asked().given();
  for (TableUse& table : out) {
    for (SeriesUse& series : table.series) {
      // Beyond its points or its device an origin says so before the name of the series.
      const std::string name = table.name + ": " + series.name;
      for (const auto& [origin, kernels] : given) {
        if (origin != name && !origin.ends_with(" of " + name)) continue;
        series.exact += kernels.exact;
        series.interpolated += kernels.interpolated;
      }
    }
  }
  return out;
}

std::vector<std::string> default_sources() { return {"forecast", "roofline"}; }

std::vector<std::string> sources_or_default(std::vector<std::string> named, bool is_training) {
  if (!named.empty()) return named;
  return is_training ? std::vector<std::string>{"roofline"} : default_sources();
}

PricedLatencies priced_latencies(const LatencyChoice& choice, const Device& target,
                                 const Folders& devices, std::optional<double> network_bytes_per_s,
                                 const fabric::Topology* fabric) {
  return SourcesAssembly(choice, target, devices, network_bytes_per_s, fabric).run();
}

std::optional<Latency> latency_of(const LatencyChain& chain, const Operator& op) {
  if (op.kind == OperatorKind::collective) {
    return chain.latency(op.local, op.local_work, op.group_stride);
  }
  if (op.of_context_rank.empty()) return chain.latency(op.local, op.rank_work);
  std::optional<Latency> out;
  for (const Problem& block : heaviest_blocks(op.of_context_rank)) {
    const auto one = chain.latency(block, work_of({block}));
    if (!one || !has_latency(one->status)) return one;
    if (!out) {
      out = one;
      continue;
    }
    out->ns += one->ns;
    out->low_ns += one->low_ns;
    out->high_ns += one->high_ns;
    out->lower_bound_ns += one->lower_bound_ns;
    out->provenance = std::max(out->provenance, one->provenance);
  }
  return out;
}

}  // namespace halmark::tune
