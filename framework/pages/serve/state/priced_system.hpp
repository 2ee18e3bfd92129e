// One model on one device over one fabric, with its sources of times: what every state that names
// them is priced by.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/pricing/step_pricer.hpp"
#include "model/spec/model_spec.hpp"
#include "pages/serve/state/page_state.hpp"
#include "tune/plan/target.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::pages {

using Folders = std::vector<std::filesystem::path>;

// What would make a state fit.
const char* more_room(const PageState& state);

// Where things are looked up, and what times come from.
struct PageSources {
  Folders models, devices, fabrics, engines;
  std::optional<Device> here;        // this machine with its measured peaks
  std::vector<std::string> latency;  // as of tune --latency; roofline where nothing is said
};

// A layout of so many devices with what it comes to. Without a price: why.
struct PricedLayout {
  Parallel parallel;
  std::int64_t batch = 1;
  std::optional<Price> price;
  std::int64_t bytes_per_rank = 0;
  std::string reason;
};

// A pricer keeps what it has priced. Whoever moves a slider for a day begins anew at times.
inline constexpr std::size_t layouts_kept_max = 10'000;

class PricedSystem {
 public:
  // Throws Error (exit 2) for names that are not known, a fabric that cannot be read and a source
  // of times that does not fit.
  PricedSystem(const PageState& state, const PageSources& sources);
  PricedSystem(const PricedSystem&) = delete;
  PricedSystem& operator=(const PricedSystem&) = delete;

  const ModelSpec& spec() const { return spec_; }
  const Device& device() const { return *target_.datasheet; }
  const tune::Target& target() const { return target_; }
  const LatencyChain& chain() const { return latencies_->chain; }
  const std::vector<std::string>& times_from() const { return latencies_->sources; }
  // Tables of kernel times that were asked so far; none where bounds alone price.
  std::vector<TableUse> tables() const { return latencies_->table_use(); }
  const fabric::Topology* topology() const { return target_.fabric ? &*target_.fabric : nullptr; }

  // Throws Error (exit 2) for a recipe that is not known.
  Precision precision(const PageState& state) const;
  // Every layout of the state's devices that the model permits, fastest first, those without a
  // price at the end. Times of steps that follow each other; of training, of a step alone.
  std::vector<PricedLayout> layouts(const PageState& state);
  // Of one layout and batch. Context parallelism is priced by its own graph: nothing here.
  PricedLayout priced(const PageState& state, const Parallel& parallel, std::int64_t batch);
  // The layout that is meant, with the rest. Throws Error (exit 2) where none is possible.
  Configuration configuration(const PageState& state);
  // The same, and where memory alone is short the layout that needs the least of it.
  Configuration shown_configuration(const PageState& state);

 private:
  ModelSpec spec_;
  tune::Target target_;
  std::optional<tune::PricedLatencies> latencies_;
  void begin_pricing();
  Configuration chosen(const PageState& state, bool takes_too_large);
  Configuration base(const PageState& state) const;                     // without a layout
  std::optional<std::int64_t> bytes_max(const PageState& state) const;  // that a rank may fill
  std::vector<PricedLayout> planned_layouts(const PageState& state) const;

  std::unique_ptr<StepPricer> pricer_;
  std::size_t priced_ = 0;  // by this pricer
};

}  // namespace halmark::pages
