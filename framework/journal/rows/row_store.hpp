// A results database over whatever holds its rows: values to entries and back, each row against its
// checksum, each run that is read along its chains.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal/rows/doubts.hpp"
#include "journal/rows/row_source.hpp"
#include "journal/run_chains.hpp"
#include "journal/store.hpp"

namespace halmark::journal {

class RowStore : public virtual Store {
 public:
  explicit RowStore(std::unique_ptr<RowSource> source);

  void append(std::int64_t run, const Measurement& m) override { write(run, {entry_of(m)}); }
  void append(std::int64_t run, const Evaluation& e) override { write(run, {entry_of(e)}); }
  void append(std::int64_t run, const Validation& v) override { write(run, {entry_of(v)}); }
  void append(std::int64_t run, const Winner& w) override { write(run, {entry_of(w)}); }
  void append(std::int64_t run, const Duet& d) override { write(run, {entry_of(d)}); }
  void append(std::int64_t run, const UsedPeaks& p) override { write(run, {entry_of(p)}); }
  void append(std::int64_t run, const RunMachine& m) override { write(run, {entry_of(m)}); }
  void append(std::int64_t run, const Untried& u) override { write(run, {entry_of(u)}); }
  void append(std::int64_t run, std::span<const Measurement> measurements) override;
  void append(std::int64_t run, std::span<const Doubt> doubts) override;

  std::vector<Measurement> measurements(std::string_view case_key,
                                        std::string_view fingerprint) const override;
  std::vector<Measurement> run_measurements(std::int64_t run) const override;
  std::vector<Evaluation> evaluations(std::int64_t run) const override;
  std::vector<Validation> validations(std::int64_t run) const override;
  std::vector<Winner> winners(std::int64_t run) const override;
  std::vector<Duet> duets(std::int64_t run) const override;
  std::vector<UsedPeaks> used_peaks(std::int64_t run) const override;
  std::optional<RunMachine> machine(std::int64_t run) const override;
  std::vector<Untried> untried(std::int64_t run) const override;
  std::vector<std::int64_t> runs_with_winners(std::string_view fingerprint) const override;
  std::optional<std::int64_t> find_run(std::string_view plan_hash,
                                       std::string_view fingerprint) const override;
  std::optional<std::int64_t> latest_run() const override { return latest({}); }
  std::optional<std::int64_t> latest_sweep() const override { return latest({.is_sweep = true}); }
  RunInfo run_info(std::int64_t run) const override;
  std::vector<std::int64_t> latest_runs(std::size_t count,
                                        std::string_view fingerprint) const override;
  std::vector<RowFigures> run_figures(std::int64_t run) const override;
  std::vector<RowFigures> case_figures(std::string_view case_key, std::size_t count) const override;
  std::vector<std::string> measured_cases(std::string_view prefix) const override;
  std::vector<RunSamples> samples_by_run() const override { return source_->samples_by_run(); }
  DatabaseSize size() const override { return source_->size(); }
  std::string chain_head(std::int64_t run) const override;
  std::vector<std::string> damaged() const override { return faults_.lines(); }
  void require_sound() const override;

 protected:
  // All of them in one commit, or none.
  virtual void write(std::int64_t run, const std::vector<Entry>& entries) = 0;
  // Before a run is begun, and before samples of one are deleted: damage is not written on.
  void require_sound_runs() const;
  void require_sound_samples(std::int64_t run) const;

 private:
  std::optional<std::int64_t> latest(const RunQuery& query) const;
  std::vector<RowFigures> figures(const RowQuery& query) const;
  // Of the rows that the query asks for.
  Doubts doubts_of(RowQuery query) const;
  template <class Use>
  std::int64_t each_whole_row(const RowQuery& query, Use use) const;
  template <class Value, class Decode>
  std::int64_t read(const RowQuery& query, Decode decode, std::vector<Value>& out) const;
  template <class Value, class Decode>
  std::vector<Value> of_run(std::int64_t run, const char* kind, Decode decode) const;
  std::string_view samples_of(const Json& body, const StoredRow& row) const;

  std::unique_ptr<RowSource> source_;
  mutable Faults faults_;
  mutable RunChains chains_{*source_, faults_};
};

}  // namespace halmark::journal
