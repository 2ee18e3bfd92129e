#include "journal/rows/row_store.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "core/text/digest.hpp"
#include "journal/rows/row_codec.hpp"
#include "journal/rows/row_figures.hpp"

namespace halmark::journal {

RowStore::RowStore(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}

void RowStore::append(std::int64_t run, std::span<const Measurement> measurements) {
  std::vector<Entry> entries;
  for (const Measurement& m : measurements) entries.push_back(entry_of(m));
  write(run, entries);
}

void RowStore::append(std::int64_t run, std::span<const Doubt> doubts) {
  std::vector<Entry> entries;
  for (const Doubt& d : doubts) entries.push_back(entry_of(d));
  write(run, entries);
}

// Rows whose checksum or content does not hold are left out and named. Returns how many have their
// checksum.
template <class Use>
std::int64_t RowStore::each_whole_row(const RowQuery& query, Use use) const {
  std::int64_t whole = 0;
  source_->each_row(query, [&](const StoredRow& row) {
    const std::string name = "entry " + std::to_string(row.id);
    if (static_cast<std::int64_t>(xxh3_of(row.bytes())) != row.checksum) {
      return faults_.add(name + ": checksum does not match");
    }
    ++whole;
    try {
      use(row);
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::error) throw;  // nothing more can be read
      faults_.add(name + ": " + e.what());
    } catch (const std::exception& e) {
      faults_.add(name + ": " + e.what());
    }
  });
  return whole;
}

// Empty where there were none, and where they are retired.
std::string_view RowStore::samples_of(const Json& body, const StoredRow& row) const {
  if (row.kind != "measurement") return {};
  const SampleBytes samples = sample_bytes(body, row.samples, row.block);
  const std::string fault = fault_of(samples.state);
  const bool is_retired = samples.state == SampleBytes::State::missing && chains_.is_retired(row);
  if (!fault.empty() && !is_retired) throw std::invalid_argument(fault);
  return samples.bytes;
}

template <class Value, class Decode>
std::int64_t RowStore::read(const RowQuery& query, Decode decode, std::vector<Value>& out) const {
  return each_whole_row(query, [&](const StoredRow& row) {
    const Json body = Json::parse(row.body);
    out.push_back(decode(body, samples_of(body, row)));
  });
}

template <class Value, class Decode>
std::vector<Value> RowStore::of_run(std::int64_t run, const char* kind, Decode decode) const {
  std::vector<Value> out;
  source_->in_one_state([&] {
    chains_.follow(run);
    const std::int64_t whole = read({.run = run, .kind = kind, .with_blocks = true}, decode, out);
    if (whole != chains_.rows_of(run, kind)) {
      faults_.add("run " + std::to_string(run) + ": an index does not find every " + kind);
    }
  });
  return out;
}

std::vector<Measurement> RowStore::measurements(std::string_view case_key,
                                                std::string_view fingerprint) const {
  const RowQuery query{.kind = "measurement",
                       .key = std::string(case_key),
                       .fingerprint = std::string(fingerprint),
                       .with_blocks = true};
  const Doubts doubts = doubts_of(query);
  std::vector<Measurement> out;
  each_whole_row(query, [&](const StoredRow& row) {
    const Json body = Json::parse(row.body);
    out.push_back(measurement_from(body, samples_of(body, row)));
    doubts.apply(row.run, row.key, out.back());
  });
  return out;
}

std::vector<Measurement> RowStore::run_measurements(std::int64_t run) const {
  auto out = of_run<Measurement>(run, "measurement", measurement_from);
  const Doubts doubts = doubts_of({.run = run});
  if (doubts.empty()) return out;
  for (Measurement& row : out) doubts.apply(run, row.kernel_case.key(), row);
  return out;
}

Doubts RowStore::doubts_of(RowQuery query) const {
  query.kind = "doubt";
  query.latest = 0;
  query.with_blocks = false;
  Doubts out;
  each_whole_row(query, [&](const StoredRow& row) { out.add(row); });
  return out;
}

std::vector<Evaluation> RowStore::evaluations(std::int64_t run) const {
  return of_run<Evaluation>(
      run, "evaluation", [](const Json& body, std::string_view) { return body.get<Evaluation>(); });
}

std::vector<Validation> RowStore::validations(std::int64_t run) const {
  return of_run<Validation>(
      run, "validation", [](const Json& body, std::string_view) { return validation_from(body); });
}

std::vector<Winner> RowStore::winners(std::int64_t run) const {
  return of_run<Winner>(run, "winner",
                        [](const Json& body, std::string_view) { return body.get<Winner>(); });
}

