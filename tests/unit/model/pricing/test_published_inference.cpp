// The roofline beside published measurements: a lower bound is never above what somebody measured.
// Every bound here is Halmark's own floor of a step, summed over its operators, with the work split
// perfectly over the row's devices: no engine can do better, whatever its parallelism.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "plan/device_file.hpp"
#include "roofline/estimate.hpp"

namespace halmark {
namespace {

using namespace model_test;

// Names of the rows as shipped models of the same shape.
std::optional<std::string> model_of(const std::string& name) {
  static const std::map<std::string, std::string> names = {{"Llama-3.3-70B", "llama-3.1-70b"},
                                                           {"Llama-3.1-405B", "llama-3.1-405b"},
                                                           {"Llama-3.1-8B", "llama-3.1-8b"},
                                                           {"Llama3-8B", "llama-3.1-8b"},
                                                           {"Llama3-70B", "llama-3.1-70b"},
                                                           {"Llama3.2-3b", "llama-3.2-3b"},
                                                           {"LLaMA-7B", "llama-2-7b"},
                                                           {"llama-7B", "llama-2-7b"},
                                                           {"Llama2-7B", "llama-2-7b"},
                                                           {"codellama-7B", "llama-2-7b"},
                                                           {"Llama2-13B", "llama-2-13b"},
                                                           {"LLaMA-70B", "llama-2-70b"},
                                                           {"Llama2-70B", "llama-2-70b"},
                                                           {"Qwen3-235B-A22B", "qwen3-235b-a22b"},
                                                           {"Qwen3-30B-A3B", "qwen3-30b-a3b"},
                                                           {"DeepSeek-R1-14b", "qwen2.5-14b"},
                                                           {"DeepSeek-V3/R1", "deepseek-v3"},
                                                           {"DeepSeek-R1", "deepseek-v3"},
                                                           {"DeepSeek-R1-671b", "deepseek-v3"},
                                                           {"gpt-oss-20b", "gpt-oss-20b"},
                                                           {"GPT-J-6B", "gpt-j-6b"},
                                                           {"Falcon-180B", "falcon-180b"}};
  const auto it = names.find(name);
  if (it == names.end() || !std::filesystem::exists(model_dir() / (it->second + ".json"))) {
    return std::nullopt;
  }
  return it->second;
}

std::optional<Device> device_of(std::string name) {
  if (name.starts_with("RaspberryPi-5")) name = "raspberry-pi-5";
  if (const std::size_t space = name.find(" ("); space != std::string::npos) name.resize(space);
  auto device = find_device(name, {HALMARK_SOURCE_DIR "/configs/devices"});
  if (!device) device = find_device("apple-" + name, {HALMARK_SOURCE_DIR "/configs/devices"});
  if (!device) return device;
  // Where sources disagree, only the upper end bounds.
  for (Peak& p : device->peaks) p.flops_per_s = p.flops_per_s_high.value_or(p.flops_per_s);
  for (Bandwidth& b : device->bandwidths) {
    b.bytes_per_s = b.bytes_per_s_high.value_or(b.bytes_per_s);
  }
  return device;
}

// What an engine stores and computes in: bits per weight and per cached element, and the types its
// products may run in (the fastest that the device has bounds them).
struct Engine {
  double weight_bits = 16, cache_bits = 16;
  std::vector<Dtype> compute = {Dtype::bf16, Dtype::f16};
};

std::optional<Engine> engine_of(std::string dtype) {
  if (dtype.starts_with("q4")) {  // 4-bit blocks with scales; products in integers where it helps
    return Engine{4.5, 16, {Dtype::f16, Dtype::s8, Dtype::f32}};
  }
  if (dtype == "f16" || dtype == "fp16") return Engine{16, 16, {Dtype::f16, Dtype::f32}};
  if (dtype == "bf16") return Engine{};
  if (dtype.starts_with("fp8")) return Engine{8, 8, {Dtype::f8_e4m3fn}};
  if (dtype == "int8") return Engine{8, 8, {Dtype::s8}};
  if (dtype == "fp4") return Engine{4, 8, {Dtype::f4_e2m1}};
  return std::nullopt;
}

double fastest(const Device& device, const Engine& engine) {
  double out = 0;
  for (const Peak& p : device.peaks) {
    if (std::ranges::find(engine.compute, p.dtype) != engine.compute.end()) {
      out = std::max(out, p.flops_per_s);  // also with FP16 accumulation: a bound is generous
    }
  }
  return out;
}

struct Machine {
  Device device;
  Engine engine;
  double devices = 1;
};

// Seconds of one step, not less than: compute and memory of every operator, perfectly split.
double step_bound_s(const std::string& model, const Machine& machine,
                    const Configuration& configuration) {
  const OperatorGraph graph = graph_of(shipped(model), configuration);
  const double flops_per_s = fastest(machine.device, machine.engine) * machine.devices;
  const double bytes_per_s = machine.device.bandwidth("memory", 0)->bytes_per_s * machine.devices;
  double seconds = 0;
  for (const Operator& op : graph.operators) {
    const Work& work = op.whole_work;
    const double constant = work.constant_bytes;
    const bool is_attention = op.kind == OperatorKind::attention;
    const double bits = is_attention ? machine.engine.cache_bits : machine.engine.weight_bits;
    const double bytes = constant * bits / 16 + (is_attention ? work.bytes() - constant : 0);
    seconds += static_cast<double>(op.count) *
               std::max(work.matmul_flops / flops_per_s, bytes / bytes_per_s);
  }
  return seconds;
}

struct Check {
  std::string row;
  double bound_s = 0, measured_s = 0;
};

class Row {
 public:
  Row(const Json& json, const std::string& source, std::string model, Machine machine)
      : json_(json), model_(std::move(model)), machine_(std::move(machine)) {
    label_ = source.substr(0, 40) + " | " + json["model"].get<std::string>() + " | " +
             json["hw"].get<std::string>() + " | " + json.value("dtype", "") + " | isl " +
             dumped("isl") + " osl " + dumped("osl") + " batch " + dumped("batch");
  }

