// JSON in and out for core values. The gate in front of the library: size, depth, duplicate keys,
// finite numbers. Writers refuse NaN and infinity: an absent figure is null plus a "<name>_reason".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/chosen/configuration.hpp"
#include "core/device.hpp"
#include "core/json/json_type.hpp"
#include "core/measured/measured_memory.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

inline constexpr std::size_t json_bytes_max = 16u << 20;
inline constexpr int json_depth_max = 64;

// Throws Error (exit 2) "where:line:column: ..." for malformed, too deep, too large or
// duplicate-key documents. `where` names the file.
Json parse_json(std::string_view text, std::string_view where);
// Reads the file first; throws Error (exit 2) when it cannot be read.
Json read_json_file(const std::string& path);

// Deterministic text; invalid UTF-8 is replaced; throws std::logic_error on a non-finite number.
std::string dump_json(const Json& value, int indent = -1);

// null for an absent or non-finite value.
Json optional_number(std::optional<double> value);

void to_json(Json& out, const Params& value);
void from_json(const Json& in, Params& value);
void to_json(Json& out, const Problem& value);
void from_json(const Json& in, Problem& value);
void to_json(Json& out, const Config& value);
void from_json(const Json& in, Config& value);
void to_json(Json& out, const KernelCase& value);
void from_json(const Json& in, KernelCase& value);
void to_json(Json& out, const Interval& value);
void from_json(const Json& in, Interval& value);
void to_json(Json& out, const StateInterval& value);
void from_json(const Json& in, StateInterval& value);
void to_json(Json& out, const Signal& value);
void from_json(const Json& in, Signal& value);
void to_json(Json& out, const Implementation& value);
void from_json(const Json& in, Implementation& value);
void to_json(Json& out, const OneTimeCost& value);
void from_json(const Json& in, OneTimeCost& value);
void to_json(Json& out, const Correctness& value);
void from_json(const Json& in, Correctness& value);
// Without samples and shard series: those travel as binary beside the row.
void to_json(Json& out, const Measurement& value);
void from_json(const Json& in, Measurement& value);
void to_json(Json& out, const Workload& value);
void from_json(const Json& in, Workload& value);
void to_json(Json& out, const Parallel& value);
void from_json(const Json& in, Parallel& value);
void to_json(Json& out, const ShardPlace& value);  // its text
void from_json(const Json& in, ShardPlace& value);
void to_json(Json& out, const LayerGroup& value);
void from_json(const Json& in, LayerGroup& value);
void to_json(Json& out, const Precision& value);
void from_json(const Json& in, Precision& value);
void to_json(Json& out, const RequestShape& value);
void from_json(const Json& in, RequestShape& value);
void to_json(Json& out, const ServedLoad& value);
void from_json(const Json& in, ServedLoad& value);
void to_json(Json& out, const ServingFigures& value);
void from_json(const Json& in, ServingFigures& value);
void to_json(Json& out, const ServedEstimate& value);
void from_json(const Json& in, ServedEstimate& value);
void to_json(Json& out, const Configuration& value);
void from_json(const Json& in, Configuration& value);
void to_json(Json& out, const OperatorShare& value);
void from_json(const Json& in, OperatorShare& value);
void to_json(Json& out, const Estimate& value);
void from_json(const Json& in, Estimate& value);
void to_json(Json& out, const Evaluation& value);
void from_json(const Json& in, Evaluation& value);
void to_json(Json& out, const MemoryCause& cause);
void from_json(const Json& in, MemoryCause& cause);
void to_json(Json& out, const RoleMemory& role);
void from_json(const Json& in, RoleMemory& role);
void to_json(Json& out, const ProportionalSet& size);
void from_json(const Json& in, ProportionalSet& size);
void to_json(Json& out, const MemoryOfRank& rank);
void from_json(const Json& in, MemoryOfRank& rank);
void to_json(Json& out, const MeasuredMemory& memory);
void from_json(const Json& in, MeasuredMemory& memory);

}  // namespace halmark
