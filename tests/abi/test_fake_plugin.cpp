// The fake plugin is right when it should be, and wrong or faulty exactly as its script says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/plugin/loader.hpp"
#include "host/plugin/plugin.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::abi_test {
namespace {

const std::string fake_path = test::in_build("/tests/plugins/hm_fake.so");

// One instance under a script, with its first device open.
struct Bench {
  explicit Bench(const std::string& script) : said("HALMARK_FAKE_SCRIPT", script) {
    plugin = load_plugin(fake_path);
    auto made = PluginInstance::create(plugin, "");
    if (!made) throw std::runtime_error(made.failure.message);
    instance = std::move(*made);
    auto described = instance->describe();
    if (!described) throw std::runtime_error(described.failure.message);
    description = *described;
    auto opened = instance->open(0, Params());
    if (!opened) throw std::runtime_error(opened.failure.message);
    device = std::move(*opened);
    auto queue = device.create_stream();
    if (!queue) throw std::runtime_error(queue.failure.message);
    stream = std::move(*queue);
  }
  ~Bench() {
    stream = {};
    device = {};
    instance.reset();
  }
  std::uint32_t kernel_of(std::string_view op) const {
    for (std::uint32_t i = 0; i < description.kernels.size(); ++i) {
      if (description.kernels[i].op == op) return i;
    }
    throw std::runtime_error("no kernel for " + std::string(op));
  }

  const test::ScopedVariable said;
  LoadedPlugin plugin;
  std::unique_ptr<PluginInstance> instance;
  protocol::PluginDescription description;
  OpenDevice device;
  DeviceStream stream;
};

// A prepared problem with `sets` argument sets of generated inputs and poisoned outputs.
class Staged {
 public:
  Staged(Bench& bench, const Problem& problem, int sets, const Config* config = nullptr)
      : bench_(bench), problem_(complete_problem(problem)), sets_(sets) {
    const OpContract& contract = *find_contract(problem.op);
    operands_ = contract.operands(problem_.params);
    std::optional<Communicator> group;
    if (contract.is_collective()) {
      auto joined = bench.device.join("", 0, 1);
      if (!joined) throw std::runtime_error(joined.failure.message);
      group = std::move(*joined);
    }
    auto made = bench.device.prepare(bench.kernel_of(problem.op), problem_, config,
                                     group ? &*group : nullptr);
    if (!made) throw std::runtime_error(made.failure.message);
    prepared_ = std::move(*made);
    for (int set = 0; set < sets; ++set) stage_set(set);
  }

  PluginError run(std::uint64_t repeat) {
    std::vector<hm_arguments> arguments(static_cast<std::size_t>(sets_));
    for (std::size_t set = 0; set < arguments.size(); ++set) {
      arguments[set] = {handles_[set].data(), nullptr,
                        static_cast<std::uint32_t>(handles_[set].size()), 0};
    }
    hm_launch launch{};
    launch.struct_size = sizeof launch;
    launch.set_count = static_cast<std::uint32_t>(sets_);
    launch.repeat = repeat;
    launch.sets = arguments.data();
    const PluginError error = prepared_.enqueue(bench_.stream, launch);
    return error.ok() ? bench_.stream.wait() : error;
  }

