// The third-highest probe over at least two occasions is a rate that was reached again and again:
// two lucky windows cannot set it, and slow minutes cannot lower it.
#include "core/measured/occasion.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <iterator>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {
namespace {

constexpr std::size_t deciding_probes = 3;

void keep_highest(std::vector<double>& highest, std::span<const double> rates) {
  append_all(highest, rates);
  std::ranges::sort(highest, std::greater<>());
  if (highest.size() > deciding_probes) highest.resize(deciding_probes);
}

std::vector<double> highest_of(std::span<const Occasion> occasions) {
  std::vector<double> out;
  for (const Occasion& o : occasions) keep_highest(out, o.highest);
  return out;
}

// An occasion without a time lies before all others: it is from before times were kept.
bool belongs_to(const Occasion& seen, const Occasion& last) {
  if (seen.is_busy != last.is_busy) return false;
  if (seen.utc == last.utc) return true;
  const auto begin = utc_seconds(last.utc), now = utc_seconds(seen.utc);
  return begin && now && *now >= *begin && *now - *begin < occasion_gap_s;
}

// The oldest that decides nothing; the oldest where all do.
void drop_one(std::vector<Occasion>& occasions) {
  const double least = highest_of(occasions).back();
  const auto idle = std::ranges::find_if(
      occasions, [&](const Occasion& o) { return o.highest.empty() || o.highest.front() < least; });
  occasions.erase(idle == occasions.end() ? occasions.begin() : idle);
}

}  // namespace

std::optional<std::int64_t> utc_seconds(std::string_view utc) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  if (utc.size() != form.size()) return std::nullopt;
  for (const auto i : indices(form)) {
    const bool is_digit = utc[i] >= '0' && utc[i] <= '9';
    if (form[i] == '0' ? !is_digit : utc[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    std::from_chars(utc.data() + at, utc.data() + at + digits, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(days).count() + 3600 * number(11, 2) +
         60 * number(14, 2) + number(17, 2);
}

void observe(std::vector<Occasion>& occasions, std::string_view utc, std::span<const double> rates,
             bool is_busy) {
  std::vector<double> positive;
  std::ranges::copy_if(rates, std::back_inserter(positive), [](double r) { return r > 0; });
  if (positive.empty()) return;
  Occasion seen{.utc = std::string(utc),
                .probes = std::ssize(positive),
                .median = median(positive),
                .highest = {},
                .is_busy = is_busy};
  keep_highest(seen.highest, positive);
  observe(occasions, seen);
}

void observe(std::vector<Occasion>& occasions, const Occasion& seen) {
  if (seen.probes <= 0 || seen.highest.empty()) return;
  const auto same = std::ranges::find_if(
      occasions, [&](const Occasion& known) { return belongs_to(seen, known); });
  if (same == occasions.end()) {
    occasions.push_back(seen);
    if (occasions.size() > occasions_max) drop_one(occasions);
    return;
  }
  // The probes themselves are gone: the medians are weighed by how many each stands for.
  const auto known = as_double(same->probes), added = as_double(seen.probes);
  same->median = (same->median * known + seen.median * added) / (known + added);
  same->probes += seen.probes;
  keep_highest(same->highest, seen.highest);
}

BestRate best_rate(std::span<const Occasion> occasions) {
  BestRate out;
  for (const Occasion& o : occasions) out.probes += o.probes;
  const std::vector<double> highest = highest_of(occasions);
  if (highest.empty()) return out;
  std::vector<Occasion> quiet;
  std::ranges::copy_if(occasions, std::back_inserter(quiet), std::not_fn(&Occasion::is_busy));
  out.is_busy = quiet.empty();
  out.is_provisional = quiet.size() < 2 || highest_of(quiet).size() < deciding_probes;
  out.per_s = out.is_provisional ? highest.front() : highest.back();
  return out;
}

}  // namespace halmark
