#include "profile/trace/attribution.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "core/ranges.hpp"
#include "profile/trace/row_table.hpp"
#include "profile/trace/stages.hpp"

namespace halmark::trace {
namespace {

OperatorClass class_of(const Recording& recording, std::uint32_t name) {
  return name < recording.classes.size() ? recording.classes[name] : OperatorClass::annotation;
}

// Where the passes of the whole trace begin and end; threads without modules fall in by time.
class PassList {
 public:
  explicit PassList(std::vector<Pass>& passes) : passes_(passes) {}

  void enter_thread() {
    current_ = absent;
    roots_.clear();
  }
  // Outermost module: the same one again is the next pass.
  void root_called(const Span& span) {
    const bool is_known = contains(roots_, span.name);
    if (current_ == absent || is_known) begin(span, step_);
    roots_.push_back(span.name);
  }
  void step_begins(const Span& span, std::int64_t step) {
    step_ = step;
    step_end_ns_ = span.end_ns;
    begin(span, step);
  }
  void stage_begins(const Span& span, TraceStage stage) {
    if (current_ == absent || !roots_.empty() || passes_[current_].stage != TraceStage::unknown) {
      begin(span, step_);
    }
    passes_[current_].stage = stage;
    passes_[current_].stage_source = "annotation";
  }
  std::uint32_t current() const { return current_; }
  // For threads without modules of their own, once those with modules are through.
  void order_by_time() {
    for (std::uint32_t i = 0; i < passes_.size(); ++i)
      by_time_.emplace_back(passes_[i].begin_ns, i);
    std::ranges::sort(by_time_);
  }
  std::uint32_t at(std::int64_t ns) const {
    const auto after = std::ranges::upper_bound(by_time_, std::pair{ns, absent});
    return after == by_time_.begin() ? absent : std::prev(after)->second;
  }
  void extend(std::int64_t end_ns) {
    if (current_ == absent) return;
    passes_[current_].end_ns = std::max(passes_[current_].end_ns, end_ns);
  }

 private:
  void begin(const Span& span, std::optional<std::int64_t> step) {
    if (span.begin_ns >= step_end_ns_) step.reset();
    current_ = static_cast<std::uint32_t>(passes_.size());
    passes_.push_back({.begin_ns = span.begin_ns, .end_ns = span.begin_ns, .step = step});
    roots_.clear();
  }
  std::vector<Pass>& passes_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_time_;
  std::vector<std::uint32_t> roots_;
  std::optional<std::int64_t> step_;
  std::int64_t step_end_ns_ = INT64_MIN;
  std::uint32_t current_ = absent;
};

// One walk over the spans of a thread in the order of their begin, with the open ones on a stack.
class ThreadSweep {
 public:
  ThreadSweep(Recording& recording, Attribution& out, PassList& passes, RowTable& rows,
              std::vector<Launch>& launches,
              std::unordered_map<std::uint32_t, std::uint32_t>& external_rows)
      : recording_(recording),
        out_(out),
        passes_(passes),
        rows_(rows),
        launches_(launches),
        external_rows_(external_rows) {}

  void sweep(std::deque<Span>& spans, bool has_passes) {
    has_passes_ = has_passes;
    passes_.enter_thread();
    while (!spans.empty()) {
      const Span span = spans.front();
      spans.pop_front();
      while (!open_.empty() && open_.back().span.end_ns <= span.begin_ns) close();
      enter(span);
    }
    while (!open_.empty()) close();
    launches_.push_back({.kind = Launch::Kind::capture_end});
  }

 private:
  struct Open {
    Span span;
    std::uint32_t scope = 0;
    bool is_op = false, is_module = false;
    std::size_t first_terminal = 0, first_pending = 0;
  };
  // An operator that counts, until an operator around it claims its work.
  struct Terminal {
    std::uint32_t name, arguments, scope;
    OperatorClass of;
    std::int64_t host_ns;
    std::int64_t begin_ns;
  };
  struct Pending {
    Launch launch;
    std::uint32_t external_id;
    std::uint32_t terminal;
  };

