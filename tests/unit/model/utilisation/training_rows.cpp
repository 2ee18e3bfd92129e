#include "training_rows.hpp"
#include "core/numeric/cast.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "core/numeric/statistics.hpp"
#include "tests/checkout.hpp"
#include "training_row_configs.hpp"

namespace halmark::published {

namespace {

double number(const Json& row, const char* key) { return row.at(key).get<double>(); }
std::int64_t integer(const Json& row, const char* key) { return row.at(key).get<std::int64_t>(); }
std::string text(const Json& row, const char* key) { return row.at(key).get<std::string>(); }
std::string stated(std::int64_t value) { return std::to_string(value); }

// "TP8 PP64 DP6": the degree behind a name, 1 where it is not there.
std::int64_t degree(const Json& row, std::string_view name) {
  const std::string all = row.value("parallelism", "");
  for (std::size_t at = all.find(name); at != std::string::npos; at = all.find(name, at + 1)) {
    const std::size_t digits = at + name.size();
    const bool is_word = at == 0 || all[at - 1] == ' ';
    if (is_word && digits < all.size() && std::isdigit(all[digits]) != 0) {
      return std::stoll(all.substr(digits));
    }
  }
  return 1;
}

// One step of a row, with its own global batch and split where it states them.
struct Step {
  double sequences = 1, tokens = 0;
  std::vector<std::string> arguments;
};

Step step_of(const Json& row, bool is_split) {
  Step out;
  const std::int64_t sequence = row.contains("seq") ? integer(row, "seq") : 4096;
  std::int64_t batch = 1;
  if (is_split && row.contains("global_batch_seqs")) batch = integer(row, "global_batch_seqs");
  out.arguments = {"--phase",      "training",       "--dtype", "bf16",
                   "--new-tokens", stated(sequence), "--batch", stated(batch)};
  if (is_split) {
    const std::int64_t tp = degree(row, "TP"), pp = degree(row, "PP"), cp = degree(row, "CP");
    const std::int64_t dp = integer(row, "n_gpus") / (tp * pp * cp);
    const std::int64_t micro = row.value("microbatch", std::int64_t{1});
    for (const auto& [option, value] : std::initializer_list<std::pair<const char*, std::int64_t>>{
             {"--tp", tp},
             {"--pp", pp},
             {"--cp", cp},
             {"--dp", dp},
             {"--ep", degree(row, "EP")},
             {"--micro-batch", batch / dp % micro == 0 ? micro : 1}}) {
      if (value == 1 && std::string_view(option) != "--micro-batch") continue;
      out.arguments.insert(out.arguments.end(), {option, stated(value)});
    }
  }
  out.sequences = as_double(batch);
  out.tokens = out.sequences * as_double(sequence);
  return out;
}

class Rows {
 public:
  TrainingRows made() {
    const Json json = read_json_file(test::in_source("/tests/data/published_mfu.json"));
    for (const Json& row : json["rows"]) {
      row_ = &row;
      ++out_.rows;
      if (row.contains("reason")) {
        ++out_.reasons[text(row, "reason")];
      } else {
        read();
      }
    }
    return std::move(out_);
  }

 private:
  void read() {
    const std::string counts = text(*row_, "counts");
    if (counts == "llm-foundry") return llm_foundry();
    if (counts == "megatron") return megatron();
    if (counts == "korthikanti") return korthikanti();
    if (counts == "nemo-24") return nemo();
    if (counts == "nemo-24-finetuning") return nemo_fine_tuning();
    if (counts == "megatron-bridge") return megatron_bridge();
    if (counts == "torchtitan") return torchtitan();
    if (counts == "insights") return insights();
    if (counts == "palm") return palm();
    if (counts == "gpt-3") return gpt_3();
    if (counts == "chinchilla") return chinchilla();
    ++out_.reasons["nobody reads rows that count as '" + counts + "'"];
  }

