// A sweep of kernels without a model: problems of ops, measured on several backends and compared.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/kernel_case.hpp"
#include "plan/asked_kernels.hpp"
#include "plan/sweep.hpp"

namespace halmark {

struct KernelSweep {
  std::string file, name;
  std::vector<AskedKernels> kernels;  // [[kernel]]
  std::vector<ShardPlace> backends;   // "cpu", "opencl:0" or "cpu:0/2": the choices of each problem
  // Beside the kernel that each backend chooses: "all", or kernels as of halmark bench --variants.
  std::vector<std::string> variants;
  CacheMode mode = CacheMode::rotate_const;
  int sets = 4;
  std::string sampler = "grid", sampler_where;
  std::int64_t trials = 0;  // of each problem; 0 = all
  std::uint64_t seed = 1;
  double budget_s = 180;
  MeasureSettings measure;
  StatedLimits containment;
};

// A file of `halmark tune`: [[kernel]] makes it one of kernels. Throws Error (exit 2) with
// file:line:column.
std::variant<Sweep, KernelSweep> read_tune_file(const std::string& path);
// "cpu", "cuda:1", "cpu:0/2". Throws Error (exit 2) naming `where`.
std::vector<ShardPlace> parse_backends(const std::vector<std::string>& texts,
                                       const std::string& where);
KernelSweep parse_kernel_sweep(std::string_view text, std::string_view where);

}  // namespace halmark
