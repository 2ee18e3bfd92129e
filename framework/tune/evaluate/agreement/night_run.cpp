#include "tune/evaluate/agreement/night_run.hpp"

#include <chrono>
#include <utility>

#include "core/lists.hpp"
#include "journal/samples/retention.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark::tune {
namespace {

// Seconds since 1970 of "2026-11-22T10:20:30Z"; 0 for anything else.
std::int64_t seconds_of(const std::string& utc) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return 0;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((as_int64(days) * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace

bool goes_on_with(const Store& store, std::int64_t run, const std::string& date) {
  if (const auto machine = store.machine(run); machine && machine->ends_night) return false;
  const std::string started = store.run_info(run).started_utc;
  if (!date.empty()) return started.starts_with(date);
  constexpr std::int64_t night_s = 12 * 3600;
  return seconds_of(journal::utc_now()) - seconds_of(started) < night_s;
}

void close_night(Store& store, std::int64_t run, std::vector<std::string> machine_lines,
                 std::string build, int keep_samples_nights) {
  store.append(
      run,
      RunMachine{.lines = std::move(machine_lines), .build = std::move(build), .ends_night = true});
  if (keep_samples_nights == 0) return;
  retire_samples(
      store, {.keep_nights = as_size(keep_samples_nights),
              .text = "[nightly] keep_samples_nights = " + std::to_string(keep_samples_nights)});
}

}  // namespace halmark::tune
