#include "judge/build.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <halmark_judged.hpp>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "judge/carried.hpp"
#include "judge/problems.hpp"

namespace halmark::judge {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& file, std::string_view bytes, bool appends = false) {
  std::ofstream out(file, std::ios::binary | (appends ? std::ios::app : std::ios::trunc));
  out << bytes;
  out.close();
  if (!out) {
    throw Error(ExitCode::error, "cannot write the file", file.string(), "free space there");
  }
}

// The kernel's name in its plugin: of the file, in the characters that names have.
std::string kernel_name(const std::string& file) {
  std::string out = fs::path(file).stem().string().substr(0, 48);
  std::ranges::replace_if(
      out, [](char c) { return !(('a' <= c && c <= 'z') || ('0' <= c && c <= '9')); }, '_');
  return out.empty() ? "kernel" : out;
}

// "s" of nothing: the linker's words for a source without its entry.
bool lacks_entry(const std::string& reason) {
  return reason.find(std::string("undefined reference to `") + entry_name + "'") !=
             std::string::npos ||
         reason.find(std::string("undefined symbol: ") + entry_name) != std::string::npos;
}

class Build {
 public:
  Build(const Source& source, std::span<const Problem> problems, const BuildRequest& request)
      : source_(source),
        request_(request),
        contract_(*find_contract(problems.front().op)),
        params_(problems.front().params),
        text_(carried_text(
            contract_, problems,
            {.kernel = kernel_name(source.name),
             .source = source.name,
             .launch = source.language == Language::opencl ? launch_statement(source.text) : ""})) {
  }

  Result<Built, BuildFailure> run() {
    const auto begin = SteadyClock::now();
    std::optional<BuildFailure> failure;
    switch (source_.language) {
      case Language::opencl:
        copy_machinery(entry_header(contract_, params_, source_.language) + "#line 1 \"" +
                       source_.name + "\"\n" + source_.text);
        break;
      case Language::cuda:
        failure = build_cuda();
        break;
      default:
        failure = build_host();
    }
    if (failure) return *failure;
    built_.plugin_path = plugin().string();
    built_.seconds = seconds_since(begin);
    return built_;
  }

 private:
  fs::path at(std::string_view name) const { return fs::path(request_.folder) / name; }
  fs::path plugin() const { return at("hm_judged.so"); }

  void add_to_plugin(const std::string& code) const {
    namespace judged = plugin::judged;
    write_file(plugin(), text_ + code + judged::footer(text_.size(), code.size()), true);
  }

  void copy_machinery(const std::string& code) const {
    fs::copy_file(request_.machinery_path, plugin(), fs::copy_options::overwrite_existing);
    fs::permissions(plugin(), fs::perms::owner_all);
    add_to_plugin(code);
  }

  std::optional<BuildFailure> compile(const std::string& program,
                                      std::vector<std::string> arguments) {
    for (const std::string& option : request_.options) arguments.push_back(option);
    auto output = run_compiler(program, arguments, request_.limits, request_.folder);
    if (output) return std::nullopt;
    output.failure.reason = with_own_name(output.failure.reason);
    if (lacks_entry(output.failure.reason)) {
      output.failure.reason = source_.path + ": it has no entry; it must define " +
                              entry_text(contract_, params_, source_.language);
    }
    return output.failure;
  }

  // As the user named it: the compiler has it from the root.
  std::string with_own_name(std::string text) const {
    const std::string path = fs::absolute(source_.path).string();
    for (std::size_t at = text.find(path); at != std::string::npos;
         at = text.find(path, at + source_.path.size())) {
      text.replace(at, path.size(), source_.path);
    }
    return text;
  }

