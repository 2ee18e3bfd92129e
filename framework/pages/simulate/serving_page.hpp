// What `halmark simulate serving` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "model/serving/engine_terms.hpp"
#include "report/views/view.hpp"
#include "simulate/serving/cache_room.hpp"
#include "simulate/serving/summary.hpp"

namespace halmark::pages {

struct ServingPage {
  const Configuration& configuration;
  const std::string& layout;
  const serving::ServerPlan& plan;
  const serving::CacheRoom& room;
  const serving::Levels& levels;
  const serving::ServerRecord& record;
  const serving::ServerSummary& summary;
  const std::optional<ClosedLoopFigures>& closed_form;
  // Probabilities that measured means keep the levels.
  const std::optional<double>& keeps_ttft;
  const std::optional<double>& keeps_tpot;
  const std::optional<serving::MeanRanges>& ranges;
  const std::vector<std::string>& basis;
  std::optional<serving::Saturation> saturation = {};  // of an open loop
};

report::View serving_page(const ServingPage& page);

}  // namespace halmark::pages
