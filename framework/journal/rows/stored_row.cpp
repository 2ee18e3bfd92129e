#include "journal/rows/stored_row.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "core/text/digest.hpp"
#include "journal/rows/row_codec.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {

Entry entry_of(const Measurement& m) {
  Json body = m;
  const auto is_empty = [](const std::vector<double>& series) { return series.empty(); };
  if (m.samples.empty() && std::ranges::all_of(m.shard_wall_ns, is_empty)) {
    return {"measurement", m.kernel_case.key(), dump_json(body), {}, false};
  }
  std::string block = pack_samples(m);
  name_block(body, m, block);
  return {"measurement", m.kernel_case.key(), dump_json(body), std::move(block), true};
}

Entry entry_of(const Evaluation& e) {
  return {"evaluation", e.configuration.key(), dump_json(Json(e)), {}, false};
}

Entry entry_of(const Validation& v) {
  return {"validation", v.deployment_key, dump_json(validation_json(v)), {}, false};
}

Entry entry_of(const Winner& w) {
  return {"winner", winner_key(w.question), dump_json(Json(w)), {}, false};
}

Entry entry_of(const Duet& d) {
  return {"duet", d.kernel_case.key(), dump_json(Json(d)), {}, false};
}

Entry entry_of(const Doubt& d) {
  return {"doubt", d.case_key, dump_json({{"round", d.round}, {"reason", d.reason}}), {}, false};
}

Entry entry_of(const UsedPeaks& p) {
  Json body = {{"device_text", p.device_text}, {"threads", p.threads}};
  // Absent where a run has one device, as in all earlier rows.
  if (!p.devices.empty()) body["devices"] = p.devices;
  return {"peaks", "", dump_json(body), {}, false};
}

Entry entry_of(const RunMachine& m) {
  Json body = {{"lines", m.lines}};
  // Absent outside of nights, as in all earlier rows.
  if (!m.build.empty()) body["build"] = m.build;
  if (m.ends_night) body["ends_night"] = true;
  return {"machine", "", dump_json(body), {}, false};
}

Entry entry_of(const Untried& u) {
  return {"untried", std::string(phase_name(u.phase)), dump_json(Json(u)), {}, false};
}

Entry entry_of(const Retirement& r) {
  return {"retirement",
          "",
          dump_json({{"policy", r.policy},
                     {"retired_utc", r.retired_utc},
                     {"rows", r.samples.rows},
                     {"bytes", r.samples.bytes}}),
          {},
          false};
}

std::string columns_with_block(int version) {
  return std::string(entry_columns) +
         (version < blocks_version
              ? ""
              : ", (SELECT bytes FROM sample_block WHERE sample_block.entry = entry.id)");
}

std::string StoredRow::bytes() const {
  return encode({run, kind, key, body, samples, has_samples});
}

StoredRow row_of(SQLite::Statement& query) {
  StoredRow out{.id = query.getColumn(0).getInt64(),
                .run = query.getColumn(1).getInt64(),
                .checksum = query.getColumn(6).getInt64(),
                .kind = query.getColumn(2).getString(),
                .key = query.getColumn(3).getString(),
                .body = query.getColumn(4).getString(),
                .chain = query.getColumn(7).getString()};
  const SQLite::Column blob = query.getColumn(5);
  out.has_samples = !blob.isNull();
  if (out.has_samples) out.samples = blob.getString();
  if (query.getColumnCount() > 8 && !query.getColumn(8).isNull()) {
    out.block = query.getColumn(8).getString();
  }
  return out;
}

namespace {

std::string encode(const RunInfo& run) {
  Encoder encoder;
  encoder.text(run.command).text(run.plan_hash).text(run.plan_text).text(run.fingerprint);
  encoder.text(run.tool_version).text(run.tool_build).text(run.started_utc);
  return encoder.bytes();
}

}  // namespace

std::string chain_start(const RunInfo& run) { return sha256_of(encode(run)); }

std::int64_t run_checksum(const RunInfo& run) {
  return static_cast<std::int64_t>(xxh3_of(encode(run)));
}

void bind_run(SQLite::Statement& insert, std::optional<std::int64_t> id, const RunInfo& run,
              const std::string& chain) {
  int column = 0;
  id ? insert.bind(++column, *id) : insert.bind(++column);
  insert.bind(++column, chain);
  insert.bind(++column, run_checksum(run));
  for (const std::string* text : {&run.command, &run.plan_hash, &run.plan_text, &run.fingerprint,
                                  &run.tool_version, &run.tool_build, &run.started_utc}) {
    insert.bind(++column, *text);
  }
}

RunInfo run_info_of(SQLite::Statement& query, int first) {
  const auto text = [&](int i) { return query.getColumn(first + i).getString(); };
  return {text(0), text(1), text(2), text(3), text(4), text(5), text(6)};
}

}  // namespace halmark::journal
