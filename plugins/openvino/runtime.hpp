// Finds and loads the OpenVINO runtime, and owns its core. Everything that can fail says why.
#pragma once

#include <halmark_plugin_values.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "openvino_c.hpp"

namespace hm_openvino {

namespace plug = halmark::plugin;

// A handle of the C API with the entry that frees it.
template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

class Runtime {
 public:
  // Null with the reason, and what would end it, in `absence`.
  static std::unique_ptr<Runtime> load(std::string& absence);

  const Api& api() const { return api_; }
  const ov_core* core() const { return core_.get(); }
  const std::string& version() const { return version_; }
  const std::string& file() const { return file_; }
  // As the runtime names them: "CPU", "GPU.0", "NPU".
  const std::vector<std::string>& devices() const { return devices_; }

  // A property as text; "" where the device has none of that name.
  std::string property(const std::string& device, const char* name) const;
  // Throws plug::failure(code) with `what` and the runtime's own message unless status is OK.
  void check(ov_status status, const char* what, std::int32_t code) const;

  Handle<ov_model> read(const std::string& xml, ov_tensor* weights) const;
  // Weights as the reader takes them. `bytes` stay with the caller, who keeps them while the model
  // or what was compiled from it lives: constants are not copied.
  Handle<ov_tensor> byte_tensor(std::vector<char>& bytes) const;
  Handle<ov_tensor> tensor(std::int32_t dtype, std::vector<std::int64_t> dims, void* data) const;

 private:
  Runtime() : core_(nullptr, nullptr) {}
  void start();
  // The runtime's number of an HM_DTYPE_*; asked once each.
  ov_element_type element_type(std::int32_t dtype) const;

  Api api_;
  std::string file_, version_;
  Handle<ov_core> core_;
  std::vector<std::string> devices_;
  mutable std::map<std::int32_t, ov_element_type> element_types_;
};

}  // namespace hm_openvino
