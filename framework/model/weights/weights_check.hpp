// A model beside the header of its checkpoint: what is stored, what of it is not priced, and where
// the configuration says otherwise.
#pragma once

#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "model/graph/graph.hpp"
#include "model/weights/checkpoint.hpp"

namespace halmark {

struct WeightsReport {
  std::string place;
  std::int64_t files = 0, tensors = 0;
  std::int64_t layers = 0, experts = 0;
  std::int64_t parameters = 0, bytes = 0;  // of everything
  std::map<std::string, StoredBytes> types;
  std::vector<CheckpointPart> parts;               // beside the decoder
  std::int64_t decoder_parameters = 0;             // without them
  std::optional<std::int64_t> counted_parameters;  // by a configuration; nothing without one
  std::vector<std::string> differences;            // tensor by tensor, the first of them
  std::size_t left_out = 0;                        // differences beyond
  std::int64_t absent_bytes = 0;
  std::int64_t decoder_bytes() const;
};
WeightsReport report_of(const WeightsHeader& header, const ModelSpec& spec);

// Of the multiplications of a token that passes the part once, beside the decoder's: what the price
// of such a step leaves out.
double left_out_share(const CheckpointPart& part, const OperatorGraph& graph);
// Weights as the step has them.
std::int64_t priced_bytes(const OperatorGraph& graph);
Json weights_json(const WeightsReport& report, const OperatorGraph& graph);

}  // namespace halmark
