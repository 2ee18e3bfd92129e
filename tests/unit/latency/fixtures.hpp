// Problems, devices, rows and tables that the tests of this room share.
#pragma once

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "kernels/contract.hpp"
#include "latency/imported/kernel_table.hpp"
#include "roofline/estimate.hpp"
#include "tests/unit/says.hpp"

namespace halmark::latency_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr std::int64_t number_of(Dtype dtype) { return static_cast<std::int64_t>(dtype); }
constexpr std::int64_t bf16 = number_of(Dtype::bf16);

inline Problem gemm(std::int64_t m, std::int64_t n = 1000, std::int64_t k = 1000,
                    std::int64_t dtype = bf16, std::int64_t dst = bf16) {
  return complete_problem({"gemm",
                           {{"m", m},
                            {"n", n},
                            {"k", k},
                            {"src_dtype", dtype},
                            {"wei_dtype", dtype},
                            {"dst_dtype", dst},
                            {"wei_trans", 1}}});
}
inline Problem all_reduce(std::int64_t ranks) {
  return complete_problem({"all_reduce", {{"bytes", 1 << 20}, {"ranks", ranks}, {"dtype", bf16}}});
}
inline KernelCase copy_case(std::int64_t bytes) {
  return {.problem = {"copy", {{"bytes", bytes}}}};
}
inline Work work_of(const Problem& problem) {
  return find_contract(problem.op)->work(problem.params);
}

inline void expect_params(const Params& params,
                          std::initializer_list<std::pair<const char*, std::int64_t>> wanted) {
  for (const auto& [name, value] : wanted) EXPECT_EQ(params.at(name), value) << name;
}

inline Device device_of(const char* id, double flops_per_s, double bytes_per_s,
                        std::vector<Link> links = {}) {
  Device out{.id = id, .kind = "gpu", .links = std::move(links)};
  out.peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = flops_per_s}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = bytes_per_s}};
  return out;
}

inline Measurement row_of(const KernelCase& kernel_case, double ns, Status status = Status::ok) {
  Measurement out;
  out.kernel_case = kernel_case;
  out.status = status;
  out.reason = status == Status::ok ? "" : "because";
  out.samples.push_back({.wall_ns = ns});
  out.duration_ns_median = ns;
  out.duration_ns_interval = {ns - 1, ns + 1};
  return out;
}

inline ImportedTable table_of(const std::string& text) {
  const CsvTable csv = CsvTable::parse(text, "t.csv");
  return kernel_table(csv, known_layouts(csv));
}
inline LatencyPoint point_of(const ImportedTable& table, std::size_t series = 0) {
  return table.series.at(series).points.at(0);
}
inline std::string table_refusal(const std::string& text) {
  const Error error = test::error_of([&] { table_of(text); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

}  // namespace halmark::latency_test