std::vector<Duet> RowStore::duets(std::int64_t run) const {
  return of_run<Duet>(run, "duet",
                      [](const Json& body, std::string_view) { return body.get<Duet>(); });
}

std::vector<UsedPeaks> RowStore::used_peaks(std::int64_t run) const {
  return of_run<UsedPeaks>(run, "peaks", [](const Json& body, std::string_view) {
    return UsedPeaks{.device_text = body.at("device_text").get<std::string>(),
                     .threads = body.at("threads").get<int>(),
                     .devices = body.value("devices", std::vector<std::string>{})};
  });
}

std::optional<RunMachine> RowStore::machine(std::int64_t run) const {
  std::vector<RunMachine> known =
      of_run<RunMachine>(run, "machine", [](const Json& body, std::string_view) {
        return RunMachine{.lines = body.at("lines").get<std::vector<std::string>>(),
                          .build = body.value("build", std::string()),
                          .ends_night = body.value("ends_night", false)};
      });
  return known.empty() ? std::nullopt : std::optional(std::move(known.back()));
}

std::vector<Untried> RowStore::untried(std::int64_t run) const {
  return of_run<Untried>(run, "untried",
                         [](const Json& body, std::string_view) { return body.get<Untried>(); });
}

std::vector<std::int64_t> RowStore::runs_with_winners(std::string_view fingerprint) const {
  chains_.check_runs();
  return source_->run_ids({.fingerprint = std::string(fingerprint), .has_winners = true});
}

std::optional<std::int64_t> RowStore::find_run(std::string_view plan_hash,
                                               std::string_view fingerprint) const {
  return latest({.plan_hash = std::string(plan_hash), .fingerprint = std::string(fingerprint)});
}

std::optional<std::int64_t> RowStore::latest(const RunQuery& query) const {
  chains_.check_runs();
  const auto found = source_->latest_run(query);
  if (found) chains_.check_run(*found);
  return found;
}

RunInfo RowStore::run_info(std::int64_t run) const {
  chains_.check_runs();
  chains_.check_run(run);
  auto found = source_->run(run);
  if (!found) throw refused("there is no run " + std::to_string(run), source_->location());
  return std::move(found->info);
}

std::vector<std::int64_t> RowStore::latest_runs(std::size_t count,
                                                std::string_view fingerprint) const {
  chains_.check_runs();
  RunQuery query;
  if (!fingerprint.empty()) query.fingerprint = fingerprint;
  std::vector<std::int64_t> out = source_->run_ids(query);
  if (out.size() > count) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(count));
  return out;
}

std::vector<RowFigures> RowStore::figures(const RowQuery& query) const {
  const Doubts doubts = doubts_of(query);
  std::vector<RowFigures> out;
  each_whole_row(query, [&](const StoredRow& row) {
    out.push_back({row.run, row.key, figures_from(row.body)});
    doubts.apply(row.run, row.key, out.back().row);
  });
  return out;
}

std::vector<RowFigures> RowStore::run_figures(std::int64_t run) const {
  return figures({.run = run, .kind = "measurement"});
}

std::vector<RowFigures> RowStore::case_figures(std::string_view case_key, std::size_t count) const {
  if (count == 0) return {};
  std::vector<RowFigures> out =
      figures({.kind = "measurement", .key = std::string(case_key), .latest = count});
  std::ranges::reverse(out);
  return out;
}

std::vector<std::string> RowStore::measured_cases(std::string_view prefix) const {
  return source_->measured_cases(std::string(prefix));
}

std::string RowStore::chain_head(std::int64_t run) const {
  std::string out;
  source_->in_one_state([&] {
    const auto found = source_->run(run);
    if (found) out = run_head(found->chain, source_->chains(*found));
  });
  return out;
}

void RowStore::require_sound() const {
  if (faults_.lines().empty()) return;
  const std::size_t more = faults_.lines().size() - 1;
  throw source_->damage(faults_.lines().front() +
                        (more == 0 ? "" : "; and " + std::to_string(more) + " more"));
}

void RowStore::require_sound_runs() const {
  chains_.check_runs();
  require_sound();
}

// What each row names against what lies beside it.
void RowStore::require_sound_samples(std::int64_t run) const {
  source_->in_one_state([&] {
    chains_.follow(run);
    each_whole_row({.run = run, .kind = "measurement", .with_blocks = true},
                   [&](const StoredRow& row) { samples_of(Json::parse(row.body), row); });
  });
  require_sound();
}

}  // namespace halmark::journal
