#include "history/retention.hpp"

#include <memory>

namespace halmark::history {

Retention apply_retention(const std::string& path, const RetentionPolicy& policy, bool is_dry_run) {
  Retention out{.policy = policy, .is_dry_run = is_dry_run};
  out.samples = samples_to_retire(*open_store_read_only(path), policy);
  if (is_dry_run || out.samples.runs.empty()) return out;
  const std::unique_ptr<Store> store = open_store(path);
  out.samples = retire_samples(*store, policy);
  out.note = give_space_back(*store, out.samples);
  return out;
}

}  // namespace halmark::history
