// A results database over whatever holds its rows: entries to values, each row against its
// checksum, each run that is read along its chains.
#include "journal/store.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "journal/rows/doubts.hpp"
#include "journal/rows/row_codec.hpp"
#include "journal/rows/row_figures.hpp"
#include "journal/rows/row_source.hpp"
#include "journal/run_chains.hpp"

namespace halmark {
namespace journal {

class RowReader {
 public:
  explicit RowReader(std::unique_ptr<RowSource> from) : source_(std::move(from)) {}

  RowSource& source() { return *source_; }
  // Once the columns of every run were held against its checksum.
  RowSource& checked_source() {
    chains_.check_runs();
    return *source_;
  }
  RunChains& chains() { return chains_; }
  const std::vector<std::string>& faults() const { return faults_.lines(); }

  // Rows whose checksum or content does not hold are left out and named. Returns how many have
  // their checksum.
  std::int64_t each_whole_row(const RowQuery& query,
                              const std::function<void(const StoredRow&)>& use) {
    std::int64_t whole = 0;
    source_->each_row(query, [&](const StoredRow& row) {
      const std::string name = "entry " + std::to_string(row.id);
      if (as_int64(xxh3_of(row.bytes())) != row.checksum) {
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

  // Of all whole rows of a kind in a run, in one state of it.
  void each_of_run(std::int64_t run, const char* kind,
                   const std::function<void(const StoredRow&)>& use) {
    source_->in_one_state([&] {
      chains_.follow(run);
      const RowQuery query{.run = run, .kind = kind, .with_blocks = true};
      if (each_whole_row(query, use) != chains_.rows_of(run, kind)) {
        faults_.add("run " + std::to_string(run) + ": an index does not find every " + kind);
      }
    });
  }

  Measurement measurement_of(const StoredRow& row) {
    const Json body = Json::parse(row.body);
    return measurement_from(body, samples_of(body, row));
  }

  // Empty where there were none, and where they are retired.
  std::string_view samples_of(const Json& body, const StoredRow& row) {
    const SampleBytes samples = sample_bytes(body, row.samples, row.block);
    const std::string fault = fault_of(samples.state);
    const bool is_retired = samples.state == SampleBytes::State::missing && chains_.is_retired(row);
    if (!fault.empty() && !is_retired) throw std::invalid_argument(fault);
    return samples.bytes;
  }

  // Of the rows that the query asks for.
  Doubts doubts_of(RowQuery query) {
    query.kind = row_kind<Doubt>;
    query.latest = 0;
    query.with_blocks = false;
    Doubts out;
    each_whole_row(query, [&](const StoredRow& row) { out.add(row); });
    return out;
  }

  std::vector<RowFigures> figures(const RowQuery& query) {
    const Doubts doubts = doubts_of(query);
    std::vector<RowFigures> out;
    each_whole_row(query, [&](const StoredRow& row) {
      out.push_back({row.run, row.key, figures_from(row.body)});
      doubts.apply(row.run, row.key, out.back().row);
    });
    return out;
  }

  std::optional<std::int64_t> latest(const RunQuery& query) {
    const auto found = checked_source().latest_run(query);
    if (found) chains_.check_run(*found);
    return found;
  }

 private:
  std::unique_ptr<RowSource> source_;
  Faults faults_;
  RunChains chains_{*source_, faults_};
};

}  // namespace journal

using namespace journal;

Store::Store(std::unique_ptr<RowSource> source)
    : rows_(std::make_unique<RowReader>(std::move(source))) {}
Store::~Store() = default;

template <class Value>
std::vector<Value> Store::rows(std::int64_t run) const {
  std::vector<Value> out;
  rows_->each_of_run(run, row_kind<Value>, [&](const StoredRow& row) {
    out.push_back(value_from<Value>(Json::parse(row.body)));
  });
  return out;
}
template std::vector<Evaluation> Store::rows(std::int64_t) const;
template std::vector<Validation> Store::rows(std::int64_t) const;
template std::vector<Winner> Store::rows(std::int64_t) const;
template std::vector<Duet> Store::rows(std::int64_t) const;
template std::vector<UsedPeaks> Store::rows(std::int64_t) const;
template std::vector<RunMachine> Store::rows(std::int64_t) const;
template std::vector<Untried> Store::rows(std::int64_t) const;

std::vector<Measurement> Store::run_measurements(std::int64_t run) const {
  std::vector<Measurement> out;
  rows_->each_of_run(run, row_kind<Measurement>,
                     [&](const StoredRow& row) { out.push_back(rows_->measurement_of(row)); });
  const Doubts doubts = rows_->doubts_of({.run = run});
  if (doubts.empty()) return out;
  for (Measurement& row : out) doubts.apply(run, row.kernel_case.key(), row);
  return out;
}

std::optional<RunMachine> Store::machine(std::int64_t run) const {
  std::vector<RunMachine> known = rows<RunMachine>(run);
  return known.empty() ? std::nullopt : std::optional(std::move(known.back()));
}

std::vector<Measurement> Store::measurements(std::string_view case_key,
                                             std::string_view fingerprint) const {
  const RowQuery query{.kind = row_kind<Measurement>,
                       .key = std::string(case_key),
                       .fingerprint = std::string(fingerprint),
                       .with_blocks = true};
  const Doubts doubts = rows_->doubts_of(query);
  std::vector<Measurement> out;
  rows_->each_whole_row(query, [&](const StoredRow& row) {
    out.push_back(rows_->measurement_of(row));
    doubts.apply(row.run, row.key, out.back());
  });
  return out;
}

std::vector<std::int64_t> Store::runs_with_winners(std::string_view fingerprint) const {
  return rows_->checked_source().run_ids(
      {.fingerprint = std::string(fingerprint), .has_winners = true});
}

std::optional<std::int64_t> Store::find_run(std::string_view plan_hash,
                                            std::string_view fingerprint) const {
  return rows_->latest(
      {.plan_hash = std::string(plan_hash), .fingerprint = std::string(fingerprint)});
}

std::optional<std::int64_t> Store::latest_run() const { return rows_->latest({}); }
std::optional<std::int64_t> Store::latest_sweep() const {
  return rows_->latest({.is_sweep = true});
}

RunInfo Store::run_info(std::int64_t run) const {
  RowSource& source = rows_->checked_source();
  rows_->chains().check_run(run);
  auto found = source.run(run);
  if (!found) throw refused("there is no run " + std::to_string(run), source.location());
  return std::move(found->info);
}

std::vector<std::int64_t> Store::latest_runs(std::size_t count,
                                             std::string_view fingerprint) const {
  RunQuery query;
  if (!fingerprint.empty()) query.fingerprint = fingerprint;
  std::vector<std::int64_t> out = rows_->checked_source().run_ids(query);
  if (out.size() > count) out.erase(out.begin(), out.end() - as_int64(count));
  return out;
}

std::vector<RowFigures> Store::run_figures(std::int64_t run) const {
  return rows_->figures({.run = run, .kind = row_kind<Measurement>});
}

std::vector<RowFigures> Store::case_figures(std::string_view case_key, std::size_t count) const {
  if (count == 0) return {};
  std::vector<RowFigures> out = rows_->figures(
      {.kind = row_kind<Measurement>, .key = std::string(case_key), .latest = count});
  std::ranges::reverse(out);
  return out;
}

std::vector<std::string> Store::measured_cases(std::string_view prefix) const {
  return rows_->source().measured_cases(std::string(prefix));
}

std::vector<RunSamples> Store::samples_by_run() const { return rows_->source().samples_by_run(); }
DatabaseSize Store::size() const { return rows_->source().size(); }
std::vector<std::string> Store::damaged() const { return rows_->faults(); }

std::string Store::chain_head(std::int64_t run) const {
  std::string out;
  RowSource& source = rows_->source();
  source.in_one_state([&] {
    const auto found = source.run(run);
    if (found) out = run_head(found->chain, source.chains(*found));
  });
  return out;
}

void Store::require_sound() const {
  const std::vector<std::string>& faults = rows_->faults();
  if (faults.empty()) return;
  const std::size_t more = faults.size() - 1;
  throw rows_->source().damage(faults.front() +
                               (more == 0 ? "" : "; and " + std::to_string(more) + " more"));
}

void Store::require_sound_runs() const {
  rows_->checked_source();
  require_sound();
}

// What each row names against what lies beside it.
void Store::require_sound_samples(std::int64_t run) const {
  rows_->source().in_one_state([&] {
    rows_->chains().follow(run);
    rows_->each_whole_row(
        {.run = run, .kind = row_kind<Measurement>, .with_blocks = true},
        [&](const StoredRow& row) { rows_->samples_of(Json::parse(row.body), row); });
  });
  require_sound();
}

}  // namespace halmark
