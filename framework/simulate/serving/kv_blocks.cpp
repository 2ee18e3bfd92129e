#include "simulate/serving/kv_blocks.hpp"

namespace halmark::serving {

bool KvBlocks::is_conserved() const {
  const KvCounters& c = counters_;
  return free_ >= 0 && kept() >= 0 && held() >= 0 &&
         c.allocated == c.freed + c.evicted + kept() + held();
}

void KvBlocks::attach(HeldBlocks& of, std::int64_t most) {
  while (of.own == 0 && of.shared < most) {
    const Key key{of.prefix, of.shared};
    const auto found = written_.find(key);
    if (found == written_.end()) return;
    if (found->second.holders++ == 0) kept_.erase({found->second.used, key});
    ++of.shared;
    ++counters_.reused;
  }
}

void KvBlocks::evict_one() {
  written_.erase(kept_.begin()->second);
  kept_.erase(kept_.begin());
  ++counters_.evicted;
  ++free_;
}

bool KvBlocks::take(HeldBlocks& of, std::int64_t count) {
  if (count > free_ + kept()) return false;
  while (free_ < count) evict_one();
  free_ -= count;
  of.own += count;
  counters_.allocated += count;
  return true;
}

void KvBlocks::publish(HeldBlocks& of, std::int64_t count) {
  while (of.own > 0 && of.shared < count) {
    // Another request wrote the same meanwhile: both copies stay until they are given back.
    if (!written_.try_emplace({of.prefix, of.shared}, Written{.holders = 1}).second) return;
    --of.own;
    ++of.shared;
  }
}

void KvBlocks::release(HeldBlocks& of) {
  ++clock_;
  free_ += of.own;
  counters_.freed += of.own;
  for (std::int64_t i = 0; i < of.shared; ++i) {
    const Key key{of.prefix, i};
    Written& block = written_.at(key);
    if (--block.holders > 0) continue;
    block.used = clock_;
    kept_.insert({clock_, key});
  }
  of.own = of.shared = 0;
}

}  // namespace halmark::serving
