// Schemas that come from watching the readers, against the sources of those readers and the shipped
// files.
#include "plan/schema/file_schema.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "core/json/json.hpp"
#include "plan/sweep.hpp"
#include "plan/toml/toml_table.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path source = test::in_source();

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string last_word(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? path : path.substr(dot + 1);
}

// The last words of all keys of all kinds.
std::set<std::string> known_words() {
  std::set<std::string> out;
  for (const std::string& name : plan_schema_names()) {
    for (const auto& [path, key] : plan_schema(name).keys) out.insert(last_word(path));
  }
  return out;
}

// Ranges, choices, defaults and types of every key, as the pages that users read state them.
TEST(FileSchema, the_reference_page_of_each_kind_is_what_its_readers_ask_for) {
  for (const std::string& name : plan_schema_names()) {
    const fs::path page = source / "results/schema/reference" / (name + ".md");
    EXPECT_EQ(text_of(page), schema_markdown(plan_schema(name)))
        << "write it again: halmark config schema " << name << " --markdown > " << page;
  }
}

TEST(FileSchema, has_every_key_that_a_reader_names_in_its_source) {
  const std::set<std::string> known = known_words();
  // A value is asked for by a literal: table.integer("batch", ...), number_if(root, "clock_hz",
  // ...).
  const std::regex asked(
      R"re((?:\.|->)(?:string|string_or|integer|integer_or|number|number_or|boolean_or|strings|integers|value|values|choice|choices|tables|table)\(\s*"(\w+)")re"
      R"re(|(?:number_if|read_high|read_confidence)\(\s*\w+,\s*"(\w+)")re");
  std::size_t found = 0;
  for (const char* file :
       {"sweep", "served_sweep", "device/device_file", "space_file", "toml/load_file",
        "device/node_file", "kernel_sweep", "asked_kernels", "nightly"}) {
    const std::string text = text_of(source / "framework/plan" / (std::string(file) + ".cpp"));
    for (std::sregex_iterator it(text.begin(), text.end(), asked), end; it != end; ++it) {
      const std::string key = (*it)[1].matched ? (*it)[1] : (*it)[2];
      ++found;
      EXPECT_TRUE(known.contains(key))
          << file << ".cpp asks for '" << key << "': add it to plan/schema/specimen_texts.hpp";
    }
  }
  EXPECT_GT(found, 100u) << "the sources are read in another way";
}

TEST(FileSchema, every_key_has_a_meaning_and_every_meaning_a_key) {
  std::set<const KeyMeaning*> all, used;
  for (const std::string& name : plan_schema_names()) {
    const FileSchema schema = plan_schema(name);
    for (const KeyMeaning& meaning : schema.meanings) all.insert(&meaning);
    for (const auto& [path, key] : schema.keys) {
      const std::string_view text = meaning_of(schema, path);
      EXPECT_FALSE(text.empty()) << name << ": " << path;
      for (const KeyMeaning& meaning : schema.meanings) {
        if (meaning.text.data() == text.data()) used.insert(&meaning);
      }
    }
  }
  for (const KeyMeaning* meaning : all) {
    EXPECT_TRUE(used.contains(meaning)) << "no file has the key '" << meaning->key << "'";
  }
}

TEST(FileSchema, of_a_sweep_says_what_the_reader_says) {
  const Json schema = json_schema(plan_schema("sweep"));
  EXPECT_EQ(schema["required"], Json({"dtypes", "model", "name"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  const Json& workload = schema["properties"]["workload"]["items"];
  EXPECT_EQ(workload["properties"]["batch"]["anyOf"][0],
            Json({{"type", "integer"}, {"minimum", 1.0}, {"maximum", 65536.0}}));
  EXPECT_THAT(workload["properties"]["phase"]["enum"], testing::Contains("decode"));
  // The same of the reader, by leaving each out.
  const std::string whole =
      "name = \"n\"\nmodel = \"m\"\ndtypes = \"bf16\"\n[[workload]]\nphase = \"decode\"\nbatch = "
      "1\ncontext = 9\n";
  EXPECT_NO_THROW(parse_sweep(whole, "w"));
  for (const std::string key : {"name", "model", "dtypes", "phase", "batch"}) {
    const std::string without =
        std::regex_replace(whole, std::regex("\n?" + key + " = [^\n]*"), "");
    EXPECT_THAT(test::error_of([&] { parse_sweep(without, "w"); }).line(), HasSubstr(key)) << key;
  }
}

// Of any TOML file: "table.key" of each line "key = ...".
std::set<std::string> keys_of(const std::string& text) {
  std::set<std::string> out;
  const std::regex header(R"(^\[(\[?)([\w.]+)\]?\])"), key(R"(^([\w]+) *=)");
  std::string table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, header)) {
      table = match[2].str() + (match[1].length() > 0 ? "[]." : ".");
    } else if (std::regex_search(line, match, key)) {
      out.insert(table + match[1].str());
    }
  }
  return out;
}

