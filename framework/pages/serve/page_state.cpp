#include "pages/serve/page_state.hpp"

#include <charconv>
#include <sstream>

#include "core/text/error.hpp"

namespace halmark::pages {
namespace {

std::int64_t whole(const std::string& name, const std::string& text, std::int64_t max) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1 || out > max) {
    throw refused("'" + name + "' is '" + printable(text) + "'", {},
                  "a whole number from 1 to " + std::to_string(max));
  }
  return out;
}

Phase phase_of(const std::string& text) {
  const auto phase = parse_phase(text);
  if (phase && *phase != Phase::training) return *phase;
  throw refused("unknown phase '" + printable(text) + "'", {}, "decode or prefill");
}

// A step of decode makes one token; one of prefill all of a prompt, whose cached part comes before.
void settle(PageState& state, bool states_new) {
  if (state.phase == Phase::decode) {
    state.new_tokens = 1;
    return;
  }
  if (!states_new) state.new_tokens = state.context;
  if (state.new_tokens <= state.context) return;
  throw refused(std::to_string(state.new_tokens) + " new tokens do not fit a context of " +
                    std::to_string(state.context),
                {}, "the context counts them too");
}

}  // namespace

Parallel parse_strategy(const std::string& text) {
  Parallel out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
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
    *value = static_cast<int>(whole(degree, word.substr(2), page_shards_max));
  }
  return out;
}

PageState parse_state(const std::map<std::string, std::string>& values) {
  PageState out;
  bool states_new = false;
  for (const auto& [name, value] : values) {
    if (name == "device") out.device = value;
    if (name == "model") out.model = value;
    if (name == "fabric") out.fabric = value;
    if (name == "dtype") out.dtype = value;
    if (name == "phase") out.phase = phase_of(value);
    if (name == "shards") out.shards = whole(name, value, page_shards_max);
    if (name == "batch") out.batch = whole(name, value, page_batch_max);
    if (name == "context") out.context = whole(name, value, page_tokens_max);
    if (name == "new") {
      out.new_tokens = whole(name, value, page_tokens_max);
      states_new = true;
    }
    if (name == "strategy" && value != "auto") out.strategy = parse_strategy(value);
  }
  settle(out, states_new);
  return out;
}

}  // namespace halmark::pages
