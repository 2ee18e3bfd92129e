// Which features follow from the words of a CPU, bit by bit, and which paths and passes from
// features that this machine need not have.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/dtype.hpp"
#include "measure/probe/cpu_features.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {
namespace {

constexpr CpuWords everything{~std::uint64_t{0}, ~0u, ~0u, ~0u, ~0u, ~0u};

// As in the tables of the SDM: a word, its bit, and the features that do not need it.
struct Bit {
  const char* name;
  std::function<void(CpuWords&)> clear;
  const char* left;
};

std::string names_of(const CpuFeatures& has) {
  return std::string(has.avx2_fma ? " avx2" : "") + (has.avx_vnni ? " vnni256" : "") +
         (has.avx512_core ? " core" : "") + (has.avx512_vnni ? " vnni512" : "") +
         (has.avx512_bf16 ? " bf16" : "") + (has.avx512_fp16 ? " fp16" : "") +
         (has.amx_bf16 ? " tiles_bf16" : "") + (has.amx_int8 ? " tiles_int8" : "");
}

// What is left without the bit.
constexpr const char* all_names = " avx2 vnni256 core vnni512 bf16 fp16 tiles_bf16 tiles_int8";
constexpr const char* no_zmm = " avx2 vnni256 tiles_bf16 tiles_int8";
constexpr const char* no_ymm = " tiles_bf16 tiles_int8";
constexpr const char* no_tiles = " avx2 vnni256 core vnni512 bf16 fp16";

template <int index, std::uint32_t CpuWords::*word>
void clear(CpuWords& words) {
  words.*word &= ~(1u << index);
}
template <int index>
void clear_state(CpuWords& words) {
  words.saved_state &= ~(std::uint64_t{1} << index);
}

TEST(CpuWords, are_needed_bit_by_bit) {
  const Bit bits[] = {
      {"xmm state", clear_state<1>, no_ymm},
      {"ymm state", clear_state<2>, no_ymm},
      {"mask state", clear_state<5>, no_zmm},
      {"upper zmm state", clear_state<6>, no_zmm},
      {"further zmm state", clear_state<7>, no_zmm},
      {"tile configuration", clear_state<17>, no_tiles},
      {"tile data", clear_state<18>, no_tiles},
      {"fma", clear<12, &CpuWords::one_c>, no_ymm},
      {"avx2", clear<5, &CpuWords::seven_b>, no_ymm},
      {"avx512f", clear<16, &CpuWords::seven_b>, no_zmm},
      {"avx512dq", clear<17, &CpuWords::seven_b>, no_zmm},
      {"avx512bw", clear<30, &CpuWords::seven_b>, no_zmm},
      {"avx512vl", clear<31, &CpuWords::seven_b>, no_zmm},
      {"avx512_vnni", clear<11, &CpuWords::seven_c>,
       " avx2 vnni256 core bf16 fp16 tiles_bf16 tiles_int8"},
      {"avx_vnni", clear<4, &CpuWords::seven_one_a>,
       " avx2 core vnni512 bf16 fp16 tiles_bf16 tiles_int8"},
      {"avx512_bf16", clear<5, &CpuWords::seven_one_a>,
       " avx2 vnni256 core vnni512 fp16 tiles_bf16 tiles_int8"},
      {"avx512_fp16", clear<23, &CpuWords::seven_d>,
       " avx2 vnni256 core vnni512 bf16 tiles_bf16 tiles_int8"},
      {"amx_tile", clear<24, &CpuWords::seven_d>, no_tiles},
      {"amx_bf16", clear<22, &CpuWords::seven_d>,
       " avx2 vnni256 core vnni512 bf16 fp16 tiles_int8"},
      {"amx_int8", clear<25, &CpuWords::seven_d>,
       " avx2 vnni256 core vnni512 bf16 fp16 tiles_bf16"},
  };
  EXPECT_EQ(names_of(features_of(everything)), all_names);
  CpuWords least;
  for (const Bit& bit : bits) {
    CpuWords words = everything;
    bit.clear(words);
    EXPECT_EQ(names_of(features_of(words)), bit.left) << "without " << bit.name;
    const auto only = [](std::uint32_t cleared) { return ~cleared; };
    least.saved_state |= ~words.saved_state;
    least.one_c |= only(words.one_c);
    least.seven_b |= only(words.seven_b);
    least.seven_c |= only(words.seven_c);
    least.seven_d |= only(words.seven_d);
    least.seven_one_a |= only(words.seven_one_a);
  }
  EXPECT_EQ(names_of(features_of(least)), all_names) << "and no other bit";
  EXPECT_EQ(names_of(features_of({})), "");
}

// "f32_vector avx2 192, ...": path, instruction set and operations of an iteration; a path's dtype
// is that of its name.
[[maybe_unused]] std::string facts_of(const std::vector<PeakPath>& paths) {
  std::string out;
  for (const PeakPath& p : paths) {
    EXPECT_NE(p.run, nullptr);
    EXPECT_EQ(p.dtype, parse_dtype(p.path.substr(0, p.path.find('_')))) << p.path;
    if (!out.empty()) out += ", ";
    out.append(p.path).append(" ").append(p.isa).append(" ");
    out += std::to_string(std::llround(p.flops_per_iteration));
  }
  return out;
}

// Linux's hwcap.h: ASIMDHP is bit 10 and ASIMDDP bit 20 of the first word, BF16 bit 14 of the
// second.
TEST(ArmWords, name_a_feature_each) {
  const auto names = [](const ArmFeatures& has) {
    return std::string(has.dotprod ? "d" : "") + (has.fp16 ? "h" : "") + (has.bf16 ? "b" : "");
  };
  EXPECT_EQ(names(arm_features_of(0, 0)), "");
  EXPECT_EQ(names(arm_features_of(0x100000, 0)), "d");
  EXPECT_EQ(names(arm_features_of(0x400, 0)), "h");
  EXPECT_EQ(names(arm_features_of(0, 0x4000)), "b");
  EXPECT_EQ(names(arm_features_of(~0x100400ull, ~0x4000ull)), "");
}

#if defined(__aarch64__)
std::string rows_of(const ArmFeatures& has) {
  std::vector<PeakPath> paths;
  append_arm_vector_paths(has, paths);
  return facts_of(paths);
}

// Twenty-four products of vectors of 16 bytes a turn.
TEST(PathsOfArm, are_the_base_and_one_of_each_feature) {
  const std::string base =
      "f32_vector asimd 192, f64_vector asimd 96, bf16_vector asimd 192, f16_vector asimd 192, "
      "s8_vector asimd 768";
  const std::string dot = ", s8_vector asimd_dotprod 768", half = ", f16_vector asimd_fp16 384",
                    brain = ", bf16_vector asimd_bf16 384";
  EXPECT_EQ(rows_of(ArmFeatures{}), base);
  EXPECT_EQ(rows_of(ArmFeatures{.dotprod = true}), base + dot);
  EXPECT_EQ(rows_of(ArmFeatures{.fp16 = true}), base + half);
  EXPECT_EQ(rows_of(ArmFeatures{.bf16 = true}), base + brain);
  EXPECT_EQ(rows_of(ArmFeatures{true, true, true}).size(), (base + dot + half + brain).size());
  for (const PeakPath& path : peak_paths()) path.run(2);  // none is an instruction too far
}
#endif

#if defined(__x86_64__)
std::string rows_of(const CpuFeatures& has) {
  std::vector<PeakPath> paths;
  append_x86_vector_paths(has, paths);
  append_x86_matrix_paths(has, paths);
  return facts_of(paths);
}

// Twelve products of vectors a turn, or four of tiles of 16 x 64 bytes.
TEST(PathsOfFeatures, are_those_of_each_feature_alone) {
  const std::pair<CpuFeatures, const char*> rows[] = {
      {{}, ""},
      {{.avx2_fma = true},
       "f32_vector avx2 192, f64_vector avx2 96, bf16_vector avx2 192, f16_vector avx2 192, "
       "s8_vector avx2 768"},
      {{.avx512_core = true},
       "f32_vector avx512_core 640, f64_vector avx512_core 320, bf16_vector avx512_core 640, "
       "f16_vector avx512_core 640, s8_vector avx512_core 2560"},
      {{.avx512_vnni = true}, "s8_vector avx512_core_vnni 2560"},
      {{.avx512_bf16 = true}, "bf16_vector avx512_core_bf16 1280"},
      {{.avx512_fp16 = true}, "f16_vector avx512_core_fp16 1280"},
      {{.avx_vnni = true}, "s8_vector avx2_vnni 768"},
      {{.amx_bf16 = true}, "bf16_matrix avx512_core_amx 65536"},
      {{.amx_int8 = true}, "s8_matrix avx512_core_amx 131072"}};
  for (const auto& [has, facts] : rows) EXPECT_EQ(rows_of(has), facts);
}

#endif

// Pages on either side that nobody may touch.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    void* mapped = ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<std::byte*>(mapped);
    ::mprotect(base_ + page, page, PROT_READ | PROT_WRITE);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(base_, whole); }
  std::byte* at_the_end() { return base_ + 2 * page - bytes_; }
  std::byte* at_the_begin() { return base_ + page; }

 private:
  // 64 KiB on some Arm kernels.
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), whole = 3 * page;
  std::size_t bytes_;
  std::byte* base_ = nullptr;
};

