#include "plan/schema/known_keys.hpp"

#include <algorithm>
#include <cassert>

namespace halmark {
namespace {

thread_local KnownKeys* watched = nullptr;

}  // namespace

KeyWatch::KeyWatch(KnownKeys& keys) {
  assert(watched == nullptr && "watches do not nest");
  watched = &keys;
}

KeyWatch::~KeyWatch() { watched = nullptr; }

KnownKey* watched_key(const std::string& path) {
  return watched != nullptr ? &(*watched)[path] : nullptr;
}

void note_optional(const std::string& path) {
  if (KnownKey* key = watched_key(path)) key->is_required = false;
}

void note_type(const std::string& path, KeyType type) {
  if (KnownKey* key = watched_key(path)) key->types.insert(type);
}

void note_range(const std::string& path, double low, double high) {
  KnownKey* key = watched_key(path);
  if (key == nullptr) return;
  key->low = key->low ? std::min(*key->low, low) : low;
  key->high = key->high ? std::max(*key->high, high) : high;
}

void note_choices(const std::string& path, const std::vector<std::string>& choices) {
  KnownKey* key = watched_key(path);
  if (key == nullptr) return;
  for (const std::string& choice : choices) {
    if (std::ranges::count(key->choices, choice) == 0) key->choices.push_back(choice);
  }
}

void note_fallback(const std::string& path, const std::string& text) {
  if (KnownKey* key = watched_key(path)) key->fallback = text;
}

}  // namespace halmark
