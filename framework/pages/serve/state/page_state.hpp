// What the page's controls say: one deployment of one model on one device, by words and counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/chosen/configuration.hpp"
#include "model/training/training_words.hpp"

namespace halmark::pages {

// Of a server: who asks it for what.
struct PageLoad {
  std::int64_t clients = 16;   // each waits for its answer before it asks again
  std::optional<double> rate;  // requests a second that come by chance, in place of the clients
  std::int64_t input = 1024, output = 128;  // tokens of a request
  std::int64_t requests = 0;                // 0 = as halmark simulate serving has them
  std::string engine;  // whose host and scheduler terms count; "" = the forecast's
};

// Absent words have the defaults below.
struct PageState {
  std::string device = "h100-sxm", model = "qwen3-32b";
  std::string fabric;                // "" = the device's own link
  std::string dtype = "checkpoint";  // a recipe
  Phase phase = Phase::decode;
  std::int64_t shards = 8, batch = 16;
  std::int64_t new_tokens = 1, context = 2048;
  // Nothing: auto, the layout with the least step time among those that fit.
  std::optional<Parallel> strategy;
  TrainingWords training;         // of phase training
  std::string schedule = "1f1b";  // likewise: order of passes in a pipeline
  // A stream of requests in place of one step; phase, batch and context then say nothing.
  std::optional<PageLoad> load;
  std::optional<double> measured_ms;  // a step that the reader measured, to be placed beside it
  // Of a step that a server takes: its engine, as of PageLoad.
  std::optional<std::string> served_by = {};
};

inline constexpr std::int64_t page_shards_max = 1024, page_batch_max = 65536,
                              page_tokens_max = std::int64_t{1} << 20, page_requests_max = 10'000;

// Of a query: device, model, fabric, dtype, phase, shards, batch, new, context, strategy, measured;
// of phase training micro, recompute, optimizer, zero, schedule; of phase serving clients, rate,
// input, output, requests, engine. Words of another phase are left aside. Throws Error (exit 2) for
// a word or a number that cannot be meant; names that are not known here are left to those who know
// them.
PageState parse_state(const std::map<std::string, std::string>& values);

// "dp1 tp8 pp1 ep1", as Parallel::text() has it; those that are left out are 1. Throws Error (exit
// 2).
Parallel parse_strategy(const std::string& text);

}  // namespace halmark::pages
