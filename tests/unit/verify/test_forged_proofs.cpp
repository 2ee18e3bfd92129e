// Forgeries: proofs that agree with themselves, hash and counts included, and not with the world
// that they speak of. Each is accepted where a proof states nothing of that world, which is why
// such a proof decides nothing, and refused with one line where it does.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core/numeric/cast.hpp"
#include "core/text/digest.hpp"
#include "proof_records.hpp"
#include "proof_world.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

const ProofWorld& world() {
  static const ProofWorld out;
  return out;
}

// Whether what is stated of the world, or even the journal, is needed to see it; contracts are
// known anyway.
enum class Found { with_nothing, alone, with_journal };

struct Forgery {
  const char* name;
  std::function<void(Claim&)> forge;
  const char* reason;
  Found found = Found::alone;
};

CertifyKernel& kernel(Claim& c, std::int32_t k) { return c.problem.kernels[as_size(k)]; }

std::vector<CertifyKernel*> unmeasured(Claim& c) {
  std::vector<CertifyKernel*> out;
  for (std::size_t k = 0; k < c.problem.kernels.size(); ++k) {
    if (!c.told.contains(static_cast<std::int32_t>(k))) out.push_back(&c.problem.kernels[k]);
  }
  return out;
}

void scale_terms(Claim& c, CertifyKernel& k, bool of_operations, double factor) {
  (of_operations ? k.operations : k.bytes) *= factor;
  for (BoundTerm& t : k.terms) {
    if (c.problem.peaks[as_size(t.peak)].is_operations == of_operations) {
      t.amount *= factor;
    }
  }
}

std::function<void(Claim&)> scaled_terms(bool of_operations, double factor) {
  return [=](Claim& c) {
    for (CertifyKernel* k : unmeasured(c)) scale_terms(c, *k, of_operations, factor);
  };
}

// The step of a combination; its latency is the first objective.
Formula& latency(Claim& c, std::uint64_t combination) {
  return c.problem.own_formulas.at(combination).front();
}

std::uint64_t last_configuration(const Claim& c) { return c.problem.own_formulas.rbegin()->first; }

// In postfix order, the count of a term stands before its kernel and "scale".
void change_counts(Formula& f, double factor) {
  for (std::size_t i = 0; i + 2 < f.size(); ++i) {
    const bool is_term = f[i].op == FormulaStep::Op::constant &&
                         f[i + 1].op == FormulaStep::Op::kernel &&
                         f[i + 2].op == FormulaStep::Op::scale;
    if (is_term) f[i].value *= factor;
  }
}

