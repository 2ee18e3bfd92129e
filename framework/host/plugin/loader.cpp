#include "host/plugin/loader.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <filesystem>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <boost/dll/shared_library.hpp>
#pragma GCC diagnostic pop

namespace halmark {
namespace {

constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t text_bytes_max = 1024;

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

// A static string of the plugin, read bounded.
std::string static_text(const char* text, const char* entry, std::size_t bytes_max) {
  if (text == nullptr) throw PluginRefused(std::string("plugin.") + entry + " is NULL");
  const std::size_t length = ::strnlen(text, bytes_max + 1);
  if (length > bytes_max) {
    throw PluginRefused(std::string("plugin.") + entry + " is not terminated within " +
                        std::to_string(bytes_max) + " bytes");
  }
  return {text, length};
}

// One row per required entry: a NULL found here is a refusal, found later it is a crash.
#define HALMARK_REQUIRE(table, label, field)                                                \
  do {                                                                                      \
    if ((table)->struct_size < HM_FIELD_END(table, field))                                  \
      throw PluginRefused(label ".struct_size is " + std::to_string((table)->struct_size) + \
                          ", which ends before the required entry " label "." #field);      \
    if ((table)->field == nullptr)                                                          \
      throw PluginRefused("required entry " label "." #field " is NULL");                   \
  } while (false)

void check_device(const hm_device_api* device) {
  HALMARK_REQUIRE(device, "device", count);
  HALMARK_REQUIRE(device, "device", describe);
  HALMARK_REQUIRE(device, "device", open);
  HALMARK_REQUIRE(device, "device", close);
}

void check_memory(const hm_memory_api* memory) {
  HALMARK_REQUIRE(memory, "memory", create);
  HALMARK_REQUIRE(memory, "memory", destroy);
  HALMARK_REQUIRE(memory, "memory", write);
  HALMARK_REQUIRE(memory, "memory", read);
}

void check_stream(const hm_stream_api* stream) {
  HALMARK_REQUIRE(stream, "stream", create);
  HALMARK_REQUIRE(stream, "stream", destroy);
  HALMARK_REQUIRE(stream, "stream", wait);
}

void check_kernel(const hm_kernel_api* kernel) {
  HALMARK_REQUIRE(kernel, "kernel", count);
  HALMARK_REQUIRE(kernel, "kernel", describe);
  HALMARK_REQUIRE(kernel, "kernel", domain_count);
  HALMARK_REQUIRE(kernel, "kernel", domain);
  HALMARK_REQUIRE(kernel, "kernel", supports);
  HALMARK_REQUIRE(kernel, "kernel", prepare);
  HALMARK_REQUIRE(kernel, "kernel", release);
  HALMARK_REQUIRE(kernel, "kernel", info);
  HALMARK_REQUIRE(kernel, "kernel", operand);
  HALMARK_REQUIRE(kernel, "kernel", enqueue);
}

void check_comm(const hm_comm_api* comm) {
  HALMARK_REQUIRE(comm, "comm", token_create);
  HALMARK_REQUIRE(comm, "comm", create);
  HALMARK_REQUIRE(comm, "comm", destroy);
}

// `reserved` must be 0 so that it can gain a meaning later.
template <class Table>
void check_reserved(const Table* table, const char* label) {
  if (table->struct_size >= HM_FIELD_END(table, reserved) && table->reserved != 0) {
    throw PluginRefused(std::string(label) + ".reserved is not 0");
  }
}

}  // namespace

LoadedPlugin check_plugin(const hm_plugin_api* api, std::uint32_t library_version) {
  if (api == nullptr) throw PluginRefused("hm_plugin_entry returned NULL");
  // Shorter than its first two fields: nothing behind struct_size may be read.
  if (api->struct_size < HM_FIELD_END(api, abi_version)) {
    throw PluginRefused("plugin.struct_size is " + std::to_string(api->struct_size) +
                        ", smaller than any version of the table");
  }
  if (api->abi_version != library_version) {
    throw PluginRefused("hm_abi_version says " + version_text(library_version) +
                        " but the table says " + version_text(api->abi_version) +
                        ": header and library of the plugin do not belong together");
  }
  HALMARK_REQUIRE(api, "plugin", name);
  HALMARK_REQUIRE(api, "plugin", version);
  HALMARK_REQUIRE(api, "plugin", build);
  HALMARK_REQUIRE(api, "plugin", create);
  HALMARK_REQUIRE(api, "plugin", destroy);
  HALMARK_REQUIRE(api, "plugin", device);
  HALMARK_REQUIRE(api, "plugin", memory);
  HALMARK_REQUIRE(api, "plugin", stream);
  HALMARK_REQUIRE(api, "plugin", kernel);
  check_device(api->device);
  check_memory(api->memory);
  check_stream(api->stream);
  check_kernel(api->kernel);
  check_reserved(api->device, "device");
  check_reserved(api->memory, "memory");
  check_reserved(api->stream, "stream");
  check_reserved(api->kernel, "kernel");
  LoadedPlugin plugin;
  plugin.api = api;
  plugin.abi_version = library_version;
  plugin.name = static_text(api->name, "name", name_bytes_max);
  plugin.version = static_text(api->version, "version", name_bytes_max);
  plugin.build = static_text(api->build, "build", text_bytes_max);
  if (plugin.name.empty()) throw PluginRefused("plugin.name is empty");
  if (HM_HAS(api, probe)) {
    check_reserved(api->probe, "probe");
    plugin.probe = api->probe;
  }
  if (HM_HAS(api, comm)) {
    check_comm(api->comm);
    check_reserved(api->comm, "comm");
    plugin.comm = api->comm;
  }
  return plugin;
}

#undef HALMARK_REQUIRE

namespace {

// Never unloaded: threads and handlers that a plugin's libraries started may outlive any use of it.
// The list itself is never destroyed either, or exit would unload; the static refers to it, so a
// leak checker knows that it is meant.
boost::dll::shared_library& library_kept_loaded() {
  static auto& libraries = *new std::deque<boost::dll::shared_library>;
  return libraries.emplace_back();
}

}  // namespace

LoadedPlugin load_plugin(const std::string& path) {
  namespace dll = boost::dll;
  std::error_code failure;
  const std::filesystem::path exact = std::filesystem::absolute(path);
  if (!std::filesystem::is_regular_file(exact, failure)) throw PluginRefused("no such file");
  dll::shared_library& library = library_kept_loaded();
  library.load(exact, failure, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  if (failure) {
    // dlerror's text was consumed by the load; ask the loader once more for the culprit's name.
    std::string text = failure.message();
    if (::dlopen(exact.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      if (const char* detail = ::dlerror()) text = detail;
    }
    throw PluginRefused(text);
  }
  for (const char* symbol : {"hm_abi_version", "hm_plugin_entry"}) {
    if (!library.has(symbol)) {
      throw PluginRefused(std::string("the library does not export ") + symbol);
    }
  }
  const std::uint32_t version = library.get<std::uint32_t()>("hm_abi_version")();
  if (version >> 16 != HM_ABI_MAJOR) {
    throw PluginRefused("plugin speaks ABI " + version_text(version) + ", this host speaks " +
                        version_text(HM_ABI_VERSION) + ": build the plugin against ABI " +
                        std::to_string(HM_ABI_MAJOR) + ".x");
  }
  LoadedPlugin plugin =
      check_plugin(library.get<const hm_plugin_api*()>("hm_plugin_entry")(), version);
  plugin.path = exact.string();
  return plugin;
}

}  // namespace halmark
