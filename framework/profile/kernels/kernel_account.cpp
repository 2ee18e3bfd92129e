#include "profile/kernels/kernel_account.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "core/lists.hpp"
#include "profile/kernels/kernel_category.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/estimate.hpp"

namespace halmark {
namespace {

Work scaled(Work work, double share) {
  for (double* figure :
       {&work.matmul_flops, &work.vector_flops, &work.bytes_read, &work.bytes_written,
        &work.constant_bytes, &work.message_bytes, &work.transfer_bytes}) {
    *figure *= share;
  }
  return work;
}

KernelBucket bucket_of(BindingStatus status) {
  switch (status) {
    case BindingStatus::overhead:
      return KernelBucket::overhead;
    case BindingStatus::unknown:
      return KernelBucket::unknown;
    default:
      return KernelBucket::assigned;
  }
}

class RowAccount {
 public:
  RowAccount(const ProfiledKernel& time, const KernelBinding& binding, const OperatorGraph& graph,
             const std::optional<Device>& device, ShardShare share)
      : binding_(binding), graph_(graph), device_(device), share_(share) {
    out_.time = time;
    out_.status = binding.status;
    out_.bucket = bucket_of(binding.status);
    out_.how = binding.how;
    for (const BoundOperator& bound : binding.operators) {
      out_.operators.push_back(operator_at(bound.index).name);
    }
    for (const std::int32_t i : binding.candidates) {
      out_.candidates.push_back(operator_at(i).name);
    }
  }

  AccountedKernel account() {
    take_work();
    take_dtype();
    take_peak();
    take_floor();
    judge();
    if (!out_.mfu && out_.reason.empty()) out_.reason = "no matrix product";
    return std::move(out_);
  }

 private:
  const Operator& operator_at(std::int32_t i) const { return graph_.operators[as_size(i)]; }

  // The row's own precision wins, then its category's, then the operator's.
  Dtype compute_dtype(const Operator& op) const {
    if (out_.time.dtype) return *out_.time.dtype;
    const KernelCategory* category = find_kernel_category(out_.time.category);
    const bool is_stated =
        category != nullptr && category->dtype && !is_same_class(*category->dtype, op.dtype);
    return is_stated ? *category->dtype : op.dtype;
  }

  void take_work() {
    for (const BoundOperator& bound : binding_.operators) {
      const Operator& op = operator_at(bound.index);
      Work work = scaled(op.rank_work, bound.share);
      work.compute_dtype = compute_dtype(op);
      works_.push_back(work);
    }
    if (!works_.empty()) {
      out_.flops = out_.bytes = 0;
      for (const Work& work : works_) {
        *out_.flops += work.matmul_flops;
        *out_.bytes += work.bytes();
      }
    }
    if (out_.status == BindingStatus::unpriced) out_.flops = 0;
    if (out_.time.flops) out_.flops = out_.time.flops;
    if (out_.time.bytes) out_.bytes = out_.time.bytes;
  }

  void take_dtype() {
    out_.dtype = out_.time.dtype;
    const KernelCategory* category = find_kernel_category(out_.time.category);
    if (!out_.dtype && category != nullptr) out_.dtype = category->dtype;
    for (const Work& work : works_) {
      if (work.matmul_flops > 0 || works_.size() == 1) {
        out_.dtype = work.compute_dtype;
        break;
      }
    }
  }

  std::optional<double> peak_of(Dtype dtype) {
    auto peak = shard_peak(*device_, dtype, share_);
    if (!peak && dtype == Dtype::f32) peak = shard_peak(*device_, Dtype::tf32, share_);
    if (!peak) {
      out_.reason = "no peak for " + std::string(dtype_name(dtype)) + " on " + device_->id;
    }
    return peak;
  }

