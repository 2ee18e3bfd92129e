// Memory that was measured, as JSON. Sums and verdicts follow from it and are not stored.
#include <stdexcept>

#include "core/json/json.hpp"

namespace halmark {

void to_json(Json& out, const MemoryCause& cause) {
  out = Json{{"name", cause.name}, {"bytes", cause.bytes}};
}

void from_json(const Json& in, MemoryCause& cause) {
  cause = {.name = in.at("name").get<std::string>(), .bytes = in.at("bytes").get<std::int64_t>()};
}

void to_json(Json& out, const RoleMemory& role) {
  out = Json{{"role", role.role},
             {"modelled_bytes", role.modelled_bytes},
             {"allocated_bytes", role.allocated_bytes},
             {"causes", role.causes}};
}

void from_json(const Json& in, RoleMemory& role) {
  role = {.role = in.at("role").get<std::string>(),
          .modelled_bytes = in.at("modelled_bytes").get<std::int64_t>(),
          .allocated_bytes = in.at("allocated_bytes").get<std::int64_t>(),
          .causes = in.at("causes").get<std::vector<MemoryCause>>()};
}

void to_json(Json& out, const ProportionalSet& size) {
  out = Json{{"baseline_bytes", size.baseline_bytes},
             {"grown_bytes", size.grown_bytes},
             {"expected_bytes", size.expected_bytes}};
}

void from_json(const Json& in, ProportionalSet& size) {
  size = {.baseline_bytes = in.at("baseline_bytes").get<std::int64_t>(),
          .grown_bytes = in.at("grown_bytes").get<std::int64_t>(),
          .expected_bytes = in.at("expected_bytes").get<std::int64_t>()};
}

void to_json(Json& out, const MemoryOfRank& rank) {
  out = Json{{"rank", rank.rank},
             {"roles", rank.roles},
             {"beside_bytes", rank.beside_bytes},
             {"set_size", rank.set_size ? Json(*rank.set_size) : Json()},
             {"set_size_reason", rank.set_size_reason}};
}

void from_json(const Json& in, MemoryOfRank& rank) {
  rank = {.rank = in.at("rank").get<int>(),
          .roles = in.at("roles").get<std::vector<RoleMemory>>(),
          .beside_bytes = in.at("beside_bytes").get<std::int64_t>(),
          .set_size = {},
          .set_size_reason = in.at("set_size_reason").get<std::string>()};
  if (!in.at("set_size").is_null()) rank.set_size = in.at("set_size").get<ProportionalSet>();
}

void to_json(Json& out, const MeasuredMemory& memory) { out = Json{{"ranks", memory.ranks}}; }

void from_json(const Json& in, MeasuredMemory& memory) {
  memory.ranks = in.at("ranks").get<std::vector<MemoryOfRank>>();
  if (memory.ranks.empty()) throw std::invalid_argument("measured memory of no rank");
}

}  // namespace halmark
