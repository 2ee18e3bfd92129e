// What is carried from a search to whoever launches a point of its front. Values only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"

namespace halmark {

// The front of a search that is over, wherever it was stored.
struct SearchedFront {
  std::string origin;  // "run 3", "study 'serve-235b requests 1f2e3d'"
  std::string title, model, command, started_utc;
  std::string device;              // id of a known one, or the path of its file; "" = this machine
  double memory_fraction = 1;      // of a device that the search let a rank take
  std::vector<std::string> basis;  // lines: what the times rest on
  std::string engine = {};         // whose terms stand around the kernels: "vllm"; "" = none
  std::vector<Objective> objectives;
  std::vector<ServiceLevel> levels;
  std::size_t configurations = 0;  // that were tried
  std::string nearest_miss;        // of levels that nothing keeps, in words; "" = none is known
  std::vector<Evaluation> points;  // in the order in which they were printed; point 1 comes first
};
// Without the points, which a study has as its trials.
template <class V, Of<SearchedFront> M>
void fields(V& v, M& m) {
  v("title", m.title);
  v("model", m.model);
  v("command", m.command);
  v("started_utc", m.started_utc);
  v("device", m.device);
  v("memory_fraction", m.memory_fraction);
  v("basis", m.basis);
  v("objectives", m.objectives);
  v("levels", m.levels);
  v("configurations", m.configurations);
  v.later("engine", m.engine);
}

// Bytes of the fullest rank when it is as full as the point lets it become.
struct RankBytes {
  std::int64_t weights = 0, cache = 0, activations = 0;
  std::int64_t total() const { return weights + cache + activations; }
};

// One point with the facts of its model and device that an engine has to be told.
struct Deployment {
  Evaluation point;
  std::string point_name;                     // "point 2 of 9 of study '...'"
  std::string chosen_because;                 // one sentence; "" = the user named it
  std::string command;                        // that searches again
  std::string provenance;                     // of its times: "roofline", "measured"
  std::string forecast_engine = {};           // whose kernels and overhead they are; "" = none
  std::string checkpoint;                     // what an engine loads: a name of a hub, or a folder
  bool is_checkpoint_named = false;           // by the user: what it stores is not known
  std::vector<std::string> model_names = {};  // all that its configuration goes by
  bool is_moe = false;
  std::optional<Precision> stored = {};  // that the checkpoint states; nothing = 16 bits
  std::string device, device_name;
  std::optional<std::int64_t> domain_devices = {};  // that reach each other without a network
  std::int64_t device_bytes = 0;                    // of one device
  double memory_fraction = 1;
  RankBytes rank;
  std::vector<ServiceLevel> levels = {};  // that the point keeps
  // Tokens of the longest sequence that the model has, and that memory holds beside the weights
  // where that is shorter.
  std::optional<std::int64_t> model_tokens = {}, room_tokens = {};

  const Configuration& configuration() const { return point.configuration; }
};

// A machine that a cluster's scheduler knows by name, and its devices by the domains within which
// they reach each other fastest.
struct ClusterNode {
  std::string name;
  std::vector<std::int64_t> domains;
};

// Sequences in flight over the whole deployment, tokens that one step of a replica computes at
// most, and the longest sequence: of requests as their load says, of a step what it computes.
struct Admission {
  std::int64_t sequences = 1, tokens_per_step = 1, longest = 1;
};
Admission admission_of(const Configuration& configuration);

}  // namespace halmark