TEST(FileSchema, knows_every_key_of_the_shipped_files) {
  std::size_t files = 0;
  for (const auto& [folder, kinds] : std::map<std::string, std::vector<std::string>>{
           {"sweeps", {"sweep", "kernels"}}, {"devices", {"device"}}}) {
    KnownKeys known;
    for (const std::string& kind : kinds) known.merge(plan_schema(kind).keys);
    std::set<std::string> paths;
    for (const auto& [path, key] : known) {
      // "peak[].occasion[].median" stands below [[peak.occasion]].
      const std::size_t first = path.find("[]."), last = path.rfind("[].");
      paths.insert(first == last ? path : path.substr(0, first) + path.substr(first + 2));
    }
    for (const auto& entry : fs::directory_iterator(source / "configs" / folder)) {
      ++files;
      for (const std::string& key : keys_of(text_of(entry.path()))) {
        EXPECT_TRUE(paths.contains(key)) << entry.path() << ": " << key;
      }
    }
  }
  EXPECT_GT(files, 50u);
}

TEST(KeyWatch, sees_types_ranges_and_what_a_reader_can_do_without) {
  KnownKeys keys;
  {
    const KeyWatch watch(keys);
    const TomlTable table = TomlTable::parse("a = 1\n[[t]]\nb = \"x\"\n", "w");
    table.integer("a", 1, 5);
    table.number_or("c", 0, 2, 0.5);
    for (const TomlTable& one : table.tables("t")) one.choice("b", {"x", "y"});
  }
  EXPECT_TRUE(keys.at("a").is_required);
  EXPECT_EQ(keys.at("a").high, 5);
  EXPECT_FALSE(keys.at("c").is_required);
  EXPECT_EQ(keys.at("c").fallback, "0.5");
  EXPECT_EQ(keys.at("t[].b").choices, (std::vector<std::string>{"x", "y"}));
  TomlTable::parse("z = 1", "w").integer("z", 1, 5);
  EXPECT_FALSE(keys.contains("z")) << "nobody watches any more";
}

// Every kind of key once: a list for which one value stands, a list of anything, ranges, choices.
TEST(FileSchema, of_a_file_by_hand_is_the_schema_that_json_schema_means) {
  FileSchema schema{.name = "n", .title = "t", .written_as = {}, .keys = {}, .meanings = {}};
  schema.keys["words"].types = {KeyType::string, KeyType::strings};
  schema.keys["anything"].types = {KeyType::values};
  schema.keys["anything"].is_required = false;
  schema.keys["count"].types = {KeyType::integer};
  schema.keys["count"].low = 1;
  schema.keys["count"].high = 4096;
  schema.keys["kind"].types = {KeyType::string};
  schema.keys["kind"].choices = {"a", "b"};
  schema.keys["table"].types = {KeyType::table};
  schema.keys["table.is_on"].types = {KeyType::boolean};
  schema.keys["list"].types = {KeyType::tables};
  schema.keys["list"].is_required = false;
  schema.keys["list[].share"].types = {KeyType::number};
  const Json expected = parse_json(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "type": "object",
    "additionalProperties": false, "required": ["count", "kind", "table", "words"],
    "properties": {
      "words": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"},
                                               "minItems": 1, "uniqueItems": true}]},
      "anything": {"type": "array", "items": {"type": ["number", "string", "boolean"]},
                   "minItems": 1, "uniqueItems": true},
      "count": {"type": "integer", "minimum": 1, "maximum": 4096},
      "kind": {"type": "string", "enum": ["a", "b"]},
      "table": {"type": "object", "properties": {"is_on": {"type": "boolean"}},
                "additionalProperties": false, "required": ["is_on"]},
      "list": {"type": "array", "items": {"type": "object",
               "properties": {"share": {"type": "number"}}, "additionalProperties": false,
               "required": ["share"]}}}})",
                                   "by hand");
  // Keys of both in one order; numbers by value.
  EXPECT_EQ(nlohmann::json::parse(json_schema(schema).dump()),
            nlohmann::json::parse(expected.dump()));
}

}  // namespace
}  // namespace halmark
