// A plugin without hardware: every op computed naively, time and faults from a script (README.md).
#include <sched.h>
#include <unistd.h>
#include <halmark_plugin.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "resources.hpp"
#include "script.hpp"
#include "tensor.hpp"

namespace fake {
namespace {

using namespace halmark::plugin;

constexpr std::int64_t elements_max = std::int64_t{1} << 40;

Shape shape_of(Params params) {
  Shape shape;
  for (const hm_param& param : params) shape[param.name] = param.value;
  return shape;
}

// gemm alone has something to tune: block 32 with impl "wide" is the fastest, and "wide" does not
// go with block 8.
double latency_factor(Params config) {
  const std::int64_t block = param_or(config, "block", 32);
  const double by_block = block == 8 ? 1.6 : block == 16 ? 1.2 : block == 32 ? 1.0 : 1.1;
  return by_block * (param_or(config, "impl", 0) == 1 ? 0.8 : 1.0);
}

// "rope:1.3": what `slow` says of this op.
double slowness(const Script& script, std::string_view op) {
  const std::string text = script.text("slow");
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && text.substr(0, colon) == op
             ? std::stod(text.substr(colon + 1))
             : 1;
}

class Prepared {
 public:
  Prepared(State& state, const Op& op, Shape shape, Params config)
      : state_(state),
        op_(op),
        shape_(std::move(shape)),
        operands_(op.operands(shape_)),
        factor_(latency_factor(config) * slowness(state.script, op.name)),
        wide_(param_or(config, "impl", 0) == 1),
        wrong_(state.script.text("wrong")),
        tensors_(operands_.size()),
        hoard_(static_cast<std::size_t>(state.script.integer("hoard_bytes", 0)), std::byte{1}) {
    for (const Operand& operand : operands_) {
      bytes_ += static_cast<double>(operand.elements() * dtype_bits(operand.dtype)) / 8;
    }
  }
  ~Prepared() {
    finish_late_work();
    state_.at_read.clear();
    state_.at_write.clear();
    state_.faults.at("release");
  }

  void info(hm_prepared_info& info) const {
    info.operand_count = static_cast<std::uint32_t>(operands_.size());
    info.workspace_bytes = workspace_bytes();
    if (state_.script.flag("nondeterministic")) info.flags |= HM_PREPARED_NONDETERMINISTIC;
    if (state_.script.flag("constants_opaque")) info.flags |= HM_PREPARED_CONSTANTS_OPAQUE;
    if (compiles_constants_in()) info.flags |= HM_PREPARED_CONSTANTS_IN_PREPARED;
    for (const Operand& operand : operands_) {
      if (operand.role == HM_ROLE_CONSTANT) info.constant_bytes += plain(operand).bytes;
    }
    copy_text(info.implementation, std::string("fake:") + (wide_ ? "wide" : "naive"));
    copy_text(info.isa, "fake");
    copy_text(info.library, "fake");
    copy_text(info.library_version, "1.0");
  }
  void operand(std::uint32_t index, hm_operand& out) const {
    out = plain(operands_[index]);
    if (!operands_[index].packed) return;
    std::fill(std::begin(out.strides), std::end(out.strides), 0);
    copy_text(out.layout, "n_by_k");
  }
  void load_constants(Stream&, const hm_arguments& arguments) {
    state_.faults.at("load_constants");
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != HM_ROLE_CONSTANT) continue;
      const Tensor source = tensor(operands_[i], arguments.sources[i]);
      const Tensor target = tensor(operands_[i], arguments.buffers[i]);
      const bool transpose = operands_[i].packed && need_or(shape_, "wei_trans", 0) == 0;
      if (!transpose) {
        std::memcpy(target.data, source.data, plain(operands_[i]).bytes);
        continue;
      }
      const std::int64_t k = operands_[i].dims[0], n = operands_[i].dims[1];
      for (std::int64_t row = 0; row < k; ++row) {
        for (std::int64_t column = 0; column < n; ++column) {
          target.set(column * k + row, source.at(row * n + column));
        }
      }
    }
    if (compiles_constants_in()) compile_in(arguments);
    if (wrong_ == "remembers_constants" && compiled_.empty()) remember(arguments);
  }
  void enqueue(Stream& stream, const hm_launch& launch) {
    state_.faults.at("enqueue");
    const std::int64_t lost_at = state_.script.integer("device_lost_at", 0);
    if (lost_at > 0 && ++state_.enqueues >= lost_at) {
      throw failure(HM_DEVICE_LOST, "scripted loss of the device", 79);
    }
    if (workspace_bytes() > 0 && launch.workspace == nullptr) {
      throw failure(HM_INVALID_ARGUMENT, "the workspace is missing");
    }
    if (compiles_constants_in() && launch.set_count != 1) {
      throw failure(HM_INVALID_ARGUMENT, "constants of one set only are compiled in");
    }
    const double begin_ns = wall_ns();
    double scripted_ns = 0;
    std::uint64_t done = 0;
    finish_late_work();
    hm_arguments last{};
    hm_launch shown = launch;
    if (wrong_ == "all_but_the_last_skipped") {
      last = launch.sets[(launch.repeat - 1) % launch.set_count];
      shown.sets = &last;
      shown.set_count = 1;
      shown.repeat = 1;
    }
    std::uint64_t left = launch.repeat;
    for_each_execution(shown, [&](const hm_arguments& arguments) {
      // What came before the last one, nobody can see where there is one output.
      if (wrong_ == "nine_of_ten_skipped" && --left > 0 && noticed_++ % 10 != 9) return;
      bind(arguments);
      if (is_late()) {
        scripted_ns += state_.latency.next_ns(factor_, bytes_);
        return;
      }
      scripted_ns += state_.latency.next_ns(factor_, bytes_) * share_at_once();
      if (wrong_ != "skip_repeats" || done++ == 0) execute_or_leave();
    });
    if (is_late()) late_ = std::thread([this] { execute_late(); });
    stream.device_ns += scripted_ns > 0 ? scripted_ns : wall_ns() - begin_ns;
    stream.due_ns = begin_ns + scripted_ns;
    if (!state_.is_asynchronous()) stream.wait();
  }