  TrainingRow& ask(TrainingKind kind, const Json& config, const std::string& model,
                   const Step& step, std::vector<std::string> more) {
    TrainingRow row{.row = out_.rows - 1,
                    .name = text(*row_, "model") + ", row " + std::to_string(out_.rows - 1),
                    .kind = kind,
                    .config = config.is_null() ? "" : config.dump(),
                    .model = model,
                    .arguments = step.arguments};
    row.arguments.insert(row.arguments.end(), more.begin(), more.end());
    return out_.questions.emplace_back(std::move(row));
  }

  // TFLOP/s of a device from its tokens per second. Rates of some releases are whole sequences per
  // second of all devices.
  void of_rate(TrainingRow& row, const Step& step, const char* key) const {
    const double rate = number(*row_, "tokens_per_s_gpu");
    const double sequences = rate * number(*row_, "n_gpus") / number(*row_, "seq");
    const bool is_whole = std::abs(sequences - std::round(sequences)) < 1e-6;
    const double figure_step = std::fmod(number(*row_, key), 1) == 0 ? 1 : 0.1;
    row.printed = number(*row_, key);
    row.per_flop = rate / step.tokens / 1e12;
    row.rounding = 0.5 * figure_step / row.printed + (is_whole ? 0.5 / sequences : 0.5 / rate);
  }

  // Percent of the peak, from the time of a step.
  void of_peak(TrainingRow& row, const Step& step, double tokens_per_s, const char* key) const {
    row.printed = number(*row_, key);
    row.per_flop = 100 * tokens_per_s / step.tokens / number(*row_, "n_gpus") /
                   (number(*row_, "peak_tflops") * 1e12);
  }

  void llm_foundry() {
    const Step step = step_of(*row_, false);
    const std::string recompute = row_->at("act_ckpt").get<bool>() ? "full" : "none";
    const double rate = number(*row_, "tokens_per_s");
    std::vector<std::string> more = {"--recompute", recompute, "--convention", "llm-foundry"};
    const auto add = [&](const char* key) {
      TrainingRow& row = ask(TrainingKind::dense, mpt_config(*row_), "", step, more);
      of_peak(row, step, rate, key);
      row.rounding = 0.005 / row.printed + 0.5 / rate;
    };
    add("mfu_pct");
    more.insert(more.end(), {"--set", "recompute=in"});
    add("hfu_pct");
  }

  void megatron() {
    const Step step = step_of(*row_, false);
    TrainingRow& row = ask(TrainingKind::dense, gpt_config(*row_), "", step,
                           {"--recompute", "full", "--convention", "megatron"});
    const bool is_measured = row_->contains("iter_s");
    const double seconds = number(*row_, is_measured ? "iter_s" : "implied_iter_s");
    row.printed = number(*row_, "tflops_per_gpu");
    const double sequences = number(*row_, "global_batch_seqs");
    row.per_flop = sequences / seconds / number(*row_, "n_gpus") / 1e12;
    row.rounding = 0.5 / row.printed + (is_measured ? 0.05 : 0.005) / seconds;
  }

  void korthikanti() {
    const Step step = step_of(*row_, false);
    const double seconds = number(*row_, "iter_s");
    const double rate = number(*row_, "global_batch_seqs") * number(*row_, "seq") / seconds;
    for (const auto& [convention, key] :
         {std::pair{"korthikanti", "mfu_pct"}, {"korthikanti-hfu", "hfu_pct"}}) {
      TrainingRow& row = ask(TrainingKind::dense, gpt_config(*row_), "", step,
                             {"--recompute", "selective", "--convention", convention});
      of_peak(row, step, rate, key);
      row.rounding = 0.05 / row.printed + 0.005 / seconds;
    }
  }

  bool is_gated() const {
    const std::string model = text(*row_, "model");
    return model.starts_with("LLAMA") || model.starts_with("Llama");
  }

  void nemo() {
    const Step step = step_of(*row_, true);
    of_rate(ask(TrainingKind::dense, decoder_config(*row_, is_gated() ? "llama" : "nemotron"), "",
                step, {"--convention", "nemo-24"}),
            step, "tflops_per_gpu");
  }

