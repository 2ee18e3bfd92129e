#include "tests/unit/model/pricing/published_rows.hpp"
#include "core/numeric/cast.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/json/json.hpp"
#include "model/pricing/memory.hpp"
#include "model/step/priced_step.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "tests/checkout.hpp"

namespace halmark::published {
namespace {

const std::filesystem::path models = test::in_source("/configs/models");

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
  if (it == names.end() || !std::filesystem::exists(models / (it->second + ".json"))) {
    return std::nullopt;
  }
  return it->second;
}

std::optional<Device> device_of(std::string name) {
  if (name.starts_with("RaspberryPi-5")) name = "raspberry-pi-5";
  if (const std::size_t space = name.find(" ("); space != std::string::npos) name.resize(space);
  auto device = find_device(name, {test::in_source("/configs/devices")});
  if (!device) device = find_device("apple-" + name, {test::in_source("/configs/devices")});
  return device;
}

// What a row's dtype means: the quantization_config of such a checkpoint, and what `--dtype` is.
struct Stated {
  std::string quantization;  // "" = the model's own
  std::string dtype;
};

std::optional<Stated> stated_of(const std::string& dtype) {
  const std::string narrow = "+attention=f8_e4m3fn+kv_cache=f8_e4m3fn";
  if (dtype.starts_with("q4")) {  // GGUF: blocks of 32 with a 16-bit scale, the head among them
    return Stated{R"({"quant_method": "compressed-tensors", "config_groups": {"q4": {"targets":
      ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}}}, "ignore": []})",
                  "w4a16"};
  }
  if (dtype == "f16" || dtype == "fp16") return Stated{"", "f16"};
  if (dtype == "bf16") return Stated{"", "bf16"};
  if (dtype.starts_with("fp8 matmul")) return Stated{"", "fp8"};  // "..., bf16 MLA"
  if (dtype.starts_with("fp8")) return Stated{"", "fp8" + narrow};
  if (dtype == "int8") return Stated{"", "int8"};
  if (dtype == "fp4") {  // as ModelOpt writes it
    return Stated{R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme":
      {"num_bits": 8, "type": "float"}, "ignore": ["lm_head", "*.mlp.gate"]})",
                  "checkpoint" + narrow};
  }
  return std::nullopt;
}

ModelSpec spec_of(const std::string& id, const Stated& stated) {
  if (stated.quantization.empty()) return load_model(id, {models});
  Json config = read_json_file((models / (id + ".json")).string()).at("config");
  config["quantization_config"] = parse_json(stated.quantization, "quantization_config");
  return read_model(dump_json(config), id);
}

Precision precision_for(const ModelSpec& spec, const Stated& stated, const Device& device) {
  PrecisionFacts facts{.has_bf16 = computes_bf16(device)};
  if (const auto& q = spec.quantization) {
    facts.kv_cache = q->kv_cache;
    facts.weights = q->weights;
    facts.format = q->format;
    facts.quantizes_inputs = q->quantizes_inputs;
    if (!q->kinds.empty()) facts.packed = q->kinds;
  }
  Precision out = precision_of(stated.dtype, facts);
  if (stated.dtype != "w4a16") return out;
  // GGUF keeps everything else in f16.
  for (const KernelKind kind :
       {KernelKind::attention, KernelKind::kv_cache, KernelKind::activation}) {
    out.set(kind, Dtype::f16);
  }
  if (out.head == Dtype::f32 || out.head == Dtype::bf16) out.head = Dtype::f16;
  return out;
}

// One device that has all that `count` of them have.
Device together(Device device, double count) {
  for (Peak& p : device.peaks) {
    p.flops_per_s *= count;
    if (p.flops_per_s_high) *p.flops_per_s_high *= count;
  }
  for (Bandwidth& b : device.bandwidths) {
    b.bytes_per_s *= count;
    if (b.bytes_per_s_high) *b.bytes_per_s_high *= count;
  }
  const double bytes = as_double(device.memory_bytes_high.value_or(device.memory_bytes));
  device.memory_bytes = static_cast<std::int64_t>(bytes * count);
  return device;
}

// "TP4 PP1"; nothing where the row does not say it so.
std::optional<Parallel> split_of(const Json& row) {
  const std::string text = row.value("parallelism", "");
  Parallel out;
  const int found = std::sscanf(text.c_str(), "TP%d PP%d", &out.tp, &out.pp);
  return found >= 1 ? std::optional(out) : std::nullopt;
}

