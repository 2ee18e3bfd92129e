// FlatTable: a hash table that only grows, keys and values in one array. A search asks for millions
// of values in an order that no cache follows; a node per entry would cost each of them two further
// misses, and a caller that knows its next keys can have their places fetched ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace halmark {

// Linear probing, at most half full. Values are small and move when the table grows.
template <class Key, class Value, class Hash>
class FlatTable {
 public:
  struct Found {
    Value* value;  // valid until the next insertion
    bool is_new;   // default-constructed just now
  };

  std::uint64_t hash_of(const Key& key) const { return Hash{}(key) | used; }
  void fetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash >> shift_]);
  }

  Found find_or_insert(const Key& key) { return find_or_insert(key, hash_of(key)); }
  Found find_or_insert(const Key& key, std::uint64_t hash) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key, hash)];
    if (slot.hash != 0) return {&slot.value, false};
    slot = {hash, key, Value{}};
    ++size_;
    return {&slot.value, true};
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t used = 1;  // the hash of a taken slot is never zero
  struct Slot {
    std::uint64_t hash = 0;
    Key key{};
    Value value{};
  };

  // Upper bits choose the place: multiplication mixes into them.
  std::size_t place_of(const Key& key, std::uint64_t hash) const {
    std::size_t at = hash >> shift_;
    while (slots_[at].hash != 0 && !(slots_[at].hash == hash && slots_[at].key == key)) {
      at = at + 1 == slots_.size() ? 0 : at + 1;
    }
    return at;
  }

  void grow() {
    shift_ = slots_.empty() ? 58 : shift_ - 1;
    std::vector<Slot> old(std::size_t{1} << (64 - shift_));
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.hash != 0) slots_[place_of(slot.key, slot.hash)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  int shift_ = 64;
};

}  // namespace halmark
