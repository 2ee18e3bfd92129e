// What belongs to the whole process, changed as long as a value lives: the cases of a program run
// one after the other in one process, and a case that ends early must leave it as it was.
#pragma once

#include <sched.h>
#include <stdlib.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace halmark::test {

// A variable of the environment; without a value it is absent.
class ScopedVariable {
 public:
  explicit ScopedVariable(std::string name) : name_(std::move(name)) {
    if (const char* before = ::getenv(name_.c_str())) before_ = before;
    ::unsetenv(name_.c_str());
  }
  ScopedVariable(std::string name, const std::string& value) : ScopedVariable(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~ScopedVariable() {
    before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

// The CPUs of the calling thread: one alone, or what the test makes of them.
class ScopedAffinity {
 public:
  ScopedAffinity() {
    if (::sched_getaffinity(0, sizeof before_, &before_) != 0) {
      throw std::runtime_error("no CPUs are known");
    }
  }
  explicit ScopedAffinity(int cpu) : ScopedAffinity() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) {
      throw std::runtime_error("cannot run on CPU " + std::to_string(cpu) + " alone");
    }
  }
  ~ScopedAffinity() { ::sched_setaffinity(0, sizeof before_, &before_); }
  ScopedAffinity(const ScopedAffinity&) = delete;
  ScopedAffinity& operator=(const ScopedAffinity&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace halmark::test