 private:
  static hm_operand plain(const Operand& operand) {
    hm_operand out{};
    plain_operand(out, operand.name, operand.role, operand.dtype, operand.dims);
    return out;
  }
  static Tensor tensor(const Operand& operand, hm_buffer* buffer) {
    return {object_of<Buffer>(buffer).data(), static_cast<std::int32_t>(operand.dtype),
            operand.elements()};
  }
  std::uint64_t workspace_bytes() const {
    return static_cast<std::uint64_t>(state_.script.integer("workspace_bytes", 0));
  }

  bool compiles_constants_in() const { return state_.script.flag("constants_in_prepared"); }

  // Keeps the packed constants and spoils their buffers, which are then never read again.
  void compile_in(const hm_arguments& arguments) {
    compiled_.resize(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != HM_ROLE_CONSTANT) continue;
      char* packed = static_cast<char*>(tensor(operands_[i], arguments.buffers[i]).data);
      compiled_[i].assign(packed, packed + plain(operands_[i]).bytes);
      std::memset(packed, 0, compiled_[i].size());
    }
  }

  void bind(const hm_arguments& arguments) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      tensors_[i] = tensor(operands_[i], arguments.buffers[i]);
      if (i < compiled_.size() && !compiled_[i].empty()) tensors_[i].data = compiled_[i].data();
      if (wrong_ != "packs_once" || operands_[i].role != HM_ROLE_CONSTANT) continue;
      std::string& packed = packed_[tensors_[i].data];
      if (packed.empty()) packed = bytes_of(i);
      tensors_[i].data = packed.data();
    }
  }

  void remember(const hm_arguments& arguments) {
    compiled_.resize(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != HM_ROLE_CONSTANT) continue;
      const char* packed =
          static_cast<const char*>(tensor(operands_[i], arguments.buffers[i]).data);
      compiled_[i].assign(packed, packed + plain(operands_[i]).bytes);
    }
  }

  // The work of a plugin that returns from `wait` before it is over.
  bool is_late() const { return wrong_ == "late" || wrong_ == "soon_late"; }
  void execute_late() {
    std::this_thread::sleep_for(std::chrono::microseconds(wrong_ == "late" ? 50'000 : 200));
    execute();
  }

  // Work that is left until an output is read.
  double share_at_once() const { return wrong_ == "lazy" ? 0 : wrong_ == "half_lazy" ? 0.5 : 1; }
  void execute_or_leave() {
    if (share_at_once() == 1) return execute();
    state_.at_read[tensors_.back().data] = [this, tensors = tensors_] {
      const double due_ns =
          wall_ns() + (1 - share_at_once()) * state_.latency.next_ns(factor_, bytes_);
      tensors_ = tensors;
      execute();
      while (wall_ns() < due_ns) {
      }
    };
  }
  void finish_late_work() {
    if (late_.joinable()) late_.join();
  }

  void execute() {
    if (!state_.script.text("memoise").empty()) {
      recall_or_run();
      if (state_.script.text("memoise") == "when_written") compute_ahead();
    } else {
      op_.run(shape_, tensors_);
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role == HM_ROLE_OUTPUT) spoil(tensors_[i], plain(operands_[i]).bytes);
    }
    if (state_.script.flag("mutate_inputs")) *static_cast<unsigned char*>(tensors_[0].data) ^= 1;
    if (state_.script.flag("free_buffer")) std::free(tensors_[0].data);  // it is the host's
  }

  std::string bytes_of(std::size_t operand) const {
    return {static_cast<const char*>(tensors_[operand].data), plain(operands_[operand]).bytes};
  }

  // All of an input, or what a cheap checksum would read of it.
  std::string asked_of(std::size_t operand) const {
    const std::string bytes = bytes_of(operand);
    const std::string asked = state_.script.text("memoise");
    if (asked == "half") return bytes.substr(0, bytes.size() / 2);
    if (asked == "ends") return bytes.substr(0, 64) + bytes.substr(bytes.size() - 64);
    return bytes;
  }

  // Forgets at what it takes for new inputs: that the host wrote one, poisoned the outputs, or was
  // busy for longer than between two samples.
  bool has_noticed() {
    const std::string until = state_.script.text("memoise");
    if (until == "until_written")
      return std::exchange(seen_written_, state_.written) < state_.written;
    if (until == "until_paused") return wall_ns() - last_ns_ > 20e3;
    if (until != "until_poisoned") return false;
    const std::string output = bytes_of(operands_.size() - 1);
    return output.front() == '\xff' && output.back() == '\xff';
  }

  // What `memoise=when_written` does while the host writes an input: a call then finds its answer.
  void compute_ahead() {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != HM_ROLE_INPUT) continue;
      state_.at_write[tensors_[i].data] = [this, tensors = tensors_] {
        tensors_ = tensors;
        const std::string before = bytes_of(operands_.size() - 1);
        recall_or_run();
        std::memcpy(tensors_.back().data, before.data(), before.size());
      };
    }
  }

  void recall_or_run() {
    if (has_noticed()) answers_.clear();
    answer_question();
    last_ns_ = wall_ns();
  }

  void answer_question() {
    std::string question;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role == HM_ROLE_INPUT) question += asked_of(i);
      if (operands_[i].role == HM_ROLE_CONSTANT) {
        question += std::to_string(reinterpret_cast<std::uintptr_t>(tensors_[i].data)) + ' ';
      }
    }
    std::vector<std::string>& answer = answers_[question];
    if (answer.empty()) {
      op_.run(shape_, tensors_);
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        answer.push_back(operands_[i].role == HM_ROLE_OUTPUT ? bytes_of(i) : std::string());
      }
      return;
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].role != HM_ROLE_OUTPUT) continue;
      std::memcpy(tensors_[i].data, answer[i].data(), answer[i].size());
    }
  }

  // Wrong answers and stray writes, as the script wants them.
  void spoil(const Tensor& output, std::uint64_t bytes) {
    const std::int64_t last = output.elements - 1;
    if (wrong_ == "zeros") std::memset(output.data, 0, bytes);
    if (wrong_ == "half") std::memset(static_cast<char*>(output.data) + bytes / 2, 0, bytes / 2);
    if (wrong_ == "last_element") {
      const double value = output.at(last);
      output.set(last, value > 0 ? value / 2 - 1 : value / 2 + 1);
    }
    if (wrong_ == "nan") output.set(last / 2, std::numeric_limits<double>::quiet_NaN());
    ++spoilt_;
    if (first_output_ == nullptr) first_output_ = output.data;
    const double halved = output.at(last) > 0 ? output.at(last) / 2 - 1 : output.at(last) / 2 + 1;
    if (wrong_ == "last_element_later" && spoilt_ > 1) output.set(last, halved);
    if (wrong_ == "every_tenth" && spoilt_ % 10 == 0) std::memset(output.data, 0, bytes);
    if (wrong_ == "every_tenth_element" && spoilt_ % 10 == 0) output.set(last, halved);
    if (wrong_ == "after_a_hundred" && spoilt_ > 100) std::memset(output.data, 0, bytes);
    if (wrong_ == "first_buffer" && output.data != first_output_) output.set(last, halved);
    if (wrong_ == "infinite") output.set(0, std::numeric_limits<double>::infinity());
    if (wrong_ == "rounded_down") {
      for (std::int64_t i = 0; i <= last; ++i) output.set(i, std::trunc(output.at(i) * 16) / 16);
    }
    if (wrong_ == "first_row_unwritten") {
      std::memset(output.data, 0xFF, bytes / 8);
    }
    if (wrong_ == "cached") {
      if (remembered_.size() != bytes) {
        const char* first = static_cast<const char*>(output.data);
        remembered_.assign(first, first + bytes);
      }
      std::memcpy(output.data, remembered_.data(), bytes);
    }
    if (state_.script.flag("overrun")) static_cast<char*>(output.data)[bytes] ^= 1;
    if (state_.script.flag("underrun")) static_cast<char*>(output.data)[-1] ^= 1;
  }

  State& state_;
  const Op& op_;
  Shape shape_;
  std::vector<Operand> operands_;
  double factor_;
  bool wide_;
  std::string wrong_;
  std::vector<Tensor> tensors_;
  std::vector<std::byte> hoard_;
  std::vector<std::vector<char>> compiled_;  // per operand; only of constants
  double bytes_ = 0;
  std::vector<char> remembered_;
  std::map<const void*, std::string> packed_;  // constants as they were first, by address
  std::int64_t spoilt_ = 0, noticed_ = 0, seen_written_ = 0;
  double last_ns_ = 0;  // when the last call of `memoise` ended
  const void* first_output_ = nullptr;
  std::map<std::string, std::vector<std::string>> answers_;  // of `memoise`: bytes per operand
  std::thread late_;
};

