// Traces written by hand: events as torch's exporter writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/comparison/comparison.hpp"
#include "profile/trace/attribution.hpp"
#include "tests/checkout.hpp"

namespace halmark::trace_test {

using namespace trace;

// Times in microseconds.
class TraceText {
 public:
  TraceText& op(std::string_view name, double begin, double duration, std::string_view dims = "",
                std::string_view values = "", int external_id = 0, int thread = 1) {
    std::string args = external_id > 0 ? "\"External id\": " + std::to_string(external_id) : "";
    if (!dims.empty()) {
      args += (args.empty() ? "" : ", ") + std::string("\"Input Dims\": ") + std::string(dims);
    }
    if (!values.empty()) args += ", \"Concrete Inputs\": " + std::string(values);
    return event("cpu_op", name, begin, duration, args, thread);
  }
  TraceText& module(std::string_view name, double begin, double duration) {
    return event("python_function", "nn.Module: " + std::string(name), begin, duration, "");
  }
  TraceText& frame(std::string_view name, double begin, double duration) {
    return event("python_function", name, begin, duration, "");
  }
  TraceText& annotation(std::string_view name, double begin, double duration) {
    return event("user_annotation", name, begin, duration, "");
  }
  TraceText& launch(int correlation, double begin, std::string_view name = "cudaLaunchKernel") {
    return event("cuda_runtime", name, begin, 1, "\"correlation\": " + std::to_string(correlation));
  }
  TraceText& kernel(std::string_view name, int correlation, double begin, double duration,
                    std::string_view more = "") {
    return event("kernel", name, begin, duration,
                 "\"correlation\": " + std::to_string(correlation) + std::string(more), 7);
  }
  TraceText& event(std::string_view category, std::string_view name, double begin, double duration,
                   const std::string& args, int thread = 1) {
    events_ += events_.empty() ? "\n" : ",\n";
    events_ += R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" +
               std::string(name) + R"(", "pid": 5, "tid": )" + std::to_string(thread) +
               ", \"ts\": " + std::to_string(begin) + ", \"dur\": " + std::to_string(duration) +
               ", \"args\": {" + args + "}}";
    return *this;
  }
  std::string text() const {
    return "{\"schemaVersion\": 1, \"traceEvents\": [" + events_ + "\n], \"traceName\": \"t\"}";
  }

 private:
  std::string events_;
};

struct Read {
  Recording recording;
  Attribution attribution;

  // Rows that ran, as "path name xCOUNT".
  std::vector<std::string> executed() const {
    std::vector<std::string> out;
    for (const OperatorRow& row : attribution.rows) {
      if (row.count == 0) continue;
      const std::string& path = attribution.scopes[row.scope].path;
      out.push_back((path.empty() ? "" : path + ' ') + recording.names[row.name] + " x" +
                    std::to_string(row.count));
    }
    return out;
  }
  double flops() const {
    double out = 0;
    for (const OperatorRow& row : attribution.rows) {
      out += attribution.cost_of(row).flops.value_or(0) * static_cast<double>(row.count);
    }
    return out;
  }
  const OperatorRow& row(std::string_view name) const {
    for (const OperatorRow& row : attribution.rows) {
      if (recording.names[row.name] == name) return row;
    }
    throw std::runtime_error("no row " + std::string(name));
  }
};

inline Read read_bytes(ByteSource& source, const CutLimits& limits = {}) {
  Read out{.recording = record(source, "t.json", limits)};
  out.attribution = attribute(out.recording);
  return out;
}
inline Read read_text(const std::string& text, const CutLimits& limits = {}) {
  return read_bytes(*bytes_of(text, "t.json"), limits);
}

inline std::string data_file(std::string_view name) {
  return test::in_source("/tests/data/") + std::string(name);
}

}  // namespace halmark::trace_test
