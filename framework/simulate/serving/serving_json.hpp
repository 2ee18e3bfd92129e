// A simulated server as a document.
#pragma once

#include "core/json/json.hpp"
#include "simulate/serving/summary.hpp"

namespace halmark::serving {

Json server_json(const ServerPlan& plan, const ServerRecord& record, const ServerSummary& summary);

// One event of the timeline a line: id, phase, actor, kind, label, start_us, end_us, resource,
// bytes, flops, cause, is_critical.
std::string events_text(const simulate::Timeline& timeline);

}  // namespace halmark::serving