class Row {
 public:
  Row(const Json& json, const std::string& source, ModelSpec spec, Precision precision,
      const Device& device, double devices)
      : json_(json),
        spec_(std::move(spec)),
        precision_(std::move(precision)),
        one_(together(device, 1)),
        split_(split_of(json).value_or(Parallel{})),
        device_(split_of(json) ? one_ : together(device, devices)),
        devices_(devices) {
    label_ = source.substr(0, 40) + " | " + json["model"].get<std::string>() + " | " +
             json["hw"].get<std::string>() + " | " + precision_.name + " | isl " + dumped("isl") +
             " osl " + dumped("osl") + " batch " + dumped("batch");
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

  Configuration configuration(Phase phase, std::int64_t batch, std::int64_t tokens,
                              std::int64_t context) const {
    // Some tables have requests that end beyond what a model states; fewer keys bound them too.
    const std::int64_t keys = std::min(context, spec_.max_position.value_or(context));
    return {spec_.id, split_, precision_, {phase, batch, std::min(tokens, keys), keys}};
  }
  // What the program says of a step that took `seconds`: the larger of two such where a request is
  // made of steps of both kinds.
  void add(const std::string& what, const Configuration& c, double seconds) {
    const PricedStep step = price_step(spec_, c, device_, {.measured_ms = seconds * 1e3});
    const StepUtilisation u = utilisation_of(step);
    out_.push_back({label_ + " | " + what, u.bound.value_or(0), u.roofline.value_or(0)});
  }
  void prefill(const std::string& what, std::int64_t sequences, std::int64_t tokens, double s) {
    add(what, configuration(Phase::prefill, sequences, tokens, tokens), s);
  }
  void decode(const std::string& what, std::int64_t sequences, std::int64_t context, double s) {
    add(what, configuration(Phase::decode, sequences, 1, context), s);
  }

  // The most sequences of `context` whose cache the devices hold beside the weights. A cache grows
  // with its sequences, and as many of them as there are stages have one in each.
  std::int64_t batch_max(std::int64_t context) const {
    const Configuration c = configuration(Phase::decode, split_.pp, 1, context);
    const RankMemory rank = memory_use(*build_graph(spec_, c)).largest;
    const std::int64_t rounds = (device_.memory_bytes - rank.weight_bytes) / rank.kv_bytes;
    return std::max<std::int64_t>(1, rounds) * split_.pp;
  }

  void first_token() {
    const auto ms = number("ttft_ms");
    const auto batch = whole("batch"), isl = whole("isl");
    if (ms && batch && isl) prefill("first token", *batch, *isl, *ms / 1e3);
  }

  // A request costs its prompt, and its share of as many decode steps as it has tokens; both may
  // pass in the same kernels, so each alone has to take no longer than the request. A saturated
  // engine holds what fits.
  void throughput() {
    const auto isl = whole("isl"), osl = whole("osl");
    const auto rate = total_rate();
    if (!rate || !isl || !osl) return;
    const double request_s = as_double(*osl) / *rate;
    const std::int64_t prompts = 4 * split_.pp;
    prefill("prompts", prompts, *isl, request_s * as_double(prompts));
    const std::int64_t stated = whole("batch").value_or(batch_max(*isl + 1));
    const std::int64_t batch = std::max<std::int64_t>(split_.pp, stated / split_.pp * split_.pp);
    decode("tokens", batch, *isl + 1, as_double(batch) / *rate);
    keep_larger();
  }
  void keep_larger() {
    const Check last = out_.back();
    out_.pop_back();
    if (last.bound > out_.back().bound) out_.back() = last;
  }

  // Output tokens a second of the whole deployment. Some tables print them per device.
  std::optional<double> total_rate() const {
    if (const auto per_gpu = number("output_tokens_per_s_gpu")) return *per_gpu * devices_;
    const auto rate = number("output_tokens_per_s");
    const std::string metric = json_.value("metric", "");
    const bool is_per_gpu = metric.find("per GPU") != std::string::npos;
    return rate && is_per_gpu ? std::optional(*rate * devices_) : rate;
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
      const std::string what = prefix + std::to_string(tokens);
      if (is_prefill) {
        prefill(what, 1, tokens, as_double(tokens) / rate);
      } else {
        decode(what, 1, std::max<std::int64_t>(1, tokens / 2), 1 / rate);
      }
    }
  }

  // Tokens a second of a node of 8, or of one device, in a deployment of many.
  void large_scale() {
    const std::int64_t isl = whole("isl").value_or(2048);
    for (const auto& [unit, devices] : {std::pair{"node", 8.0}, std::pair{"npu", 1.0}}) {
      const std::string of_unit = std::string("_tokens_per_s_") + unit;
      device_ = together(one_, devices);
      if (const auto rate = number(("input" + of_unit).c_str())) {
        prefill("input" + of_unit, 16, isl, as_double(16 * isl) / *rate);
      }
      if (const auto rate = number(("output" + of_unit).c_str())) {
        decode("output" + of_unit, 4096, isl, 4096 / *rate);
      }
    }
  }

  const Json& json_;
  ModelSpec spec_;
  Precision precision_;
  Device one_;
  Parallel split_;
  Device device_;
  double devices_;
  std::string label_;
  std::vector<Check> out_;
};

// Rows that a bound may exceed, and why.
struct Exception {
  std::string_view part;  // of the label
  std::string_view reason;
};
constexpr Exception exceptions[] = {
    {"DeepSeek-V3/R1 | H800",
     "input tokens include those found in a cache (56.3 %), which nobody computed"},
};

bool is_excepted(const Check& check) {
  return std::ranges::any_of(
      exceptions, [&](const Exception& e) { return check.row.find(e.part) != std::string::npos; });
}

}  // namespace

const Check& Checks::closest() const { return *std::ranges::max_element(all, {}, &Check::bound); }

double Checks::median_bound() const {
  std::vector<Check> sorted = all;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::ranges::nth_element(sorted, middle, {}, &Check::bound);
  return middle->bound;
}

Checks inference_checks() {
  static const Json data = read_json_file(test::in_source("/tests/data/published_inference.json"));
  Checks out;
  for (const Json& json : data["rows"]) {
    const auto model = model_of(json["model"]);
    const auto device = device_of(json["hw"]);
    const auto stated = stated_of(json.value("dtype", "fp8 matmul"));
    if (!model || !device || !stated) {
      ++out.passed_over[!model    ? "no model " + json["model"].get<std::string>()
                        : !device ? "no device " + json["hw"].get<std::string>()
                                  : "no precision " + json.value("dtype", "")];
      continue;
    }
    ++out.rows;
    const ModelSpec spec = spec_of(*model, *stated);
    const std::string source = data["sources"].at(json["source"].get<std::size_t>());
    Row row(json, source, spec, precision_for(spec, *stated, *device), *device,
            json.value("n_gpus", 1.0));
    std::vector<Check> checks = row.checks();
    std::erase_if(checks, is_excepted);
    out.all.insert(out.all.end(), checks.begin(), checks.end());
  }
  return out;
}

}  // namespace halmark::published
