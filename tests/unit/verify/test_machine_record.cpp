// Records of machines: what is written verifies, and what was changed in one place does not,
// also where its checksum is made again.
#include "verify/machine_record.hpp"

#include <gmock/gmock.h>

#include <array>

#include "core/json/json.hpp"
#include "core/numeric/random.hpp"
#include "core/text/digest.hpp"
#include "history/record/machine_record.hpp"
#include "plan/device/device_file.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

// 200 GFLOP/s and 10 GB/s, each seen on two occasions: the figure is the third-highest probe.
Device machine_device() {
  const auto occasions = [](double best) {
    return std::vector<Occasion>{{"2026-01-01T02:00:00Z", 9, 0.8 * best, {1.02 * best, best}},
                                 {"2026-01-02T02:00:00Z", 9, 0.8 * best, {1.01 * best}}};
  };
  Device out{.id = "cpu-0011@host", .name = "Made-up CPU", .kind = "cpu"};
  out.fingerprint = out.id;
  out.is_measured = true;
  out.peaks = {{.path = "f32_vector",
                .dtype = Dtype::f32,
                .threads = 2,
                .flops_per_s = 2e11,
                .source = "measured",
                .occasions = occasions(2e11)}};
  out.bandwidths = {{.level = "memory",
                     .threads = 2,
                     .bytes_per_s = 1e10,
                     .working_set_bytes = 1 << 28,
                     .access = "read",
                     .source = "measured",
                     .occasions = occasions(1e10)}};
  return out;
}

Measurement measured(const Problem& problem, int round, double ns, std::int64_t samples) {
  Measurement out;
  out.kernel_case = {.problem = problem, .backend = "cpu", .sets = 1000};
  out.round = round;
  out.status = Status::ok;
  out.phase = "sample";
  out.plugin_name = "cpu";
  out.plugin_hash = "aabb";
  out.signals = {{.name = "package_energy_uj", .value = ns * 1e-3 * 50, .reason = ""}};
  for (std::int64_t i = 0; i < samples; ++i) {
    const double noise = uniform_01(hash_u64(static_cast<std::uint64_t>(round + 1),
                                             static_cast<std::uint64_t>(i + std::int64_t(ns))));
    out.samples.push_back({.wall_ns = ns * (1 + 0.05 * noise)});
  }
  out.duration_ns_median = ns;
  out.duration_ns_interval = {ns, ns};
  return out;
}

Problem gemm(std::int64_t m, std::int64_t n) {
  return {"gemm",
          {{"m", m}, {"n", n}, {"k", 512}, {"src_dtype", 2}, {"wei_dtype", 2}, {"dst_dtype", 2}}};
}

class MachineRecords : public testing::Test {
 protected:
  // Products of 64 rows at half of the peak, of a single row at half of the bandwidth; copies.
  void store(int kernels, std::int64_t samples) {
    const auto journal = open_store(database_);
    const std::int64_t run = journal->begin_run({.command = "halmark bench --db /srv/a-user/x",
                                                 .fingerprint = "cpu-0011@host",
                                                 .tool_version = "0.1",
                                                 .started_utc = "2026-01-02T02:00:00Z"});
    journal->append(run, UsedPeaks{.device_text = device_text(machine_device()), .threads = 2});
    std::vector<Measurement> rows;
    for (int i = 0; i < kernels; ++i) {
      const std::int64_t n = 512 + 8 * i;
      for (int round = 0; round < 3; ++round) {
        rows.push_back(measured(gemm(64, n), round, 2.0 * 64 * 512 * as_ns(n) / 1e11, samples));
        rows.push_back(measured(gemm(1, n), round, 4.0 * 512 * as_ns(n) / 5e9, samples));
        rows.push_back(
            measured({"copy", {{"bytes", 4096 * n}}}, round, 2.0 * 4096 * as_ns(n) / 5e9, samples));
      }
    }
    journal->append(run, rows);
    for (const char* model : {"gpt2", "/srv/a-user/config.json"}) {
      const Configuration step{.model = model,
                               .workload = {.phase = Phase::decode, .batch = 4, .context = 128}};
      journal->append(run, Evaluation{.configuration = step});
      Validation whole{.deployment_key = step.key(), .measured_ns = 2e6};
      whole.step_ns = {2.1e6, 1.9e6, 2e6, 2.05e6, 1.95e6, 2e6, 2e6};
      journal->append(run, whole);
    }
  }
  static double as_ns(std::int64_t value) { return static_cast<double>(value) * 1e9; }

  std::string written() {
    text_ = history::record_text(history::stored_record(database_, {}));
    return put(text_);
  }
  std::string put(const std::string& text) const {
    const std::string path = folder_ / "machine.json";
    test::write_file(path, text);
    return path;
  }
  // With all checksums made again.
  std::vector<RecordFinding> found_after(Json document) {
    document["sha256"] = sha256_of(dump_json(document["record"]));
    return check_record(put(dump_json(document))).findings;
  }

  test::ScratchFolder folder_;
  std::string database_ = folder_ / "a.db", text_;
};

