/* A runtime of OpenVINO's C API with one device that compiles nothing: what the plugin says of a
 * refusal is seen without the real runtime. Only what discovery and preparing call does anything.
 */
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char* build;
  const char* description;
} version;
typedef struct {
  char** names;
  size_t count;
} devices;

static int object; /* what every handle points at */
static char npu[] = "NPU";
static char* names[] = {npu};

int ov_get_openvino_version(version* out) {
  out->build = "2099.1-fake";
  out->description = "fake";
  return 0;
}
void ov_version_free(version* v) { (void)v; }
const char* ov_get_last_err_msg(void) {
  return "Exception from fake.cpp:7:\nno such operation here";
}
void ov_free(const char* text) { (void)text; }
int ov_core_create(void** core) { return *core = &object, 0; }
void ov_core_free(void* core) { (void)core; }
int ov_core_get_available_devices(const void* core, devices* out) {
  (void)core;
  out->names = names;
  out->count = 1;
  return 0;
}
void ov_available_devices_free(devices* d) { (void)d; }
int ov_core_get_property(const void* core, const char* device, const char* key, char** value) {
  (void)core, (void)device, (void)key;
  static char name[] = "A fake NPU";
  return *value = name, 0;
}
int ov_core_read_model_from_memory_buffer(const void* core, const char* xml, size_t bytes,
                                          const void* weights, void** model) {
  (void)core, (void)xml, (void)bytes, (void)weights;
  return *model = &object, 0;
}
void ov_model_free(void* model) { (void)model; }
int ov_core_compile_model(const void* core, const void* model, const char* device, size_t count,
                          void** compiled, ...) {
  (void)core, (void)model, (void)device, (void)count, (void)compiled;
  return -1;
}
void ov_compiled_model_free(void* model) { (void)model; }
int ov_compiled_model_create_infer_request(const void* model, void** request) {
  (void)model, (void)request;
  return -1;
}
int ov_model_const_input_by_index(const void* model, size_t index, void** port) {
  (void)model, (void)index;
  return *port = &object, 0;
}
int ov_port_get_element_type(const void* port, int* type) {
  (void)port;
  return *type = 1, 0;
}
void ov_output_const_port_free(void* port) { (void)port; }
void ov_infer_request_free(void* request) { (void)request; }
int ov_infer_request_set_tensor(void* request, const char* name, const void* tensor) {
  (void)request, (void)name, (void)tensor;
  return -1;
}
int ov_infer_request_set_output_tensor_by_index(void* request, size_t index, const void* tensor) {
  (void)request, (void)index, (void)tensor;
  return -1;
}
int ov_infer_request_infer(void* request) { return (void)request, -1; }
typedef struct {
  int64_t rank;
  int64_t* dims;
} shape;
int ov_tensor_create_from_host_ptr(int type, shape dims, void* data, void** tensor) {
  (void)type, (void)dims, (void)data;
  return *tensor = &object, 0;
}
void ov_tensor_free(void* tensor) { (void)tensor; }
