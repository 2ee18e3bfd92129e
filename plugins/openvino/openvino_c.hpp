// The entries of OpenVINO's C API that this backend calls, declared by hand: the plugin builds on
// every machine, and finds the runtime when it runs. Layouts are those of the API since 2023.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hm_openvino {

// Opaque objects; each has its own free function.
struct ov_core;
struct ov_model;
struct ov_compiled_model;
struct ov_infer_request;
struct ov_tensor;
struct ov_port;

using ov_status = int;  // 0 = OK, negative otherwise
// Numbers of element types changed between releases: they are asked for (Runtime::element_type).
using ov_element_type = int;

struct ov_shape {
  std::int64_t rank;
  std::int64_t* dims;
};

struct ov_version {
  const char* build;
  const char* description;
};

struct ov_devices {
  char** names;
  std::size_t count;
};

// One line per entry: member, symbol after "ov_", type.
#define HM_OPENVINO_ENTRIES(ENTRY)                                                               \
  ENTRY(get_openvino_version, ov_status(ov_version*))                                            \
  ENTRY(version_free, void(ov_version*))                                                         \
  ENTRY(get_last_err_msg, const char*())                                                         \
  ENTRY(free, void(const char*))                                                                 \
  ENTRY(core_create, ov_status(ov_core**))                                                       \
  ENTRY(core_free, void(ov_core*))                                                               \
  ENTRY(core_get_available_devices, ov_status(const ov_core*, ov_devices*))                      \
  ENTRY(available_devices_free, void(ov_devices*))                                               \
  ENTRY(core_get_property, ov_status(const ov_core*, const char*, const char*, char**))          \
  ENTRY(core_read_model_from_memory_buffer,                                                      \
        ov_status(const ov_core*, const char*, std::size_t, const ov_tensor*, ov_model**))       \
  ENTRY(model_free, void(ov_model*))                                                             \
  ENTRY(core_compile_model, ov_status(const ov_core*, const ov_model*, const char*, std::size_t, \
                                      ov_compiled_model**, ...))                                 \
  ENTRY(compiled_model_free, void(ov_compiled_model*))                                           \
  ENTRY(compiled_model_create_infer_request,                                                     \
        ov_status(const ov_compiled_model*, ov_infer_request**))                                 \
  ENTRY(port_get_element_type, ov_status(const ov_port*, ov_element_type*))                      \
  ENTRY(model_const_input_by_index, ov_status(const ov_model*, std::size_t, ov_port**))          \
  ENTRY(output_const_port_free, void(ov_port*))                                                  \
  ENTRY(infer_request_free, void(ov_infer_request*))                                             \
  ENTRY(infer_request_set_tensor, ov_status(ov_infer_request*, const char*, const ov_tensor*))   \
  ENTRY(infer_request_set_output_tensor_by_index,                                                \
        ov_status(ov_infer_request*, std::size_t, const ov_tensor*))                             \
  ENTRY(infer_request_infer, ov_status(ov_infer_request*))                                       \
  ENTRY(tensor_create_from_host_ptr, ov_status(ov_element_type, ov_shape, void*, ov_tensor**))   \
  ENTRY(tensor_free, void(ov_tensor*))

struct Api {
#define HM_OPENVINO_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  HM_OPENVINO_ENTRIES(HM_OPENVINO_MEMBER)
#undef HM_OPENVINO_MEMBER
};

}  // namespace hm_openvino
