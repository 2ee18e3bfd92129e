#include "plan/shard_places.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr int shards_max = 4096;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> words_between_plus(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    out.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

class Places {
 public:
  explicit Places(const std::string& where) : where_(where) {}

  void add(std::string_view word) {
    int count = 1;
    if (const std::size_t times = word.find(" x "); times != word.npos) {
      const std::string_view number = word.substr(0, times);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), count);
      const bool is_number = error == std::errc() && end == number.data() + number.size();
      if (!is_number || count < 1 || count > shards_max) refuse_words(word);
      word = trimmed(word.substr(times + 3));
    }
    const auto place = parse_shard_place(word);
    if (!place) refuse_words(word);
    const bool states_part =
        word.find('.', word.find('/')) != word.npos && word.find('/') != word.npos;
    for (int i = 0; i < count; ++i) add(*place, states_part);
  }

  std::vector<ShardPlace> take() { return std::move(places_); }

 private:
  [[noreturn]] void refuse_words(std::string_view word) const {
    throw refused("'" + printable(std::string(word)) + "' is no place of a shard", where_,
                  "as cuda:1 for a device, cpu:0/2 for one of two parts of it, cpu:0/2.1 for the "
                  "second, 4 x cpu:0/4 for four shards");
  }

  void add(ShardPlace place, bool states_part) {
    Cut& cut = cuts_.try_emplace(place.device_text(), Cut{place.parts, {}}).first->second;
    if (cut.parts != place.parts) {
      throw refused("device " + place.device_text() + " is cut into " + std::to_string(cut.parts) +
                        " and into " + std::to_string(place.parts) + " parts",
                    where_, "shards of one device are equal parts of it");
    }
    while (!states_part && cut.taken.contains(place.part) && place.part + 1 < place.parts) {
      ++place.part;
    }
    if (!cut.taken.insert(place.part).second) {
      throw refused("two shards lie on " + place.text(), where_,
                    "cut the device: " + place.device_text() + '/' +
                        std::to_string(std::max(2, place.parts + 1)));
    }
    places_.push_back(std::move(place));
  }

  // The equal parts of a device, and which of them have a shard.
  struct Cut {
    int parts;
    std::set<int> taken;
  };

  const std::string& where_;
  std::vector<ShardPlace> places_;
  std::map<std::string, Cut> cuts_;  // by device
};

}  // namespace

std::vector<ShardPlace> parse_shard_places(std::string_view text, const std::string& where) {
  Places out(where);
  for (const std::string_view word : words_between_plus(text)) out.add(word);
  return out.take();
}

void assign_placement(std::string_view text, const std::string& where,
                      Configuration& configuration) {
  if (text.empty()) return;
  configuration.places = parse_shard_places(text, where);
  Parallel& parallel = configuration.parallel;
  if (parallel.devices() == 1) parallel.dp = static_cast<int>(configuration.places.size());
}

std::string shard_places_text(const std::vector<ShardPlace>& places) {
  return join(places, " + ", &ShardPlace::text);
}

}  // namespace halmark
