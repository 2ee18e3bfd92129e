// The cut into 2 cp blocks is fixed, so everything here is counting: which keys a block sees, what
// a rank keeps, and where such a cut has no meaning.
#include "model/graph/context_split.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "core/lists.hpp"
#include "model/graph/builder.hpp"

namespace halmark {

namespace {

// Layers whose tokens depend on each other through more than keys and values.
std::optional<Refusal> undefined_split(const ModelSpec& spec) {
  const auto refusal = [&](const std::string& why) {
    return Refusal{"cp_not_defined", "context parallelism of " + spec.family + ": " + why};
  };
  if (spec.delta_rule || spec.state_space || spec.selective_scan) {
    return refusal(
        "its recurrent layers pass a state from token to token, so a rank would wait for the "
        "tokens before its own");
  }
  if (spec.compressed) {
    return refusal("compressed entries reach over the border between two ranks");
  }
  if (spec.indexer) {
    return refusal("the indexer chooses among the keys of all ranks");
  }
  return std::nullopt;
}

std::optional<Refusal> check_chunk(const ModelSpec& spec, const Configuration& configuration,
                                   std::int64_t chunk) {
  if (chunk < 0)
    return Refusal{"nonpositive_input", "delta_chunk " + std::to_string(chunk) + " is below 1"};
  if (chunk == 0) return std::nullopt;
  if (!spec.delta_rule) {
    return Refusal{
        "delta_chunk_without_delta_rule",
        "delta_chunk " + std::to_string(chunk) + ", but no layer of the model has a delta rule"};
  }
  if (configuration.workload.phase == Phase::decode) {
    return Refusal{"delta_chunk_without_sequence",
                   "delta_chunk " + std::to_string(chunk) +
                       " cuts the new tokens of a sequence, and a decode step has one"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> check_context_split(const ModelSpec& spec,
                                           const Configuration& configuration) {
  const Workload& w = configuration.workload;
  const int cp = configuration.parallel.cp;
  if (cp == 1) return std::nullopt;
  if (w.phase == Phase::decode) {
    return Refusal{"cp_without_sequence", "cp " + std::to_string(cp) +
                                              " splits the new tokens of a sequence, and a decode "
                                              "step has one"};
  }
  if (auto refusal = undefined_split(spec)) return refusal;
  if (w.new_tokens % (2 * std::int64_t{cp}) != 0) {
    return Refusal{"cp_does_not_divide_sequence",
                   "2 x cp " + std::to_string(cp) + " = " + std::to_string(2 * std::int64_t{cp}) +
                       " does not divide " + std::to_string(w.new_tokens) + " new tokens"};
  }
  if (w.cached() % cp != 0) {
    return Refusal{"cp_does_not_divide_sequence", "cp " + std::to_string(cp) + " does not divide " +
                                                      std::to_string(w.cached()) +
                                                      " cached tokens"};
  }
  return std::nullopt;
}

std::optional<Refusal> check_form(const ModelSpec& spec, const Configuration& configuration,
                                  const StepForm& form) {
  return check_chunk(spec, configuration, form.delta_chunk);
}

std::vector<std::vector<Problem>> query_blocks(const Problem& attention, int ranks) {
  const std::int64_t tokens = attention.params.at("new_tokens");
  const std::int64_t cached = attention.params.at("context") - tokens;
  const std::int64_t blocks = 2 * std::int64_t{ranks}, size = tokens / blocks;
  std::vector<std::vector<Problem>> out;
  for (const std::int64_t rank : below(ranks)) {
    std::vector<Problem>& own = out.emplace_back();
    for (const std::int64_t block : {rank, blocks - 1 - rank}) {
      Problem problem = attention;
      problem.params.set("new_tokens", size);
      problem.params.set("context", cached + (block + 1) * size);
      own.push_back(complete_problem(problem));
    }
  }
  return out;
}

Work work_of(const std::vector<Problem>& blocks) {
  Work out;
  for (const Problem& block : blocks) {
    const Work work = find_contract(block.op)->work(block.params);
    out.matmul_flops += work.matmul_flops;
    out.vector_flops += work.vector_flops;
    out.bytes_read += work.bytes_read;
    out.bytes_written += work.bytes_written;
    out.constant_bytes += work.constant_bytes;
    out.compute_dtype = work.compute_dtype;
  }
  return out;
}

const std::vector<Problem>& heaviest_blocks(const std::vector<std::vector<Problem>>& of_rank) {
  return *std::ranges::max_element(of_rank, {},
                                   [](const auto& blocks) { return work_of(blocks).matmul_flops; });
}

Size later_block_keys(const Problem& attention, int ranks, const Size& new_tokens,
                      const Size& context) {
  const auto keys = [attention, ranks](std::span<const std::int64_t> load) {
    Problem all = attention;
    all.params.set("new_tokens", load[0]);
    all.params.set("context", load[1]);
    const auto blocks = query_blocks(all, ranks);
    return heaviest_blocks(blocks).back().params.at("context");
  };
  const std::array<Size, 2> load = {new_tokens, context};
  return {"later_block_keys " + std::to_string(ranks) + ' ' + attention.text(), keys, load};
}

// The last `kept` new tokens fill the later blocks of ranks 0, 1, ... first, then the earlier block
// of the last rank and those before it.
std::int64_t kept_tokens(const OperatorGraph& graph, const LayerCache& cache) {
  const Workload& w = graph.configuration.workload;
  const std::int64_t cp = graph.configuration.parallel.cp;
  const std::int64_t kept =
      cache.tokens_max > 0 ? std::min(cache.tokens_max, w.context) : w.context;
  if (cp == 1) return kept;
  const std::int64_t size = w.new_tokens / (2 * cp);
  if (kept >= w.new_tokens) return 2 * size + (kept - w.new_tokens + cp - 1) / cp;
  const std::int64_t of_later = std::min(kept, size);
  return of_later + std::clamp<std::int64_t>(kept - cp * size, 0, size);
}

double own_input_bytes(const OperatorGraph& graph, const Operator& op) {
  if (op.of_context_rank.empty()) return op.rank_work.bytes_read;
  const Workload& w = graph.configuration.workload;
  Problem all = op.local;
  all.params.set("new_tokens", w.new_tokens);
  all.params.set("context", w.context);
  return find_contract(all.op)->work(all.params).bytes_read / graph.configuration.parallel.cp;
}

void GraphBuilder::set_later_block_terms(Operator& op) const {
  const int ranks = graph_.configuration.parallel.cp;
  const Size keys = later_block_keys(op.local, ranks, new_tokens_, context_);
  for (ParamTerm& moving : op.local_terms) {
    const std::string& name = op.local.params.items()[moving.param].name;
    if (name == "new_tokens") moving.term = (new_tokens_ / (2 * ranks)).term();
    if (name == "context") moving.term = keys.term();
  }
}

// The verbs give attention all queries of a sequence; its weights (sinks) are those of one launch.
void GraphBuilder::split_queries(Operator& op) const {
  op.of_context_rank = query_blocks(op.local, graph_.configuration.parallel.cp);
  const std::vector<Problem>& heaviest = heaviest_blocks(op.of_context_rank);
  set_later_block_terms(op);
  op.local = heaviest.back();
  op.local_work = find_contract(op.local.op)->work(op.local.params);
  op.rank_work = work_of(heaviest);
}

}  // namespace halmark
