#include "journal/stored_row.hpp"

#include "core/json/duet_json.hpp"
#include "core/json/json.hpp"
#include "core/json/winner_json.hpp"
#include "core/text/digest.hpp"
#include "journal/row_codec.hpp"
#include "journal/schema.hpp"

namespace halmark::journal {

Entry entry_of(const Measurement& m) {
  return {"measurement", m.kernel_case.key(), dump_json(Json(m)), pack_samples(m), true};
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

Entry entry_of(const UsedPeaks& p) {
  return {
      "peaks", "", dump_json({{"device_text", p.device_text}, {"threads", p.threads}}), {}, false};
}

Entry entry_of(const RunMachine& m) {
  Json body = {{"lines", m.lines}};
  // Absent outside of nights, as in all earlier rows.
  if (!m.build.empty()) body["build"] = m.build;
  if (m.ends_night) body["ends_night"] = true;
  return {"machine", "", dump_json(body), {}, false};
}

Measurement measurement_from(const Json& body, std::string_view samples) {
  Measurement m = body.get<Measurement>();
  unpack_samples(samples, m);
  return m;
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
  return out;
}

std::string chain_start(const RunInfo& run) {
  Encoder encoder;
  encoder.text(run.command).text(run.plan_hash).text(run.plan_text).text(run.fingerprint);
  encoder.text(run.tool_version).text(run.tool_build).text(run.started_utc);
  return sha256_of(encoder.bytes());
}

RunInfo run_info_of(SQLite::Statement& query, int first) {
  const auto text = [&](int i) { return query.getColumn(first + i).getString(); };
  return {text(0), text(1), text(2), text(3), text(4), text(5), text(6)};
}

}  // namespace halmark::journal
