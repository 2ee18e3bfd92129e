#include "model/utilisation/convention.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/dtype.hpp"
#include "core/text/error.hpp"

namespace halmark {

namespace {

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};

constexpr std::array<Choice<FlopsRule>, 2> flops_rules{
    {{"per_matrix", FlopsRule::per_matrix}, {"p6", FlopsRule::p6}}};
constexpr std::array<Choice<AttentionRule>, 6> attention_rules{
    {{"none", AttentionRule::none},
     {"causal", AttentionRule::causal},
     {"causal_half", AttentionRule::causal_half},
     {"half", AttentionRule::half},
     {"full", AttentionRule::full},
     {"window", AttentionRule::window}}};
constexpr std::array<Choice<HeadRule>, 3> head_rules{{{"out", HeadRule::out},
                                                      {"last_position", HeadRule::last_position},
                                                      {"all_positions", HeadRule::all_positions}}};
constexpr std::array<Choice<PassRule>, 3> pass_rules{
    {{"forward", PassRule::forward}, {"3x", PassRule::training}, {"lora", PassRule::lora}}};
constexpr std::array<Choice<RecomputeRule>, 3> recompute_rules{
    {{"out", RecomputeRule::out},
     {"in", RecomputeRule::in},
     {"attention_twice", RecomputeRule::attention_twice}}};
constexpr std::array<Choice<GateRule>, 2> gate_rules{
    {{"in", GateRule::in}, {"silu", GateRule::silu}}};
constexpr std::array<Choice<StateSpaceRule>, 2> state_space_rules{
    {{"model", StateSpaceRule::model}, {"expanded", StateSpaceRule::expanded}}};
constexpr std::array<Choice<bool>, 2> inclusions{{{"out", false}, {"in", true}}};

template <typename Choices, typename Value>
std::string name_in(const Choices& choices, Value value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return std::string(choice.name);
  }
  return {};
}

// A switch: its value as text, and how text sets it.
struct Switch {
  std::string_view name;
  std::function<std::string(const Convention&)> get;
  std::function<void(Convention&, std::string_view)> set;
};

template <typename Value, std::size_t count>
Switch choice_switch(std::string_view name, Value Convention::*field,
                     const std::array<Choice<Value>, count>& choices) {
  return {name, [field, &choices](const Convention& c) { return name_in(choices, c.*field); },
          [name, field, &choices](Convention& c, std::string_view text) {
            std::vector<std::string> known;
            for (const auto& choice : choices) {
              if (choice.name == text) {
                c.*field = choice.value;
                return;
              }
              known.emplace_back(choice.name);
            }
            throw refused(
                "unknown value '" + printable(text) + "' of switch '" + std::string(name) + "'", {},
                suggestion(text, known));
          }};
}

constexpr std::string_view one_document = "whole";

void set_documents(Convention& convention, std::string_view text) {
  double tokens = 0;
  const auto end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, tokens);
  const bool is_number = error == std::errc() && rest == end && std::isfinite(tokens);
  if (text != one_document && !(is_number && tokens >= 1)) {
    throw refused("unknown value '" + printable(text) + "' of switch 'documents'", {},
                  "whole, or the tokens of the mean document: sum of squared lengths over their "
                  "sum, at least 1");
  }
  convention.documents = text == one_document ? 0 : tokens;
}

std::string documents_text(const Convention& convention) {
  if (convention.documents <= 0) return std::string(one_document);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), convention.documents).ptr;
  return {text.data(), end};
}

void set_peak(Convention& convention, std::string_view text) {
  if (text != "per_operator") {
    const auto dtype = parse_dtype(text);
    if (!dtype) {
      throw refused("unknown value '" + printable(text) + "' of switch 'peak'", {},
                    "per_operator, or a dtype such as bf16");
    }
    convention.peak = std::string(dtype_name(*dtype));
    return;
  }
  convention.peak = "per_operator";
}

const std::vector<Switch>& all_switches() {
  static const std::vector<Switch> table = {
      choice_switch("flops", &Convention::flops, flops_rules),
      choice_switch("embedding", &Convention::embedding, inclusions),
      choice_switch("lm_head", &Convention::lm_head, head_rules),
      choice_switch("attention", &Convention::attention, attention_rules),
      {"documents", documents_text, set_documents},
      choice_switch("router", &Convention::router, inclusions),
      choice_switch("gate", &Convention::gate, gate_rules),
      choice_switch("state_space", &Convention::state_space, state_space_rules),
      choice_switch("mtp", &Convention::mtp, inclusions),
      choice_switch("softmax", &Convention::softmax, inclusions),
      choice_switch("recompute", &Convention::recompute, recompute_rules),
      choice_switch("replication", &Convention::replication, inclusions),
      choice_switch("forward_backward", &Convention::forward_backward, pass_rules),
      choice_switch("adapters", &Convention::adapters, inclusions),
      {"peak", &Convention::peak, set_peak},
  };
  return table;
}

