#include "search/proposer.hpp"

#include <deque>
#include <numeric>
#include <unordered_set>

namespace halmark {
namespace {

constexpr std::uint64_t attempts_max = 8;
constexpr std::size_t neighbourhood_max = 512;  // points expanded in search of a new one
constexpr std::uint64_t purpose_even = 0xe7e4;
constexpr std::uint64_t draws_max = 1000;

}  // namespace

std::uint64_t even_step(std::uint64_t size) {
  if (size < 3) return 1;
  auto step = static_cast<std::uint64_t>(static_cast<double>(size) * 0.6180339887498949);
  while (std::gcd(step, size) != 1) ++step;
  return step;
}

std::vector<Point> Proposer::ask(std::size_t count) {
  std::vector<Point> out;
  while (out.size() < count) {
    if (history_.is_exhausted()) break;
    std::optional<Point> next = mended(history_.size());
    if (!next) break;
    history_.add_pending(*next);
    out.push_back(std::move(*next));
  }
  return out;
}

void Proposer::tell(const std::vector<Told>& outcomes) {
  for (const Told& told : outcomes) {
    const std::size_t trial = history_.tell(told);
    if (told.outcome != TrialOutcome::pending) learn(trial);
  }
}

std::string Proposer::state() const {
  return name_ + ", " + std::to_string(history_.size()) + " trials";
}

std::optional<Point> Proposer::mended(std::uint64_t trial) {
  std::optional<Point> valid;
  for (std::uint64_t attempt = 0; attempt < attempts_max; ++attempt) {
    std::optional<Point> p = propose(trial, attempt);
    if (!p) break;
    if (!space().contains(*p)) continue;
    if (!history_.knows(*p)) return p;
    valid = std::move(p);
  }
  if (valid) {
    if (auto p = new_neighbour(*valid, trial)) return p;
  }
  return next_even();
}

// Breadth first.
std::optional<Point> Proposer::new_neighbour(const Point& valid_point, std::uint64_t trial) const {
  std::deque<Point> open{valid_point};
  std::unordered_set<std::uint64_t> seen{space().identity(valid_point)};
  for (std::size_t expanded = 0; !open.empty() && expanded < neighbourhood_max; ++expanded) {
    std::vector<Point> around =
        space().neighbours(open.front(), hash_combine(options_.seed, trial + expanded));
    open.pop_front();
    // Which of the nearest comes first must not depend on the order of the parameters.
    const std::size_t shift =
        around.empty() ? 0 : stream(trial, 0xbf5 + expanded).below(around.size());
    for (std::size_t i = 0; i < around.size(); ++i) {
      Point& p = around[(i + shift) % around.size()];
      if (!seen.insert(space().identity(p)).second) continue;
      if (!history_.knows(p)) return std::move(p);
      open.push_back(std::move(p));
    }
  }
  return std::nullopt;
}

std::optional<Point> Proposer::next_even() {
  const std::uint64_t size = space().size();
  if (!space().is_countable()) {
    for (std::uint64_t i = 0; i < draws_max; ++i) {
      auto p = space().draw(hash_combine(hash_combine(options_.seed, purpose_even), even_at_++));
      if (!p) return std::nullopt;
      if (!history_.knows(*p)) return p;
    }
    return std::nullopt;
  }
  const std::uint64_t step = even_step(size);
  __extension__ using Wide = unsigned __int128;
  for (; even_at_ < size; ++even_at_) {
    const std::uint64_t start = uniform_below(hash_u64(options_.seed, 0), size);
    const auto index =
        static_cast<std::uint64_t>((static_cast<Wide>(even_at_) * step + start) % size);
    Point p = space().point(index);
    if (!history_.knows(p)) return p;
  }
  return std::nullopt;
}

}  // namespace halmark
