// The shipped tables against their own rows, read here by themselves, and against the whole tables
// that they were thinned from, where those are at hand.
#include "latency/forecast/forecast_source.hpp"

#include <fstream>
#include <random>

#include "core/text/digest.hpp"
#include "parquet/parquet_cells.hpp"
#include "plan/device/device_file.hpp"
#include "tests/checkout.hpp"
#include "tests/shared_data.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/latency/fixtures.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace latency_test;

const std::vector<std::filesystem::path> shipped = {test::in_source("/configs/forecasts")};

Device known(const std::string& id) {
  return known_device(id, {test::in_source("/configs/devices")});
}

ForecastSource source_of(const std::string& device, const std::string& engine,
                         std::int64_t joined = 8) {
  const auto files = forecast_files(shipped, device);
  return ForecastSource(*forecast_of(files, engine), known(device), {},
                        [joined](std::int64_t devices) { return devices <= joined; });
}

TEST(ForecastSource, every_file_is_that_of_its_manifest_and_has_its_kinds) {
  const auto files = forecast_files(shipped);
  ASSERT_GE(files.size(), 20u);
  for (const ForecastFile& file : files) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, file.path);
    EXPECT_NO_THROW(ForecastSource(file, known(file.device), {}, {}));
    const ParquetReader reader{InputFile(file.path, table_input)};
    ASSERT_EQ(reader.columns()[0].name, "kind");
    std::map<std::string, std::size_t> rows;
    for (ParquetCells cells(reader, {0}); cells.next();) ++rows[std::string(cells.row()[0])];
    std::map<std::string, std::size_t> stated;
    for (const ForecastKind& kind : file.kinds) stated[kind.name] = kind.rows;
    EXPECT_EQ(rows, stated);
  }
}

TEST(ForecastSource, one_device_is_read_of_a_manifest_as_all_are) {
  std::vector<std::string> all, one;
  for (const ForecastFile& file : forecast_files(shipped)) {
    if (file.device == "h200") all.push_back(file.path + file.sha256);
  }
  for (const ForecastFile& file : forecast_files(shipped, "h200")) {
    one.push_back(file.path + file.sha256);
    EXPECT_THAT(file.source, HasSubstr("aiconfigurator"));
  }
  EXPECT_EQ(one, all);
  EXPECT_TRUE(forecast_files(shipped, "xeon-8480plus").empty());
}

TEST(ForecastSource, the_engine_is_the_one_asked_for_else_vllm_else_what_there_is) {
  const std::vector<ForecastFile> files = {{.engine = "trtllm"}, {.engine = "vllm"}};
  EXPECT_EQ(forecast_of(files, "trtllm")->engine, "trtllm");
  EXPECT_EQ(forecast_of(files, "")->engine, "vllm");
  EXPECT_EQ(forecast_of(files, "other")->engine, "vllm");
  EXPECT_EQ(forecast_of(std::span(files).first(1), "other")->engine, "trtllm");
  EXPECT_EQ(forecast_of({}, "vllm"), nullptr);
}

// bf16 products of vLLM on an H200 are of one series.
// Neighbours that contradict a row count a little, too.
TEST(ForecastSource, gives_the_kept_rows_back) {
  std::vector<double> errors;
  const ForecastSource source = source_of("h200", "vllm");
  const ParquetReader reader{InputFile(source.file().path, table_input)};
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < reader.columns().size(); ++i) at[reader.columns()[i].name] = i;
  std::size_t seen = 0;
  for (ParquetCells cells(reader); cells.next();) {
    const auto& row = cells.row();
    if (row[at["kind"]] != "gemm" || row[at["gemm_dtype"]] != "bfloat16") continue;
    if (++seen % 11 != 0) continue;
    const auto size = [&](const char* name) { return std::stoll(std::string(row[at[name]])); };
    const Problem problem = gemm(size("m"), size("n"), size("k"));
    const auto latency = source.latency(problem, work_of(problem), 1);
    ASSERT_TRUE(latency) << problem.text();
    if (latency->ns == latency->lower_bound_ns) continue;
    const double ns = 1e6 * std::stod(std::string(row[at["latency"]]));
    errors.push_back(std::abs(latency->ns / ns - 1));
    EXPECT_THAT(latency->origin, testing::StartsWith("forecast vllm 0."));
    EXPECT_THAT(latency->origin, HasSubstr(": gemm bf16 torch.nn.functional.linear"));
    EXPECT_EQ(latency->provenance, Provenance::interpolated);
  }
  EXPECT_GT(seen, 500u);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.01);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.05);
  ASSERT_FALSE(source.use().empty());
  EXPECT_TRUE(source.use()[0].is_forecast);
  EXPECT_EQ(source.use()[0].series.at(0).points, seen);
}

