// The KV cache of one engine in blocks of so many tokens: who holds them, what is kept of common
// prefixes when nobody does, and which of that goes first.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace halmark::serving {

struct KvCounters {
  std::int64_t allocated = 0;   // blocks that were written
  std::int64_t reused = 0;      // that a request found written
  std::int64_t freed = 0;       // given back, and not kept
  std::int64_t evicted = 0;     // kept ones that made room
  std::int64_t recomputed = 0;  // of requests that were put off, and written again
  bool operator==(const KvCounters&) const = default;
};

// Blocks of one request: those of its prefix, which others may hold too, and its own.
struct HeldBlocks {
  std::int64_t prefix = -1;
  std::int64_t shared = 0;  // the first so many of the prefix
  std::int64_t own = 0;
  std::int64_t all() const { return shared + own; }
};

// At every time: free + kept + held = total, and allocated = freed + evicted + kept + held.
class KvBlocks {
 public:
  KvBlocks(std::int64_t total, std::int64_t block_tokens)
      : total_(total), block_tokens_(block_tokens), free_(total) {}

  std::int64_t total() const { return total_; }
  std::int64_t free() const { return free_; }
  std::int64_t kept() const { return static_cast<std::int64_t>(kept_.size()); }
  std::int64_t held() const { return total_ - free_ - kept(); }
  std::int64_t blocks_of(std::int64_t tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }
  std::int64_t block_tokens() const { return block_tokens_; }
  const KvCounters& counters() const { return counters_; }
  bool is_conserved() const;

  // Takes the blocks of a prefix that are written, `most` at most, in front of own ones.
  void attach(HeldBlocks& of, std::int64_t most);
  // Takes `count` free blocks; where there are too few, kept ones go, the least recently used
  // first. Nothing is taken when all together are too few.
  bool take(HeldBlocks& of, std::int64_t count);
  // The first `count` blocks of the prefix are written now: others may use them.
  void publish(HeldBlocks& of, std::int64_t count);
  // Gives all back; published ones are kept until their room is needed.
  void release(HeldBlocks& of);
  // A request found blocks written and could not begin after all.
  void take_back_reused(std::int64_t blocks) { counters_.reused -= blocks; }
  void count_recomputed(std::int64_t blocks) { counters_.recomputed += blocks; }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // prefix, block of it
  struct Written {
    std::int64_t holders = 0;
    std::int64_t used = 0;  // when it was last given back
  };
  void evict_one();

  std::int64_t total_, block_tokens_, free_, clock_ = 0;
  std::map<Key, Written> written_;
  // By time of use, of one time the last block of a prefix first: what is before it stays useful.
  struct Sooner {
    bool operator()(const std::pair<std::int64_t, Key>& a,
                    const std::pair<std::int64_t, Key>& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };
  std::set<std::pair<std::int64_t, Key>, Sooner> kept_;
  KvCounters counters_;
};

}  // namespace halmark::serving