struct Comm {};

class Device {
 public:
  explicit Device(State& state) : state_(state) {}
  ~Device() { state_.faults.at("close"); }

  std::unique_ptr<Buffer> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                   std::int32_t kind) {
    state_.faults.at("allocate");
    const std::int64_t quota = state_.script.integer("memory_bytes", 0);
    if (quota > 0 && bytes > static_cast<std::uint64_t>(quota - state_.memory_used)) {
      throw failure(HM_OUT_OF_MEMORY, "device quota of " + std::to_string(quota) + " bytes");
    }
    std::unique_ptr<HostBuffer> memory = HostBuffer::allocate(bytes, alignment, kind);
    return std::make_unique<Buffer>(state_, std::move(memory), static_cast<std::int64_t>(bytes));
  }
#ifndef HALMARK_FAKE_APART
  std::unique_ptr<Buffer> wrap(void* address, std::uint64_t bytes) {
    return std::make_unique<Buffer>(state_, HostBuffer::wrap(address, bytes), 0);
  }
#endif
  std::unique_ptr<Stream> stream() { return std::make_unique<Stream>(state_); }
  std::unique_ptr<Event> event() { return std::make_unique<Event>(state_); }
  void clocks(hm_clocks& out) {
    const char* key = clock_reads_++ % 2 == 0 ? "core_hz" : "core_hz_later";
    const std::int64_t hz = state_.script.integer(key, state_.script.integer("core_hz", 0));
    const double unknown = std::nan("");
    out.core_hz = hz > 0 ? static_cast<double>(hz) : unknown;
    out.memory_hz = out.temperature_c = out.power_w = unknown;
    out.throttle = static_cast<std::uint32_t>(state_.script.integer("throttle", 0));
  }
  // Of a device that draws as many watts at all times.
  double energy_microjoules() {
    const std::int64_t watts = state_.script.integer("watts", 0);
    const std::chrono::duration<double, std::micro> on = std::chrono::steady_clock::now() - opened_;
    return watts > 0 ? static_cast<double>(watts) * on.count() : std::nan("");
  }
  std::unique_ptr<Comm> comm(std::string_view, std::uint32_t, std::uint32_t size) {
    if (size != 1) throw failure(HM_UNSUPPORTED, "the fake plugin has one rank");
    return std::make_unique<Comm>();
  }
  std::vector<Domain> domains(std::uint32_t kernel, const hm_problem&) const {
    if (all_ops()[kernel].name != "gemm") return {};
    return {domain::pow2("block", 8, 64, 32), domain::categorical("impl", {"naive", "wide"})};
  }
  void require_support(std::uint32_t kernel, const hm_problem& problem, Params config) const {
    const Op& op = all_ops()[kernel];
    if (op.name != problem.op) throw failure(HM_UNSUPPORTED, "this kernel implements another op");
    if (state_.script.text("unsupported") == op.name) {
      throw failure(HM_UNSUPPORTED, "the script leaves this op out");
    }
    for (const hm_param& param : Params(problem)) {
      if (std::find(op.params.begin(), op.params.end(), param.name) == op.params.end()) {
        throw failure(HM_UNSUPPORTED, "unknown parameter '" + std::string(param.name) + "'");
      }
    }
    if (op.name == "gemm") {
      reject_unknown(config, {"block", "impl"});
      if (param_or(config, "impl", 0) == 1 && param_or(config, "block", 32) == 8) {
        throw failure(HM_UNSUPPORTED, "impl wide needs a block of at least 16");
      }
    } else {
      reject_unknown(config, {});
    }
    for (const Operand& operand : op.operands(shape_of(problem))) require_operand(operand);
  }
  std::unique_ptr<Prepared> prepare(std::uint32_t kernel, const hm_problem& problem, Params config,
                                    Comm*) {
    state_.faults.at("prepare");
    return std::make_unique<Prepared>(state_, all_ops()[kernel], shape_of(problem), config);
  }

 private:
  static void require_operand(const Operand& operand) {
    if (!is_known_dtype(operand.dtype)) {
      throw failure(HM_UNSUPPORTED, operand.name + ": dtype " + std::to_string(operand.dtype));
    }
    std::int64_t left = elements_max;
    for (const std::int64_t dim : operand.dims) {
      if (dim < 1 || dim > left)
        throw failure(HM_UNSUPPORTED, operand.name + ": size out of range");
      left /= dim;
    }
  }
  State& state_;
  int clock_reads_ = 0;
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

