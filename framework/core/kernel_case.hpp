// KernelCase: one thing whose latency is wanted. The key of the journal and of every latency
// source.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/problem.hpp"

namespace halmark {

enum class CacheMode { hot, rotate_const, rotate_all, flush };
std::string_view cache_mode_name(CacheMode mode);

// Where a shard lives: part `part` of `parts` equal cuts of device `device` of `backend`.
// Text: "cpu:0" (whole) or "cpu:0/2.1" (part 1 of 2).
struct ShardPlace {
  std::string backend;
  std::string device = "0";
  int parts = 1;
  int part = 0;
  auto operator<=>(const ShardPlace&) const = default;
  std::string text() const;
};

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
  auto operator<=>(const KernelCase&) const = default;

  bool is_collective() const;  // the problem carries "ranks"
  // Canonical, stable identity: "gemm k=.. m=.. | config | cpu:0/2x2 | rotate_const:4".
  std::string key() const;
};

// Ring rule: sets = clamp(ceil(ring / constant_bytes), 1, instances).
int ring_sets(std::int64_t ring_bytes, std::int64_t constant_bytes, std::int64_t instances);

}  // namespace halmark
