#include "served_rows.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "latency/imported/csv_table.hpp"

namespace halmark::test {
namespace {

class Fields {
 public:
  Fields(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  std::string text(const char* column) const {
    return std::string(table_.field(row_, table_.column(column)));
  }
  std::int64_t number(const char* column) const {
    const std::string value = text(column);
    return value.empty() ? 0 : std::stoll(value);
  }
  double real(const char* column) const { return std::stod(text(column)); }

 private:
  const CsvTable& table_;
  std::size_t row_;
};

const std::map<std::string, std::string, std::less<>> shipped_models = {
    {"Qwen/Qwen3-32B", "qwen3-32b"},
    {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"},
    {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
    {"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
    {"openai/gpt-oss-120b", "gpt-oss-120b"},
    {"MiniMaxAI/MiniMax-M2.5", "minimax-m2"}};

// Why a row says too little, or what no table has.
std::optional<std::string> refusal(const Fields& row) {
  if (row.text("mode") != "agg") return "disaggregated: workers and their layouts are not stated";
  if (row.text("concurrency").empty()) return "the concurrency of the clients is not stated";
  const std::string backend = row.text("backend");
  if (backend != "trtllm" && backend != "vllm") return "no kernel tables of " + backend;
  if (!shipped_models.contains(row.text("model_path"))) return "a model that is not shipped";
  if (row.number("attention_dp_size") > 1) {
    return "attention data parallel over more expert ranks than the curve's devices";
  }
  if (row.text("backend_version") == "0.11.2") {
    return "512 clients of vLLM 0.11.2, most of whom wait for a limit that is not stated";
  }
  return std::nullopt;
}

std::string dtype_of(const Fields& row) {
  const std::string precision = row.text("precision");
  if (precision.empty()) return "bf16";  // of the files that state none, by their bytes per token
  if (precision == "fp4") return "checkpoint";
  // TensorRT-LLM's own FP8 checkpoints keep the cache in it: at one device more tokens are in
  // flight than a cache of 16 bits holds.
  const bool has_static_scales =
      row.text("backend") == "trtllm" && row.text("gemm_quant_mode") == "fp8";
  return has_static_scales ? "fp8+kv_cache=fp8" : "fp8";
}

ServedRow row_of(const Fields& row) {
  ServedRow out{.id = row.text("id"),
                .backend = row.text("backend"),
                .version = row.text("backend_version"),
                .model = shipped_models.at(row.text("model_path")),
                .dtype = dtype_of(row),
                .gemm_quantization = row.text("gemm_quant_mode"),
                .request = {row.number("isl"), row.number("osl")},
                .concurrency = row.number("concurrency"),
                .ttft_ns = row.real("ttft_ms") * 1e6,
                .tpot_ns = row.real("tpot_ms") * 1e6};
  out.parallel.tp = static_cast<int>(row.number("tp_size"));
  out.parallel.pp = static_cast<int>(std::max<std::int64_t>(1, row.number("pp_size")));
  out.parallel.ep = static_cast<int>(std::max<std::int64_t>(1, row.number("moe_ep_size")));
  out.curve = out.series() + ' ' + out.parallel.text() + ' ' +
              std::to_string(out.request.input_tokens) + '+' +
              std::to_string(out.request.output_tokens);
  return out;
}

}  // namespace

ServedRows read_served_rows(const std::filesystem::path& file, const std::string& system) {
  const CsvTable table = CsvTable::read(file.string());
  ServedRows out;
  std::set<std::tuple<std::string, std::int64_t, double, double>> seen;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const Fields fields(table, i);
    if (fields.text("system") != system) continue;
    ++out.all;
    if (const auto reason = refusal(fields)) {
      ++out.refused[*reason];
      continue;
    }
    ServedRow row = row_of(fields);
    if (!seen.emplace(row.curve, row.concurrency, row.ttft_ns, row.tpot_ns).second) {
      ++out.refused["the same measurement again"];
      continue;
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace halmark::test
