// Drives small well-behaved plugins through the raw C tables, in this process: the sugar's, the one
// in plain C, and the same C source built from the frozen 1.0 header.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <halmark_plugin.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/checkout.hpp"

namespace {

const std::string plugin_folder = halmark::test::in_build("/tests/plugins/");

const hm_plugin_api* load(const std::string& file) {
  void* library = dlopen((plugin_folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const auto version = reinterpret_cast<uint32_t (*)()>(dlsym(library, "hm_abi_version"));
  const auto entry =
      reinterpret_cast<const hm_plugin_api* (*)()>(dlsym(library, "hm_plugin_entry"));
  if (version == nullptr || entry == nullptr) {
    ADD_FAILURE() << "an entry point is missing";
    return nullptr;
  }
  EXPECT_EQ(version() >> 16, HM_ABI_MAJOR);
  return entry();
}

hm_error fresh_error() {
  hm_error error{};
  error.struct_size = sizeof error;
  return error;
}

template <class T>
T fresh() {
  T value{};
  value.struct_size = sizeof value;
  return value;
}

class GoodPlugin : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    api_ = load(GetParam());
    ASSERT_NE(api_, nullptr);
    host_.struct_size = sizeof host_;
    host_.abi_version = HM_ABI_VERSION;
    host_.cache_dir = "";
    ASSERT_EQ(api_->create(&host_, &plugin_, &error_), HM_OK) << error_.message;
    ASSERT_EQ(api_->device->open(plugin_, 0, nullptr, &device_, &error_), HM_OK) << error_.message;
    ASSERT_EQ(api_->stream->create(device_, &stream_, &error_), HM_OK) << error_.message;
    kernel_ = find_kernel("copy");
  }
  void TearDown() override {
    if (api_ == nullptr) return;
    api_->stream->destroy(stream_);
    api_->device->close(device_);
    api_->destroy(plugin_);
  }
  uint32_t find_kernel(const std::string& op) {
    uint32_t count = 0;
    EXPECT_EQ(api_->kernel->count(plugin_, &count, &error_), HM_OK);
    for (uint32_t i = 0; i < count; ++i) {
      hm_kernel_info info = fresh<hm_kernel_info>();
      EXPECT_EQ(api_->kernel->describe(plugin_, i, &info, &error_), HM_OK);
      if (info.op == op) return i;
    }
    ADD_FAILURE() << "no kernel for " << op;
    return 0;
  }
  hm_problem copy_problem(const hm_param* params, uint32_t count) const {
    hm_problem problem = fresh<hm_problem>();
    problem.op = "copy";
    problem.params = params;
    problem.count = count;
    return problem;
  }
  hm_buffer* buffer(uint64_t bytes) {
    hm_buffer* made = nullptr;
    EXPECT_EQ(api_->memory->create(device_, bytes, 64, HM_MEMORY_DEVICE, &made, &error_), HM_OK);
    return made;
  }

  const hm_plugin_api* api_ = nullptr;
  hm_host host_{};
  hm_error error_ = fresh_error();
  hm_plugin* plugin_ = nullptr;
  hm_device* device_ = nullptr;
  hm_stream* stream_ = nullptr;
  uint32_t kernel_ = 0;
};

TEST_P(GoodPlugin, copies_each_set_of_a_ring_whatever_the_repeat) {
  const uint64_t bytes = 1009;
  const hm_param params[] = {{"bytes", static_cast<int64_t>(bytes)}};
  const hm_problem problem = copy_problem(params, 1);
  ASSERT_EQ(api_->kernel->supports(device_, kernel_, &problem, nullptr, &error_), HM_OK);
  hm_prepared* prepared = nullptr;
  ASSERT_EQ(api_->kernel->prepare(device_, kernel_, &problem, nullptr, nullptr, &prepared, &error_),
            HM_OK)
      << error_.message;
  std::array<std::array<hm_buffer*, 2>, 3> buffers{};
  std::array<hm_arguments, 3> sets{};
  for (size_t set = 0; set < 3; ++set) {
    buffers[set] = {buffer(bytes), buffer(bytes)};
    sets[set].buffers = buffers[set].data();
    sets[set].count = 2;
  }
  for (const uint64_t repeat : {1u, 2u, 3u, 17u}) {
    for (size_t set = 0; set < 3; ++set) {
      const std::vector<char> source(bytes, static_cast<char>(10 * repeat + set));
      const std::vector<char> poison(bytes, '\x5a');
      api_->memory->write(buffers[set][0], 0, source.data(), bytes, &error_);
      api_->memory->write(buffers[set][1], 0, poison.data(), bytes, &error_);
    }
    hm_launch launch = fresh<hm_launch>();
    launch.set_count = 3;
    launch.repeat = repeat;
    launch.sets = sets.data();
    ASSERT_EQ(api_->kernel->enqueue(prepared, stream_, &launch, &error_), HM_OK);
    ASSERT_EQ(api_->stream->wait(stream_, &error_), HM_OK);
    for (size_t set = 0; set < 3; ++set) {
      std::vector<char> result(bytes);
      api_->memory->read(buffers[set][1], 0, result.data(), bytes, &error_);
      const char wanted = set < repeat ? static_cast<char>(10 * repeat + set) : '\x5a';
      EXPECT_EQ(std::count(result.begin(), result.end(), wanted), static_cast<long>(bytes))
          << "set " << set << " of repeat " << repeat;
    }
  }
  for (const auto& set : buffers) {
    for (hm_buffer* one : set) api_->memory->destroy(one);
  }
  api_->kernel->release(prepared);
}

TEST_P(GoodPlugin, describes_its_operands_within_the_hosts_struct) {
  const hm_param params[] = {{"bytes", 333}};
  const hm_problem problem = copy_problem(params, 1);
  hm_prepared* prepared = nullptr;
  ASSERT_EQ(api_->kernel->prepare(device_, kernel_, &problem, nullptr, nullptr, &prepared, &error_),
            HM_OK);
  hm_prepared_info info = fresh<hm_prepared_info>();
  ASSERT_EQ(api_->kernel->info(prepared, &info, &error_), HM_OK);
  EXPECT_EQ(info.operand_count, 2u);
  EXPECT_STRNE(info.implementation, "");
  hm_operand source = fresh<hm_operand>();
  ASSERT_EQ(api_->kernel->operand(prepared, 0, &source, &error_), HM_OK);
  EXPECT_STREQ(source.name, "src");
  EXPECT_EQ(source.role, HM_ROLE_INPUT);
  EXPECT_EQ(source.bytes, 333u);
  EXPECT_EQ(source.dims[0], 333);
  EXPECT_EQ(api_->kernel->operand(prepared, 2, &source, &error_), HM_INVALID_ARGUMENT);

  struct {
    uint32_t struct_size, flags;
    char beyond[sizeof(hm_prepared_info) - 8];
  } older{.struct_size = 8, .flags = 77, .beyond = {}};
  std::fill(std::begin(older.beyond), std::end(older.beyond), 'x');
  ASSERT_EQ(api_->kernel->info(prepared, reinterpret_cast<hm_prepared_info*>(&older), &error_),
            HM_OK);
  EXPECT_EQ(older.struct_size, 8u);
  EXPECT_EQ(older.flags, 0u);
  EXPECT_EQ(std::count(std::begin(older.beyond), std::end(older.beyond), 'x'),
            static_cast<long>(sizeof older.beyond))
      << "written past the host's struct";
  api_->kernel->release(prepared);
}

TEST_P(GoodPlugin, refuses_unknown_names_by_name) {
  const hm_param with_unknown[] = {{"bytes", 64}, {"zebra", 1}};
  const hm_problem problem = copy_problem(with_unknown, 2);
  EXPECT_EQ(api_->kernel->supports(device_, kernel_, &problem, nullptr, &error_), HM_UNSUPPORTED);
  EXPECT_NE(std::string(error_.message).find("zebra"), std::string::npos) << error_.message;
  hm_prepared* prepared = nullptr;
  EXPECT_EQ(api_->kernel->prepare(device_, kernel_, &problem, nullptr, nullptr, &prepared, &error_),
            HM_UNSUPPORTED);
  EXPECT_EQ(prepared, nullptr);

  const hm_param good[] = {{"bytes", 64}};
  const hm_problem known = copy_problem(good, 1);
  hm_config config = fresh<hm_config>();
  const hm_param option[] = {{"block", 8}};
  config.params = option;
  config.count = 1;
  EXPECT_EQ(api_->kernel->supports(device_, kernel_, &known, &config, &error_), HM_UNSUPPORTED);
  hm_device* device = nullptr;
  EXPECT_EQ(api_->device->open(plugin_, 0, &config, &device, &error_), HM_UNSUPPORTED);
}

TEST_P(GoodPlugin, refuses_indices_and_ranges_outside) {
  hm_device_info about = fresh<hm_device_info>();
  EXPECT_EQ(api_->device->describe(plugin_, 1, &about, &error_), HM_INVALID_ARGUMENT);
  hm_buffer* small = buffer(16);
  char bytes[16] = {};
  EXPECT_EQ(api_->memory->write(small, 8, bytes, 9, &error_), HM_INVALID_ARGUMENT);
  EXPECT_EQ(api_->memory->read(small, UINT64_MAX - 3, bytes, 8, &error_), HM_INVALID_ARGUMENT);
  EXPECT_EQ(api_->memory->read(small, 8, bytes, 8, &error_), HM_OK);
  api_->memory->destroy(small);
}

TEST_P(GoodPlugin, reports_exhausted_memory_as_a_status) {
  hm_buffer* huge = nullptr;
  EXPECT_EQ(api_->memory->create(device_, UINT64_MAX - 64, 64, HM_MEMORY_DEVICE, &huge, &error_),
            HM_OUT_OF_MEMORY);
  EXPECT_EQ(huge, nullptr);
}

TEST_P(GoodPlugin, wraps_memory_that_the_host_keeps) {
  ASSERT_TRUE(HM_HAS(api_->memory, wrap));
  alignas(64) char arena[64] = "arena";
  hm_buffer* wrapped = nullptr;
  ASSERT_EQ(api_->memory->wrap(device_, arena, sizeof arena, &wrapped, &error_), HM_OK);
  char seen[6] = {};
  api_->memory->read(wrapped, 0, seen, 5, &error_);
  EXPECT_STREQ(seen, "arena");
  api_->memory->destroy(wrapped);
  EXPECT_STREQ(arena, "arena");
}

TEST_P(GoodPlugin, destroys_null_and_lives_twice_in_one_process) {
  api_->memory->destroy(nullptr);
  api_->stream->destroy(nullptr);
  api_->kernel->release(nullptr);
  api_->device->close(nullptr);
  hm_plugin* second = nullptr;
  ASSERT_EQ(api_->create(&host_, &second, &error_), HM_OK);
  EXPECT_NE(second, plugin_);
  api_->destroy(second);
  uint32_t count = 0;
  EXPECT_EQ(api_->device->count(plugin_, &count, &error_), HM_OK);
  EXPECT_EQ(count, 1u);
}

INSTANTIATE_TEST_SUITE_P(Abi, GoodPlugin,
                         testing::Values("hm_minimal.so", "hm_c.so", "hm_from_1_0.so"),
                         [](const auto& info) {
                           const std::string file = info.param;
                           return file.substr(0, file.size() - 3);
                         });

// Symbols that other libraries can see, by the linker's own account.
std::set<std::string> exported_symbols(const std::string& library) {
  const std::string command = "nm -D --defined-only '" + library + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::set<std::string> symbols;
  std::array<char, 4096> line{};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::string text = line.data();
    text.erase(text.find_last_not_of('\n') + 1);
    symbols.insert(text.substr(text.rfind(' ') + 1));
  }
  return symbols;
}

std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".so") found.push_back(entry.path().string());
  }
  return found;
}

TEST(ExportedSymbols, every_plugin_exports_exactly_the_two_entry_points) {
  std::vector<std::string> libraries = libraries_in(plugin_folder);
  EXPECT_GE(libraries.size(), 3u) << "the test plugins were not built";
  for (const std::string& library : libraries_in(halmark::test::in_build("/lib/halmark/plugins"))) {
    libraries.push_back(library);
  }
  const std::set<std::string> wanted = {"hm_abi_version", "hm_plugin_entry"};
  for (const std::string& library : libraries) {
    EXPECT_EQ(exported_symbols(library), wanted) << library;
  }
}

}  // namespace