  // Its FLOPs at the peaks of its precisions. FLOPs that the row states replace the operators'.
  std::optional<double> ideal_ns() {
    if (out_.time.flops) {
      if (!out_.dtype) return out_.reason = "the row states FLOPs without a dtype", std::nullopt;
      const auto peak = peak_of(*out_.dtype);
      return peak ? std::optional(*out_.flops / *peak * 1e9) : std::nullopt;
    }
    double ns = 0;
    for (const Work& work : works_) {
      if (work.matmul_flops <= 0) continue;
      const auto peak = peak_of(work.compute_dtype);
      if (!peak) return std::nullopt;
      ns += work.matmul_flops / *peak * 1e9;
    }
    return ns;
  }

  void take_peak() {
    if (!out_.flops) {
      out_.reason = out_.status == BindingStatus::ambiguous ? "ambiguous" : "no operator";
      return;
    }
    if (*out_.flops <= 0) return;
    if (!device_) {
      out_.reason = "no device named (--device)";
      return;
    }
    if (out_.dtype) out_.peak_flops_per_s = peak_of(*out_.dtype);
    out_.ideal_ns = ideal_ns();
    if (!out_.ideal_ns) return;
    if (out_.time.duration_ps == 0) {
      out_.reason = "no time";
      return;
    }
    out_.mfu = *out_.ideal_ns * 1e3 / as_double(out_.time.duration_ps);
  }

  // One kernel overlaps its products with its memory traffic, also where it fuses operators.
  void take_floor() {
    if (!device_ || works_.empty()) return;
    double memory_ns = 0, transfer_bytes = 0, bytes = 0;
    for (const Work& work : works_) {
      Work traffic = work;
      traffic.matmul_flops = 0;
      const auto floor = roofline_estimate(traffic, *device_, share_);
      if (!floor) return;
      memory_ns += floor->memory_ns;
      transfer_bytes += passed_bytes(work);
      bytes += work.bytes();
    }
    if (out_.time.bytes && bytes > 0) memory_ns *= *out_.time.bytes / bytes;
    if (transfer_bytes > 0) return take_communication(transfer_bytes, memory_ns);
    if (*out_.flops > 0 && !out_.ideal_ns) return;
    const double compute_ns = out_.ideal_ns.value_or(0);
    out_.floor_ns = std::max(compute_ns, memory_ns);
    const bool is_tiny = *out_.floor_ns < launch_floor_ns * as_double(out_.time.count);
    out_.bound = is_tiny ? "launch" : compute_ns > memory_ns ? "compute" : "memory";
  }

  // What the link has to carry: of a sum in a switch that adds, its message alone.
  double passed_bytes(const Work& work) const {
    const bool adds = !device_->links.empty() && device_->links.front().reduces_in_switch;
    return adds && work.exchange == Exchange::reduce ? work.message_bytes : work.transfer_bytes;
  }

  void take_communication(double transfer_bytes, double memory_ns) {
    out_.bound = "communication";
    out_.floor_ns = memory_ns;
    if (device_->links.empty()) return;
    const Link& link = device_->links.front();
    const double bytes_per_s = link.bytes_per_s_high.value_or(link.bytes_per_s);
    out_.floor_ns = std::max(memory_ns, transfer_bytes / bytes_per_s * 1e9);
  }

  // By what is provable alone: fused operators need the resources that they share one after the
  // other, and may use different ones at the same time.
  void judge() {
    if (!device_ || share_.parts != 1 || out_.time.duration_ps == 0) return;
    const roofline::Ceilings ceilings(*device_, share_.threads);
    double memory_ns = 0, link_ns = 0;
    for (const auto i : indices(works_)) {
      const Problem& problem = operator_at(binding_.operators[i].index).local;
      const roofline::Bound bound = roofline::step_bound(problem, works_[i], ceilings);
      memory_ns += bound.ns(Limiter::memory);
      link_ns += bound.ns(Limiter::communication);
    }
    if (out_.time.bytes) memory_ns = 0;
    const std::array parts{std::pair{out_.ideal_ns.value_or(0), roofline::Level::compute},
                           std::pair{memory_ns, roofline::Level::memory},
                           std::pair{link_ns, roofline::Level::link}};
    roofline::Bound bound;
    for (const auto& [ns, level] : parts) {
      if (ns > 0) bound.add({.amount = ns, .per_s = 1e9, .level = level});
    }
    out_.lower_bound_ns = bound.ns();
    const auto why = roofline::quarantine(bound, as_double(out_.time.duration_ps) / 1e3);
    if (!why) return;
    out_.is_quarantined = true;
    out_.mfu.reset();
    out_.reason = *why;
  }

