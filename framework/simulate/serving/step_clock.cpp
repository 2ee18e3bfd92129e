#include "simulate/serving/step_clock.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark::serving {
namespace {

// To the nearest of 32 values per octave.
std::int64_t coarse(std::int64_t value) {
  const auto bits = static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value))));
  const std::int64_t step = bits > 6 ? std::int64_t{1} << (bits - 6) : 1;
  return (value + step / 2) / step * step;
}

double known_or_refused(const std::optional<double>& ns, const StepMix& mix) {
  if (ns && std::isfinite(*ns) && *ns >= 0) return *ns;
  throw refused("a step of " + std::to_string(std::llround(mix.prompts)) + " prompts and " +
                    std::to_string(std::llround(mix.decodes)) + " decoding requests has no time",
                {}, "add roofline or interpolated to --latency");
}

}  // namespace

StepMix StepWork::mix() const {
  StepMix out{.decodes = static_cast<double>(decodes)};
  if (pieces == 0) return out;
  const double tokens = static_cast<double>(piece_tokens);
  out.piece_tokens = std::max<std::int64_t>(1, std::llround(tokens / static_cast<double>(pieces)));
  out.prompts = tokens / static_cast<double>(out.piece_tokens);
  out.cached = std::max<std::int64_t>(
      0, std::llround(piece_keys / tokens - static_cast<double>(out.piece_tokens) / 2));
  return out;
}

double MixClock::step_ns(const StepWork& work) {
  const StepMix mix = work.mix();
  return known_or_refused(times_.step_ns(mix), mix);
}

std::size_t LayoutClock::Hash::operator()(const Key& key) const {
  std::uint64_t out = 0;
  for (const std::int64_t part :
       {key.pieces, key.piece_tokens, key.cached, key.decodes, key.context}) {
    out = hash_combine(out, static_cast<std::uint64_t>(part));
  }
  return out;
}

double LayoutClock::step_ns(const StepWork& work) {
  StepMix mix = work.mix();
  mix.cached = coarse(mix.cached);
  const std::int64_t context =
      work.decodes == 0 ? 1 : std::max<std::int64_t>(1, coarse(work.decode_keys / work.decodes));
  const auto [known, is_new] = known_.try_emplace(
      Key{work.pieces, work.piece_tokens, mix.cached, work.decodes, context}, 0.0);
  if (is_new) {
    const LayoutTimes times(pricer_, layout_, context, &KernelTime::ns, scale_);
    known->second = known_or_refused(times.step_ns(mix), mix);
  }
  return known->second;
}

}  // namespace halmark::serving
