// What the workers of a whole stack took of memory: by the role of the operands against the memory
// model, and as the operating system counts the process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/numeric/cast.hpp"

namespace halmark {

// One reason why a role took other than what the model says; each is computed by itself, none as
// what is left.
struct MemoryCause {
  std::string name;
  std::int64_t bytes = 0;  // beyond the model; negative: less
  bool operator==(const MemoryCause&) const = default;
};
template <class V, Of<MemoryCause> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("bytes", m.bytes);
}

struct RoleMemory {
  std::string role;                 // "weights", "kv_cache", "activations", "collectives", ...
  std::int64_t modelled_bytes = 0;  // 0 where the model counts none
  std::int64_t allocated_bytes = 0;
  std::vector<MemoryCause> causes;  // without those of no byte

  std::int64_t unexplained_bytes() const {
    std::int64_t out = allocated_bytes - modelled_bytes;
    for (const MemoryCause& cause : causes) out -= cause.bytes;
    return out;
  }
  bool operator==(const RoleMemory&) const = default;
};
// Sums and verdicts follow from them and are not stored.
template <class V, Of<RoleMemory> M>
void fields(V& v, M& m) {
  v("role", m.role);
  v("modelled_bytes", m.modelled_bytes);
  v("allocated_bytes", m.allocated_bytes);
  v("causes", m.causes);
}

enum class SetSizeVerdict { within, beyond, too_small };
constexpr std::string_view set_size_verdict_name(SetSizeVerdict verdict) {
  switch (verdict) {
    case SetSizeVerdict::within:
      return "within";
    case SetSizeVerdict::beyond:
      return "beyond";
    case SetSizeVerdict::too_small:
      return "too_small";
  }
  return {};
}

// Proportional set size of one worker (Pss of /proc/PID/smaps_rollup): pages that several processes
// map are counted in parts.
struct ProportionalSet {
  std::int64_t baseline_bytes = 0;  // plugin loaded, device open, nothing staged
  std::int64_t grown_bytes = 0;     // since then
  std::int64_t expected_bytes = 0;  // all that was staged

  static constexpr double tolerance = 0.05;
  static constexpr std::int64_t judged_bytes_min = 512ll << 20;

  std::optional<double> difference() const {
    if (expected_bytes <= 0) return std::nullopt;
    return as_double(grown_bytes) / as_double(expected_bytes) - 1;
  }
  SetSizeVerdict verdict() const {
    const auto off = difference();
    if (!off || expected_bytes < judged_bytes_min) return SetSizeVerdict::too_small;
    return *off <= tolerance && *off >= -tolerance ? SetSizeVerdict::within
                                                   : SetSizeVerdict::beyond;
  }
  bool operator==(const ProportionalSet&) const = default;
};
template <class V, Of<ProportionalSet> M>
void fields(V& v, M& m) {
  v("baseline_bytes", m.baseline_bytes);
  v("grown_bytes", m.grown_bytes);
  v("expected_bytes", m.expected_bytes);
}

struct MemoryOfRank {
  int rank = 0;
  std::vector<RoleMemory> roles;
  // Staged on this rank for comparisons alone: no step of its stack executes these kernels.
  std::int64_t beside_bytes = 0;
  std::optional<ProportionalSet> set_size;
  std::string set_size_reason;  // why it is absent

  std::int64_t allocated_bytes() const {
    std::int64_t out = 0;
    for (const RoleMemory& role : roles) out += role.allocated_bytes;
    return out;
  }
  std::int64_t unexplained_bytes() const {
    std::int64_t out = 0;
    for (const RoleMemory& role : roles)
      out += std::max(role.unexplained_bytes(), -role.unexplained_bytes());
    return out;
  }
  bool operator==(const MemoryOfRank&) const = default;
};
template <class V, Of<MemoryOfRank> M>
void fields(V& v, M& m) {
  v("rank", m.rank);
  v("roles", m.roles);
  v("beside_bytes", m.beside_bytes);
  v("set_size", m.set_size);
  v("set_size_reason", m.set_size_reason);
}

struct MeasuredMemory {
  std::vector<MemoryOfRank> ranks;  // never empty

  const MemoryOfRank& largest() const {
    return *std::max_element(ranks.begin(), ranks.end(),
                             [](const MemoryOfRank& a, const MemoryOfRank& b) {
                               return a.allocated_bytes() < b.allocated_bytes();
                             });
  }
  bool operator==(const MeasuredMemory&) const = default;
};
template <class V, Of<MeasuredMemory> M>
void fields(V& v, M& m) {
  v("ranks", m.ranks);
  v.check(!m.ranks.empty(), "ranks", "a rank");
}

}  // namespace halmark
