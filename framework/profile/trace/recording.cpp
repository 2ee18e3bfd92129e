#include "profile/trace/recording.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/error.hpp"

namespace halmark::trace {
namespace {

constexpr std::string_view module_prefix = "nn.Module: ";

enum class Category { other, op, annotation, python, runtime, device };

// Names that Kineto has had for them over the years. Every backend has a runtime, some a driver.
Category category_of(std::string_view text) {
  if (text.ends_with("_runtime") || text.ends_with("_driver")) return Category::runtime;
  struct Name {
    std::string_view text;
    Category category;
  };
  static constexpr std::array names = {
      Name{"cpu_op", Category::op},          Name{"python_function", Category::python},
      Name{"kernel", Category::device},      Name{"user_annotation", Category::annotation},
      Name{"gpu_memcpy", Category::device},  Name{"gpu_memset", Category::device},
      Name{"Operator", Category::op},        Name{"Kernel", Category::device},
      Name{"Memcpy", Category::device},      Name{"Memset", Category::device},
      Name{"Runtime", Category::runtime},    Name{"runtime", Category::runtime},
      Name{"python_func", Category::python},
  };
  const auto* it = std::ranges::find(names, text, &Name::text);
  return it == names.end() ? Category::other : it->category;
}

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls that put work on a device, and those that bracket the capture of a graph, by their names:
// launches though no device event has their number. What has one is a launch whatever it is called.
bool is_named_launch(std::string_view name) {
  return has_part(name, "Launch") || has_part(name, "MemcpyAsync") ||
         has_part(name, "MemsetAsync") || has_part(name, "BeginCapture") ||
         has_part(name, "EndCapture") || name == "cudaMemcpy" || name == "cudaMemset" ||
         name == "hipMemcpy" || name == "hipMemset";
}

// Frames of the interpreter, of torch itself and of built-in functions say nothing about a model.
bool is_model_function(std::string_view name) {
  return !name.starts_with('<') && !name.starts_with("torch/") && !has_part(name, "/torch/") &&
         has_part(name, ".py(") && name.ends_with(": forward");
}

// "Qwen3DecoderLayer_3": some exporters drop the prefix.
bool is_class_with_number(std::string_view name) {
  const std::size_t bar = name.rfind('_');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return bar != std::string_view::npos && bar + 1 < name.size() && name[0] >= 'A' &&
         name[0] <= 'Z' && std::ranges::all_of(name.substr(bar + 1), is_digit);
}

class Recorder {
 public:
  explicit Recorder(Recording& out) : out_(out) {}

  void take(const Event& event) {
    if (event.phase != 'X') {
      ++out_.undated_events;
      return;
    }
    const Category category = category_of(event.category);
    count(event, category == Category::other ? out_.unread_events : out_.read_events);
    switch (category) {
      case Category::op:
        return take_operator(event);
      case Category::annotation:
        return keep(event, SpanKind::annotation, out_.names.intern(event.name));
      case Category::python:
        return take_frame(event);
      case Category::runtime:
        return take_launch(event);
      case Category::device:
        return take_device(event);
      case Category::other:
        return;
    }
  }

 private:
  static void count(const Event& event,
                    std::map<std::string, std::uint64_t, std::less<>>& by_category) {
    const auto known = by_category.find(event.category);
    if (known != by_category.end()) {
      ++known->second;
    } else {
      constexpr std::size_t categories_max = 1000;
      const bool is_one_more = by_category.size() < categories_max;
      ++by_category[is_one_more ? std::string(event.category) : "other categories"];
    }
  }

  void take_operator(const Event& event) {
    ++out_.operators;
    const std::uint32_t name = out_.names.intern(event.name);
    if (name >= out_.classes.size()) out_.classes.resize(name + 1, OperatorClass::annotation);
    if (name >= is_classified_.size()) is_classified_.resize(name + 1, false);
    if (!is_classified_[name]) {
      out_.classes[name] = classify(event.name);
      is_classified_[name] = true;
    }
    const OperatorClass of = out_.classes[name];
    if (!event.input_dims.empty()) out_.has_shapes = true;
    if (of == OperatorClass::free) return;
    if (of == OperatorClass::annotation) return keep(event, SpanKind::annotation, name);
    std::uint32_t arguments = absent;
    if (has_formula(of) && !event.input_dims.empty()) {
      text_.assign(event.input_dims);
      text_ += '\x1e';
      text_ += event.input_types;
      text_ += '\x1e';
      text_ += event.concrete_inputs;
      arguments = out_.arguments.intern(text_);
    }
    keep(event, SpanKind::op, name, arguments);
  }