// Its flop_utils. Fine-tuning with adapters is on packed SQuAD: 842,603 pairs, all of them, in the
// 4,096 tokens of a sequence; the adapters themselves are left out.
void add_megatron_bridge(std::vector<Convention>& out) {
  constexpr double squad_document = 205.7;
  const Convention current{.name = "megatron-bridge",
                           .attention = AttentionRule::causal_half,
                           .router = false,
                           .state_space = StateSpaceRule::expanded};
  out.push_back(current);
  Convention earlier = current;
  earlier.name = "megatron-bridge-26.04";
  earlier.attention = AttentionRule::half;
  earlier.gate = GateRule::silu;
  out.push_back(earlier);
  Convention lora = current;
  lora.name = "megatron-bridge-lora";
  lora.attention = AttentionRule::full;
  lora.documents = squad_document;
  lora.forward_backward = PassRule::lora;
  out.push_back(lora);
}

// Sources: palm 2204.02311 appendix B; megatron (recomputation counted, although called
// utilisation) 2104.04473 and 2201.11990; korthikanti 2205.05198; llm-foundry mosaicml/llm-foundry
// scripts/train/benchmarking; nemo-24 and megatron-bridge NVIDIA's performance summaries, whose
// attention differs: full, then half; megatron-bridge-26.04 its releases up to that one, which knew
// neither windows nor gates other than SiLU's; deepseek-v3 2505.09343, without its prediction
// module and on the bf16 peak; torchtitan its metrics, every parameter that is no lookup;
// chinchilla 2203.15556 appendix F without the embedding and the logits, which is what its table A4
// has; gpt-3 2005.14165 table D.1.
std::vector<Convention> make_conventions() {
  std::vector<Convention> out;
  out.push_back({.name = "palm",
                 .flops = FlopsRule::p6,
                 .embedding = true,
                 .attention = AttentionRule::full});
  out.push_back({.name = "megatron",
                 .attention = AttentionRule::full,
                 .router = false,
                 .recompute = RecomputeRule::in});
  out.push_back({.name = "korthikanti", .attention = AttentionRule::full, .router = false});
  out.push_back({.name = "korthikanti-hfu",
                 .attention = AttentionRule::full,
                 .router = false,
                 .recompute = RecomputeRule::attention_twice});
  out.push_back({.name = "llm-foundry",
                 .flops = FlopsRule::p6,
                 .embedding = true,
                 .attention = AttentionRule::full});
  out.push_back({.name = "nemo-24", .attention = AttentionRule::full, .router = false});
  add_megatron_bridge(out);
  out.push_back({.name = "deepseek-v3",
                 .attention = AttentionRule::causal_half,
                 .router = false,
                 .mtp = false,
                 .peak = "bf16"});
  out.push_back({.name = "torchtitan", .flops = FlopsRule::p6, .attention = AttentionRule::full});
  out.push_back({.name = "chinchilla",
                 .lm_head = HeadRule::out,
                 .attention = AttentionRule::full,
                 .softmax = true});
  out.push_back({.name = "gpt-3",
                 .flops = FlopsRule::p6,
                 .embedding = true,
                 .attention = AttentionRule::none});
  out.push_back(
      {.name = "executed", .recompute = RecomputeRule::in, .replication = true, .adapters = true});
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> switches(const Convention& convention) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Switch& s : all_switches()) out.emplace_back(s.name, s.get(convention));
  return out;
}

std::string Convention::line() const {
  std::string out = "name=" + name;
  for (const auto& [key, value] : switches(*this)) out += ' ' + key + '=' + value;
  return out;
}

Convention model_convention(bool is_training, bool has_windows) {
  return {.name = "model",
          .lm_head = is_training ? HeadRule::all_positions : HeadRule::last_position,
          .attention = has_windows ? AttentionRule::window : AttentionRule::causal,
          .forward_backward = is_training ? PassRule::training : PassRule::forward,
          .adapters = is_training};
}

std::span<const Convention> named_conventions() {
  static const std::vector<Convention> table = make_conventions();
  return table;
}

Convention convention_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Convention& convention : named_conventions()) {
    if (convention.name == name) return convention;
    known.push_back(convention.name);
  }
  throw refused("unknown convention '" + printable(name) + "'", {}, suggestion(name, known));
}

void set_switch(Convention& convention, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw refused("'" + printable(assignment) + "' sets no switch", {},
                  "write switch=value, for example attention=full");
  }
  const std::string_view name = assignment.substr(0, equals);
  std::vector<std::string> known;
  for (const Switch& s : all_switches()) {
    if (s.name == name) {
      s.set(convention, assignment.substr(equals + 1));
      convention.name += '+' + std::string(assignment);
      return;
    }
    known.emplace_back(s.name);
  }
  throw refused("unknown switch '" + printable(name) + "'", {}, suggestion(name, known));
}

}  // namespace halmark
