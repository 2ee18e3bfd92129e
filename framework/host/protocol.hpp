// The wire between the parent and halmark-worker: framing and every message as a plain struct.
// One request in flight. Runs on any byte stream; memfds travel beside frames on Unix sockets, and
// over a network their bytes behind the frame.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/problem.hpp"

namespace halmark::protocol {

inline constexpr std::uint32_t magic = 0x31574d48;  // "HMW1" little-endian
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint32_t max_payload_bytes = 16u << 20;
inline constexpr int worker_descriptor = 3;  // inherited socket of a compute worker

enum class Type : std::uint16_t {
  hello = 1,
  load = 2,
  open = 3,
  kernels = 4,
  domains = 5,
  supports = 6,
  stage = 7,
  reveal = 8,
  sample = 9,
  drop = 10,
  sequence = 11,
  token = 12,
  join = 13,
  close = 14,
  quit = 15,
  probe = 16,
  memory = 17,
  // answers
  plugin = 101,
  refused = 102,
  opened = 103,
  staged = 107,
  revealed = 108,
  phase = 109,
  samples = 110,
  measured = 111,
  dropped = 112,
  joined = 113,
  closed = 114,
  failed = 115,
  answer = 116,
};
inline constexpr std::uint16_t flag_optional = 1;  // an unknown type with this flag is skipped
// Behind the payload: a length of 64 bits and as many bytes of memory (see memory_copy.hpp).
inline constexpr std::uint16_t flag_memory = 2;

struct FrameHeader {
  std::uint32_t magic;
  std::uint16_t type;
  std::uint16_t flags;
  std::uint32_t request;
  std::uint32_t length;
};
static_assert(sizeof(FrameHeader) == 16);

// ---- messages; the JSON codec is in protocol.cpp, one to_json/from_json pair each -------------

// The parent sends hello (with the arena's memfd when arena_bytes > 0), the worker answers hello.
// A rank of a group speaks first, once: an unasked hello with token, rank and pid, request 0; then
// the same exchange follows, in which the parent's hello carries the rank's arena and cpus.
struct Hello {
  std::uint32_t protocol = version;
  std::string token;             // group workers: drawn per run; empty otherwise
  std::int64_t arena_bytes = 0;  // size of the memfd that travels with the frame
  std::int64_t memory_limit_bytes = 0;
  std::string cache_dir;
  int rank = 0;  // group workers tell it in their hello
  std::int64_t pid = 0;
  std::string build;
  std::vector<int> cpus;  // group workers: the affinity to take before loading a plugin
};
struct Load {
  std::string path;
};
// Who keeps the time of a device's samples.
enum class Timer { host_clock, device_event };
struct DeviceDescription {
  std::string id, name, isa, driver, kind;
  Timer timer = Timer::host_clock;
  bool synchronous = false;
  std::int64_t memory_bytes = 0, cache_bytes = 0, compute_units = 0, clock_hz_max = 0;