  std::uint32_t scope() const { return open_.empty() ? 0 : open_.back().scope; }
  std::uint32_t pass_at(std::int64_t ns) const {
    return has_passes_ ? passes_.current() : passes_.at(ns);
  }

  void enter(const Span& span) {
    Open open{.span = span,
              .scope = scope(),
              .first_terminal = terminals_.size(),
              .first_pending = pending_.size()};
    switch (static_cast<SpanKind>(span.kind)) {
      case SpanKind::annotation:
        enter_annotation(span, open);
        break;
      case SpanKind::module:
        if (module_depth_++ == 0) passes_.root_called(span);
        open.is_module = true;
        open.scope = out_.scopes.child(open.scope, span.name, SpanKind::module);
        break;
      case SpanKind::function:
        if (!recording_.has_modules) {
          open.scope = out_.scopes.child(open.scope, span.name, SpanKind::function);
        }
        break;
      case SpanKind::op:
        open.is_op = true;
        ++op_depth_;
        break;
      case SpanKind::launch:
        launch(span);
        return;
    }
    passes_.extend(span.end_ns);
    open_.push_back(open);
  }

  void enter_annotation(const Span& span, Open& open) {
    const std::string& name = recording_.names[span.name];
    if (const auto step = step_of_annotation(name)) return passes_.step_begins(span, *step);
    const bool is_path = is_dotted_path(name);
    if (!is_path && module_depth_ == 0 && op_depth_ == 0) {
      if (const auto stage = stage_of_annotation(name)) return passes_.stage_begins(span, *stage);
    }
    // Beside modules, only an annotation that is a path belongs to the model.
    const bool is_scope = is_path || (!recording_.has_modules && name.find('#') == name.npos);
    if (is_scope) open.scope = out_.scopes.child(open.scope, span.name, SpanKind::annotation);
  }

  void launch(const Span& span) {
    const std::string& name = recording_.names[span.name];
    Launch out{.correlation = span.detail, .scope = scope(), .pass = pass_at(span.begin_ns)};
    if (name.find("GraphLaunch") != name.npos) out.kind = Launch::Kind::graph;
    if (name.find("BeginCapture") != name.npos) out.kind = Launch::Kind::capture_begin;
    if (name.find("EndCapture") != name.npos) out.kind = Launch::Kind::capture_end;
    if (op_depth_ == 0 || out.kind != Launch::Kind::plain) {
      launches_.push_back(out);
    } else {
      pending_.push_back({out, absent, absent});
    }
  }

  void close() {
    const Open open = open_.back();
    open_.pop_back();
    if (open.is_module) --module_depth_;
    if (!open.is_op) return;
    --op_depth_;
    close_operator(open);
    if (op_depth_ == 0) flush();
  }

  // Which of the operator and those that it called stand for its work.
  void close_operator(const Open& open) {
    const OperatorClass of = class_of(recording_, open.span.name);
    const auto inner = std::span(terminals_).subspan(open.first_terminal);
    const bool has_inner_formula =
        std::ranges::any_of(inner, [](const Terminal& t) { return has_formula(t.of); });
    const bool claims_all = inner.empty() || of == OperatorClass::communication ||
                            (has_formula(of) && !has_inner_formula);
    const bool launched_itself = std::any_of(
        pending_.begin() + static_cast<std::ptrdiff_t>(open.first_pending), pending_.end(),
        [](const Pending& p) { return p.terminal == absent && p.external_id == absent; });
    if (claims_all) terminals_.resize(open.first_terminal);
    if (claims_all || launched_itself) {
      const auto index = static_cast<std::uint32_t>(terminals_.size());
      terminals_.push_back({.name = open.span.name,
                            .arguments = open.span.detail,
                            .scope = open.scope,
                            .of = of,
                            .host_ns = claims_all ? open.span.end_ns - open.span.begin_ns : 0,
                            .begin_ns = open.span.begin_ns});
      for (std::size_t i = open.first_pending; i < pending_.size(); ++i) {
        if (claims_all || pending_[i].terminal == absent) pending_[i].terminal = index;
      }
      if (!recording_.has_launches && open.span.external_id != absent) {
        pending_.push_back({{}, open.span.external_id, index});
      }
    } else if (!recording_.has_launches && open.span.external_id != absent) {
      pending_.push_back({{}, open.span.external_id, absent});
    }
  }