  // Packed SQuAD, as the later summaries of the vendor state its lengths.
  void nemo_fine_tuning() {
    const Step step = step_of(*row_, false);
    std::vector<std::string> more = {"--convention", "nemo-24", "--set", "documents=205.7"};
    if (text(*row_, "model").ends_with("LoRA")) {
      more.insert(more.end(), {"--lora-rank", "16"});
    }
    of_rate(ask(TrainingKind::fine_tuning, decoder_config(*row_, "llama"), "", step, more), step,
            "tflops_per_gpu");
  }

  void megatron_bridge();

  // What the source prints of itself is the rate; the figure is that of its own formula.
  void torchtitan() {
    const Step step = step_of(*row_, false);
    of_rate(ask(TrainingKind::count, decoder_config(*row_, "llama"), "", step,
                {"--convention", "torchtitan"}),
            step, "recomputed_tflops_noncausal");
  }

  void insights();

  void palm() {
    const Step step = step_of(*row_, false);
    TrainingRow& row = ask(TrainingKind::dense, {}, "palm-540b", step, {"--convention", "palm"});
    of_peak(row, step, number(*row_, "tokens_per_s"), "mfu_pct");
    row.rounding = 0.05 / row.printed;
  }

  // Table D.1: all FLOPs of the training, three digits.
  void gpt_3() {
    const Step step = step_of(*row_, false);
    const std::map<std::string, const char*> ids = {
        {"GPT-3 Small", "gpt-3-125m"}, {"GPT-3 Medium", "gpt-3-350m"},
        {"GPT-3 Large", "gpt-3-760m"}, {"GPT-3 XL", "gpt-3-1.3b"},
        {"GPT-3 2.7B", "gpt-3-2.7b"},  {"GPT-3 6.7B", "gpt-3-6.7b"},
        {"GPT-3 13B", "gpt-3-13b"},    {"GPT-3 175B", "gpt-3-175b"}};
    Step short_step = step;
    short_step.arguments[5] = "2048";
    short_step.tokens = 2048;
    const std::string id = ids.at(text(*row_, "model"));
    TrainingRow& row = ask(TrainingKind::count, id == "gpt-3-1.3b" ? gpt_3_xl() : Json(), id,
                           short_step, {"--convention", "gpt-3"});
    row.printed = number(*row_, "total_flops");
    row.per_flop = number(*row_, "total_tokens") / short_step.tokens;
    row.rounding = 0.005;
  }

  void chinchilla() {
    const Step step = step_of(*row_, false);
    TrainingRow& row = ask(TrainingKind::count, decoder_config(*row_, "nemotron"), "", step,
                           {"--convention", "chinchilla"});
    row.printed = number(*row_, "flops_per_sequence");
    row.per_flop = 1;
  }

