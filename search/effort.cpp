#include "search/effort.hpp"

#include <algorithm>
#include <ctime>

namespace halmark {
namespace {

constexpr std::uint64_t units_between_looks = 256;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

void Effort::begin() {
  left_ = units_max;
  next_look_ = units_max - units_between_looks;
  began_s_ = thread_seconds();
}

void Effort::look() const {
  if (is_stopped()) throw SearchStopped();
}

void Effort::spend(std::uint64_t units) {
  spent_ += units;
  if (units > left_) {
    left_ = 0;
    throw OutOfWork();
  }
  left_ -= units;
  if (left_ > next_look_) return;
  next_look_ = left_ - std::min(left_, units_between_looks);
  look();
  if (thread_seconds() - began_s_ > emergency_s) throw OutOfWork();
}

}  // namespace halmark
