// JSON in and out for core values. The gate in front of the library: size, depth, duplicate keys,
// finite numbers. Writers refuse NaN and infinity: an absent figure is null plus a "<name>_reason".
#pragma once

#include <concepts>
#include <functional>
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

// The items or what `of` makes of each, a function or a member.
template <class Items, class Of = std::identity>
Json json_list(const Items& items, const Of& of = {}) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(std::invoke(of, item));
  return out;
}

void to_json(Json& out, const Params& value);
void from_json(const Json& in, Params& value);
void to_json(Json& out, const Config& value);
void from_json(const Json& in, Config& value);
void to_json(Json& out, const Interval& value);
void from_json(const Json& in, Interval& value);
void to_json(Json& out, const ShardPlace& value);  // its text
void from_json(const Json& in, ShardPlace& value);
void to_json(Json& out, const Precision& value);
void from_json(const Json& in, Precision& value);

struct Duet;
struct EngineStep;
struct EngineImport;
struct Variant;
struct VariantTime;
struct Winner;
struct Composition;
struct Untried;
struct UntriedConfiguration;
struct SearchedFront;
struct Validation;

template <class T, class... Others>
concept IsAnyOf = (std::same_as<T, Others> || ...);
// Values whose document is their list of fields. Reading throws std::invalid_argument that names
// the field.
template <class T>
concept ListedValue =
    IsAnyOf<T, Problem, KernelCase, StateInterval, Signal, Implementation, OneTimeCost, Correctness,
            Measurement, Workload, Parallel, LayerGroup, RequestShape, ServedLoad, ServingFigures,
            ServedEstimate, Configuration, OperatorShare, Estimate, Evaluation, MemoryCause,
            RoleMemory, ProportionalSet, MemoryOfRank, MeasuredMemory, Duet, EngineStep,
            EngineImport, Variant, VariantTime, Winner, Composition, Validation, Untried,
            UntriedConfiguration, Device, Stack, SearchedFront>;
template <ListedValue T>
void to_json(Json& out, const T& value);
template <ListedValue T>
void from_json(const Json& in, T& value);

}  // namespace halmark
