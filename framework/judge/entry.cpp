#include "judge/entry.hpp"

#include <algorithm>
#include <filesystem>

#include "core/input/file_kind.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::judge {
namespace {

// 16-bit floats are what the language has for them; types below a byte are bytes as they are
// packed.
std::string element_type(Dtype dtype, Language language) {
  const bool is_opencl = language == Language::opencl, is_cuda = language == Language::cuda;
  switch (dtype) {
    case Dtype::f64:
      return "double";
    case Dtype::f32:
      return "float";
    case Dtype::f16:
      return is_cuda ? "__half" : is_opencl ? "half" : "hm_f16";
    case Dtype::bf16:
      return is_cuda ? "__nv_bfloat16" : is_opencl ? "ushort" : "hm_bf16";
    case Dtype::s32:
      return is_opencl ? "int" : "int32_t";
    case Dtype::s8:
      return is_opencl ? "char" : "int8_t";
    default:
      return is_opencl ? "uchar" : "uint8_t";
  }
}

bool is_written(Role role) { return role == Role::output || role == Role::in_out; }

std::string pointer_type(const OperandSpec& operand, Language language) {
  return std::string(language == Language::opencl ? "__global " : "") +
         (is_written(operand.role) ? "" : "const ") + element_type(operand.dtype, language) + "*";
}

// bf16 as what it is: the upper half of an f32, ties to even, NaN kept.
constexpr const char* c_types = R"(#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint16_t hm_bf16;
#ifdef __FLT16_MAX__
typedef _Float16 hm_f16;
#else
typedef uint16_t hm_f16;
#endif
static inline float hm_float_of_bf16(hm_bf16 value) {
  uint32_t bits = (uint32_t)value << 16;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}
static inline hm_bf16 hm_bf16_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) return (hm_bf16)((bits >> 16) | 0x40);
  return (hm_bf16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
)";

// HM_WEI_TRANS, HM_KIND, ...: what the source is judged with.
std::string choices(const OpContract& contract, const Params& params) {
  std::string out;
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind != ParamKind::flag && spec.kind != ParamKind::choice) continue;
    std::string name(spec.name);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return 'a' <= c && c <= 'z' ? char(c - 'a' + 'A') : c; });
    out += "#define HM_" + name + ' ' + std::to_string(params.at(spec.name)) + '\n';
  }
  return out;
}

std::string types_of(Language language) {
  if (language != Language::cuda) return c_types;
  std::string out = "#include <stdint.h>\n";
  for (const char* name : {"cuda_bf16", "cuda_fp16", "cuda_runtime"}) {
    out += std::string("#include <") + name + ".h>\n";
  }
  return out;
}

}  // namespace

Language language_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".c") return Language::c;
  if (ending == ".cpp" || ending == ".cc" || ending == ".cxx") return Language::cpp;
  if (ending == ".cl") return Language::opencl;
  if (ending == ".cu") return Language::cuda;
  const std::string beginning = beginning_of(path);
  if (const FileKind* kind = kind_of(beginning); kind != nullptr && kind->id != "source") {
    throw other_kind(beginning, path, "a kernel's source (.c, .cpp, .cc, .cxx, .cl or .cu)");
  }
  throw refused("its ending says no language", path,
                "name it .c, .cpp, .cc, .cxx, .cl (OpenCL) or .cu (CUDA)");
}

std::vector<std::string> entry_sizes(const OpContract& contract) {
  std::vector<std::string> out;
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind == ParamKind::size) out.emplace_back(spec.name);
  }
  return out;
}

std::string entry_text(const OpContract& contract, const Params& params, Language language) {
  std::string out =
      std::string(language == Language::opencl ? "__kernel " : "") + "void " + entry_name + "(";
  for (const OperandSpec& operand : contract.operands(params)) {
    out += pointer_type(operand, language) + ' ' + operand.name + ", ";
  }
  const std::string size = language == Language::opencl ? "long " : "int64_t ";
  for (const std::string& name : entry_sizes(contract)) out += size + name + ", ";
  if (language == Language::cuda) return out + "cudaStream_t stream)";
  return out.substr(0, out.size() - 2) + ")";
}

std::string entry_header(const OpContract& contract, const Params& params, Language language) {
  const std::string entry = entry_text(contract, params, language);
  if (language == Language::opencl) {
    const bool has_f16 = std::ranges::any_of(
        contract.operands(params), [](const OperandSpec& o) { return o.dtype == Dtype::f16; });
    return (has_f16 ? "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" : "") +
           choices(contract, params) + entry + ";\n";
  }
  return types_of(language) + choices(contract, params) +
         "#ifdef __cplusplus\nextern \"C\"\n#endif\n" + entry + ";\n";
}

std::string entry_call(const OpContract& contract, const Params& params, Language language) {
  if (language == Language::opencl) return {};
  const bool is_cuda = language == Language::cuda;
  std::string call = std::string("  ") + entry_name + "(";
  std::size_t at = 0;
  for (const OperandSpec& operand : contract.operands(params)) {
    call += "(" + pointer_type(operand, language) + ")operands[" + std::to_string(at++) + "], ";
  }
  const std::size_t sizes = entry_sizes(contract).size();
  for (const auto i : indices(sizes)) call += "sizes[" + std::to_string(i) + "], ";
  call = is_cuda ? call + "stream" : call.substr(0, call.size() - 2);
  const std::string arguments = "void* const* operands, const int64_t* sizes";
  if (!is_cuda) return "extern \"C\" void hm_judged_run(" + arguments + ") {\n" + call + ");\n}\n";
  return "extern \"C\" __attribute__((visibility(\"default\"))) int hm_judged_run(" + arguments +
         ", cudaStream_t stream) {\n" + call + ");\n  return (int)cudaGetLastError();\n}\n";
}

}  // namespace halmark::judge
