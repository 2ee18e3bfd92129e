// KernelCase: one thing whose latency is wanted. The key of the journal and of every latency
// source.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/fields/fields.hpp"
#include "core/problem.hpp"

namespace halmark {

// `in_stack`: measured between the kernels that stand around it in a stack, not in a loop of its
// own.
enum class CacheMode { hot, rotate_const, rotate_all, flush, in_stack };
std::string_view cache_mode_name(CacheMode mode);
std::optional<CacheMode> parse_cache_mode(std::string_view name);
template <>
inline constexpr ClosedSet<CacheMode> closed_set<CacheMode>{"a cache mode", cache_mode_name,
                                                            parse_cache_mode};

// Where a shard lives: part `part` of `parts` equal cuts of device `device` of `backend`.
// Text: "cpu:0" (whole) or "cpu:0/2.1" (part 1 of 2).
struct ShardPlace {
  std::string backend;
  std::string device = "0";
  int parts = 1;
  int part = 0;
  auto operator<=>(const ShardPlace&) const = default;
  std::string text() const;
  // Ranks on one of these share its memory and its power; "cpu:0".
  std::string device_text() const { return backend + ':' + device; }
};
// Of "cpu:0", "cpu:0/2" (the first of two parts) or "cpu:0/2.1"; nothing for other texts.
std::optional<ShardPlace> parse_shard_place(std::string_view text);

// "0@2": device "0" of each of two nodes, over which the ranks of a collective lie.
std::string device_over_nodes(const std::string& device, int nodes);
// 1 for a device of this machine.
int nodes_of_device(std::string_view device);

struct KernelCase {
  Problem problem;
  Config config;        // empty = the plugin's default
  std::string kernel;   // plugin kernel name; empty = the first that supports the problem
  std::string backend;  // "cpu"
  std::string device = "0";
  int parts = 1;           // each shard is one of `parts` equal cuts of the device
  int shards_at_once = 1;  // shards that run this problem at the same time (co-measured)
  CacheMode mode = CacheMode::rotate_const;
  int sets = 1;  // argument sets of the ring
  // What `in_stack` stands between: 12 hexadecimal digits over the problems of the three kernels
  // before it and of the one behind.
  std::string neighbours;
  auto operator<=>(const KernelCase&) const = default;

  bool is_collective() const;  // the problem carries "ranks"
  // The same kernel on the same arguments: how many shards run it at once may differ, and the ring
  // that a loop of it would have.
  bool shares_arguments(const KernelCase& other) const;
  // How its arguments lie in memory: in a stack, constants rotate as they do in a loop.
  CacheMode staging() const { return mode == CacheMode::in_stack ? CacheMode::rotate_const : mode; }
  // Canonical, stable identity: "gemm k=.. m=.. | config | cpu:0/2x2 | rotate_const:4", in a stack
  // "... | in_stack:4 9f3a2b1c00d4".
  std::string key() const;
};
template <class V, Of<KernelCase> M>
void fields(V& v, M& m) {
  v("problem", m.problem);
  v("config", m.config);
  v("kernel", m.kernel);
  v("backend", m.backend);
  v("device", m.device);
  v("parts", m.parts);
  v("shards_at_once", m.shards_at_once);
  v("mode", m.mode);
  v("sets", m.sets);
  v.unless_default("neighbours", m.neighbours);
}

// Ring rule: sets = clamp(ceil(ring / constant_bytes), 1, instances).
int ring_sets(std::int64_t ring_bytes, std::int64_t constant_bytes, std::int64_t instances);

}  // namespace halmark