  void take_frame(const Event& event) {
    if (event.name.starts_with(module_prefix)) {
      out_.has_modules = true;
      Event module = event;
      module.name.remove_prefix(module_prefix.size());
      keep(module, SpanKind::module, out_.names.intern(module.name));
    } else if (is_class_with_number(event.name)) {
      out_.has_modules = true;
      keep(event, SpanKind::module, out_.names.intern(event.name));
    } else if (is_model_function(event.name)) {
      keep(event, SpanKind::function, out_.names.intern(event.name));
    }
  }

  void take_launch(const Event& event) {
    if (!event.correlation) return;
    keep(event, SpanKind::launch, out_.names.intern(event.name), short_id(event.correlation));
  }

  void take_device(const Event& event) {
    out_.device_events.push_back({.begin_ns = event.begin_ns,
                                  .duration_ns = event.duration_ns,
                                  .correlation = short_id(event.correlation),
                                  .external_id = short_id(event.external_id),
                                  .name = out_.names.intern(event.name),
                                  .graph_node = short_id(event.graph_node)});
  }

  static std::uint32_t short_id(std::optional<std::uint64_t> id) {
    return id && *id < absent ? static_cast<std::uint32_t>(*id) : absent;
  }

  void keep(const Event& event, SpanKind kind, std::uint32_t name, std::uint32_t detail = absent) {
    constexpr std::uint32_t spans_max = (1u << 29) - 1;
    if (order_ == spans_max) {
      throw refused("has more than " + std::to_string(spans_max) + " operators and scopes",
                    out_.where, "profile fewer steps");
    }
    thread_of(event).spans.push_back({.begin_ns = event.begin_ns,
                                      .end_ns = event.begin_ns + event.duration_ns,
                                      .detail = detail,
                                      .external_id = short_id(event.external_id),
                                      .name = name,
                                      .order = order_++ & spans_max,
                                      .kind = static_cast<std::uint32_t>(kind) & 7u});
  }

  // Events of one thread stand together, so the last one is nearly always the right one.
  Thread& thread_of(const Event& event) {
    key_.assign(event.process);
    key_ += '/';
    key_ += event.thread;
    if (last_ < out_.threads.size() && out_.threads[last_].name == key_) return out_.threads[last_];
    constexpr std::size_t threads_max = 4096;
    const auto [it, is_new] = thread_index_.try_emplace(key_, out_.threads.size());
    if (is_new) {
      if (out_.threads.size() == threads_max) {
        throw refused("has more than " + std::to_string(threads_max) + " threads", out_.where);
      }
      out_.threads.push_back({.name = key_});
    }
    last_ = it->second;
    return out_.threads[last_];
  }

  Recording& out_;
  std::unordered_map<std::string, std::size_t> thread_index_;
  std::size_t last_ = 0;
  std::uint32_t order_ = 0;
  std::vector<bool> is_classified_;
  std::string key_, text_;
};

bool encloses(const Span& a, const Span& b) {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.order < b.order;
}

}  // namespace

std::uint32_t TextTable::intern(std::string_view text) {
  const auto it = index_.find(text);
  if (it != index_.end()) return it->second;
  constexpr std::size_t bytes_max = 64u << 20;
  constexpr std::size_t entry_bytes = 96;
  bytes_ += text.size() + entry_bytes;
  if (bytes_ > bytes_max) {
    throw refused("the trace names more than 64 MiB of different operators and shapes", {},
                  "profile fewer steps");
  }
  const auto index = static_cast<std::uint32_t>(texts_.size());
  index_.emplace(texts_.emplace_back(text), index);
  return index;
}

namespace {

// Of all calls those stay that launched something: a device event has their number, or their name
// says so.
void keep_launches(Recording& recording) {
  std::vector<std::uint32_t> ran;
  for (const DeviceEvent& event : recording.device_events) ran.push_back(event.correlation);
  std::ranges::sort(ran);
  std::unordered_map<std::uint32_t, bool> is_named;
  for (Thread& thread : recording.threads) {
    std::erase_if(thread.spans, [&](const Span& span) {
      if (static_cast<SpanKind>(span.kind) != SpanKind::launch) return false;
      const auto [known, is_new] = is_named.try_emplace(span.name, false);
      if (is_new) known->second = is_named_launch(recording.names[span.name]);
      const bool launched =
          known->second || (span.detail != absent && std::ranges::binary_search(ran, span.detail));
      recording.has_launches = recording.has_launches || launched;
      return !launched;
    });
  }
}

}  // namespace

Recording record(ByteSource& source, const std::string& where, const CutLimits& limits) {
  Recording out{.where = where};
  Recorder recorder(out);
  out.totals = read_events(
      source, where, [&](const Event& event) { recorder.take(event); }, limits);
  keep_launches(out);
  for (Thread& thread : out.threads) {
    if (!std::ranges::is_sorted(thread.spans, encloses)) std::ranges::sort(thread.spans, encloses);
  }
  return out;
}

}  // namespace halmark::trace
