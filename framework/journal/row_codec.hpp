// Values as the text and bytes of an entry, and back.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json_type.hpp"
#include "journal/store.hpp"

namespace halmark::journal {

// Samples and shard series as little-endian doubles: [samples, shards], then {wall, cpu, device or
// -1, set} per sample, then each shard's series; then, where samples have a label, [runs] and
// {label, length} per run of equal labels.
std::string pack_samples(const Measurement& measurement);
// Throws std::invalid_argument when counts and length disagree.
void unpack_samples(std::string_view bytes, Measurement& measurement);

Json validation_json(const Validation& validation);
Validation validation_from(const Json& json);

}  // namespace halmark::journal
