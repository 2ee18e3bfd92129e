// What the validity gate says of rows while others disturb them: quiet blocks and disturbed ones
// alternate, and the truth of a case is the median of its quiet rows around a block. A row that is
// off by more than 3 % and called ok is a lie; one that is within and not called ok is a false
// alarm.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "figures.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/campaign.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

enum class Disturbance { none, busy_core, stopped, memory_hog };
constexpr std::array planted = {Disturbance::busy_core, Disturbance::stopped,
                                Disturbance::memory_hog};

const char* name_of(Disturbance disturbance) {
  switch (disturbance) {
    case Disturbance::none:
      return "quiet";
    case Disturbance::busy_core:
      return "busy_core";
    case Disturbance::stopped:
      return "stopped";
    case Disturbance::memory_hog:
      return "memory_hog";
  }
  return "";
}

[[noreturn]] void keep_a_core_busy() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof first, &first);
  for (std::atomic<std::uint64_t> i = 0;; i.fetch_add(1, std::memory_order_relaxed)) {
  }
}

[[noreturn]] void stream_memory() {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  for (;; std::swap(from, to)) std::memcpy(to.data(), from.data(), bytes);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                     "/children");
  std::vector<pid_t> out;
  for (pid_t child = 0; file >> child;) out.push_back(child);
  return out;
}

// Workers are stopped for 4 ms in every 16 ms.
[[noreturn]] void stop_workers(pid_t parent) {
  const pid_t self = getpid();
  const auto signal_all = [&](int signal_number) {
    for (const pid_t child : children_of(parent)) {
      if (child != self) kill(child, signal_number);
    }
  };
  for (;;) {
    signal_all(SIGSTOP);
    usleep(4'000);
    signal_all(SIGCONT);
    usleep(12'000);
  }
}

// Runs beside a block; ends with it.
class Disturber {
 public:
  explicit Disturber(Disturbance disturbance) {
    if (disturbance == Disturbance::none) return;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (disturbance == Disturbance::busy_core) keep_a_core_busy();
    if (disturbance == Disturbance::memory_hog) stream_memory();
    stop_workers(parent);
  }
  Disturber(const Disturber&) = delete;
  Disturber& operator=(const Disturber&) = delete;
  ~Disturber() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const pid_t child : children_of(getpid())) kill(child, SIGCONT);
  }

 private:
  pid_t pid_ = -1;
};

KernelCase on_cpu(Problem problem, int parts) {
  KernelCase out;
  out.problem = complete_problem(std::move(problem));
  out.backend = "cpu";
  out.parts = parts;
  out.sets = 4;
  return out;
}

std::vector<KernelCase> cases_of_block() {
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  const auto gemm = [&](std::int64_t m, std::int64_t n, std::int64_t k, int parts) {
    return on_cpu({"gemm",
                   {{"m", m},
                    {"n", n},
                    {"k", k},
                    {"src_dtype", f32},
                    {"wei_dtype", f32},
                    {"dst_dtype", f32}}},
                  parts);
  };
  return {
      gemm(32, 256, 256, 2), gemm(32, 256, 256, 1), gemm(512, 1024, 1024, 2),
      gemm(512, 1024, 1024, 1),
      on_cpu({"rmsnorm", {{"rows", 64}, {"cols", 1024}, {"src_dtype", f32}, {"dst_dtype", f32}}},
             2)};
}

std::vector<Measurement> block(Disturbance disturbance, std::span<const KernelCase> cases,
                               std::uint64_t seed) {
  const Disturber disturber(disturbance);
  CampaignOptions options;
  options.rounds = 3;
  options.retries_per_case = 0;  // each row as it is
  options.seed = seed;
  options.plugin_path_by_backend["cpu"] = test::in_build("/lib/halmark/plugins/hm_cpu.so");
  return Campaign(options).run(cases);
}

using Rows = std::vector<Measurement>;
using Medians = std::map<std::string, std::vector<double>>;  // of rows that are ok, by case

