// What is not tried again: kernels that lost worker after worker, and what hung.
#pragma once

#include <map>
#include <string>

#include "core/kernel_case.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

// What hung, and why it is not tried again: by key of a case, or by device ("cpu:0").
using Hangs = std::map<std::string, std::string>;

std::string device_key(const KernelCase& kernel_case);  // "cpu:0"

// Phases before any case: what hangs there hangs for all cases of the device.
bool is_of_device(const std::string& phase);

// Three lost workers in a row disable a kernel with its config on a device; one hang ends a case,
// or a device that hung before any case.
class Losses {
 public:
  // `kept`: from campaign to campaign, so that a hang costs its limit once in all of them; null =
  // of this one.
  explicit Losses(Hangs* kept) : kept_(kept) {}

  void note(const Measurement& row);
  void note_hang(const Measurement& row);  // and nothing of workers: nobody knows whose loss it was
  // "" where it may be tried.
  std::string why_not(const KernelCase& kernel_case) const;
  std::string why_hung(const KernelCase& kernel_case) const;

 private:
  struct InARow {
    int losses = 0;
    std::string last_reason;
  };
  Hangs& hangs() { return kept_ != nullptr ? *kept_ : own_; }
  const Hangs& hangs() const { return kept_ != nullptr ? *kept_ : own_; }

  Hangs* kept_ = nullptr;
  Hangs own_;
  std::map<std::string, InARow> in_a_row_;
};

}  // namespace halmark