  void flush() {
    if (terminals_.empty() && pending_.empty()) return;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> placed;  // row, execution
    for (const Terminal& t : terminals_) {
      const std::uint32_t pass = pass_at(t.begin_ns);
      const std::uint32_t row = rows_.row(pass, t.scope, t.name, t.arguments, t.of);
      ++rows_[row].count;
      rows_[row].host_ns += t.host_ns;
      out_.host_ns += t.host_ns;
      placed.emplace_back(row, execution_++);
    }
    for (const Pending& p : pending_) {
      Launch launch = p.launch;
      if (p.terminal != absent) {
        launch.row = placed[p.terminal].first;
        launch.execution = placed[p.terminal].second;
      }
      if (p.external_id == absent) {
        launches_.push_back(launch);
      } else if (p.terminal != absent) {
        external_rows_.emplace(p.external_id, launch.row);
      }
    }
    terminals_.clear();
    pending_.clear();
  }

  Recording& recording_;
  Attribution& out_;
  PassList& passes_;
  RowTable& rows_;
  std::vector<Launch>& launches_;
  std::unordered_map<std::uint32_t, std::uint32_t>& external_rows_;
  std::vector<Open> open_;
  std::vector<Terminal> terminals_;
  std::vector<Pending> pending_;
  std::uint32_t execution_ = 0;
  int module_depth_ = 0, op_depth_ = 0;
  bool has_passes_ = false;
};

bool starts_passes(const Recording& recording, const Thread& thread) {
  return std::ranges::any_of(thread.spans, [&](const Span& span) {
    const auto kind = static_cast<SpanKind>(span.kind);
    if (kind == SpanKind::module) return true;
    if (kind != SpanKind::annotation) return false;
    const std::string& name = recording.names[span.name];
    return step_of_annotation(name) || (!is_dotted_path(name) && stage_of_annotation(name));
  });
}

// The same operator with the same arguments costs the same wherever it runs.
void price(const Recording& recording, Attribution& out) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  out.costs.emplace_back();
  for (OperatorRow& row : out.rows) {
    if (!has_formula(row.of)) continue;
    const auto [it, is_new] =
        known.try_emplace({row.name, row.arguments}, static_cast<std::uint32_t>(out.costs.size()));
    if (is_new) {
      const std::string_view text =
          row.arguments == absent ? std::string_view{} : recording.arguments[row.arguments];
      out.costs.push_back(
          operator_cost(recording.names[row.name], parse_arguments(text, recording.where)));
    }
    row.cost = it->second;
  }
}

}  // namespace

Attribution attribute(Recording& recording) {
  Attribution out;
  PassList passes(out.passes);
  RowTable rows;
  std::vector<Launch> launches;
  std::unordered_map<std::uint32_t, std::uint32_t> external_rows;
  ThreadSweep sweep(recording, out, passes, rows, launches, external_rows);
  std::vector<Thread*> first, rest;
  for (Thread& thread : recording.threads) {
    (starts_passes(recording, thread) ? first : rest).push_back(&thread);
  }
  for (Thread* thread : first) sweep.sweep(thread->spans, true);
  passes.order_by_time();
  for (Thread* thread : rest) sweep.sweep(thread->spans, false);
  out.device = link_device_events(recording, launches, external_rows, rows);
  out.rows = rows.take();
  std::erase_if(out.rows, [](const OperatorRow& row) {
    return row.count == 0 && row.captured == 0 && row.kernels == 0;
  });
  std::ranges::stable_sort(out.rows, {}, &OperatorRow::pass);
  out.scopes.name_scopes(recording.names);
  price(recording, out);
  find_stages(out);
  return out;
}

}  // namespace halmark::trace