TEST_F(MachineRecords, what_is_written_follows_from_its_samples_and_names_no_host) {
  store(4, 40);
  const std::string path = written();
  const RecordCheck check = check_record(path);
  for (const RecordFinding& f : check.findings) ADD_FAILURE() << f.where << ": " << f.text;
  EXPECT_EQ(check.kernels, 12u);
  EXPECT_EQ(check.rounds, 36u);
  EXPECT_EQ(check.steps, 1u);
  EXPECT_THAT(record_check_text(check, path), HasSubstr("cannot be told"));
  EXPECT_THAT(text_, Not(testing::AnyOf(HasSubstr("a-user"), HasSubstr("@host"))));
  const MachineRecord record = history::read_record(path);
  EXPECT_EQ(record.left_out.at("steps of a model that is named by its path"), 1);
  // At half of each ceiling, of samples within 5 %.
  ASSERT_EQ(record.classes.size(), 3u);
  for (const RecordSum& sum : record.classes) {
    if (sum.op == "copy") continue;
    EXPECT_NEAR(sum.share().value(), 0.49, 0.01) << sum.name();
  }
  EXPECT_NEAR(*record.kernels.front().power_w, 50, 1.5) << "50 nJ a ns";
  EXPECT_NEAR(record.steps[0].tokens_per_s, 4 / 2e-3, 1);
  const DeviceSide side = history::record_side(record, path);
  EXPECT_EQ(side.kernels.size(), 12u);
  EXPECT_EQ(side.device, "cpu-0011");
}

TEST_F(MachineRecords, a_large_database_is_thinned_to_the_size_of_a_record) {
  store(120, 100);
  const std::string path = written();
  EXPECT_LE(text_.size(), record_bytes_max);
  EXPECT_GT(text_.size(), record_bytes_max / 4) << "no more than needed";
  EXPECT_TRUE(check_record(path).findings.empty());
  const MachineRecord record = history::read_record(path);
  EXPECT_TRUE(record.left_out.contains("kernels of classes with more than the file holds"));
  EXPECT_EQ(record.classes.size(), 3u);
}

TEST_F(MachineRecords, one_sample_one_peak_or_one_sum_that_was_changed_is_found_every_time) {
  store(4, 40);
  written();
  const Json sound = Json::parse(text_);
  ASSERT_TRUE(found_after(sound).empty());
  constexpr std::array sums = {"ns", "bounded_ns", "bound_ns", "matmul_flops", "bytes", "joules"};
  int refused = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto drawn = [&, counter = 0](std::size_t count) mutable {
      return hash_u64(i, static_cast<std::uint64_t>(counter++)) % count;
    };
    Json document = sound;
    Json& record = document["record"];
    Json* changed = nullptr;
    if (i % 3 == 0) {
      Json& round = record["kernels"][drawn(12)]["rounds"][drawn(3)];
      changed = &round["samples_ns"][drawn(round["samples_ns"].size())];
    } else if (i % 3 == 1) {
      changed = i % 2 == 0 ? &record["device"]["peaks"][0]["flops_per_s"]
                           : &record["device"]["bandwidths"][0]["bytes_per_s"];
    } else {
      Json& sum = i % 2 == 0 ? record["all"] : record["classes"][drawn(record["classes"].size())];
      changed = &sum[sums.at(drawn(sums.size()))];
      if (*changed == 0) changed = &sum["ns"];
    }
    const double factor = 1 + 0.001 * static_cast<double>(1 + drawn(100));
    *changed = changed->get<double>() * (drawn(2) == 0 ? factor : 1 / factor);
    refused += found_after(document).empty() ? 0 : 1;
  }
  EXPECT_EQ(refused, 50);
}

TEST_F(MachineRecords, findings_name_the_place) {
  store(2, 40);
  written();
  Json document = Json::parse(text_);
  document["record"]["kernels"][3]["rounds"][1]["samples_ns"][7] = 1;
  const auto findings = found_after(document);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].where, testing::StartsWith("kernels[3].rounds[1].figures."));
  EXPECT_THAT(findings[0].text, HasSubstr("its samples give"));
}

TEST_F(MachineRecords, other_versions_changed_files_and_other_files_are_refused_in_one_line) {
  store(2, 40);
  written();
  Json later = Json::parse(text_);
  later["version"] = 2;
  for (const auto& read : {+[](const std::string& p) { check_record(p); },
                           +[](const std::string& p) { history::read_record(p); }}) {
    const std::string path = put(dump_json(later));
    EXPECT_THAT(test::error_of([&] { read(path); }).line(), HasSubstr("a record of version 2"));
  }
  std::string changed = text_;
  changed.replace(changed.find("Made-up CPU"), 11, "Better CPU!");
  const std::string path = put(changed);
  EXPECT_THAT(test::error_of([&] { history::read_record(path); }).line(), HasSubstr("changed"));
  EXPECT_EQ(check_record(path).findings.at(0).where, "sha256");
  const std::string other = put(R"({"traceEvents": []})");
  EXPECT_THAT(test::error_of([&] { check_record(other); }).line(), HasSubstr("trace"));
}

}  // namespace
}  // namespace halmark