// Rows of the whole tables (aiconfigurator-core 0.12.0, vLLM 0.24.0), whether they were kept or
// not: products of nvfp4 on a B200; experts of both products together, of Kimi-K2 in int4 over the
// 8 ranks of an H200 and of DeepSeek-V3 in nvfp4 over those of a B200.
TEST(ForecastSource, packed_weights_take_what_their_rows_say) {
  const auto f4 = number_of(Dtype::f4_e2m1), s4 = number_of(Dtype::s4);
  const ForecastSource b200 = source_of("b200", "vllm"), h200 = source_of("h200", "vllm");
  std::vector<double> errors;
  const auto add = [&](const ForecastSource& source, std::vector<Problem> parts, double ms) {
    double ns = 0;
    for (Problem& part : parts) {
      const Problem problem = complete_problem(std::move(part));
      const auto latency = source.latency(problem, work_of(problem), 1);
      ASSERT_TRUE(latency) << problem.text();
      EXPECT_THAT(latency->origin, HasSubstr(problem.op)) << "of its own rows";
      ns += latency->ns;
    }
    errors.push_back(std::abs(ns / 1e6 / ms - 1));
    EXPECT_LT(errors.back(), 0.6) << parts.front().text();
  };
  for (const auto& [m, n, k, ms] :
       std::vector<std::tuple<int, int, int, double>>{{8192, 10240, 8192, 0.2939},
                                                      {8192, 4096, 7168, 0.1239},
                                                      {1024, 8192, 8192, 0.0415},
                                                      {64, 10240, 8192, 0.0132},
                                                      {1, 8192, 8192, 0.0148},
                                                      {1, 4096, 7168, 0.0111}}) {
    Problem product{"packed_gemm", {{"m", m}, {"n", n}, {"k", k}, {"block", 16}}};
    product.params.set("src_dtype", f4);
    product.params.set("dst_dtype", bf16);
    add(b200, {product}, ms);
  }
  const auto experts = [&](std::int64_t tokens, std::int64_t count, std::int64_t src,
                           std::int64_t weights, std::int64_t block) {
    Problem of{"packed_grouped_gemm", {{"tokens", tokens}, {"top_k", 8}, {"experts", count}}};
    for (const auto& [name, value] : {std::pair{"skew", std::int64_t{0}},
                                      {"ep_size", 1},
                                      {"ep_rank", 0},
                                      {"block", block},
                                      {"src_dtype", src},
                                      {"dst_dtype", bf16},
                                      {"wei_dtype", weights}}) {
      of.params.set(name, value);
    }
    Problem up = of, down = of;
    for (const auto& [problem, n, k] : {std::tuple{&up, 512, 7168}, {&down, 7168, 256}}) {
      problem->params.set("n", n);
      problem->params.set("k", k);
    }
    return std::vector{up, down};
  };
  for (const auto& [tokens, ms] :
       {std::pair{1, 0.0407}, {8, 0.1105}, {64, 0.4665}, {256, 0.490}, {1024, 0.857}}) {
    add(h200, experts(tokens, 384, bf16, s4, 32), ms);
  }
  for (const auto& [tokens, ms] :
       {std::pair{1, 0.0233}, {16, 0.0582}, {256, 0.1425}, {4096, 0.388}}) {
    add(b200, experts(tokens, 256, f4, f4, 16), ms);
  }
  // A kernel of other weights is another one, whatever was asked for first.
  const Problem floats = complete_problem(experts(64, 128, bf16, f4, 32).front());
  EXPECT_TRUE(b200.latency(floats, work_of(floats), 1));
  add(b200, experts(64, 384, bf16, s4, 32), 0.4076);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.1);
}

// No table of vLLM on an A100 has int4 products; those of TensorRT-LLM there were measured.
TEST(ForecastSource, weights_that_no_table_has_packed_are_estimated_by_wide_ones) {
  const ForecastSource with = source_of("a100", "trtllm"), without = source_of("a100", "vllm");
  std::vector<double> errors;
  double held = 0;
  for (const std::int64_t m : {1, 8, 32, 128, 512, 2048, 8192}) {
    for (const auto& [n, k] : {std::pair{4096, 4096}, {6144, 4096}, {8192, 8192}, {4096, 14336}}) {
      Problem product{"packed_gemm", {{"m", m}, {"n", n}, {"k", k}, {"block", 128}}};
      product.params.set("src_dtype", bf16);
      product.params.set("dst_dtype", bf16);
      product.params.set("wei_dtype", number_of(Dtype::s4));
      const Problem problem = complete_problem(std::move(product));
      const auto truth = with.latency(problem, work_of(problem), 1);
      const auto found = without.latency(problem, work_of(problem), 1);
      ASSERT_TRUE(truth && found) << problem.text();
      EXPECT_THAT(truth->origin, HasSubstr("packed_gemm"));
      EXPECT_THAT(found->origin, testing::StartsWith("packed weights by those of 16 bits of "));
      EXPECT_GE(found->ns, found->lower_bound_ns);
      errors.push_back(std::abs(std::log(found->ns / truth->ns)));
      held += found->low_ns <= truth->ns && truth->ns <= found->high_ns;
    }
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], std::log(1.5));
  EXPECT_GE(held / static_cast<double>(errors.size()), 0.8);
}