void add_ok(const Rows& rows, Medians& medians) {
  for (const Measurement& m : rows) {
    if (m.status == Status::ok) medians[m.kernel_case.key()].push_back(m.duration_ns_median);
  }
}

struct Counts {
  int rows = 0, ok = 0, moved = 0, moved_ok = 0;
};

// Moved: slower by more than 3 % than every process that was ok in the quiet blocks on both sides.
// Processes of one kernel differ by more than that on their own, and that is no disturbance.
void count(Disturbance disturbance, const Rows& rows, const Medians& quiet, Counts& counts) {
  constexpr double moved_by = 0.03;
  constexpr std::size_t processes_min = 4;
  for (const Measurement& m : rows) {
    const auto found = quiet.find(m.kernel_case.key());
    if (m.samples.empty() || found == quiet.end() || found->second.size() < processes_min) continue;
    const bool is_ok = m.status == Status::ok;
    const double slowest_ns = std::ranges::max(found->second);
    const bool is_moved = m.duration_ns_median > slowest_ns * (1 + moved_by);
    ++counts.rows;
    counts.ok += is_ok ? 1 : 0;
    counts.moved += is_moved ? 1 : 0;
    counts.moved_ok += is_ok && is_moved ? 1 : 0;
    if (is_ok && is_moved) {
      note(std::string(name_of(disturbance)) + ": ok, but " +
           std::to_string(m.duration_ns_median / median(found->second)) + " times " +
           std::to_string(median(found->second)) + " ns, disturbed " +
           std::to_string(disturbed_share(m.samples).value_or(-1)) + ": " + m.kernel_case.key());
    }
  }
}

void print(Figures& figures, Disturbance disturbance, const Counts& c) {
  const std::string name = std::string("honesty_") + name_of(disturbance);
  const auto share = [](int part, int whole) { return whole > 0 ? double(part) / whole : 0; };
  figures.report(name + "_rows", c.rows, "rows");
  figures.report(name + "_ok", share(c.ok, c.rows), "share");
  figures.report(name + "_moved", c.moved, "rows");
  figures.report(name + "_moved_and_ok", share(c.moved_ok, c.rows), "share");
  figures.at_most(name + "_moved_ok", share(c.moved_ok, c.moved), "share", 0.01);
}

void measure(Figures& figures, int blocks) {
  const std::vector<KernelCase> cases = cases_of_block();
  std::map<Disturbance, Counts> counts;
  std::map<std::string, int> reasons;
  int quiet_rows = 0, quiet_ok = 0;
  std::uint64_t seed = 1;
  const auto quiet_block = [&] {
    Rows rows = block(Disturbance::none, cases, seed++);
    for (const Measurement& m : rows) {
      ++quiet_rows;
      quiet_ok += m.status == Status::ok ? 1 : 0;
      if (m.status != Status::ok)
        ++reasons[m.reason.substr(0, m.reason.find_first_of("0123456789"))];
    }
    return rows;
  };
  Rows before = quiet_block();
  for (int i = 0; i < blocks; ++i) {
    for (const Disturbance disturbance : planted) {
      const Rows rows = block(disturbance, cases, seed++);
      Rows after = quiet_block();
      Medians quiet;
      add_ok(before, quiet);
      add_ok(after, quiet);
      count(disturbance, rows, quiet, counts[disturbance]);
      before = std::move(after);
    }
  }
  for (const auto& [reason, times] : reasons) note("quiet: " + reason + std::to_string(times));
  figures.report("honesty_quiet_rows", quiet_rows, "rows");
  figures.at_least("honesty_quiet_ok", double(quiet_ok) / quiet_rows, "share", 0.97);
  for (const auto& [disturbance, c] : counts) print(figures, disturbance, c);
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  using namespace halmark::bench;
  const int blocks = argc > 1 ? std::max(1, std::atoi(argv[1])) : 30;
  return run([&](Figures& figures) { measure(figures, blocks); });
}
