// The fields of every message. `later` fields came after the first release: a message without them
// is complete.
#pragma once

#include "core/fields/fields.hpp"
#include "host/protocol.hpp"

namespace halmark::protocol {

template <class V, Of<Hello> M>
void fields(V& v, M& m) {
  v("protocol", m.protocol);
  v("token", m.token);
  v("arena_bytes", m.arena_bytes);
  v("memory_limit_bytes", m.memory_limit_bytes);
  v("cache_dir", m.cache_dir);
  v("rank", m.rank);
  v("pid", m.pid);
  v("build", m.build);
  v("cpus", m.cpus);
}
template <class V, Of<Load> M>
void fields(V& v, M& m) {
  v("path", m.path);
}
template <class V, Of<DeviceDescription> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("name", m.name);
  v("isa", m.isa);
  v("driver", m.driver);
  v("kind", m.kind);
  v("timer", m.timer);
  v("synchronous", m.synchronous);
  v("memory_bytes", m.memory_bytes);
  v("cache_bytes", m.cache_bytes);
  v("compute_units", m.compute_units);
  v("clock_hz_max", m.clock_hz_max);
}
template <class V, Of<KernelDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("op", m.op);
  v("collective", m.collective);
}
template <class V, Of<PluginDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("plugin_version", m.plugin_version);
  v("build", m.build);
  v("abi_version", m.abi_version);
  v("has_comm", m.has_comm);
  v("has_probe", m.has_probe);
  v("devices", m.devices);
  v("kernels", m.kernels);
  v("log", m.log);
}
template <class V, Of<Refused> M>
void fields(V& v, M& m) {
  v("reason", m.reason);
}
template <class V, Of<Open> M>
void fields(V& v, M& m) {
  v("device", m.device);
  v("options", m.options);
}
template <class V, Of<DomainsRequest> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("problem", m.problem);
}
template <class V, Of<DomainDescription> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("values", m.values);
  v("labels", m.labels);
  v("ordered", m.ordered);
  v("default_value", m.default_value);
}
template <class V, Of<DomainsAnswer> M>
void fields(V& v, M& m) {
  v("domains", m.domains);
}
template <class V, Of<SupportsRequest> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("problem", m.problem);
  v("configs", m.configs);
}
template <class V, Of<SupportsAnswer> M>
void fields(V& v, M& m) {
  v("status", m.status);
  v("reason", m.reason);
}
template <class V, Of<Stage> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("kernel", m.kernel);
  v("problem", m.problem);
  v("config", m.config);
  v("mode", m.mode);
  // What stands around a kernel is said by a sequence, not by its staging.
  v.check(m.mode != CacheMode::in_stack, "mode", "a cache mode of arguments");
  v("sets", m.sets);
  v("seed", m.seed);
  v("rank", m.rank);
  v("ranks", m.ranks);
  v("group", m.group);
  v.later("witness", m.witness);
}
template <class V, Of<StagedMemory> M>
void fields(V& v, M& m) {
  v("operand", m.operand);
  v("bytes", m.bytes);
  v("alignment", m.alignment);
  v("buffers", m.buffers);
  v("allocated_bytes", m.allocated_bytes);
  v("is_host", m.is_host);
}
template <class V, Of<Staged> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("kernel", m.kernel);
  v("implementation", m.implementation);
  v("one_time", m.one_time);
  v("workspace_bytes", m.workspace_bytes);
  v("constant_bytes", m.constant_bytes);
  v("sets", m.sets);
  v("nondeterministic", m.nondeterministic);
  v("constants_opaque", m.constants_opaque);
  v("constants_shared", m.constants_shared);
  v.later("witness", m.witness);
  v.later("memory", m.memory);
}
template <class V, Of<Drop> M>
void fields(V& v, M& m) {
  v("id", m.id);
}
template <class V, Of<Reveal> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("sets", m.sets);
  v("inputs_from", m.inputs_from);
  v("plain_ns", m.plain_ns);
}
template <class V, Of<RevealedPart> M>
void fields(V& v, M& m) {
  v("set", m.set);
  v("operand", m.operand);
  v("offset", m.offset);
  v("bytes", m.bytes);
}
template <class V, Of<Revealed> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("parts", m.parts);
  v("inputs_intact", m.inputs_intact);
  v("canaries_intact", m.canaries_intact);
  v("damage", m.damage);
  v("new_inputs_cost", m.new_inputs_cost);
}
template <class V, Of<SampleRule> M>
void fields(V& v, M& m) {
  v("stop", m.stop);
  v("count", m.count);
  v("min_samples", m.min_samples);
  v("max_samples", m.max_samples);
  v("ci_half_width", m.ci_half_width);
  v("min_sample_ns", m.min_sample_ns);
  v("repeat", m.repeat);
  v("warmup_cap_s", m.warmup_cap_s);
  v("budget_s", m.budget_s);
  v.later("disturbed_share", m.disturbed_share);
}
template <class V, Of<Barrier> M>
void fields(V& v, M& m) {
  v("parties", m.parties);
  v("index", m.index);
  v.later("meeting", m.meeting);
}
template <class V, Of<OutputChecks> M>
void fields(V& v, M& m) {
  v("executions", m.executions);
  v("rows", m.rows);
  v("seed", m.seed);
  v("behind_loop", m.behind_loop);
  v.later("redraws", m.redraws);
}
template <class V, Of<OverwrittenRow> M>
void fields(V& v, M& m) {
  v("operand", m.operand);
  v("row", m.row);
  v("from_row", m.from_row);
  v("shift", m.shift);
  v.later("whole", m.whole);
}
template <class V, Of<KeptOutput> M>
void fields(V& v, M& m) {
  v("sample", m.sample);
  v("set", m.set);
  v("operand", m.operand);
  v("begin", m.begin);
  v("bytes", m.bytes);
  v("offset", m.offset);
  v("at_once", m.at_once);
  v("overwritten", m.overwritten);
}
template <class V, Of<SampleRequest> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("rule", m.rule);
  v("wall_cap_s", m.wall_cap_s);
  v("barrier", m.barrier);
  v("pilot_only", m.pilot_only);
  v("checks_only", m.checks_only);
  v.later("checks", m.checks);
}
template <class V, Of<ClockPair> M>
void fields(V& v, M& m) {
  v("before", m.before);
  v("after", m.after);
}
template <class V, Of<Measured> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("stop_rule", m.stop_rule);
  v("repeat", m.repeat);
  v("samples", m.samples);
  v("signals", m.signals);
  v("clock_hz", m.clock_hz);
  v("peak_flops", m.peak_flops);
  v("environment", m.environment);
  v.later("kept", m.kept);
  v.later("overwritten", m.overwritten);
}
template <class V, Of<SequenceStep> M>
void fields(V& v, M& m) {
  v("id", m.id);
  v("set", m.set);
  v("advance", m.advance);
}
template <class V, Of<SequenceRequest> M>
void fields(V& v, M& m) {
  v("steps", m.steps);
  v("repeat", m.repeat);
  v("warmup", m.warmup);
  v("wall_cap_s", m.wall_cap_s);
  v("barrier", m.barrier);
  v("chains_activations", m.chains_activations);
  v("disturbed_share", m.disturbed_share);
}
template <class V, Of<ProbeRequest> M>
void fields(V& v, M& m) {
  v("kind", m.kind);
  v("path", m.path);
  v("isa", m.isa);
  v("threads", m.threads);
  v("windows", m.windows);
  v("window_ms", m.window_ms);
  v("working_set_bytes", m.working_set_bytes);
  v.later("barrier", m.barrier);
}
template <class V, Of<ProbeAnswer::Path> M>
void fields(V& v, M& m) {
  v("path", m.path);
  v("isa", m.isa);
  v("dtype", m.dtype);
}
template <class V, Of<ProbeAnswer> M>
void fields(V& v, M& m) {
  v("paths", m.paths);
  v("rates", m.rates);
  v("reason", m.reason);
  v.later("cpu_share", m.cpu_share);
}
template <class V, Of<MemoryAnswer> M>
void fields(V& v, M& m) {
  v("set_size_bytes", m.set_size_bytes);
  v("reason", m.reason);
  v("probe_bytes", m.probe_bytes);
}
template <class V, Of<TokenAnswer> M>
void fields(V& v, M& m) {
  v("hex", m.hex);
}
template <class V, Of<Join> M>
void fields(V& v, M& m) {
  v("token_hex", m.token_hex);
  v("rank", m.rank);
  v("size", m.size);
  v("group", m.group);
}
template <class V, Of<PhaseNote> M>
void fields(V& v, M& m) {
  v("phase", m.phase);
  v.unless_default("memory_limit", m.memory_limit);
}
template <class V, Of<Failed> M>
void fields(V& v, M& m) {
  v("code", m.code);
  v("phase", m.phase);
  v("message", m.message);
}

}  // namespace halmark::protocol
