// Winner: which ways of running a problem are fastest on one device. A set of ties, never the luck
// of one draw: every variant whose interval overlaps that of the fastest belongs to it.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields/fields.hpp"
#include "core/kernel_case.hpp"
#include "core/measured/measurement.hpp"

namespace halmark {

// One way in which a plugin can run a problem.
struct Variant {
  std::string kernel;
  Config config;            // empty = every parameter at its default
  bool is_default = false;  // what the plugin runs when nobody chooses
  auto operator<=>(const Variant&) const = default;
  std::string text() const;  // "gemm_onednn packed=0 threads=2"
};
template <class V, Of<Variant> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("config", m.config);
  v("is_default", m.is_default);
}

struct VariantTime {
  Variant variant;
  std::string implementation;
  double ns = 0;
  Interval interval_ns;
  int rounds = 0;
  Status status = Status::ok;
  std::string reason;    // why suspect
  bool is_tied = false;  // with the fastest, which is tied with itself
};
template <class V, Of<VariantTime> M>
void fields(V& v, M& m) {
  v("variant", m.variant);
  v("implementation", m.implementation);
  v("ns", m.ns);
  v("interval_ns", m.interval_ns);
  v("rounds", m.rounds);
  v("status", m.status);
  v("reason", m.reason);
  v("is_tied", m.is_tied);
}

struct Winner {
  KernelCase question;  // neither kernel nor config
  std::string plugin_name, plugin_hash;
  std::vector<VariantTime> variants;  // fastest first; those that gave no right time are absent
  Variant chosen;
  Status status = Status::ok;  // suspect when some time behind it is
  std::string reason;          // of the fastest of those
  std::size_t tied() const;
};
template <class V, Of<Winner> M>
void fields(V& v, M& m) {
  v("question", m.question);
  v.group("plugin", [&m](auto& plugin) {
    plugin("name", m.plugin_name);
    plugin("hash", m.plugin_hash);
  });
  v("chosen", m.chosen);
  v("status", m.status);
  v("reason", m.reason);
  v("variants", m.variants);
}

// What a winner is stored under: problem (dtypes included), device with its cut, cache mode. Not
// the ring's length: it follows from the model, and a kernel is cold or not whatever it is.
std::string winner_key(const KernelCase& question);

// The case that measures the variant.
KernelCase variant_case(const KernelCase& question, const Variant& variant);

// From the rounds of all variants of one question, in any order; rows of other cases are ignored.
// The plugin's default is chosen where it is among the tied, else the fastest. Nothing when no
// variant has a time.
std::optional<Winner> judge_variants(const KernelCase& question, std::span<const Variant> variants,
                                     std::span<const Measurement> rows);

// Winners of one machine and plugin build, as the kernel choice of a plan.
class WinnerTable {
 public:
  void add(const Winner& winner);  // a later one replaces an earlier one of the same key
  std::size_t size() const { return chosen_.size(); }
  // Names kernel and config where the case names no kernel and something beats the default.
  KernelCase with_winner(KernelCase kernel_case) const;

 private:
  std::map<std::string, Variant> chosen_;
};

}  // namespace halmark