  // Elements of all outputs of `set` that lie outside the contract's tolerance.
  std::int64_t wrong_elements(int set) {
    const OpContract& contract = *find_contract(problem_.op);
    const GeneratedInputs inputs(seed, operands_, set);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != Role::output) continue;
      std::vector<std::int64_t> elements(static_cast<std::size_t>(operands_[i].elements()));
      for (std::size_t e = 0; e < elements.size(); ++e) elements[e] = static_cast<std::int64_t>(e);
      std::vector<Expected> expected(elements.size());
      contract.reference(problem_.params, inputs, 0, i, elements, expected);
      const std::vector<char> bytes = read(set, i);
      for (std::size_t e = 0; e < elements.size(); ++e) {
        const double value = load_element(operands_[i].dtype, bytes.data(), elements[e]);
        if (!(std::fabs(value - expected[e].value) <= expected[e].tolerance)) ++wrong;
      }
    }
    return wrong;
  }
  std::vector<char> read(int set, std::size_t operand) {
    DeviceBuffer& buffer = buffers_[static_cast<std::size_t>(set)][operand];
    std::vector<char> bytes(buffer.bytes());
    EXPECT_TRUE(buffer.read(0, bytes.data(), bytes.size()).ok());
    return bytes;
  }

 private:
  static constexpr std::uint64_t seed = 20;

  void stage_set(int set) {
    std::vector<DeviceBuffer>& buffers = buffers_.emplace_back();
    std::vector<DeviceBuffer> plain;
    std::vector<hm_buffer*> sources(operands_.size(), nullptr);
    std::vector<hm_buffer*>& handles = handles_.emplace_back();
    bool has_constants = false;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      auto described = prepared_.operand(static_cast<std::uint32_t>(i));
      EXPECT_TRUE(described) << described.failure.message;
      EXPECT_EQ(described->name, operands_[i].name) << problem_.text();
      EXPECT_EQ(described->role, static_cast<int>(operands_[i].role)) << problem_.text();
      EXPECT_EQ(described->bytes, static_cast<std::uint64_t>(operands_[i].bytes()));
      std::vector<char> values(described->bytes, '\xff');
      if (operands_[i].role != Role::output) {
        InputPool(seed, operands_[i]).fill(0, set, i, values.data());
      }
      buffers.push_back(make(values));
      if (operands_[i].role == Role::constant) {
        plain.push_back(make(values));
        sources[i] = plain.back().handle();
        has_constants = true;
      }
    }
    for (const DeviceBuffer& buffer : buffers) handles.push_back(buffer.handle());
    if (!has_constants) return;
    const hm_arguments arguments{handles.data(), sources.data(),
                                 static_cast<std::uint32_t>(handles.size()), 0};
    const PluginError error = prepared_.load_constants(bench_.stream, arguments);
    EXPECT_TRUE(error.ok()) << error.message;
  }
  DeviceBuffer make(const std::vector<char>& values) {
    auto made = bench_.device.create_buffer(values.size(), 64);
    if (!made) throw std::runtime_error(made.failure.message);
    EXPECT_TRUE(made->write(0, values.data(), values.size()).ok());
    return std::move(*made);
  }

  Bench& bench_;
  Problem problem_;
  int sets_;
  std::vector<OperandSpec> operands_;
  PreparedKernel prepared_;
  std::vector<std::vector<DeviceBuffer>> buffers_;
  std::vector<std::vector<hm_buffer*>> handles_;
};

Problem small_gemm() {
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  return {"gemm", Params{{"m", 5},
                         {"n", 7},
                         {"k", 33},
                         {"src_dtype", f32},
                         {"wei_dtype", f32},
                         {"dst_dtype", f32}}};
}

double work_of(const OpContract& contract, const Params& params) {
  const Work work = contract.work(params);
  return work.flops() + work.bytes();
}

TEST(FakePlugin, computes_every_op_as_its_contract_says) {
  Bench bench("");
  const Dtype dtypes[] = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::s8, Dtype::s32};
  constexpr double work_max = 2e6;  // larger cases say nothing more about a naive loop
  for (const OpContract* contract : all_contracts()) {
    const auto cases = contract->conformance_params(dtypes);
    // It knows no complex types, and ops one by one.
    if (!contract->is_measurable() || cases.empty()) continue;
    if (contract->name() == "decoder_layer") continue;
    int checked = 0;
    for (const Params& params : cases) {
      const Problem problem{std::string(contract->name()), params};
      const std::uint32_t kernel = bench.kernel_of(problem.op);
      if (work_of(*contract, params) > work_max) continue;
      if (!bench.device.supports(kernel, problem, nullptr).ok()) continue;
      Staged staged(bench, problem, 1);
      const PluginError error = staged.run(1);
      ASSERT_TRUE(error.ok()) << problem.text() << ": " << error.message;
      EXPECT_EQ(staged.wrong_elements(0), 0) << problem.text();
      ++checked;
    }
    EXPECT_GE(checked, 1) << contract->name();
  }
}