  std::vector<Check> checks() {
    first_token();
    throughput();
    single_stream("prefill_tokens_per_s", "pp", true);
    single_stream("decode_tokens_per_s", "tg", false);
    large_scale();
    return std::move(out_);
  }

 private:
  std::string dumped(const char* key) const {
    return json_.contains(key) ? json_[key].dump() : std::string("-");
  }
  std::optional<double> number(const char* key) const {
    const bool is_number = json_.contains(key) && json_[key].is_number();
    return is_number ? std::optional(json_[key].get<double>()) : std::nullopt;
  }
  std::optional<std::int64_t> whole(const char* key) const {
    const auto value = number(key);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  void add(const std::string& what, double bound_s, double measured_s) {
    out_.push_back({label_ + " | " + what, bound_s, measured_s});
  }
  double prefill_s(std::int64_t sequences, std::int64_t tokens) const {
    return step_bound_s(model_, machine_, prefill(sequences, tokens, tokens));
  }
  double decode_s(std::int64_t sequences, std::int64_t context) const {
    return step_bound_s(model_, machine_, decode(sequences, context));
  }

  void first_token() {
    const auto ms = number("ttft_ms");
    const auto batch = whole("batch"), isl = whole("isl");
    if (ms && batch && isl) add("first token", prefill_s(*batch, *isl), *ms / 1e3);
  }

  // A request costs its prompt and its tokens; steps of both may share a kernel, so the larger of
  // the two bounds. Where the batch is not stated, a batch beyond every memory stands for it.
  void throughput() {
    const auto isl = whole("isl"), osl = whole("osl");
    const auto rate = total_rate();
    if (!rate || !isl || !osl) return;
    const std::int64_t batch = whole("batch").value_or(4096);
    const std::int64_t prompts = std::min<std::int64_t>(batch, 16);
    const double prompt_s = prefill_s(prompts, *isl) / static_cast<double>(prompts);
    const double token_s = decode_s(batch, *isl + 1) / static_cast<double>(batch);
    add("throughput", std::max(prompt_s, token_s * static_cast<double>(*osl)),
        static_cast<double>(*osl) / *rate);
  }

  // Output tokens a second of the whole deployment. Some tables print them per device.
  std::optional<double> total_rate() const {
    if (const auto per_gpu = number("output_tokens_per_s_gpu")) return *per_gpu * machine_.devices;
    const auto rate = number("output_tokens_per_s");
    const std::string metric = json_.value("metric", "");
    const bool is_per_gpu = metric.find("per GPU") != std::string::npos;
    return rate && is_per_gpu ? std::optional(*rate * machine_.devices) : rate;
  }

  void single_stream(const char* key, const std::string& prefix, bool is_prefill) {
    if (!json_.contains(key) || json_[key].is_null()) return;
    std::map<std::int64_t, double> rates;  // by tokens
    if (json_[key].is_object()) {
      for (const auto& [name, rate] : json_[key].items()) {
        rates[std::stoll(name.substr(prefix.size()))] = rate.get<double>();
      }
    } else {
      rates[whole(is_prefill ? "isl" : "osl").value_or(is_prefill ? 512 : 1)] = *number(key);
    }
    for (const auto& [tokens, rate] : rates) {
      const double bound = is_prefill ? prefill_s(1, tokens) / static_cast<double>(tokens)
                                      : decode_s(1, std::max<std::int64_t>(1, tokens / 2));
      add(prefix + std::to_string(tokens), bound, 1 / rate);
    }
  }

  // Tokens a second of a node of 8, or of one device, in a deployment of many.
  void large_scale() {
    const std::int64_t isl = whole("isl").value_or(2048);
    for (const auto& [key, devices] :
         {std::pair{"input_tokens_per_s_node", 8.0}, std::pair{"input_tokens_per_s_npu", 1.0}}) {
      if (const auto rate = number(key)) {
        machine_.devices = devices;
        add(key, prefill_s(16, isl) / static_cast<double>(16 * isl), 1 / *rate);
      }
    }
    for (const auto& [key, devices] :
         {std::pair{"output_tokens_per_s_node", 8.0}, std::pair{"output_tokens_per_s_npu", 1.0}}) {
      if (const auto rate = number(key)) {
        machine_.devices = devices;
        add(key, decode_s(4096, isl) / 4096, 1 / *rate);
      }
    }
  }

  const Json& json_;
  std::string model_;
  Machine machine_;
  std::string label_;
  std::vector<Check> out_;
};

// Rows that a lower bound may exceed, and why.
struct Exception {
  std::string_view part;  // of the label
  std::string_view reason;
};
constexpr Exception exceptions[] = {
    {"DeepSeek-V3/R1 | H800",
     "input tokens include those found in a cache (56.3 %), which nobody computed"},
};

TEST(PublishedInference, no_lower_bound_is_above_a_measurement) {
  const Json data = read_json_file(HALMARK_SOURCE_DIR "/tests/data/published_inference.json");
  std::map<std::string, int> passed_over;
  std::size_t rows = 0, figures = 0;
  double tightest = 0;
  for (const Json& json : data["rows"]) {
    const auto model = model_of(json["model"]);
    const auto device = device_of(json["hw"]);
    const auto engine = engine_of(json.value("dtype", "fp8"));
    if (!model || !device || !engine) {
      ++passed_over[!model    ? "no model " + json["model"].get<std::string>()
                    : !device ? "no device " + json["hw"].get<std::string>()
                              : "no engine " + json.value("dtype", "")];
      continue;
    }
    ++rows;
    Machine machine{*device, *engine, json.value("n_gpus", 1.0)};
    const std::string source = data["sources"].at(json["source"].get<std::size_t>());
    for (const Check& check : Row(json, source, *model, std::move(machine)).checks()) {
      ++figures;
      const auto exception = std::ranges::find_if(exceptions, [&](const Exception& e) {
        return check.row.find(e.part) != std::string::npos;
      });
      if (exception != std::end(exceptions)) continue;
      EXPECT_LE(check.bound_s, check.measured_s)
          << check.row << ": " << check.bound_s / check.measured_s << " of the measurement";
      EXPECT_GT(check.bound_s, 0) << check.row;
      tightest = std::max(tightest, check.bound_s / check.measured_s);
    }
  }
  for (const auto& [why, count] : passed_over) {
    std::cout << "passed over, " << count << " rows: " << why << '\n';
  }
  std::cout << rows << " rows, " << figures << " figures; the tightest bound is " << tightest
            << " of its measurement\n";
  EXPECT_GE(figures, 150u);
  EXPECT_GT(tightest, 0.6) << "a bound that is far from everything says nothing";
}

}  // namespace
}  // namespace halmark