  std::optional<BuildFailure> build_host() {
    const bool is_c = source_.language == Language::c;
    const std::string cpp = find_compiler("CXX", {"g++", "c++", "clang++"});
    const std::string own = is_c ? find_compiler("CC", {"gcc", "cc", "clang"}) : cpp;
    if (cpp.empty() || own.empty()) {
      throw unfit(
          std::string("no compiler of ") + (is_c && !cpp.empty() ? "C" : "C++") + " was found",
          "install g++, or name it in CXX (and CC)");
    }
    write_file(at("host_plugin.o"), host_object());
    write_file(at("halmark_plugin.map"), symbol_map());
    write_file(at("judged_kernel.h"), entry_header(contract_, params_, source_.language));
    write_file(at("judged_entry.cpp"),
               "#include \"judged_kernel.h\"\n" + entry_call(contract_, params_, source_.language));
    const std::vector<std::string> both = {
        "-O3", "-march=native", "-fopenmp", "-fPIC", "-fvisibility=hidden", "-Wfatal-errors", "-w"};
    std::vector<std::string> first = {"-c",       is_c ? "-std=gnu17" : "-std=c++20",
                                      "-include", at("judged_kernel.h").string(),
                                      "-o",       at("source.o").string()};
    append_all(first, both);
    first.push_back(fs::absolute(source_.path).string());
    built_.compiler = own + " -O3 -march=native -fopenmp";
    if (auto failure = compile(own, first)) return failure;
    std::vector<std::string> second = {"-shared",
                                       "-std=c++20",
                                       "-O1",
                                       "-fPIC",
                                       "-fopenmp",
                                       "-w",
                                       "-fvisibility=hidden",
                                       "-o",
                                       plugin().string(),
                                       at("host_plugin.o").string(),
                                       at("judged_entry.cpp").string(),
                                       at("source.o").string(),
                                       "-Wl,--no-undefined",
                                       "-Wl,-z,now",
                                       "-Wl,--version-script=" + at("halmark_plugin.map").string(),
                                       "-ldl",
                                       "-lpthread",
                                       "-lm"};
    if (auto failure = compile(cpp, second)) return failure;
    add_to_plugin({});
    return std::nullopt;
  }

  // From compute capability 9.0 on the instructions of matrix units belong to one architecture.
  std::string code_option() const {
    const std::string number = request_.architecture.substr(3);
    const std::string exact = number + (number.size() > 2 || number >= "90" ? "a" : "");
    return "-gencode=arch=compute_" + exact + ",code=sm_" + exact;
  }

  std::optional<BuildFailure> build_cuda() {
    const std::string nvcc = find_compiler("NVCC", {"nvcc", "/usr/local/cuda/bin/nvcc"});
    if (nvcc.empty()) {
      throw unfit("nvcc was not found: a .cu source needs the CUDA toolkit",
                  "install it, or name nvcc in NVCC or PATH");
    }
    write_file(at("judged_kernel.h"), entry_header(contract_, params_, source_.language));
    write_file(at("judged_entry.cu"),
               "#include \"judged_kernel.h\"\n" + entry_call(contract_, params_, source_.language));
    built_.compiler = nvcc + " -O3 " + code_option();
    const fs::path library = at("kernel.so");
    if (auto failure =
            compile(nvcc, {"-shared", "-O3", "-std=c++17", code_option(), "-Xcompiler",
                           "-fPIC,-fvisibility=hidden", "-w", "-Xlinker", "--no-undefined",
                           "-I" + request_.folder, "-include", at("judged_kernel.h").string(), "-o",
                           library.string(), fs::absolute(source_.path).string(),
                           at("judged_entry.cu").string()})) {
      return failure;
    }
    copy_machinery(read_input(library.string(), plugin_input));
    return std::nullopt;
  }

  const Source& source_;
  const BuildRequest& request_;
  const OpContract& contract_;
  const Params& params_;
  const std::string text_;
  Built built_;
};

}  // namespace

Source read_source(const std::string& path) {
  const Language language = language_of(path);
  return {.path = path,
          .name = fs::path(path).filename().string(),
          .text = read_input(path, source_input),
          .language = language};
}

const char* backend_of(Language language) {
  switch (language) {
    case Language::opencl:
      return "opencl";
    case Language::cuda:
      return "cuda";
    default:
      return "cpu";
  }
}

Result<Built, BuildFailure> build_plugin(const Source& source, std::span<const Problem> problems,
                                         const BuildRequest& request) {
  return Build(source, problems, request).run();
}

}  // namespace halmark::judge
