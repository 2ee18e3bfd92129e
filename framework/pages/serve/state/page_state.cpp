#include "pages/serve/state/page_state.hpp"

#include <sstream>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"

namespace halmark::pages {
namespace {

std::int64_t whole(const std::string& name, const std::string& text, std::int64_t max) {
  const auto out = read_number<std::int64_t>(text);
  if (!out || *out < 1 || *out > max) {
    throw refused("'" + name + "' is '" + printable(text) + "'", {},
                  "a whole number from 1 to " + std::to_string(max));
  }
  return *out;
}

// `what`: of which unit it is.
double positive(const std::string& name, const std::string& text, const std::string& what) {
  const auto out = read_number<double>(text);
  if (out && *out > 0 && *out <= 1e6) return *out;
  throw refused("'" + name + "' is '" + printable(text) + "'", {},
                what + ", above 0 and at most 1000000");
}

Phase phase_of(const std::string& text) {
  if (const auto phase = parse_phase(text)) return *phase;
  throw refused("unknown phase '" + printable(text) + "'", {},
                "decode, prefill, training or serving");
}

// A step of decode makes one token; one of prefill all of a prompt, whose cached part comes before.
void settle(PageState& state, bool states_new) {
  if (state.phase == Phase::decode) {
    state.new_tokens = 1;
    return;
  }
  // Training has whole sequences, nothing cached.
  if (state.phase == Phase::training) states_new = false;
  if (!states_new) state.new_tokens = state.context;
  if (state.new_tokens <= state.context) return;
  throw refused(std::to_string(state.new_tokens) + " new tokens do not fit a context of " +
                    std::to_string(state.context),
                {}, "the context counts them too");
}

}  // namespace

namespace {

// "10+18": layers of each stage.
std::vector<int> stages_of(const std::string& text) {
  std::vector<int> out;
  std::istringstream parts(text + '+');
  for (std::string part; std::getline(parts, part, '+');) {
    out.push_back(as_int(whole("stages", part, page_shards_max)));
  }
  return out;
}

}  // namespace

Parallel parse_strategy(const std::string& text) {
  Parallel out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.starts_with("stages")) {
      out.stages = stages_of(word.substr(6));
      continue;
    }
    const std::string degree = word.substr(0, 2);
    int* value = degree == "dp"   ? &out.dp
                 : degree == "tp" ? &out.tp
                 : degree == "pp" ? &out.pp
                 : degree == "ep" ? &out.ep
                 : degree == "cp" ? &out.cp
                                  : nullptr;
    if (value == nullptr) {
      throw refused("unknown word '" + printable(word) + "' of a strategy", {},
                    "auto, or degrees as in 'dp1 tp8 pp1 ep1'");
    }
    *value = as_int(whole(degree, word.substr(2), page_shards_max));
  }
  return out;
}

namespace {

using Words = std::map<std::string, std::string>;

const std::string* word(const Words& words, const char* name) {
  const auto* found = find_value(words, name);
  return found;
}

void take(std::int64_t& value, const Words& words, const char* name, std::int64_t max) {
  if (const std::string* text = word(words, name)) value = whole(name, *text, max);
}

void take(std::string& value, const Words& words, const char* name) {
  if (const std::string* text = word(words, name)) value = *text;
}

PageLoad load_of(const Words& words) {
  PageLoad out;
  take(out.clients, words, "clients", page_batch_max);
  if (const std::string* rate = word(words, "rate"))
    out.rate = positive("rate", *rate, "requests a second");
  take(out.input, words, "input", page_tokens_max);
  take(out.output, words, "output", page_tokens_max);
  take(out.requests, words, "requests", page_requests_max);
  take(out.engine, words, "engine");
  return out;
}

void take_training(PageState& state, const Words& words) {
  if (const std::string* text = word(words, "micro")) {
    state.training.micro_batch = whole("micro", *text, page_batch_max);
  }
  if (const std::string* text = word(words, "recompute")) state.training.recompute = *text;
  if (const std::string* text = word(words, "optimizer")) state.training.optimizer = *text;
  if (const std::string* text = word(words, "zero"); text != nullptr && *text != "0") {
    state.training.zero = as_int(whole("zero", *text, 3));
  }
  take(state.schedule, words, "schedule");
}

}  // namespace

PageState parse_state(const std::map<std::string, std::string>& words) {
  PageState out;
  take(out.device, words, "device");
  take(out.model, words, "model");
  take(out.fabric, words, "fabric");
  take(out.dtype, words, "dtype");
  take(out.shards, words, "shards", page_shards_max);
  take(out.batch, words, "batch", page_batch_max);
  take(out.context, words, "context", page_tokens_max);
  take(out.new_tokens, words, "new", page_tokens_max);
  const std::string* strategy = word(words, "strategy");
  if (strategy != nullptr && *strategy != "auto") out.strategy = parse_strategy(*strategy);
  const std::string* phase = word(words, "phase");
  if (phase != nullptr && *phase == "serving") {
    out.load = load_of(words);
    return out;
  }
  if (phase != nullptr) out.phase = phase_of(*phase);
  if (const std::string* ms = word(words, "measured")) {
    out.measured_ms = positive("measured", *ms, "milliseconds of a step");
  }
  if (out.phase == Phase::training) take_training(out, words);
  settle(out, words.contains("new"));
  return out;
}

}  // namespace halmark::pages
