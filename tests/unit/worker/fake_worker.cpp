#include "fake_worker.hpp"

#include <stdexcept>
#include <vector>

#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/kernels/written.hpp"

namespace halmark::test {

Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {"gemm",
          halmark::test::written("m=? n=? k=? src_dtype=f32 wei_dtype=f32 dst_dtype=f32", m, n, k)};
}

std::unique_ptr<Worker> bare_worker() {
  WorkerOptions options;
  options.program = in_build("/bin/halmark-worker");
  options.cpus = CpuSet{};
  auto started = Worker::start(options);
  if (!started) throw std::runtime_error(started.failure.reason);
  return std::move(*started);
}

FakeWorker::FakeWorker(const std::string& script, std::int64_t arena_bytes) {
  WorkerOptions options;
  options.program = halmark::test::in_build("/bin/halmark-worker");
  options.cpus = CpuSet{};
  if (!script.empty()) options.environment["HALMARK_FAKE_SCRIPT"] = script;
  if (arena_bytes > 0) {
    arena_ = SharedMemory::create("arena", arena_bytes, false);
    options.arena = &arena_;
  }
  auto started = Worker::start(options);
  if (!started) throw std::runtime_error(started.failure.reason);
  worker_ = std::move(*started);
  auto loaded = worker_->load(halmark::test::in_build("/tests/plugins/hm_fake.so"));
  if (!loaded) throw std::runtime_error(loaded.failure.reason);
  auto opened = worker_->open(0);
  if (!opened) throw std::runtime_error(opened.failure.reason);
}

protocol::Stage stage_of(std::int64_t id, const Problem& problem, CacheMode mode, int sets) {
  return {.id = id,
          .kernel = {},
          .problem = problem,
          .config = {},
          .mode = mode,
          .sets = sets,
          .seed = 7,
          .group = {}};
}

protocol::SampleRequest count_samples(std::int64_t id, std::int64_t n) {
  protocol::SampleRequest request;
  request.id = id;
  request.rule.stop = protocol::Stop::count;
  request.rule.count = n;
  request.rule.repeat = 1;
  request.rule.warmup_cap_s = 0;
  return request;
}

void expect_product(const Problem& given, const RevealAnswer& shown, int set, int input_set) {
  const Problem problem = complete_problem(given);
  const OpContract& contract = *find_contract("gemm");
  const auto operands = contract.operands(problem.params);
  const std::int64_t m = problem.params.at("m"), n = problem.params.at("n"),
                     k = problem.params.at("k");
  const GeneratedInputs inputs(7, operands, input_set);
  std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  inputs.read(0, 0, 0, a);
  inputs.read(0, 1, 0, b);
  for (const protocol::RevealedPart& part : shown.revealed.parts) {
    if (part.set != set) continue;
    const std::byte* bytes = shown.part(part).data();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
        }
        ASSERT_NEAR(load_element(Dtype::f32, bytes, i * n + j), sum, 1e-3) << i << ',' << j;
      }
    }
    return;
  }
  FAIL() << "set " << set << " was not revealed";
}

}  // namespace halmark::test