// The first term goes, and the sum over its stage has one operand less.
void drop_term(Formula& f) {
  for (std::size_t i = 0; i + 2 < f.size(); ++i) {
    if (f[i + 1].op != FormulaStep::Op::kernel) continue;
    f.erase(f.begin() + static_cast<std::ptrdiff_t>(i),
            f.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    break;
  }
  const auto stage = std::ranges::find(f, FormulaStep::Op::sum, &FormulaStep::op);
  --stage->index;
}

void leave_out(Claim& c, std::uint64_t combination, std::int32_t constraint) {
  c.problem.own_formulas.erase(combination);
  c.problem.broken[combination] = constraint;
}

// Every configuration of more than one shard.
void leave_out_split(Claim& c, std::int32_t constraint) {
  for (const auto& [at, configuration] : world().steps().configurations) {
    if (configuration.devices() > 1) leave_out(c, at, constraint);
  }
}

std::int32_t constraint_named(const Claim& c, const std::string& name) {
  const auto at = std::ranges::find(c.problem.constraints, name, &CertifyConstraint::name);
  EXPECT_NE(at, c.problem.constraints.end()) << name;
  return static_cast<std::int32_t>(at - c.problem.constraints.begin());
}

// The plan's text with a change, and its hash where a forger would put it.
void change_plan(Claim& c, const std::function<void(Json&)>& change) {
  Json plan = Json::parse(context_of(c, "plan")["text"].get<std::string>());
  change(plan);
  const std::string text = plan.dump(1);
  context_of(c, "plan")["text"] = text;
  c.facts.plan = sha256_of(text);
}

void replace_in(Json& text, const std::string& what, const std::string& by) {
  auto whole = text.get<std::string>();
  const std::size_t at = whole.find(what);
  ASSERT_NE(at, std::string::npos) << what;
  text = whole.replace(at, what.size(), by);
}

void forget(Claim& c, std::uint64_t combination) {
  for (const std::int32_t k : world().own_kernels(combination)) c.told.erase(k);
}

std::uint64_t front_point() { return world().front_point(); }

// What a machine with other peaks proves, as if it were of this run.
void take_other_machine(Claim& c, double flops_per_s) {
  static const ProofWorld slow("[1, 64]", 3, 0.9e9), fast("[1, 64]", 3, 2e9);
  const ProofWorld& other = flops_per_s < 1e9 ? slow : fast;
  Claim theirs = other.truth();
  c.problem = theirs.problem;
  context_of(c, "device") = context_of(theirs, "device");
}

const std::vector<Forgery> forgeries = {
    {"operations_raised", scaled_terms(true, 2), "operations or bytes are not those",
     Found::with_nothing},
    {"operations_lowered", scaled_terms(true, 0.5), "operations or bytes are not those",
     Found::with_nothing},
    {"bytes_raised", scaled_terms(false, 2), "operations or bytes are not those",
     Found::with_nothing},
    {"bytes_lowered", scaled_terms(false, 0.5), "operations or bytes are not those",
     Found::with_nothing},
    {"a_front_point_dropped_by_a_forged_bound",
     [](Claim& c) {
       forget(c, front_point());
       for (const std::int32_t k : world().own_kernels(front_point())) {
         scale_terms(c, kernel(c, k), true, 1e4);
         scale_terms(c, kernel(c, k), false, 1e4);
       }
     },
     "operations or bytes are not those", Found::with_nothing},
    {"a_front_point_dropped_by_a_key_of_more_work",
     [](Claim& c) {
       forget(c, front_point());
       for (const std::int32_t k : world().own_kernels(front_point())) {
         // All of the bytes at the slowest peak, which their caches would have held.
         for (BoundTerm& t : kernel(c, k).terms) {
           if (!c.problem.peaks[as_size(t.peak)].is_operations) {
             t.amount = kernel(c, k).bytes;
           }
         }
       }
     },
     "a term's amount is not what its contract"},
    {"a_term_left_out",
     [](Claim& c) {
       for (CertifyKernel* k : unmeasured(c)) k->terms.resize(1);
     },
     "ceilings for it"},
    {"a_term_stated_twice",
     [](Claim& c) { kernel(c, 0).terms.push_back(kernel(c, 0).terms.front()); }, "ceilings for it"},
    {"a_term_of_another_peak",
     [](Claim& c) {
       for (CertifyKernel* k : unmeasured(c)) std::swap(k->terms.front(), k->terms.back());
     },
     "a term is of peak"},
    {"peaks_lowered",
     [](Claim& c) {
       for (BoundPeak& p : c.problem.peaks) p.value *= 0.9;
     },
     "is not that of the device record"},
    {"peaks_raised",
     [](Claim& c) {
       for (BoundPeak& p : c.problem.peaks) p.value *= 2;
     },
     "is not that of the device record"},
    {"a_peak_with_another_source",
     [](Claim& c) { c.problem.peaks.front().source = "measured 2020-01-01T00:00:00Z"; },
     "is not that of the device record"},
    {"a_safety_below_one",
     [](Claim& c) {
       for (BoundPeak& p : c.problem.peaks) p.safety = 0.95;
     },
     "safety factor is too small", Found::with_nothing},
    {"peaks_lowered_in_the_device_record_too", [](Claim& c) { take_other_machine(c, 0.9e9); },
     "the device record is not that of run 1", Found::with_journal},
    {"peaks_raised_in_the_device_record_too", [](Claim& c) { take_other_machine(c, 2e9); },
     "the device record is not that of run 1", Found::with_journal},
    {"a_device_record_of_fewer_cores", [](Claim& c) { context_of(c, "device")["threads"] = 1; },
     "of another number of cores than the target"},
    {"no_peaks_and_bounds_all_the_same",
     [](Claim& c) {
       context_of(c, "device")["text"] = "";
       context_of(c, "device")["threads"] = 0;
     },
     "the device record has 0 ceilings"},
    {"a_kernel_missing_in_a_formula",
     [](Claim& c) { drop_term(latency(c, last_configuration(c))); },
     "the formula of latency is not that of the model's graph"},
    {"counts_changed_in_a_formula",
     [](Claim& c) { change_counts(latency(c, last_configuration(c)), 2); },
     "the formula of latency is not that of the model's graph"},
    {"a_front_point_dropped_by_higher_counts",
     [](Claim& c) { change_counts(latency(c, front_point()), 1e4); },
     "the formula of latency is not that of the model's graph"},
    {"micro_batches_changed",
     [](Claim& c) { latency(c, last_configuration(c)).front().value += 1; },
     "the formula of latency is not that of the model's graph"},
    {"memory_changed",
     [](Claim& c) {
       c.problem.own_formulas.at(last_configuration(c)).back() = formula::constant(1);
     },
     "the formula of memory is not that of the model's graph"},
    {"kernels_of_two_formulas_exchanged",
     [](Claim& c) { std::swap(latency(c, front_point()), latency(c, last_configuration(c))); },
     "the formula of latency is not that of the model's graph"},
    {"a_measured_kernel_called_unmeasured", [](Claim& c) { forget(c, front_point()); },
     "is said to be unmeasured, and run 1 of the journal has a time", Found::with_journal},
    {"a_measured_kernel_called_failed",
     [](Claim& c) {
       const std::int32_t k = world().own_kernels(front_point()).front();
       c.told.erase(k);
       c.failed[k] = "crashed";
     },
     "said to have failed, and the journal has a time", Found::with_journal},
    {"a_point_of_the_space_called_impossible",
     [](Claim& c) {
       leave_out(c, front_point(), constraint_named(c, "impossible_or_out_of_memory"));
     },
     "is a configuration, and is left out"},
    {"a_point_of_the_space_called_one_of_another_phase",
     [](Claim& c) { leave_out(c, front_point(), constraint_named(c, "of_another_phase")); },
     "is a configuration, and is left out"},
    {"a_memory_too_small_for_the_point",
     [](Claim& c) {
       leave_out(c, front_point(), constraint_named(c, "impossible_or_out_of_memory"));
       context_of(c, "target")["memory_bytes"] = 1;
     },
     "is impossible: "},
    {"a_constraint_altered",
     [](Claim& c) {
       const std::int32_t shards = constraint_named(c, "shard_count");
       c.problem.constraints[as_size(shards)].expression =
           R"(phase != "decode" or (dp * tp * pp in {1}))";
       leave_out_split(c, shards);
     },
     "the constraints are not those of the plan"},
    {"a_constraint_added",
     [](Claim& c) {
       c.problem.constraints.push_back({"taste", "dp * tp * pp == 1"});
       leave_out_split(c, constraint_named(c, "taste"));
     },
     "the constraints are not those of the plan"},
    {"a_constraint_altered_in_the_plan_too",
     [](Claim& c) {
       const std::int32_t shards = constraint_named(c, "shard_count");
       c.problem.constraints[as_size(shards)].expression =
           R"(phase != "decode" or (dp * tp * pp in {1}))";
       leave_out_split(c, shards);
       change_plan(c, [](Json& plan) {
         for (Json& constraint : plan["problems"][0]["constraints"]) {
           if (constraint["name"] == "shard_count")
             constraint["expression"] = "dp * tp * pp in {1}";
         }
         plan["kernels"]["of"] = "the first batch";
       });
     },
     "a kernel belongs to no configuration"},
    {"a_domain_of_another_name", [](Claim& c) { c.problem.domains.back().name = "sp"; },
     "the domains are not those of the plan", Found::with_nothing},
    {"an_objective_turned_round", [](Claim& c) { c.problem.objectives.back().is_maximised = true; },
     "the objectives are not those of the plan"},
    {"an_objective_left_out",
     [](Claim& c) {
       c.problem.objectives.pop_back();
       for (auto& [at, formulas] : c.problem.own_formulas) formulas.pop_back();
     },
     "the objectives are not those of the plan"},
    {"a_plan_with_another_hash",
     [](Claim& c) { replace_in(context_of(c, "plan")["text"], "\"seed\"", "\"sead\""); },
     "the plan is not the one whose hash the header has"},
    {"a_plan_altered_with_its_hash",
     [](Claim& c) { change_plan(c, [](Json& plan) { plan["rounds"] = 99; }); },
     "the plan is not that of run 1", Found::with_journal},
    {"another_model",
     [](Claim& c) {
       replace_in(context_of(c, "model")["config"], "\"num_hidden_layers\": 3",
                  "\"num_hidden_layers\": 2");
     },
     "graph"},
    {"another_width_of_the_model",
     [](Claim& c) {
       replace_in(context_of(c, "model")["config"], "\"hidden_size\": 64", "\"hidden_size\": 32");
     },
     "graph"},
    {"another_space_altogether",
     [](Claim& c) {
       static const ProofWorld other("[2, 32]");
       c = other.truth();
     },
     "the plan is not that of run 1", Found::with_journal},
    {"a_larger_model_with_its_formulas_under_the_plan",
     [](Claim& c) {
       static const ProofWorld other("[1, 64]", 2);
       Claim theirs = other.truth();
       context_of(theirs, "plan") = context_of(c, "plan");
       theirs.facts.plan = c.facts.plan;
       c = theirs;
     },
     "the kernels are not those that the plan hashed"},
    {"a_step_called_a_definition", [](Claim& c) { c.facts.is_definition = true; },
     "the step of a model is no definition"},
    {"runs_of_another_objective", [](Claim& c) { c.facts.run_objective = 1; },
     "runs are said to be of another objective"},
    {"runs_that_never_were",
     [](Claim& c) {
       const Records records = records_of(written(c));
       for (const Json& record : records) {
         if (record["record"] != "front") continue;
         const double low = record["interval"][0][0];
         c.facts.runs[record["config"].get<std::uint64_t>()] = {low, {low, low}};
       }
     },
     "the journal has no such run", Found::with_journal},
    {"the_slowest_round_left_out",
     [](Claim& c) {
       Rounds& told = c.told.begin()->second;
       told = {.medians = {told.medians[0], told.medians[1]}, .rounds = {0, 1}};
     },
     "the run has other rounds of this kernel", Found::with_journal},
    {"the_fastest_round_stated_thrice",
     [](Claim& c) {
       Rounds& told = c.told.begin()->second;
       const double fastest = told.medians[1];
       told = {.medians = {fastest, fastest, fastest}, .rounds = {1, 1, 1}};
     },
     "not one median per round", Found::with_nothing},
    {"latencies_lowered",
     [](Claim& c) {
       for (auto& [k, told] : c.told) {
         for (double& m : told.medians) m *= 0.95;
       }
     },
     "a median is not that of the journal's row", Found::with_journal},
    {"a_kernel_with_the_work_of_another",
     [](Claim& c) {
       CertifyKernel& k = *unmeasured(c).back();
       const CertifyKernel& other = kernel(c, 0);
       k.operations = other.operations;
       k.bytes = other.bytes;
       k.terms = other.terms;
     },
     "operations or bytes are not those", Found::with_nothing},
    {"two_kernels_of_one_question",
     [](Claim& c) {
       CertifyKernel twin = kernel(c, 0);
       twin.key.replace(twin.key.find("| -"), 3, "| fast");
       c.problem.kernels.push_back(twin);
     },
     "two kernels answer the same question"},
};

constexpr int script_broken = 3, script_conditional = 4;

// The claim as it is, its hash and counts made by the program itself.
std::string forged(const Forgery& forgery) {
  Claim claim = world().truth();
  forgery.forge(claim);
  return written(claim);
}

TEST(ForgedProof, the_truth_behind_them_holds) {
  const std::string proof = written(world().truth());
  ASSERT_GT(front_size(proof), 0u);
  for (const FrontProofCheck& check : {world().check(proof), ProofWorld::check_alone(proof)}) {
    EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.line << ": " << check.reason;
    EXPECT_EQ(check.reason, "composition not confirmed");
    EXPECT_EQ(check.undecided, "");
    EXPECT_GT(check.dominated, 0u);
    EXPECT_LT(check.kernels_measured, check.kernels);
    EXPECT_EQ(check.stated_exclusions, 0u) << "shown by the graph";
  }
  EXPECT_EQ(verdict_of_script(proof).value_or(script_conditional), script_conditional);
}

// For looking at them with other programs.
void keep(const std::string& name, const std::string& proof) {
  const char* folder = std::getenv("HALMARK_KEEP_FORGERIES");
  if (folder == nullptr) return;
  std::ofstream(std::string(folder) + "/" + name + ".hmproof", std::ios::binary) << proof;
  std::ofstream(std::string(folder) + "/" + name + ".v1.hmproof", std::ios::binary)
      << without_context(proof);
}

class ForgedProof : public testing::TestWithParam<Forgery> {};

TEST_P(ForgedProof, is_refused_with_one_line) {
  const Forgery& forgery = GetParam();
  const std::string proof = forged(forgery);
  keep(forgery.name, proof);
  const FrontProofCheck check =
      forgery.found == Found::with_journal ? world().check(proof) : ProofWorld::check_alone(proof);
  EXPECT_EQ(check.verdict, ProofVerdict::broken);
  EXPECT_THAT(check.reason, HasSubstr(forgery.reason));
  EXPECT_EQ(check.reason.find('\n'), std::string::npos);
  EXPECT_GT(check.line, 0u);
  if (forgery.found != Found::with_journal) {
    EXPECT_EQ(verdict_of_script(proof).value_or(script_broken), script_broken);
  }
  if (forgery.found == Found::with_nothing) return;
  const FrontProofCheck bare = check_front_proof(without_context(proof));
  EXPECT_EQ(bare.verdict, ProofVerdict::conditional) << bare.line << ": " << bare.reason;
  EXPECT_EQ(bare.undecided, "no device record");
}

INSTANTIATE_TEST_SUITE_P(All, ForgedProof, testing::ValuesIn(forgeries),
                         [](const auto& info) { return test::case_name({info.param.name}); });

TEST(ForgedProof, that_only_the_journal_refutes_is_taken_as_stated_without_it) {
  for (const Forgery& forgery : forgeries) {
    if (forgery.found != Found::with_journal) continue;
    SCOPED_TRACE(forgery.name);
    const FrontProofCheck check = ProofWorld::check_alone(forged(forgery));
    EXPECT_TRUE(check.verdict == ProofVerdict::conditional || check.verdict == ProofVerdict::holds)
        << check.line << ": " << check.reason;
    EXPECT_FALSE(check.rows_compared);
  }
}

TEST(ForgedProof, that_states_nothing_of_its_world_decides_nothing) {
  const std::string whole = written(world().truth());
  for (const char* kind : {"plan", "device", "model", "target"}) {
    Records records = records_of(whole);
    std::erase_if(records, [&](const Json& record) { return record["record"] == kind; });
    const FrontProofCheck check = ProofWorld::check_alone(text_of(records));
    EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.reason;
    EXPECT_EQ(check.undecided, std::string("no ") + kind + " record");
  }
}

}  // namespace
}  // namespace halmark
