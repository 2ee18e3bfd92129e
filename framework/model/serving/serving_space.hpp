// Every way to serve a load that a sweep allows: layouts, precisions, concurrency, budgets,
// workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/configuration.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

struct ServingSpace {
  RequestShape request;
  std::vector<std::int64_t> concurrency, token_budgets;
  std::vector<ServingMode> modes;
  std::vector<Precision> precisions;
  std::vector<std::int64_t> devices;  // of the whole deployment, each as many as stated
  bool has_data = true, has_tensor = true, has_pipeline = true, has_expert = true;
  std::int64_t routing_skew = 0;
};

// Layouts of exactly `devices` devices that the model can be cut into in some precision.
std::vector<Parallel> serving_layouts(const ModelSpec& spec, const ServingSpace& space,
                                      std::int64_t devices);

// Unique, in a fixed order. Left out: layouts that check_configuration refuses, replicas and stages
// that do not divide the concurrency. Disaggregated: workers of one replica and one stage, experts
// on one rank or spread over all ranks of a worker, every split of the devices.
std::vector<Configuration> served_configurations(const ModelSpec& spec, const ServingSpace& space);

}  // namespace halmark
