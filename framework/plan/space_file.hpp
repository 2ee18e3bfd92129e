// A search space as a person writes it:
//
//   [facts]                       constants for expressions
//   devices = 8
//   [[parameter]]
//   name = "shards"
//   kind = "ordinal"              categorical, ordinal, int, float
//   values = "powers_of_two(1, devices)"   or a list; also divisors(n), of a fact or an earlier
//   [[parameter]]                          parameter
//   name = "micro_batch"
//   kind = "int"                  int and float: low, high, step or log = true
//   low = 1
//   high = 64
//   when = "shards > 1"           only then it has a value
//   [[constraint]]
//   expression = "micro_batch * shards <= 128"   name optional
//   [[objective]]
//   name = "latency"              unit and direction ("minimize", "maximize") optional
#pragma once

#include <string>
#include <string_view>

#include "core/chosen/search_domain.hpp"

namespace halmark {

// Throws Error (exit 2) with file:line:column. `notes`, where given, receives what was changed
// while reading: a high end that its step does not reach.
SpaceDescription read_space(const std::string& path, std::vector<std::string>* notes = nullptr);
SpaceDescription parse_space(std::string_view text, std::string_view where,
                             std::vector<std::string>* notes = nullptr);

}  // namespace halmark
