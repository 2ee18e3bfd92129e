#include "search/proposer.hpp"

#include <deque>
#include <numeric>
#include <unordered_set>

#include "core/lists.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t attempts_max = 8;
constexpr std::size_t neighbourhood_max = 512;  // points expanded in search of a new one
constexpr std::uint64_t purpose_even = 0xe7e4;
constexpr std::uint64_t draws_max = 1000;            // known ones in a row
constexpr std::uint64_t attempts_in_a_row = 20'000;  // to meet constraints over continua
constexpr std::size_t safe_draws = 32, fallback_draws = 64;
constexpr std::uint64_t fallback_attempts = 4000;
constexpr std::uint64_t purpose_safe = 0x5afe, purpose_uniform = 0x0171;

}  // namespace

std::uint64_t even_step(std::uint64_t size) {
  if (size < 3) return 1;
  auto step = as_uint64(as_double(size) * 0.6180339887498949);
  while (std::gcd(step, size) != 1) ++step;
  return step;
}

std::optional<Point> drawn(const Space& space, std::uint64_t seed, Effort& effort) {
  const std::uint64_t most = effort.left();
  std::uint64_t left = most;
  auto out = space.draw(seed, left);
  effort.spend(most - left + 1);
  return out;
}

std::vector<Point> Proposer::ask(std::size_t count) {
  std::vector<Point> out;
  answered_by_.clear();
  try {
    while (out.size() < count && !history_.is_exhausted()) {
      effort_.look();
      std::string by = name_;
      std::optional<Point> next = proposed(history_.size(), by);
      if (!next) break;
      history_.add_pending(*next);
      out.push_back(std::move(*next));
      answered_by_.push_back(std::move(by));
    }
  } catch (const SearchStopped&) {
    // What was proposed so far is the answer; whoever wanted the end knows of it.
  }
  return out;
}

void Proposer::tell(const std::vector<Told>& outcomes) {
  for (const Told& told : outcomes) {
    const std::size_t trial = history_.tell(told);
    if (told.outcome == TrialOutcome::pending) continue;
    guard_.learn(history_.trials()[trial]);
    learn(trial);
  }
}

std::string Proposer::state() const {
  return name_ + ", " + std::to_string(history_.size()) + " trials";
}

std::optional<Point> Proposer::proposed(std::uint64_t trial, std::string& by) {
  effort_.begin();
  try {
    return repaired(trial);
  } catch (const OutOfWork&) {
    by = "uniform";
    return any_draw(trial);
  }
}

std::optional<Point> Proposer::repaired(std::uint64_t trial) {
  const bool is_guarded = guard_.is_awake() && this->is_guarded(trial);
  const double risk_max = is_guarded ? guard_.risk_max() : 1;
  std::optional<Point> valid, safest;
  double least = 2;
  for (const std::uint64_t attempt : below(attempts_max)) {
    std::optional<Point> p = propose(trial, attempt);
    effort_.spend();
    if (!p) break;
    if (!space().contains(*p)) continue;
    if (history_.knows(*p)) {
      valid = std::move(p);
      continue;
    }
    const double risk = risk_max < 1 ? guard_.risk(*p) : 0;
    if (risk <= risk_max) return p;
    if (risk >= least) continue;
    safest = std::move(p);
    least = risk;
  }
  if (!safest && valid) safest = new_neighbour(*valid, trial);
  if (!safest) safest = next_even();
  if (!safest || risk_max >= 1) return safest;
  return least_risk(std::move(*safest), trial, risk_max);
}

// What is left of a proposal that is too likely to fail: itself, or the first of a few uniform
// draws that is not, or the least likely of all.
std::optional<Point> Proposer::least_risk(Point best, std::uint64_t trial, double risk_max) {
  double least = guard_.risk(best);
  Stream random = stream(trial, purpose_safe);
  for (std::size_t i = 0; i < safe_draws && least > risk_max; ++i) {
    std::optional<Point> p = uniform(random);
    if (!p || history_.knows(*p)) continue;
    const double risk = guard_.risk(*p);
    if (risk >= least) continue;
    best = std::move(*p);
    least = risk;
  }
  return best;
}

// Uniform among the valid points, through the diagram; the even order where nearly all are known.
std::optional<Point> Proposer::any_draw(std::uint64_t trial) {
  Stream random = stream(trial, purpose_uniform);
  std::uint64_t attempts = fallback_attempts;
  for (std::size_t i = 0; i < fallback_draws && attempts > 0; ++i) {
    std::optional<Point> p = space().draw(random.bits(), attempts);
    if (p && !history_.knows(*p)) return p;
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
    effort_.spend(around.size());
    for (const auto i : indices(around)) {
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
    std::uint64_t attempts = attempts_in_a_row;
    for (std::uint64_t i = 0; i < draws_max; ++i) {
      auto p = space().draw(hash_combine(hash_combine(options_.seed, purpose_even), even_at_++),
                            attempts);
      effort_.look();
      if (!p) return std::nullopt;
      if (!history_.knows(*p)) return p;
    }
    return std::nullopt;
  }
  const std::uint64_t step = even_step(size);
  __extension__ using Wide = unsigned __int128;
  for (; even_at_ < size; ++even_at_) {
    if (even_at_ % 1024 == 0) effort_.look();
    const std::uint64_t start = uniform_below(hash_u64(options_.seed, 0), size);
    const auto index = as_uint64((static_cast<Wide>(even_at_) * step + start) % size);
    Point p = space().point(index);
    if (!history_.knows(p)) return p;
  }
  return std::nullopt;
}

}  // namespace halmark
