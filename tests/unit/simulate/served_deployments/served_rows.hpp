// Served deployments that others measured (served-deployments.csv), as loads that the model can
// price, or the reason why it cannot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark::test {

struct ServedRow {
  std::string id, backend, version, model, dtype;  // dtype: a recipe of precisions
  std::string gemm_quantization;                   // "fp8_block", "fp8"; "" = not stated
  std::string curve;                               // all but the concurrency
  RequestShape request;
  std::int64_t concurrency = 1;
  Parallel parallel;
  double ttft_ns = 0, tpot_ns = 0;
  // Engines whose setting a server of this kind shares: one source file of the origin.
  std::string series() const { return backend + ' ' + version + ' ' + model; }
};

struct ServedRows {
  std::vector<ServedRow> rows;
  std::map<std::string, std::size_t> refused;  // reason -> rows
  std::size_t all = 0;
};

// Rows of one system, the same measurement once.
ServedRows read_served_rows(const std::filesystem::path& file, const std::string& system);

}  // namespace halmark::test
