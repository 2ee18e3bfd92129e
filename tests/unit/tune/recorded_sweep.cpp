#include "recorded_sweep.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string_view>

#include "core/json/json.hpp"

namespace halmark::tune::test {
namespace {

constexpr std::int64_t gib = 1ll << 30;

// No norms of heads: with them, steps of different batches share kernels.
constexpr std::string_view tiny_llama = R"({"model_type": "llama", "num_hidden_layers": 3,
  "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
  "intermediate_size": 160, "vocab_size": 512, "max_position_embeddings": 256,
  "tie_word_embeddings": false, "hidden_act": "silu"})";

Target target(std::optional<Device> measured) {
  Target out;
  out.measured = std::move(measured);
  out.fingerprint = "machine-1";
  out.cores = 2;
  out.memory_bytes = gib;
  return out;
}

std::unique_ptr<TunePlan> plan_of(const std::string& toml, std::optional<Device> measured) {
  Sweep sweep = parse_sweep(toml, "s.toml");
  ModelSpec spec = read_model(tiny_llama, "tiny.json");
  const std::vector<std::int64_t> shards = shard_counts(sweep, 1);
  return std::make_unique<TunePlan>(std::move(sweep), std::move(spec), target(std::move(measured)),
                                    shards, PrecisionFacts{}, true);
}

std::vector<RecordedKernel> kernels_of(const TunePlan& plan) {
  std::vector<RecordedKernel> out;
  std::map<std::string, std::int64_t> batch_of;
  for (const Configuration& c : plan.forecast().configurations) {
    const Composers::Entry& entry = plan.composers().of(c);
    if (!entry.composer) continue;
    KernelTable table;
    const StepSum sum = entry.composer->compile(table);
    for (const StepSum::Term& term : executions(sum)) {
      const KernelCase& k = table.cases()[static_cast<std::size_t>(term.kernel)];
      const auto [it, is_new] = batch_of.try_emplace(k.key(), c.workload.batch);
      EXPECT_EQ(it->second, c.workload.batch) << "two batches share " << k.key();
      if (is_new) out.push_back({k, c.workload.batch, term.count});
    }
  }
  return out;
}

}  // namespace

std::string decode_sweep(const std::string& batches, const std::string& objectives,
                         const std::string& more) {
  return "name = \"s\"\nmodel = \"tiny\"\ndtypes = [\"f32\"]\nstrategies = [\"data\"]\n"
         "objectives = " +
         objectives + "\n" + more + "[[workload]]\nphase = \"decode\"\nbatch = " + batches +
         "\ncontext = 128\n";
}

RecordedSweep::RecordedSweep(const std::string& toml, std::optional<Device> measured)
    : plan_(plan_of(toml, std::move(measured))),
      store_(open_store(folder_ / "a.db")),
      kernels_(kernels_of(*plan_)) {
  context_.plugin_path = folder_ / "no_plugin.so";
  context_.plugin_hash = "00ff";
  context_.store = store_.get();
  context_.command = "halmark tune s.toml";
}

Configuration RecordedSweep::configuration(std::int64_t batch) const {
  for (const Configuration& c : plan_->forecast().configurations) {
    if (c.workload.batch == batch) return c;
  }
  ADD_FAILURE() << "no configuration of batch " << batch;
  return {};
}

double RecordedSweep::executions(std::int64_t batch) const {
  double out = 0;
  for (const RecordedKernel& k : kernels_) out += k.batch == batch ? k.executions : 0;
  return out;
}

std::int64_t RecordedSweep::record(const Record& record) {
  const std::int64_t run = store_->begin_run({.command = context_.command,
                                              .plan_hash = plan_->hash(),
                                              .plan_text = plan_->text(),
                                              .fingerprint = plan_->target().fingerprint,
                                              .tool_version = "1",
                                              .tool_build = "2",
                                              .started_utc = "2026-11-21T10:20:30Z"});
  std::vector<Measurement> rows;
  for (const RecordedKernel& k : kernels_) {
    for (int round = 0; round < recorded_rounds; ++round) {
      Measurement m;
      m.kernel_case = k.kernel_case;
      m.round = round;
      m.status = Status::ok;
      m.plugin_hash = context_.plugin_hash;
      record(k, m);
      rows.push_back(std::move(m));
    }
  }
  store_->append(run, rows);
  return run;
}

std::int64_t RecordedSweep::record_times(const std::function<double(std::int64_t, int)>& ns) {
  return record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = ns(k.batch, m.round);
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
  });
}

MeasuredEvaluator& RecordedSweep::evaluator() {
  if (!evaluator_) {
    evaluator_ = std::make_unique<MeasuredEvaluator>(*plan_, plan_->composers(), context_, all_);
    EXPECT_TRUE(evaluator_->is_resumed());
  }
  return *evaluator_;
}

std::vector<Evaluation> RecordedSweep::evaluations() {
  return evaluator().evaluate(plan_->forecast().configurations);
}

std::vector<std::int64_t> front_batches(const MeasuredSweep& sweep) {
  std::vector<std::int64_t> out;
  for (const CertifiedPoint& point : make_certificate(sweep.certifier()->certifier()).front) {
    out.push_back(sweep.certifier()->steps().configurations.at(point.configuration).workload.batch);
  }
  return out;
}

std::vector<Json> proof_records(const std::string& path, const std::string& kind) {
  std::vector<Json> out;
  std::istringstream lines(halmark::test::file_bytes(path));
  for (std::string line; std::getline(lines, line);) {
    Json record = Json::parse(line);
    if (record.at("record") == kind) out.push_back(std::move(record));
  }
  return out;
}

}  // namespace halmark::tune::test