// Onto any CPU that there is.
void leave_given_cpus() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); ++i) CPU_SET(static_cast<int>(i), &all);
  sched_setaffinity(0, sizeof all, &all);
}

class Fake {
 public:
  using Device = fake::Device;
  using Prepared = fake::Prepared;
  using Buffer = fake::Buffer;
  using Stream = fake::Stream;
  using Event = fake::Event;
  using Comm = fake::Comm;
#ifdef HALMARK_FAKE_TWO
  static constexpr const char* name = "fake_two";
#else
  static constexpr const char* name = "fake";
#endif
  static constexpr const char* version = "1.0";

  explicit Fake(const hm_host& host) {
    state_.faults.at("create");
    const bool is_foreign = state_.script.flag("foreign_cpus");
    if (is_foreign || state_.script.flag("busy")) {
      spinner_ = std::jthread([is_foreign](const std::stop_token& stop) {
        if (is_foreign) leave_given_cpus();
        while (!stop.stop_requested()) {
        }
      });
    }
    if (device_count() == 0) log(host, HM_LOG_WARNING, "the script names 0 devices");
  }
  ~Fake() { state_.faults.at("destroy"); }

  std::uint32_t device_count() const {
    return static_cast<std::uint32_t>(state_.script.integer("devices", 1));
  }
  void describe(std::uint32_t index, hm_device_info& info) {
    state_.faults.at("describe");
    const std::string kind = state_.script.text("kind");
    info.kind = kind == "cpu" ? HM_DEVICE_CPU : kind == "gpu" ? HM_DEVICE_GPU : HM_DEVICE_OTHER;
    info.timer = state_.uses_events() ? HM_TIMER_DEVICE_EVENT : HM_TIMER_HOST_CLOCK;
    const bool waits = !state_.is_asynchronous() || state_.script.flag("claims_synchronous");
    info.flags = waits ? HM_DEVICE_SYNCHRONOUS : 0;
    info.memory_bytes = state_.script.integer("memory_bytes", 0);
    info.compute_units = 1;
    copy_text(info.id, std::to_string(index));
    const std::string name = state_.script.text("device_name");
    copy_text(info.name, name.empty() ? "scripted device " + std::to_string(index) : name);
    copy_text(info.isa, "fake");
    copy_text(info.driver, "none");
  }
  std::unique_ptr<Device> open(std::uint32_t, Params options) {
    state_.faults.at("open");
    reject_unknown(options, {"threads", "isa"});
    return std::make_unique<Device>(state_);
  }
  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(all_ops().size()); }
  void describe_kernel(std::uint32_t kernel, hm_kernel_info& info) const {
    const Op& op = all_ops()[kernel];
    copy_text(info.name, "fake_" + std::string(op.name));
    copy_text(info.op, op.name);
    if (std::ranges::find(op.params, "ranks") != op.params.end()) {
      info.flags = HM_KERNEL_COLLECTIVE;
    }
  }

 private:
  State state_;
  std::jthread spinner_;
};

}  // namespace
}  // namespace fake

HM_PLUGIN(fake::Fake);
