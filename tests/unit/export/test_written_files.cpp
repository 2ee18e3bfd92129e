// Files that are written, replaced or left alone; YAML that is read back; lists of points.
#include <gmock/gmock.h>

#include <filesystem>

#include "export/front_list.hpp"
#include "export/request.hpp"
#include "export/write_files.hpp"
#include "export/yaml.hpp"
#include "small_deployment.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::vector<TextFile> two = {{"run.sh", "#!/bin/sh\n"}, {"b.yaml", "b: 1\n"}};

TEST(WrittenFiles, as_one_text_have_their_names_between_them) {
  EXPECT_EQ(files_text(two), "#!/bin/sh\n\n# ---- b.yaml\nb: 1\n");
  EXPECT_EQ(files_text({two[0]}), "#!/bin/sh\n");
}

TEST(WrittenFiles, go_into_a_folder_or_beside_the_first) {
  const test::ScratchFolder folder;
  const std::string into = folder / "new/";
  EXPECT_EQ(write_files(two, into, Existing::refused),
            "written: " + into + "run.sh\nwritten: " + into + "b.yaml\n");
  EXPECT_EQ(test::file_bytes(into + "b.yaml"), "b: 1\n");
  const std::string named = folder / "own.sh";
  EXPECT_EQ(write_files(two, named, Existing::refused),
            "written: " + named + "\nwritten: " + (folder / "b.yaml") + '\n');
  EXPECT_EQ(test::file_bytes(named), "#!/bin/sh\n");
  EXPECT_EQ(
      write_files(two, folder / "plain", Existing::refused),
      "written: " + (folder / "plain/run.sh") + "\nwritten: " + (folder / "plain/b.yaml") + '\n')
      << "no extension, a folder";
  fs::create_directory(folder.path() / "dotted.d");
  EXPECT_THAT(write_files(two, folder / "dotted.d", Existing::refused),
              HasSubstr(folder / "dotted.d/run.sh"));
}

TEST(WrittenFiles, that_are_scripts_can_be_run) {
  const test::ScratchFolder folder;
  write_files(two, folder / "x/", Existing::refused);
  const auto may_run = [&](const char* name) {
    return (fs::status(folder.path() / "x" / name).permissions() & fs::perms::others_exec) !=
           fs::perms::none;
  };
  EXPECT_TRUE(may_run("run.sh"));
  EXPECT_FALSE(may_run("b.yaml"));
}

