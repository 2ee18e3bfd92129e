// Values as the text and bytes of an entry, and back.
#pragma once

#include <optional>
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

// In the body of a row: the number of its samples and the SHA-256 of their block.
void name_block(Json& body, const Measurement& measurement, std::string_view block);
// Of a row as it is stored. Up to version 2 samples stood in the row, under its own checksum.
struct SampleBytes {
  enum class State { none, whole, missing, changed, unnamed } state = State::none;
  std::string_view bytes;  // of whole ones
};
SampleBytes sample_bytes(const Json& body, std::string_view in_row,
                         const std::optional<std::string>& block);
// "" for those that are none or whole; why the others cannot be.
std::string fault_of(SampleBytes::State state);
// Without bytes the row is one that never had samples, or whose samples are retired. Throws
// std::exception where they are not those of a measurement.
Measurement measurement_from(const Json& body, std::string_view samples);

Json validation_json(const Validation& validation);
Validation validation_from(const Json& json);

// The word of a kind of rows, and the value of one's body.
template <class Value>
inline constexpr const char* row_kind = nullptr;
template <>
inline constexpr const char* row_kind<Measurement> = "measurement";
template <>
inline constexpr const char* row_kind<Evaluation> = "evaluation";
template <>
inline constexpr const char* row_kind<Validation> = "validation";
template <>
inline constexpr const char* row_kind<Winner> = "winner";
template <>
inline constexpr const char* row_kind<Duet> = "duet";
template <>
inline constexpr const char* row_kind<Doubt> = "doubt";
template <>
inline constexpr const char* row_kind<UsedPeaks> = "peaks";
template <>
inline constexpr const char* row_kind<RunMachine> = "machine";
template <>
inline constexpr const char* row_kind<Untried> = "untried";
template <>
inline constexpr const char* row_kind<Retirement> = "retirement";
template <class Value>
Value value_from(const Json& body);
template <>
Validation value_from(const Json& body);

}  // namespace halmark::journal
