#include "tune/sources/stated_device.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace halmark::tune {
namespace {

using Words = std::set<std::string>;

// In small letters; a socket without its number ("sxm4"), a size with its unit ("80 GB").
Words words_of(const std::string& text) {
  Words out;
  std::string word, last;
  const auto flush = [&] {
    if (word == "gb") word = last + word;
    if (word.starts_with("sxm")) word = "sxm";
    if (!word.empty()) out.insert(last = word);
    word.clear();
  };
  for (const unsigned char c : text) {
    if (std::isalnum(c)) {
      word += static_cast<char>(std::tolower(c));
    } else {
      flush();
    }
  }
  flush();
  return out;
}

// "h100" of "NVIDIA H100 80GB HBM3": what tells models of devices apart, without sizes and sockets.
Words model_words(const std::string& text) {
  Words out = words_of(text);
  std::erase_if(out, [](const std::string& word) {
    const auto has = [&](int (*is)(int)) {
      return std::ranges::any_of(word, [is](unsigned char c) { return is(c) != 0; });
    };
    const bool is_other =
        word.starts_with("hbm") || word.ends_with("gb") || word.starts_with("gddr");
    return word.size() < 2 || !has(std::isalpha) || !has(std::isdigit) || is_other;
  });
  return out;
}

}  // namespace

bool can_be_of(const std::string& stated, const Device& device) {
  const Words a = model_words(stated), b = model_words(device.id + ' ' + device.name);
  if (a.empty() || b.empty()) return true;
  return std::ranges::any_of(a, [&](const std::string& word) { return b.contains(word); });
}

std::optional<Device> stated_device(const std::string& stated, std::span<const Device> known) {
  const Words wanted = words_of(stated), model = model_words(stated);
  if (model.empty()) return std::nullopt;
  std::vector<const Device*> best;
  std::size_t most = 0;
  for (const Device& device : known) {
    const Words own = words_of(device.id + ' ' + device.name);
    if (!std::ranges::includes(own, model)) continue;
    std::vector<std::string> shared;
    std::ranges::set_intersection(wanted, own, std::back_inserter(shared));
    if (shared.size() < most) continue;
    if (shared.size() > most) best.clear();
    most = shared.size();
    best.push_back(&device);
  }
  if (best.size() > 1) {
    std::erase_if(best, [&](const Device* d) { return !d->is_called(*model.begin()); });
  }
  return best.size() == 1 ? std::optional(*best.front()) : std::nullopt;
}

}  // namespace halmark::tune
