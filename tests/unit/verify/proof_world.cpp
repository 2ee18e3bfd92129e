#include "proof_world.hpp"
#include "core/numeric/cast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/latency.hpp"
#include "journal/store.hpp"
#include "plan/device/device_file.hpp"
#include "plan/sweep.hpp"
#include "proof_records.hpp"
#include "tune/certify/proof_context.hpp"

namespace halmark::test {
namespace {

using tune::TunePlan;

constexpr std::int64_t run = 1;

std::string model_text(int layers) {
  return R"({"model_type": "llama", "num_hidden_layers": )" + std::to_string(layers) +
         R"(, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
            "head_dim": 16, "intermediate_size": 160, "vocab_size": 512,
            "max_position_embeddings": 256, "tie_word_embeddings": false, "hidden_act": "silu"})";
}

// Slow enough that bounds are of the order of microseconds.
Device machine(double flops_per_s) {
  Device out;
  out.id = "cpu:0";
  out.name = "test";
  out.fingerprint = "machine-1";
  out.kind = "cpu";
  out.is_measured = true;
  out.memory_bytes = 1ll << 30;
  for (const int threads : {1, 2}) {
    out.peaks.push_back({.path = "f32_vector",
                         .dtype = Dtype::f32,
                         .threads = threads,
                         .flops_per_s = flops_per_s * threads,
                         .source = "measured 2026-11-22T12:38:40Z"});
    out.bandwidths.push_back({.level = "l1",
                              .threads = threads,
                              .bytes_per_s = 4e9 * threads,
                              .working_set_bytes = 16 << 10,
                              .access = "copy",
                              .source = "measured 2026-11-22T12:38:40Z, copy"});
    out.bandwidths.push_back({.level = "memory",
                              .threads = threads,
                              .bytes_per_s = 1e9,
                              .working_set_bytes = 64 << 20,
                              .access = "read",
                              .source = "measured 2026-11-22T12:38:40Z, read"});
  }
  return out;
}

std::unique_ptr<TunePlan> plan_of(const std::string& batches, int layers, double flops_per_s,
                                  const std::string& objectives) {
  Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"tiny\"\ndtypes = [\"f32\"]\nshards = [1, 2]\n"
      "strategies = [\"data\", \"tensor\", \"pipeline\"]\nobjectives = " +
          objectives +
          "\n"
          "sampler = \"certify\"\n[[workload]]\nphase = \"decode\"\nbatch = " +
          batches + "\ncontext = 128\n",
      "s.toml");
  ModelSpec spec = read_model(model_text(layers), "tiny.json");
  tune::Target target;
  target.measured = parse_device(device_text(machine(flops_per_s)), "device.toml");
  target.fingerprint = "machine-1";
  target.cores = 2;
  target.memory_bytes = 1ll << 30;
  const std::vector<std::int64_t> shards = tune::shard_counts(sweep, 2);
  return std::make_unique<TunePlan>(std::move(sweep), std::move(spec), std::move(target), shards,
                                    PrecisionFacts{}, true);
}

KernelEvidence evidence_of(const Rounds& told) {
  const std::size_t n = told.medians.size();
  return {.confidence = n < 6 ? 1 - std::ldexp(1.0, 1 - static_cast<int>(n)) : 0.95,
          .rounds = told.rounds,
          .medians = told.medians};
}

}  // namespace

std::string written(const Claim& claim) {
  Certifier certifier(claim.problem, {});
  ProofFacts facts = claim.facts;
  facts.evidence.assign(claim.problem.kernels.size(), {});
  for (const auto& [k, told] : claim.told) {
    const auto [low, high] = std::ranges::minmax(told.medians);
    certifier.tell(k, low, high);
    facts.evidence[as_size(k)] = evidence_of(told);
  }
  for (const auto& [k, why] : claim.failed) certifier.tell_failed(k, why);
  return proof_text(certifier, make_certificate(certifier), facts);
}

std::size_t front_size(const std::string& proof) {
  const Records records = records_of(proof);
  return as_size(std::ranges::count_if(
      records, [](const Json& record) { return record["record"] == "front"; }));
}