TEST(PassesOfFeatures, read_and_copy_their_bytes_and_none_beside_them) {
  const CpuFeatures here = detect_cpu_features();
  std::vector<CpuFeatures> kinds = {{}};
  if (here.avx2_fma) kinds.push_back({.avx2_fma = true});
  if (here.avx512_core) kinds.push_back(here);
  std::vector<MemoryPass> seen;
  for (const CpuFeatures& has : kinds) {
    const MemoryPasses passes = memory_passes(has);
    EXPECT_EQ(std::ranges::count(seen, passes.read), 0) << "each has its own";
    seen.push_back(passes.read);
#if defined(__aarch64__)
    EXPECT_NE(passes.copy, passes.copy_streaming);
#else
    EXPECT_EQ(passes.copy == passes.copy_streaming, !has.avx2_fma);
#endif
    for (const std::size_t bytes : {512u, 1024u, 4096u}) {
      Guarded from(bytes), to(bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        from.at_the_end()[i] = static_cast<std::byte>(i % 251 + 1);
      }
      passes.read(from.at_the_end(), nullptr, bytes);
      passes.read(from.at_the_begin(), nullptr, bytes);
      for (const MemoryPass copy : {passes.copy, passes.copy_streaming}) {
        std::memset(to.at_the_end(), 0, bytes);
        copy(from.at_the_end(), to.at_the_end(), bytes);
        EXPECT_EQ(std::memcmp(from.at_the_end(), to.at_the_end(), bytes), 0) << bytes;
        EXPECT_EQ(from.at_the_end()[bytes - 1], static_cast<std::byte>((bytes - 1) % 251 + 1));
      }
    }
  }
}