TEST(ForecastSource, intervals_hold_their_figure_and_none_is_below_its_bound) {
  const ForecastSource source = source_of("h200", "trtllm");
  std::mt19937 random(3);
  const auto size = [&](int low, int high) {
    return std::int64_t{std::uniform_int_distribution(low, high)(random)};
  };
  std::size_t known = 0;
  for (int i = 0; i < 200; ++i) {
    const Problem problem =
        i % 4 == 0
            ? complete_problem(
                  {"all_reduce",
                   {{"bytes", 2 * size(1, 1 << 24)}, {"ranks", 2 << size(0, 2)}, {"dtype", bf16}}})
            : gemm(size(1, 20'000), 64 * size(1, 256), 64 * size(1, 256));
    const auto latency = source.latency(problem, work_of(problem), 1);
    if (!latency || latency->status == Status::quarantined) continue;
    ++known;
    EXPECT_LE(latency->lower_bound_ns, latency->low_ns) << problem.text();
    EXPECT_LE(latency->low_ns, latency->ns);
    EXPECT_LE(latency->ns, latency->high_ns);
  }
  EXPECT_GT(known, 150u);
}

TEST(ForecastSource, collectives_of_devices_that_something_else_joins_are_not_known) {
  const ForecastSource source = source_of("h200", "vllm", 8);
  const auto known = [&](std::int64_t ranks, std::int64_t stride) {
    return source.latency(all_reduce(ranks), work_of(all_reduce(ranks)), stride).has_value();
  };
  EXPECT_TRUE(known(8, 1));
  EXPECT_TRUE(known(4, 2));
  EXPECT_FALSE(known(4, 4)) << "over 16 devices";
  EXPECT_FALSE(known(16, 1));
}

TEST(ForecastSource, an_op_that_no_table_has_is_not_known) {
  const ForecastSource source = source_of("h200", "vllm");
  const Problem copy = complete_problem({"copy", {{"bytes", 1 << 20}}});
  EXPECT_FALSE(source.latency(copy, work_of(copy), 1));
}

TEST(ForecastSource, a_file_that_is_not_that_of_its_manifest_is_refused) {
  const test::ScratchFolder folder;
  ForecastFile file = forecast_files(shipped, "a100").at(0);
  std::string bytes = read_input(file.path, table_input);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  file.path = folder / "damaged.parquet";
  std::ofstream(file.path, std::ios::binary) << bytes;
  const auto opened = [&] { ForecastSource(file, known("a100"), {}, {}); };
  test::expect_error(opened, "another sha256", ExitCode::refused);
  EXPECT_THAT(test::error_of(opened).line(), HasSubstr(file.path));
  // Of the right sum it is as damaged as any table.
  file.sha256 = sha256_of(bytes.substr(0, bytes.size() / 2));
  std::ofstream(file.path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  test::expect_error(opened, "is damaged");
  std::filesystem::remove(file.path);
  test::expect_error(opened, file.path);
}

struct Whole {
  const char *table, *device;
};
void PrintTo(const Whole& whole, std::ostream* os) { *os << whole.table; }

class WholeTable : public testing::TestWithParam<Whole> {};

// The same release on the same device, before it was thinned.
TEST_P(WholeTable, nine_of_ten_rows_lie_in_their_intervals) {
  const auto path =
      test::shared_data(std::string("kernels/") + GetParam().table + "_trtllm_1.3.0rc20.csv.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const ForecastSource source = source_of(GetParam().device, "trtllm");
  if (source.file().release != "1.3.0rc20") GTEST_SKIP() << "another release";
  std::vector<double> errors;
  double held = 0, asked = 0;
  for (const KernelSeries& series : read_kernel_table(path.string()).series) {
    if (series.identity.dtype != "bf16") continue;
    for (std::size_t i = 0; i < series.points.size(); i += 1 + series.points.size() / 400) {
      const LatencyPoint point = series.points.at(i);
      const auto latency = source.latency(point.problem, work_of(point.problem), 1);
      ++asked;
      if (!latency || latency->status == Status::quarantined) continue;
      errors.push_back(std::abs(latency->ns / point.ns - 1));
      if (latency->low_ns <= point.ns && point.ns <= latency->high_ns) ++held;
    }
  }
  ASSERT_GT(errors.size(), 0.9 * asked);
  ASSERT_GT(errors.size(), 200u);
  held /= static_cast<double>(errors.size());
  std::ranges::nth_element(errors, errors.begin() + std::ssize(errors) / 2);
  RecordProperty("median", std::to_string(errors[errors.size() / 2]));
  RecordProperty("held", std::to_string(held));
  EXPECT_LT(errors[errors.size() / 2], 0.045);
  EXPECT_GT(held, 0.8);
  EXPECT_LT(held, 0.99) << "wider than they have to be";
}

INSTANTIATE_TEST_SUITE_P(Of, WholeTable,
                         testing::Values(Whole{"gemm_h100", "h100-sxm"},
                                         Whole{"context_attention_h200", "h200"},
                                         Whole{"generation_attention_h200", "h200"}),
                         [](const auto& info) { return std::string(info.param.table); });

}  // namespace
}  // namespace halmark
