#include "runtime.hpp"

#include <dlfcn.h>

#include "ir.hpp"
#include "library_path.hpp"

namespace hm_openvino {
namespace {

constexpr const char* remedy =
    "install it with 'pip install openvino' into the Python environment in PATH, or name its "
    "folder in HALMARK_OPENVINO";

// The entries of a library; the reason why not all are there, or "".
std::string bind(void* library, Api& api) {
#define HM_OPENVINO_BIND(name, ...)                                               \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, "ov_" #name)); \
  if (api.name == nullptr) return "it lacks ov_" #name " (needs OpenVINO 2023.1 or newer)";
  HM_OPENVINO_ENTRIES(HM_OPENVINO_BIND)
#undef HM_OPENVINO_BIND
  return "";
}

}  // namespace

std::unique_ptr<Runtime> Runtime::load(std::string& absence) {
  absence = std::string("no OpenVINO runtime; ") + remedy;
  for (const std::string& file : library_candidates()) {
    // Never closed: its thread pools have exit handlers.
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = ::dlerror();
      // The loader's own search failing is the ordinary case and says nothing.
      if (file.find('/') != std::string::npos) {
        absence = "the OpenVINO runtime cannot be loaded: " + std::string(why ? why : file) + "; " +
                  remedy;
      }
      continue;
    }
    std::unique_ptr<Runtime> runtime(new Runtime);
    if (const std::string missing = bind(library, runtime->api_); !missing.empty()) {
      absence = file + " is no usable OpenVINO runtime: " + missing;
      continue;
    }
    runtime->file_ = file;
    try {
      runtime->start();
    } catch (const plug::failure& failed) {
      absence = file + ": " + failed.what();
      continue;
    }
    if (runtime->devices_.empty()) absence = "OpenVINO " + runtime->version_ + " reports no device";
    return runtime;
  }
  return nullptr;
}

void Runtime::start() {
  ov_version version{};
  check(api_.get_openvino_version(&version), "asking the version", HM_INTERNAL);
  version_ = version.build;
  api_.version_free(&version);
  ov_core* core = nullptr;
  check(api_.core_create(&core), "creating the core", HM_INTERNAL);
  core_ = Handle<ov_core>(core, api_.core_free);
  ov_devices devices{};
  check(api_.core_get_available_devices(core, &devices), "listing devices", HM_INTERNAL);
  devices_.assign(devices.names, devices.names + devices.count);
  api_.available_devices_free(&devices);
}

void Runtime::check(ov_status status, const char* what, std::int32_t code) const {
  if (status == 0) return;
  const char* text = api_.get_last_err_msg();
  std::string message = text == nullptr ? "" : text;
  if (text != nullptr) api_.free(text);
  // Exceptions of the runtime are a stack of source lines; the last one says what is wrong.
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  throw plug::failure(
      code, std::string("OpenVINO: ") + what + " failed" + (message.empty() ? "" : ": " + message),
      status);
}

std::string Runtime::property(const std::string& device, const char* name) const {
  char* value = nullptr;
  if (api_.core_get_property(core(), device.c_str(), name, &value) != 0 || value == nullptr) {
    return "";
  }
  std::string text = value;
  api_.free(value);
  return text;
}

Handle<ov_model> Runtime::read(const std::string& xml, ov_tensor* weights) const {
  ov_model* model = nullptr;
  check(api_.core_read_model_from_memory_buffer(core(), xml.c_str(), xml.size(), weights, &model),
        "reading the IR", HM_COMPILE_FAILED);
  return {model, api_.model_free};
}

// Read off a model of one element.
ov_element_type Runtime::element_type(std::int32_t dtype) const {
  if (const auto known = element_types_.find(dtype); known != element_types_.end()) {
    return known->second;
  }
  Graph graph("element");
  graph.result(graph.parameter("element", dtype, {1}));
  const Handle<ov_model> model = read(graph.xml(), nullptr);
  ov_port* port = nullptr;
  check(api_.model_const_input_by_index(model.get(), 0, &port), "asking for an input", HM_INTERNAL);
  const Handle<ov_port> owned(port, api_.output_const_port_free);
  ov_element_type type = 0;
  check(api_.port_get_element_type(port, &type), "asking an element type", HM_INTERNAL);
  return element_types_[dtype] = type;
}

Handle<ov_tensor> Runtime::byte_tensor(std::vector<char>& bytes) const {
  return tensor(HM_DTYPE_U8, {static_cast<std::int64_t>(bytes.size())}, bytes.data());
}

Handle<ov_tensor> Runtime::tensor(std::int32_t dtype, std::vector<std::int64_t> dims,
                                  void* data) const {
  ov_tensor* made = nullptr;
  const ov_shape shape{static_cast<std::int64_t>(dims.size()), dims.data()};
  check(api_.tensor_create_from_host_ptr(element_type(dtype), shape, data, &made),
        "wrapping host memory", HM_INTERNAL);
  return {made, api_.tensor_free};
}

}  // namespace hm_openvino