  TrainingRows out_;
  const Json* row_ = nullptr;
};

// GPT-OSS is counted by two rules: until release 26.04 without its windows and gates.
void Rows::megatron_bridge() {
  struct Shipped {
    const char* id;
    TrainingKind kind;
    int predicted;
  };
  const std::map<std::string, Shipped> known = {
      {"LLAMA3_70B", {"llama-3.1-70b", TrainingKind::dense, 0}},
      {"LLAMA3.1_405B", {"llama-3.1-405b", TrainingKind::dense, 0}},
      {"Qwen3_30B_a3B", {"qwen3-30b-a3b", TrainingKind::mixture, 0}},
      {"Qwen3_235B_a22B", {"qwen3-235b-a22b", TrainingKind::mixture, 0}},
      {"Kimi_K2", {"kimi-k2", TrainingKind::mixture, 0}},
      {"GPT OSS 120B", {"gpt-oss-120b", TrainingKind::mixture, 0}},
      {"DeepSeekV3", {"deepseek-v3", TrainingKind::mixture, 1}},
      {"DeepSeekV4 Flash", {"deepseek-v4-flash", TrainingKind::mixture, 1}},
      {"Nemotron_3_Nano", {"nemotron-3-nano-30b-a3b", TrainingKind::mixture, 0}},
      {"Nemotron_3_Super", {"nemotron-3-super-120b-a12b", TrainingKind::mixture, 2}},
      {"Nemotron_3_Ultra", {"nemotron-3-ultra-550b-a55b", TrainingKind::mixture, 2}}};
  const Shipped& shipped = known.at(text(*row_, "model"));
  const std::string task = text(*row_, "task");
  const bool is_lora = task.starts_with("LoRA"), is_tuned = is_lora || task.starts_with("SFT");
  const bool is_early = text(*row_, "release") < "26.05" && text(*row_, "model") == "GPT OSS 120B";
  std::vector<std::string> more = {"--convention", is_lora    ? "megatron-bridge-lora"
                                                   : is_early ? "megatron-bridge-26.04"
                                                              : "megatron-bridge"};
  if (is_lora) more.insert(more.end(), {"--lora-rank", "16"});
  if (shipped.predicted > 0) more.insert(more.end(), {"--mtp", stated(shipped.predicted)});
  const Step step = step_of(*row_, true);
  of_rate(ask(is_tuned ? TrainingKind::fine_tuning : shipped.kind, {}, shipped.id, step, more),
          step, "tflops_per_gpu");
}

// 2505.09343: FLOPs of a trained token; and one measured run, with half of the attention and with
// all of it.
void Rows::insights() {
  const std::map<std::string, const char*> ids = {{"DeepSeek-V2 236B", "deepseek-v2"},
                                                  {"DeepSeek-V3 671B", "deepseek-v3"},
                                                  {"Qwen-2.5 72B", "qwen2.5-72b"},
                                                  {"LLaMA-3.1 405B", "llama-3.1-405b"}};
  const Step step = step_of(*row_, false);
  std::vector<std::string> more = {"--convention", "deepseek-v3"};
  const auto id = ids.find(text(*row_, "model"));
  if (id != ids.end()) {
    TrainingRow& row = ask(TrainingKind::count, {}, id->second, step, more);
    row.printed = number(*row_, "training_gflops_per_token");
    row.per_flop = 1e-9 / step.tokens;
    row.rounding = 0.5 / row.printed;
    return;
  }
  const double rate =
      number(*row_, "tokens_per_day_billion") * 1e9 / 86400 / number(*row_, "n_gpus");
  const auto add = [&](const char* key) {
    TrainingRow& row = ask(TrainingKind::mixture, {}, "deepseek-v3", step, more);
    row.printed = number(*row_, key);
    row.per_flop = rate / step.tokens / 1e12;
    row.rounding = 0.5 / row.printed;
  };
  add("tflops_causal");
  more.insert(more.end(), {"--set", "attention=full"});
  add("tflops_noncausal");
}

}  // namespace

std::string_view kind_name(TrainingKind kind) {
  switch (kind) {
    case TrainingKind::dense:
      return "dense";
    case TrainingKind::mixture:
      return "mixture";
    case TrainingKind::fine_tuning:
      return "fine_tuning";
    case TrainingKind::count:
      return "count";
  }
  return "count";
}

TrainingRows training_rows() { return Rows().made(); }

std::vector<TrainingError> training_errors(const TrainingRows& rows, const AskFlops& ask) {
  std::vector<TrainingError> out;
  for (const TrainingRow& row : rows.questions) {
    out.push_back({&row, ask(row) * row.per_flop / row.printed - 1});
  }
  return out;
}

double median_error(const std::vector<TrainingError>& errors) {
  std::vector<double> sizes;
  for (const TrainingError& e : errors) sizes.push_back(std::abs(e.relative));
  return sizes.empty() ? 0 : median(sizes);
}

double largest_error(const std::vector<TrainingError>& errors) {
  double out = 0;
  for (const TrainingError& e : errors) out = std::max(out, std::abs(e.relative));
  return out;
}

}  // namespace halmark::published