std::string without_context(const std::string& proof) {
  Records records = records_of(proof);
  std::erase_if(records, [](const Json& record) {
    const std::string kind = record["record"];
    return kind == "plan" || kind == "device" || kind == "model" || kind == "target";
  });
  records[0]["version"] = 1;
  return text_of(std::move(records));
}

Json& context_of(Claim& claim, const std::string& kind) {
  for (auto& [name, record] : claim.facts.context) {
    if (name == kind) return record;
  }
  ADD_FAILURE() << "no record " << kind;
  static Json none;
  return none;
}

ProofWorld::ProofWorld(const std::string& batches, int layers, double flops_per_s,
                       const std::string& objectives)
    : plan_(plan_of(batches, layers, flops_per_s, objectives)),
      steps_(tune::steps_to_certify(*plan_, 1.05)) {
  truth_.problem = steps_.problem;
  truth_.facts = {.program = "test",
                  .plan = plan_->hash(),
                  .run = run,
                  .context = tune::proof_context(*plan_, steps_, model_text(layers)),
                  .run_objective = 0};
  measure();
  store();
}

// What certifying asks for takes 1.3 to 1.35 times its bound.
void ProofWorld::measure() {
  Certifier certifier(steps_.problem, {});
  for (;;) {
    const std::vector<std::int32_t> kernels = certifier.ask(4);
    if (kernels.empty()) return;
    for (const std::int32_t k : kernels) {
      const double bound = std::max(1.0, certifier.kernels()[as_size(k)].bound);
      Rounds& told = truth_.told[k];
      told = {.medians = {1.32 * bound, 1.3 * bound, 1.35 * bound}, .rounds = {0, 1, 2}};
      certifier.tell(k, told.medians[1], told.medians[2]);
    }
  }
}

void ProofWorld::store() const {
  const auto store = open_store(journal_);
  ASSERT_EQ(store->begin_run({.command = "halmark tune s.toml",
                              .plan_hash = plan_->hash(),
                              .plan_text = plan_->text(),
                              .fingerprint = plan_->target().fingerprint,
                              .tool_version = "1",
                              .tool_build = "2",
                              .started_utc = "2026-11-21T10:20:30Z"}),
            run);
  store->append(run, UsedPeaks{device_text(*plan_->target().measured), plan_->target().cores});
  std::vector<Measurement> rows;
  for (const auto& [k, told] : truth_.told) {
    for (std::size_t i = 0; i < told.medians.size(); ++i) {
      Measurement m;
      m.kernel_case = steps_.cases[as_size(k)];
      m.round = told.rounds[i];
      m.status = Status::ok;
      m.plugin_hash = "00ff";
      m.duration_ns_median = told.medians[i];
      m.duration_ns_interval = {told.medians[i], told.medians[i]};
      rows.push_back(std::move(m));
    }
  }
  store->append(run, rows);
}

std::vector<std::int32_t> ProofWorld::own_kernels(std::uint64_t combination) const {
  const Configurations all(steps_.problem);
  std::set<std::int32_t> others;
  for (const auto& [c, formulas] : steps_.problem.own_formulas) {
    if (c == combination) continue;
    const std::vector<std::int32_t> kernels = all.kernels(c);
    others.insert(kernels.begin(), kernels.end());
  }
  std::vector<std::int32_t> out;
  for (const std::int32_t k : all.kernels(combination)) {
    if (!others.contains(k)) out.push_back(k);
  }
  return out;
}

std::uint64_t ProofWorld::front_point() const {
  const Records records = records_of(written(truth_));
  return records[first(records, "front")]["config"].get<std::uint64_t>();
}

FrontProofCheck ProofWorld::check(const std::string& proof) const {
  return check_front_proof(proof, {.journal = journal_, .read_device = [](std::string_view text) {
                                     return parse_device(text, "device record");
                                   }});
}

FrontProofCheck ProofWorld::check_alone(const std::string& proof) {
  return check_front_proof(proof, {.journal = {}, .read_device = [](std::string_view text) {
                                     return parse_device(text, "device record");
                                   }});
}

}  // namespace halmark::test