TEST(FakePlugin, gives_each_set_of_a_ring_its_own_answer) {
  Bench bench("");
  Staged staged(bench, small_gemm(), 3);
  ASSERT_TRUE(staged.run(17).ok());
  for (int set = 0; set < 3; ++set) EXPECT_EQ(staged.wrong_elements(set), 0) << set;
  EXPECT_NE(staged.read(0, 2), staged.read(1, 2));
}

TEST(FakePlugin, is_wrong_as_scripted) {
  struct Case {
    const char* script;
    std::int64_t wrong_in_first, wrong_in_second;
  };
  for (const Case& wanted :
       {Case{"wrong=zeros", 35, 35}, Case{"wrong=last_element", 1, 1}, Case{"wrong=nan", 1, 1},
        Case{"wrong=skip_repeats", 0, 35}, Case{"wrong=cached", 0, 35},
        Case{"wrong=infinite", 1, 1}, Case{"wrong=last_element_later", 0, 1},
        Case{"wrong=first_buffer", 0, 1}, Case{"wrong=every_tenth", 0, 0},
        Case{"wrong=all_but_the_last_skipped", 35, 0}}) {
    Bench bench(wanted.script);
    Staged staged(bench, small_gemm(), 2);
    ASSERT_TRUE(staged.run(2).ok());
    EXPECT_EQ(staged.wrong_elements(0), wanted.wrong_in_first) << wanted.script;
    EXPECT_EQ(staged.wrong_elements(1), wanted.wrong_in_second) << wanted.script;
  }
}

TEST(FakePlugin, is_wrong_every_tenth_time_as_scripted) {
  Bench bench("wrong=every_tenth_element");
  Staged staged(bench, small_gemm(), 1);
  for (int execution = 1; execution <= 30; ++execution) {
    ASSERT_TRUE(staged.run(1).ok());
    EXPECT_EQ(staged.wrong_elements(0), execution % 10 == 0 ? 1 : 0) << execution;
  }
}

TEST(FakePlugin, leaves_work_until_a_buffer_is_read_as_scripted) {
  Bench bench("wrong=lazy");
  Staged staged(bench, small_gemm(), 2);
  ASSERT_TRUE(staged.run(2).ok());
  EXPECT_EQ(staged.wrong_elements(0), 0);
  EXPECT_EQ(staged.wrong_elements(1), 0);
}

TEST(FakePlugin, mutates_inputs_and_overruns_outputs_as_scripted) {
  Bench mutating("mutate_inputs=1");
  Staged staged(mutating, small_gemm(), 1);
  const std::vector<char> before = staged.read(0, 0);
  ASSERT_TRUE(staged.run(1).ok());
  EXPECT_NE(staged.read(0, 0), before);

  Bench overrunning("overrun=1");
  const Problem copy{"copy", Params{{"bytes", 64}}};
  auto prepared = overrunning.device.prepare(overrunning.kernel_of("copy"), copy, nullptr);
  ASSERT_TRUE(prepared);
  alignas(64) char source[64] = {};
  alignas(64) char target[128] = {};
  auto from = overrunning.device.wrap(source, 64);
  auto to = overrunning.device.wrap(target, 64);
  ASSERT_TRUE(from && to);
  hm_buffer* const handles[] = {from->handle(), to->handle()};
  const hm_arguments arguments{handles, nullptr, 2, 0};
  hm_launch launch{};
  launch.struct_size = sizeof launch;
  launch.set_count = 1;
  launch.repeat = 1;
  launch.sets = &arguments;
  ASSERT_TRUE(prepared->enqueue(overrunning.stream, launch).ok());
  EXPECT_EQ(target[63], 0);
  EXPECT_NE(target[64], 0);
}

// Device time of one enqueue by its events.
double event_ns(const std::string& script, std::uint64_t repeat) {
  Bench bench(script);
  Staged staged(bench, small_gemm(), 1);
  auto begin = bench.device.create_event();
  auto end = bench.device.create_event();
  EXPECT_TRUE(begin && end);
  EXPECT_TRUE(bench.stream.record(*begin).ok());
  EXPECT_TRUE(staged.run(repeat).ok());
  EXPECT_TRUE(bench.stream.record(*end).ok());
  auto elapsed = bench.stream.elapsed_ns(*begin, *end);
  return elapsed ? *elapsed : std::nan("");
}

