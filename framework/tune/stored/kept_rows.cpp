// What a user measures is kept without being asked, so that no figure is lost; a database that
// another process writes must not stand in the way of measuring.
#include "tune/stored/kept_rows.hpp"

#include "core/text/error.hpp"

namespace halmark::tune {

KeptRows::KeptRows(const Place& place, const RunInfo& run,
                   const std::vector<std::string>& machine_lines)
    : is_asked_(place.is_asked) {
  if (place.is_off) return;
  keep([&] {
    store_ = open_store(place.database);
    run_ = store_->begin_run(run);
    store_->append(run_, RunMachine{machine_lines});
  });
}

void KeptRows::keep(const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    if (is_asked_) throw;
    reason_ = error.line();
    store_.reset();
  }
}

std::optional<std::int64_t> KeptRows::run() const {
  return store_ ? std::optional(run_) : std::nullopt;
}

void KeptRows::append(const Measurement& row) {
  if (store_) keep([&] { store_->append(run_, row); });
}

void KeptRows::append(const UsedPeaks& peaks) {
  if (store_) keep([&] { store_->append(run_, peaks); });
}

void KeptRows::append(const Evaluation& evaluation) {
  if (store_) keep([&] { store_->append(run_, evaluation); });
}

void KeptRows::append(const Validation& validation) {
  if (store_) keep([&] { store_->append(run_, validation); });
}

void KeptRows::append(const Winner& winner) {
  if (store_) keep([&] { store_->append(run_, winner); });
}

}  // namespace halmark::tune