  // Computes apart from the host's CPU and says when by a clock of its own: what the CPU reaches is
  // no ceiling of it. Whoever is timed by the host's clock may compute on the CPU, whatever it
  // says.
  bool is_apart() const { return (kind == "gpu" || kind == "npu") && timer == Timer::device_event; }
};
struct KernelDescription {
  std::string name, op;
  bool collective = false;
};
struct PluginDescription {
  std::string name, plugin_version, build;
  std::uint32_t abi_version = 0;
  bool has_comm = false, has_probe = false;
  std::vector<DeviceDescription> devices;
  std::vector<KernelDescription> kernels;
  std::vector<std::string> log;  // e.g. why there are 0 devices
};
struct Refused {
  std::string reason;
};
struct Open {
  std::uint32_t device = 0;
  Config options;
};
struct DomainsRequest {
  std::string kernel;
  Problem problem;
};
struct DomainDescription {
  std::string name;
  std::vector<std::int64_t> values;  // ranges and powers of two are expanded, bounded to 4096
  std::vector<std::string> labels;   // empty unless categorical
  bool ordered = false;
  std::int64_t default_value = 0;
};
struct DomainsAnswer {
  std::vector<DomainDescription> domains;
};
struct SupportsRequest {
  std::string kernel;
  Problem problem;
  std::vector<Config> configs;
};
struct SupportsAnswer {
  std::vector<std::int32_t> status;
  std::vector<std::string> reason;
};

struct Stage {
  std::int64_t id = 0;
  std::string kernel;  // empty = first kernel of the op that supports the problem
  Problem problem;
  Config config;
  CacheMode mode = CacheMode::rotate_const;
  int sets = 1;
  std::uint64_t seed = 0;  // inputs; the sets to verify are drawn by the parent, later
  int rank = 0, ranks = 1;
  std::string group;  // that was joined under this name; "" = of all ranks
  // This set gets constants of its own where the others share those of set 0, and each set an
  // output of its own.
  std::optional<int> witness = {};
};
// The buffers of one operand, or of the workspace: all that differ, over all argument sets.
struct StagedMemory {
  static constexpr std::int64_t workspace = -1;
  std::int64_t operand = 0;  // its place in the contract, or `workspace`
  std::int64_t bytes = 0;    // of one, as the plugin asked for it
  std::int64_t alignment = 0;
  std::int64_t buffers = 0;
  std::int64_t allocated_bytes = 0;  // of all, with what lies around them
  bool is_host = false;              // in memory that this worker maps
};
struct Staged {
  std::int64_t id = 0;
  std::string kernel;
  Implementation implementation;
  OneTimeCost one_time;
  std::int64_t workspace_bytes = 0, constant_bytes = 0;
  int sets = 1;  // really staged (memory may cap it)
  bool nondeterministic = false, constants_opaque = false;
  bool constants_shared = false;    // every set carries the constants of set 0 ...
  std::optional<int> witness = {};  // ... but this one, which has its own
  std::vector<StagedMemory> memory = {};
};
struct Drop {
  std::int64_t id = 0;
};  // also the payload of `dropped`
// Bytes of output operands of the chosen sets, copied into the memfd that travels with the answer:
// for each set, for each output operand, `bytes` at `offset`.
struct Reveal {
  std::int64_t id = 0;
  std::vector<int> sets;
  // The inputs of argument set `inputs_from`, which need not exist, replace those of the sets
  // before each is executed once more: an answer that a kernel kept from earlier calls is then a
  // wrong one. For kernels that only read their arguments, outside groups.
  std::optional<int> inputs_from = {};
  // Above 0: where that execution takes longer, further new inputs are timed against the same ones
  // again.
  double plain_ns = 0;
};
struct RevealedPart {
  int set = 0;
  std::int64_t operand = 0, offset = 0, bytes = 0;
};
struct Revealed {
  std::int64_t id = 0;
  std::vector<RevealedPart> parts;
  bool inputs_intact = true, canaries_intact = true;
  std::string damage;  // which operand, when not
  // Time on inputs that the kernel has not seen over that on the same ones again, and over that
  // behind no writing at all, the larger; each the shortest of some tries, and 1 where the first
  // did not take longer than `plain_ns`. Nothing: not asked for.
  std::optional<double> new_inputs_cost = {};
};

// How the end of a series is decided: by the first of ci_width, noise_settled and budget, or at an
// exact count, which ranks that have to agree on n need.
enum class Stop { automatic, count };
struct SampleRule {
  Stop stop = Stop::automatic;
  std::int64_t count = 0;  // exactly n for Stop::count
  std::int64_t min_samples = 10;
  std::int64_t max_samples = 4096;
  double ci_half_width = 0.01;
  double min_sample_ns = 50'000;  // pilot: repeat so that one sample lasts at least this
  std::int64_t repeat = 0;        // 0 = pilot decides
  double warmup_cap_s = 0.5;
  double budget_s = 0.02;  // stop once min_samples are there and this much was sampled
  // Of a chunk's wall time spent off the CPU against the process's will; above it, the chunk's
  // samples are disturbed.
  double disturbed_share = 0.01;
};
// Shared-memory barrier (memfd beside the frame): every sample of every shard starts there. Ranks
// on other nodes meet over the network instead, under this number.
struct Barrier {
  int parties = 1;
  int index = 0;
  std::int64_t meeting = 0;  // 0: there is none
};
// What the worker copies and changes between samples, never inside an interval, so that the parent
// can compare afterwards: see KeptOutput. It draws which ones after each execution.
struct OutputChecks {
  int executions = 0;  // whose outputs are kept
  int rows = 0;        // of inputs that are overwritten for one execution, at most
  // Ranks of a collective have to draw alike; 0: every worker asks its system for a seed.
  std::uint64_t seed = 0;
  bool behind_loop = true;  // repeats, the state when `wait` returns, idle threads
  int redraws = 0;          // samples at most whose inputs the host writes anew in front of them
};
struct SampleRequest {
  std::int64_t id = 0;
  SampleRule rule;
  double wall_cap_s = 15;
  std::optional<Barrier> barrier;
  bool pilot_only = false;  // answers measured{repeat} without sampling
  std::optional<OutputChecks> checks = {};
  bool checks_only = false;  // nobody reads the times: the machine is not probed
};
// What ended a series. `none`: the kernel failed, or nothing was sampled yet.
enum class StopReason {
  none,
  ci_width,
  noise_settled,
  budget,
  count,
  max_samples,
  deadline,
  aborted,  // another shard gave up
  pilot,
};
// A figure of the machine in front of a series and behind it; absent = could not be read.
struct ClockPair {
  std::optional<double> before, after;
};
// One row (along the last dimension) of an input that held, for one execution, the values of
// `from_row`, turned by `shift` elements to the left. `whole`: every other row as well held those
// of the one that lies as far from it, around.
struct OverwrittenRow {
  std::int64_t operand = 0, row = 0, from_row = 0, shift = 0;
  bool whole = false;
};
// A stretch of an output as it was behind one execution, in the memory that travels with
// `measured`. At most kept_bytes_max of each operand: from where, the worker draws.
struct KeptOutput {
  static constexpr std::int64_t kept_bytes_max = 256 << 10;
  std::int64_t sample = -1;  // behind which it was copied, from 1; -1: no sample like the others
  int set = 0;
  std::int64_t operand = 0;
  std::int64_t begin = 0, bytes = 0;  // within the operand
  std::int64_t offset = 0;            // within the memory
  // Taken at once when `wait` had returned, from an output that was poisoned whole before.
  bool at_once = false;
  std::optional<std::int64_t> overwritten = {};  // its place in Measured::overwritten
};
// Payload of `samples`: timed_sample.hpp.
struct Measured {
  std::int64_t id = 0;
  StopReason stop_rule = StopReason::none;
  std::int64_t repeat = 1, samples = 0;
  std::vector<Signal> signals;
  ClockPair clock_hz, peak_flops;
  std::string environment;
  // Where the request asked for checks.
  std::vector<KeptOutput> kept = {};
  std::vector<OverwrittenRow> overwritten = {};
};

struct SequenceStep {
  std::int64_t id = 0;
  int set = 0;      // in the first repetition
  int advance = 0;  // by so many sets from repetition to repetition, around
};
struct SequenceRequest {
  std::vector<SequenceStep> steps;
  std::int64_t repeat = 1;  // timed repetitions of the whole stack
  std::int64_t warmup = 1;
  double wall_cap_s = 60;
  std::optional<Barrier> barrier;  // shards start each repetition together
  // A step reads what an earlier step wrote, where dtype and size agree: activations are then as
  // warm as in a model. The gate has passed before; the values no longer mean anything.
  bool chains_activations = false;
  // As in SampleRule.
  double disturbed_share = 0.01;
};
// Answer to sequence: `samples` of repeat x steps, then `measured` with the repetitions done.

// Host-owned probes of the machine, run in the worker because its affinity is the shard's.
enum class ProbeKind {
  peak_paths,  // lists what this CPU has
  peak,
  clock,
  copy,
  read,
  slices,  // short reads that walk through memory: the state of the bandwidth now
};
struct ProbeRequest {
  ProbeKind kind = ProbeKind::peak_paths;
  std::string path;  // peak: "f32_vector", "bf16_matrix", ... (configs/devices naming)
  std::string isa;   // peak: "avx2", "avx512_core", "avx512_core_vnni", "avx512_core_amx", ...
  int threads = 1;
  int windows = 100;  // slices: how many
  double window_ms = 10;
  std::int64_t working_set_bytes = 0;  // copy, read; slices: what they walk through
  std::optional<Barrier> barrier;      // shards that share memory probe together
};
struct ProbeAnswer {
  struct Path {
    std::string path, isa;
    Dtype dtype = Dtype::f32;
  };
  std::vector<Path> paths;    // peak_paths
  std::vector<double> rates;  // per window: FLOP/s, bytes/s or Hz
  std::string reason = {};    // why there are none ("AMX not permitted")
  double cpu_share = 1;       // CPU time of the threads over the time of their windows
};

// Answer to `memory`, which carries nothing: the proportional set size of the worker, without pages
// of the arena that nothing is staged on.
struct MemoryAnswer {
  std::optional<std::int64_t> set_size_bytes;
  std::string reason;            // why it is absent
  std::int64_t probe_bytes = 0;  // of it: what the probes of the machine keep beside the arena
};

// Collectives: rank 0 answers `token` with TokenAnswer; everybody then joins with it.
struct TokenAnswer {
  std::string hex;
};  // lower-case hexadecimal; "" is a valid token
struct Join {
  std::string token_hex;
  int rank = 0, size = 1;
  std::string group;  // what Stage::group names it by
};

// Sent before each phase, so that the parent can name what ran when a worker died.
struct PhaseNote {
  std::string phase;
  std::string memory_limit;  // of what the plugin may take in it, in words; "" = none of its own
};

// Bare answers (`opened` carries DeviceDescription; `joined`, `closed` carry nothing). Requests
// domains, supports, token, probe and memory are answered with type `answer`.
struct Failed {
  std::int32_t code = 0;  // hm_status
  std::string phase;      // create, pack, first, warm, sample, ...
  std::string message;
};

// ---- closed sets by name, as the wire, rows and output spell them; none = "" --------------------

std::string_view name_of(Timer timer);
std::string_view name_of(Stop stop);
std::string_view name_of(StopReason reason);
std::string_view name_of(ProbeKind kind);

// ---- codec: every struct above as JSON; a packed samples block is no message ------------------

// A payload that does not fit its message: too deep, not JSON, a missing or mistyped field, a
// number that is not finite, a count above the limit. The peer is damaged; it is replaced.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int max_json_depth = 64;
inline constexpr std::size_t max_list_items = 1u << 20;

template <class Message>
std::string encode(const Message& message);
template <class Message>
Message decode(std::string_view payload);  // throws ProtocolError

}  // namespace halmark::protocol
