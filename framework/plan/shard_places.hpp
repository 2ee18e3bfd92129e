// Devices for the shards of a configuration, in words: "cpu:0/2 + opencl:0".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/kernel_case.hpp"

namespace halmark {

// One place per shard, joined by '+': BACKEND:DEVICE, or of a device that is cut
// BACKEND:DEVICE/PARTS (the next free part of it) or BACKEND:DEVICE/PARTS.PART. "4 x cpu:0/4" names
// four. Throws Error (exit 2) at `where` for other words, for a part that two shards have, and for
// a device that is cut in two ways.
std::vector<ShardPlace> parse_shard_places(std::string_view text, const std::string& where);

// A configuration's ranks on such places: replicas, where it has no other layout. No text, no
// place.
void assign_placement(std::string_view text, const std::string& where,
                      Configuration& configuration);

// The same places in those words, parts stated.
std::string shard_places_text(const std::vector<ShardPlace>& places);

}  // namespace halmark