TEST(WrittenFiles, of_other_contents_are_kept_unless_they_may_be_replaced) {
  const test::ScratchFolder folder;
  const std::string into = folder / "x/";
  write_files(two, into, Existing::refused);
  EXPECT_EQ(write_files(two, into, Existing::refused),
            "unchanged: " + into + "run.sh\nunchanged: " + into + "b.yaml\n");
  test::write_file(into + "b.yaml", "mine\n");
  fs::remove(into + "run.sh");
  const Error error = test::error_of([&] { write_files(two, into, Existing::refused); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.line(), into +
                              "b.yaml: this file is there with other contents, and nothing was "
                              "written; --overwrite replaces it; or name another folder");
  EXPECT_FALSE(fs::exists(into + "run.sh")) << "all of them or none";
  EXPECT_EQ(test::file_bytes(into + "b.yaml"), "mine\n");
  EXPECT_EQ(write_files(two, into, Existing::replaced),
            "written: " + into + "run.sh\nreplaced: " + into + "b.yaml\n");
  EXPECT_EQ(test::file_bytes(into + "b.yaml"), "b: 1\n");
  test::write_file(folder / "own.sh", "mine\n");
  EXPECT_EQ(write_files({two[0]}, folder / "own.sh", Existing::refused),
            "replaced: " + (folder / "own.sh") + '\n')
      << "the user named it";
}

TEST(WrittenFiles, where_no_folder_can_be_are_an_error) {
  const test::ScratchFolder folder;
  test::write_file(folder / "file", "x");
  test::expect_error([&] { write_files(two, folder / "file/below/", Existing::refused); },
                     "the folder cannot be made: ", ExitCode::error);
}

TEST(YamlText, scalars_are_quoted_where_they_would_be_read_as_something_else) {
  for (const char* const plain : {"a", "a/b-c_d.e", "1", "1.5", "v1", "Z9"}) {
    EXPECT_EQ(yaml_scalar(plain), plain);
  }
  for (const std::string quoted : {"", "yes", "No", "ON", "null", "true", "y", "n", "-a", "a b",
                                   "a:b", "/a", "_a", "1e5", "1-2", "a@b"}) {
    EXPECT_EQ(yaml_scalar(quoted), '"' + quoted + '"');
  }
}

TEST(YamlText, values_stand_in_blocks) {
  EXPECT_EQ(yaml_text("x"), "x\n");
  EXPECT_EQ(yaml_text("8"), "\"8\"\n");
  EXPECT_EQ(yaml_text(8), "8\n");
  EXPECT_EQ(yaml_text(Json::parse(R"({"a": {"b": [], "c": {}, "d": null, "e": true},
                                      "l": [1, {"x": 1, "y": [2, 3]}, [4, 5], []]})")),
            "a:\n  b: []\n  c: {}\n  d: null\n  e: true\n"
            "l:\n  - 1\n  - x: 1\n    \"y\":\n      - 2\n      - 3\n  - - 4\n    - 5\n  - []\n");
}

SearchedFront three_points() {
  SearchedFront front{.origin = "run 7", .title = "sweep", .model = "small"};
  front.objectives = {Objective::ttft, Objective::tpot};
  for (const double factor : {1.0, 1.001, 3.0}) {
    Evaluation e = test::small_deployment({}).point;
    e.served->figures.ttft_ns = 5e7 * factor;
    e.served->figures.tpot_ns = 1e7 / factor;
    front.points.push_back(e);
  }
  return front;
}

TEST(FrontList, has_a_line_for_points_that_are_alike) {
  const report::View view = front_list(three_points(), 0.01);
  EXPECT_THAT(view.data, test::HasValues(R"({"/origin": "run 7", "/title": "sweep",
      "/model": "small", "/groups": 2, "/points/2/alike": 3, "/points/2/figures/ttft": 1.5e8})"));
  ASSERT_EQ(view.data["points"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(view.data["points"][i]["point"], i + 1);
  EXPECT_EQ(view.data["points"][0]["alike"], view.data["points"][1]["alike"]);
  EXPECT_THAT(view.text, test::has_all({"sweep: small, run 7\n", "TTFT", "150 ms"}));
  EXPECT_EQ(front_list(three_points(), 0).data["groups"], 3);
  EXPECT_EQ(front_list({.origin = "o", .title = "t", .model = "m"}, 0.01).text,
            "t: m, o\nno point\n");
}

TEST(FrontList, shows_a_dash_where_a_point_has_no_such_figure) {
  SearchedFront front = three_points();
  front.points.resize(1);
  front.objectives = {Objective::latency};
  EXPECT_THAT(front_list(front, 0.01).text, HasSubstr("1 device        -\n"));
  EXPECT_TRUE(front_list(front, 0.01).data["points"][0]["figures"]["latency"].is_null());
}

TEST(PickView, names_the_point_why_and_what_it_gives_up) {
  const report::View view =
      pick_view(three_points(), {.index = 1, .because = "the knee", .gives_up = {"one", "two"}});
  EXPECT_THAT(view.data, test::HasValues(R"({"/point": 2, "/because": "the knee",
      "/gives_up": ["one", "two"]})"));
  EXPECT_THAT(view.text, testing::StartsWith("point 2 of run 7: "));
  EXPECT_THAT(view.text, HasSubstr("\n  the knee\n  gives up: one\n  gives up: two\n"));
}

std::string refusal(const ExportRequest& request) {
  return test::error_of([&] { table_of(request, test::engine_folders()); }).line();
}

TEST(ExportRequest, names_an_engine_and_nodes_where_they_belong) {
  EXPECT_EQ(table_of({.as = "vllm", .server_version = "0.20.1"}, test::engine_folders()).name(),
            "vllm 0.20.1");
  EXPECT_EQ(
      table_of({.as = "k8s", .server_version = "0.5.9", .engine = "sglang", .nodes = "n.toml"},
               test::engine_folders())
          .engine,
      "sglang");
  EXPECT_EQ(refusal({.as = "k8s", .server_version = "0.20.1"}),
            "--nodes: no nodes are named; --as k8s --engine vllm --nodes FILE.toml");
  EXPECT_THAT(refusal({.as = "vllm", .server_version = "0.20.1", .nodes = "n.toml"}),
              HasSubstr("--nodes is of --as k8s"));
  EXPECT_THAT(refusal({.as = "vlm", .server_version = "1"}),
              HasSubstr("--as: nothing is written for 'vlm'; did you mean 'vllm'"));
  EXPECT_THAT(refusal({.as = "k8s", .server_version = "1", .engine = "x", .nodes = "n.toml"}),
              testing::StartsWith("--engine: nothing is written for 'x'"));
  EXPECT_TRUE(is_exchange("csv"));
  EXPECT_FALSE(is_exchange("vllm"));
  EXPECT_EQ(engine_list(), "vllm, sglang, trtllm, llamacpp");
  EXPECT_EQ(exchange_list(), "gbench, gha, bmf, csv, prometheus, parquet, otlp, perfetto, optuna");
}

TEST(ExportRequest, forecasts_the_engine_that_it_starts) {
  ExportRequest request{.as = "vllm", .engine = "vllm:0.19.0"};
  EXPECT_EQ(request.engine_of_search().release, "0.19.0");
  EXPECT_EQ(table_of(request, test::engine_folders()).version, "0.19.0") << "with its flags";
  request.engine = "sglang";
  EXPECT_EQ(test::error_of([&] { request.engine_that_serves(); }).line(),
            "--engine: what is written starts vllm, and the forecast is of sglang; --engine vllm");
  ExportRequest none{.engine = "trtllm"};
  EXPECT_TRUE(none.engine_of_search().is_asked);
  EXPECT_FALSE(has_format(none)) << "a search has it, an export alone has not";
  EXPECT_THROW(has_format({.engine = "trtllm"}), Error);
}

TEST(ExportRequest, picks_among_the_points_that_the_engine_can_run) {
  SearchedFront front = three_points();
  const auto table = read_engine_table("llamacpp", "b11434", test::engine_folders());
  const auto pick = [&](std::vector<int> tp) {
    return pick_runnable(front, "best:ttft", table, [&](std::size_t i) {
      Deployment d = test::small_deployment({.tp = tp[i]});
      d.point.served = front.points[i].served;
      return d;
    });
  };
  EXPECT_EQ(pick({1, 1, 1}).index, 0u);
  EXPECT_THAT(pick({1, 1, 1}).because, testing::Not(HasSubstr("among the")));
  const Pick second = pick({2, 1, 1});
  EXPECT_EQ(second.index, 1u);
  EXPECT_THAT(second.because, HasSubstr("; among the 2 that can be run (1 cannot; the first: "
                                        "llamacpp b11434 cannot run this point: tp2: "));
  test::expect_error(
      [&] {
        pick({2, 2, 2});
      },
      "no point of the front can be run: llamacpp b11434 cannot run");
}

}  // namespace
}  // namespace halmark::exports