TEST(FakePlugin, its_device_clock_follows_the_script) {
  EXPECT_DOUBLE_EQ(event_ns("timer=device_event;latency_ns=1000", 1), 1000);
  EXPECT_DOUBLE_EQ(event_ns("timer=device_event;latency_ns=1000", 50), 50000);
  EXPECT_DOUBLE_EQ(event_ns("timer=device_event;latency_ns=1000;elapsed_scale=0.1", 10), 1000);
  EXPECT_DOUBLE_EQ(event_ns("timer=device_event;latency_ns=5000;elapsed=constant", 3), 1000);
  EXPECT_DOUBLE_EQ(event_ns("timer=device_event;latency_ns=1000;elapsed_offset_ns=300", 5), 4700);
  EXPECT_TRUE(std::isnan(event_ns("timer=device_event;latency_ns=1000;elapsed=nan", 1)));
  EXPECT_TRUE(std::isnan(event_ns("timer=device_event;latency_ns=1000;elapsed=negative", 1)))
      << "a negative time must be refused by the host's wrapper";
}

TEST(FakePlugin, its_noise_repeats_with_the_seed_and_stays_within_bounds) {
  const std::string script = "timer=device_event;latency_ns=1000;noise=0.1;seed=";
  const double first = event_ns(script + "1", 1);
  EXPECT_EQ(first, event_ns(script + "1", 1));
  EXPECT_NE(first, event_ns(script + "2", 1));
  EXPECT_GE(first, 900);
  EXPECT_LE(first, 1100);
}

TEST(FakePlugin, a_synchronous_enqueue_takes_the_scripted_wall_time) {
  Bench bench("latency_ns=200000");
  EXPECT_TRUE(bench.description.devices.at(0).synchronous);
  Staged staged(bench, small_gemm(), 1);
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  ASSERT_TRUE(staged.run(4).ok());
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double wall_ns = static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 +
                         static_cast<double>(end.tv_nsec - begin.tv_nsec);
  EXPECT_GE(wall_ns, 4 * 200000.0);
}