  const KernelBinding& binding_;
  const OperatorGraph& graph_;
  const std::optional<Device>& device_;
  ShardShare share_;
  std::vector<Work> works_;
  AccountedKernel out_;
};

void add_time(const AccountedKernel& row, KernelAccount& account) {
  std::int64_t& bucket = row.bucket == KernelBucket::assigned   ? account.assigned_ps
                         : row.bucket == KernelBucket::overhead ? account.overhead_ps
                                                                : account.unknown_ps;
  bucket += row.time.duration_ps;
}

void count_quarantined(KernelAccount& account) {
  QuarantinedTimes& out = account.quarantined;
  out.asked = account.rows.size();
  for (const AccountedKernel& row : account.rows) {
    if (!row.is_quarantined || ++out.kernels > 1) continue;
    out.problem =
        row.layer_type + ' ' + (row.time.name.empty() ? row.time.category : row.time.name);
    out.source = row.time.where;
    out.ns = as_double(row.time.duration_ps) / 1e3;
    out.lower_bound_ns = row.lower_bound_ns;
    out.reason = row.reason + "; measured by others: " + row.time.where;
  }
}

// Rows whose work is not known, and those whose time cannot be true, leave the whole without a
// figure: leaving them out would flatter it.
void take_whole(KernelAccount& account) {
  double ideal_ps = 0;
  std::size_t unresolved = 0;
  for (const AccountedKernel& row : account.rows) {
    account.is_lower_bound |= row.status == BindingStatus::unknown && row.time.duration_ps > 0;
    if (row.is_quarantined) {
      ++unresolved;
      if (account.reason.empty()) account.reason = row.reason;
    } else if (row.ideal_ns) {
      ideal_ps += *row.ideal_ns * 1e3;
    } else if (row.status == BindingStatus::ambiguous || row.flops.value_or(0) > 0) {
      ++unresolved;
      if (account.reason.empty()) account.reason = row.reason;
    }
  }
  if (unresolved > 0) {
    account.reason = std::to_string(unresolved) + " rows without a figure: " + account.reason;
  } else {
    account.mfu = ideal_ps / as_double(account.total_ps);
  }
}

}  // namespace

std::string_view kernel_bucket_name(KernelBucket bucket) {
  switch (bucket) {
    case KernelBucket::assigned:
      return "assigned";
    case KernelBucket::overhead:
      return "overhead";
    case KernelBucket::unknown:
      return "unknown";
  }
  return "";
}

KernelAccount account_kernels(const KernelProfile& table, const OperatorGraph& graph,
                              const std::optional<Device>& device, ShardShare share) {
  KernelAccount out;
  for (const KernelLayer& layer : table.layers) {
    const BoundLayer bound = bind_kernels(layer, graph);
    const LayerType& type = graph.layer_types[as_size(bound.layer_type)];
    for (const auto i : indices(layer.kernels)) {
      AccountedKernel row =
          RowAccount(layer.kernels[i], bound.kernels[i], graph, device, share).account();
      row.layer_type = type.name;
      row.layer_where = layer.where;
      add_time(row, out);
      out.rows.push_back(std::move(row));
    }
    const std::int64_t rows_ps = layer.kernels_ps();
    const std::int64_t total_ps = std::max(rows_ps, layer.total_ps.value_or(rows_ps));
    out.between_kernels_ps += total_ps - rows_ps;
    out.overhead_ps += total_ps - rows_ps;
    out.total_ps += total_ps;
    for (const std::int32_t i : bound.unmeasured) {
      out.unmeasured.push_back(type.name + '.' + graph.operators[as_size(i)].name);
    }
  }
  if (out.assigned_ps + out.overhead_ps + out.unknown_ps != out.total_ps) {
    throw std::logic_error("kernel times are not conserved");
  }
  count_quarantined(out);
  take_whole(out);
  return out;
}

}  // namespace halmark