// Who reads the clock: each thread's CPUs, and how far the others are.
class Watching : public ClockSource {
 public:
  double wall_ns() override {
    const std::lock_guard lock(mutex_);
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    State& own = of_[std::this_thread::get_id()];
    own.cpus = CPU_COUNT(&set);
    // A window begins when all have ended the one before.
    if (own.readings % 2 == 0) {
      for (const auto& [id, other] : of_) {
        if (id != caller_ && other.readings < own.readings) were_early = true;
      }
    }
    ++own.readings;
    return now_ += 200'000;
  }
  double cpu_ns() override { return 0; }
  struct State {
    int readings = 0, cpus = 0;
  };
  std::map<std::thread::id, State> of_;
  bool were_early = false;

 private:
  std::thread::id caller_ = std::this_thread::get_id();  // it only calibrates
  std::mutex mutex_;
  double now_ = 0;
};

TEST(ProbeThreadsOf, several_are_each_on_one_cpu_and_one_stays_where_it_is) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU";
  const PeakPath path = peak_paths().front();
  const auto watched = [&](const ProbeThreads& threads) {
    Watching clock;
    probe_peak(path.path, path.isa, threads, 6, 0.2, clock);
    std::vector<int> out;
    for (const auto& [id, state] : clock.of_) {
      if (id != std::this_thread::get_id()) out.push_back(state.cpus);
    }
    EXPECT_FALSE(clock.were_early);
    return out;
  };
  EXPECT_EQ(watched({2, cpus}), (std::vector{1, 1}));
  EXPECT_EQ(watched({3, {cpus[0], cpus[1]}}), (std::vector{1, 1, 1}));
  const auto all = static_cast<int>(cpus.size());
  EXPECT_EQ(watched({2, {}}), (std::vector{all, all}));
  EXPECT_TRUE(watched({1, {cpus[0]}}).empty());
  EXPECT_EQ(allowed_cpus(), cpus) << "the caller is not bound";
}

}  // namespace
}  // namespace halmark