TEST(FakePlugin, has_a_known_best_config_and_a_forbidden_one) {
  Bench bench("");
  const std::uint32_t gemm = bench.kernel_of("gemm");
  auto domains = bench.device.domains(gemm, complete_problem(small_gemm()));
  ASSERT_TRUE(domains) << domains.failure.message;
  ASSERT_EQ(domains->size(), 2u);
  EXPECT_EQ((*domains)[0].values, (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ((*domains)[1].labels, (std::vector<std::string>{"naive", "wide"}));
  const Config forbidden{Params{{"block", 8}, {"impl", 1}}, {}};
  const PluginError error = bench.device.supports(gemm, complete_problem(small_gemm()), &forbidden);
  EXPECT_EQ(error.status, HM_UNSUPPORTED);
  EXPECT_NE(error.message.find("wide"), std::string::npos);
}

TEST(FakePlugin, offers_as_many_devices_as_the_script_wants_and_says_why_none) {
  EXPECT_EQ(Bench("devices=3").description.devices.size(), 3u);
  const test::ScopedVariable none("HALMARK_FAKE_SCRIPT", "devices=0");
  auto instance = PluginInstance::create(load_plugin(fake_path), "");
  ASSERT_TRUE(instance);
  auto description = (*instance)->describe();
  ASSERT_TRUE(description);
  EXPECT_TRUE(description->devices.empty());
  EXPECT_FALSE(description->log.empty());
}

TEST(FakePlugin, refuses_a_misspelt_script) {
  const test::ScopedVariable misspelt("HALMARK_FAKE_SCRIPT", "latencyns=5");
  auto instance = PluginInstance::create(load_plugin(fake_path), "");
  ASSERT_FALSE(instance);
  EXPECT_NE(instance.failure.message.find("latencyns=5"), std::string::npos);
}

TEST(FakePlugin, keeps_to_its_memory_quota_and_gives_it_back) {
  Bench bench("memory_bytes=4096");
  {
    auto most = bench.device.create_buffer(4000, 64);
    ASSERT_TRUE(most);
    auto more = bench.device.create_buffer(97, 64);
    EXPECT_EQ(more.failure.status, HM_OUT_OF_MEMORY);
  }
  EXPECT_TRUE(bench.device.create_buffer(4096, 64));
}

TEST(FakePlugin, loses_its_device_at_the_scripted_call_and_for_good) {
  Bench bench("device_lost_at=3");
  Staged staged(bench, small_gemm(), 1);
  EXPECT_TRUE(staged.run(1).ok());
  EXPECT_TRUE(staged.run(1).ok());
  EXPECT_EQ(staged.run(1).status, HM_DEVICE_LOST);
  EXPECT_EQ(staged.run(1).status, HM_DEVICE_LOST);
}

// What the script's fault throws arrives as a status, whatever the entry.
TEST(FakePlugin, what_an_entry_throws_becomes_a_status) {
  for (const std::string phase : {"create", "describe", "open"}) {
    try {
      Bench bench("throw=" + phase);
      ADD_FAILURE() << phase << " did not fail";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("scripted failure in " + phase), std::string::npos)
          << error.what();
    }
  }
  Bench preparing("throw=prepare;after=1");
  const Problem copy{"copy", Params{{"bytes", 64}}};
  const std::uint32_t kernel = preparing.kernel_of("copy");
  EXPECT_TRUE(preparing.device.prepare(kernel, copy, nullptr)) << "the first call is spared";
  auto second = preparing.device.prepare(kernel, copy, nullptr);
  EXPECT_EQ(second.failure.status, HM_INTERNAL);
  EXPECT_EQ(second.failure.message, "scripted failure in prepare");

  Bench allocating("oom=allocate");
  EXPECT_EQ(allocating.device.create_buffer(64, 64).failure.status, HM_OUT_OF_MEMORY);
  Bench queueing("throw=enqueue");
  Staged staged(queueing, small_gemm(), 1);
  EXPECT_EQ(staged.run(1).status, HM_INTERNAL);
}

// Wait status of a child that drives the fake plugin through one gemm.
int status_of_child(const std::string& script) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    {
      Bench bench(script);
      Staged staged(bench, small_gemm(), 1);
      if (!staged.run(1).ok()) _exit(9);
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(FakePlugin, crashes_and_exits_in_the_scripted_phase) {
  for (const char* phase : {"create", "describe", "open", "allocate", "prepare", "load_constants",
                            "enqueue", "wait", "release", "close", "destroy"}) {
    const int crashed = status_of_child(std::string("crash=") + phase);
    EXPECT_TRUE(WIFSIGNALED(crashed)) << phase;
    EXPECT_EQ(WTERMSIG(crashed), SIGSEGV) << phase;
    const int left = status_of_child(std::string("exit=") + phase);
    EXPECT_TRUE(WIFEXITED(left)) << phase;
    EXPECT_EQ(WEXITSTATUS(left), 0) << phase;
  }
  const int aborted = status_of_child("crash=prepare;signal=6");
  EXPECT_EQ(WTERMSIG(aborted), SIGABRT);
  const int unharmed = status_of_child("");
  EXPECT_TRUE(WIFEXITED(unharmed));
  EXPECT_EQ(WEXITSTATUS(unharmed), 7) << "without a fault the child reaches its end";
}

TEST(FakePlugin, a_fault_with_a_once_file_happens_once) {
  const std::string file = testing::TempDir() + "halmark_fake_once_" + std::to_string(getpid());
  const std::string script = "crash=prepare;once_file=" + file;
  EXPECT_TRUE(WIFSIGNALED(status_of_child(script)));
  EXPECT_EQ(WEXITSTATUS(status_of_child(script)), 7);
  unlink(file.c_str());
}

}  // namespace
}  // namespace halmark::abi_test
