// Every setting says who set it.
// What a machine has, told of plugins that nobody loads.
#include <gmock/gmock.h>

#include "tests/scoped_environment.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tune/devices/devices_here.hpp"
#include "tune/devices/settings.hpp"

namespace halmark::tune {
namespace {

using testing::HasSubstr;

// The first row of that name.
Json row_of(const report::View& view, const std::string& name) {
  for (const Json& row : view.data["settings"]) {
    if (row["setting"] == name) return row;
  }
  return {};
}

TEST(Settings, a_default_names_itself_and_the_command_line_goes_first) {
  const test::ScopedVariable state("XDG_STATE_HOME", "/tmp/state");
  const report::View view = settings_view({});
  EXPECT_EQ(row_of(view, "results database")["value"], "/tmp/state/halmark/halmark.db");
  EXPECT_EQ(row_of(view, "results database")["from"], "XDG_STATE_HOME");
  EXPECT_EQ(row_of(view, "limit of phase create")["from"], "default");
  const report::View stated = settings_view({.db = "/x/night.db", .phase_limits = {"create=31"}});
  EXPECT_EQ(row_of(stated, "results database")["value"], "/x/night.db");
  EXPECT_EQ(row_of(stated, "results database")["from"], "--db");
  EXPECT_EQ(row_of(stated, "studies")["value"], "/x/night.db.study");
  EXPECT_EQ(row_of(stated, "limit of phase create")["value"], "31 s");
  EXPECT_EQ(row_of(stated, "limit of phase create")["from"], "--phase-limit");
  const test::ScopedVariable stateless("XDG_STATE_HOME"), home("HOME", "/tmp/somebody");
  EXPECT_EQ(row_of(settings_view({}), "results database")["value"],
            "/tmp/somebody/.local/state/halmark/halmark.db");
}

TEST(Settings, an_environment_variable_is_named) {
  const test::ScopedVariable plain("NO_COLOR", "1");
  EXPECT_EQ(row_of(settings_view({}), "color")["from"], "NO_COLOR");
  EXPECT_EQ(row_of(settings_view({.color = "always"}), "color")["from"], "--color");
}

TEST(Settings, a_value_that_every_command_refuses_is_refused) {
  EXPECT_EQ(test::error_of([] { settings_view({.worker_memory = "much"}); }).exit_code(),
            ExitCode::refused);
}

// A backend of two CPUs and a GPU in their middle, and one that could not be loaded.
std::vector<FoundPlugin> found() {
  protocol::PluginDescription some{.name = "some", .has_comm = true};
  some.devices = {{.id = "0", .name = "first", .kind = "cpu"},
                  {.id = "1",
                   .name = "second",
                   .kind = "gpu",
                   .timer = protocol::Timer::device_event,
                   .memory_bytes = std::int64_t{2} << 30},
                  {.id = "2", .name = "third", .kind = "cpu"}};
  some.kernels = {
      {.name = "a", .op = "gemm"}, {.name = "b", .op = "gemm"}, {.name = "c", .op = "copy"}};
  return {{.path = "/p/hm_some.so", .description = some},
          {.path = "/p/hm_bad.so", .refusal = "no ELF file", .status = Status::refused}};
}

report::View view() {
  LocalMachine host;
  host.told.emplace();  // figures of no device
  return devices_here(found(), {}, host);
}

TEST(DevicesHere, each_has_the_peaks_and_the_command_of_its_own) {
  const Json devices = view().data["devices"];
  ASSERT_EQ(devices.size(), 4u);
  const char* const commands[] = {"halmark peaks", "halmark peaks --backend some --device 1",
                                  "halmark peaks"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(devices[i]["id"], "some:" + std::to_string(i));
    EXPECT_EQ(devices[i]["peaks"]["measured_by"], commands[i]);
    EXPECT_EQ(devices[i]["peaks"]["of_the_cpu"], i != 1);
    EXPECT_EQ(devices[i]["peaks"]["measured"], false);
  }
}

TEST(DevicesHere, ops_are_counted_once_however_many_kernels_have_them) {
  const report::View out = view();
  EXPECT_EQ(out.data["devices"][0]["ops"], Json({"copy", "gemm"}));
  EXPECT_EQ(out.data["devices"][0]["has_collectives"], true);
  EXPECT_THAT(out.text, HasSubstr("2 of "));
}

TEST(DevicesHere, memory_is_said_where_it_is_stated) {
  const std::string text = view().text;
  EXPECT_THAT(text, halmark::test::has_all({"2.00 GiB", "not stated"}));
}

TEST(DevicesHere, what_could_not_be_loaded_says_why_and_has_neither_ops_nor_peaks) {
  const Json bad = view().data["devices"][3];
  EXPECT_THAT(bad, halmark::test::HasValues(
                       R"({"/id": null, "/status": "refused", "/reason": "no ELF file"})"));
  EXPECT_FALSE(bad.contains("ops"));
  EXPECT_FALSE(bad.contains("peaks"));
}

TEST(DevicesHere, peaks_of_the_cpu_are_measured_or_there_is_a_reason) {
  LocalMachine host;
  host.told.emplace();
  EXPECT_THAT(devices_here({}, {}, host).data["peaks_reason"].dump(), HasSubstr("halmark peaks"));
  host.measured = Device{
      .id = "cpu", .peaks = {{.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e11}}};
  const report::View out = devices_here({}, {}, host);
  EXPECT_FALSE(out.data.contains("peaks_reason"));
  EXPECT_THAT(out.text, HasSubstr("measured peaks of"));
}

}  // namespace
}  // namespace halmark::tune
