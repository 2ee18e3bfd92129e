#include "model/spec/model_spec.hpp"

#include <algorithm>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/families/family.hpp"
#include "model/families/prediction.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/coverage.hpp"
#include "model/spec/hub_cache.hpp"
#include "model/spec/model_document.hpp"
#include "model/spec/model_head.hpp"
#include "model/spec/model_names.hpp"
#include "model/spec/upstream_defaults.hpp"
#include "model/weights/stored_formats.hpp"
#include "model/weights/weights_document.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

namespace fs = std::filesystem;

namespace {

std::string remedy_for(std::string_view model_type) {
  const std::string weights = "; halmark model --weights DIR prices it by its weights alone";
  const std::string near = nearest_model_type(model_type);
  if (!near.empty()) return "the nearest known type is " + near + weights;
  std::string out = "no known type is near; known families:";
  for (const Family* family : all_families()) out += ' ' + std::string(family->name);
  return out + weights;
}

const Family& family_of(const ConfigReader& config, std::string& architecture) {
  const std::vector<std::string> types = config.model_types();
  // Outermost first: a refused architecture may name a known one for its language tower.
  for (const std::string& type : types) {
    if (const Unmodelled* entry = find_unmodelled(type)) {
      throw refused("architecture '" + type + "' is not modelled: " + std::string(entry->reason),
                    config.where(), remedy_for(type));
    }
    if (const Family* family = family_of_model_type(type)) {
      architecture = type;
      return *family;
    }
  }
  if (types.empty()) {
    throw refused("field 'model_type' is missing", config.where(), remedy_for(""));
  }
  // The innermost is the language tower's.
  throw refused("unknown architecture '" + printable(types.back()) + "'", config.where(),
                remedy_for(types.back()));
}

// An outer model around a language tower that is read.
void name_outer_type(const ConfigReader& config, ModelSpec& spec) {
  const std::vector<std::string> types = config.model_types();
  if (!config.is_nested() || types.empty() || spec.architecture == types.front()) return;
  spec.not_modelled.push_back("all of '" + printable(types.front()) + "' but its language tower '" +
                              spec.architecture + "' (model_type)");
}

// Of a checkpoint in float32; those of 16 bits are alike.
void read_stored_dtype(const ConfigReader& config, ModelSpec& spec) {
  for (const char* field : {"dtype", "torch_dtype"}) {
    if (config.is_text(field, "float32")) spec.stored_dtype = Dtype::f32;
    if (config.is_letters(field)) return;
  }
}

// MLX states its numbers under a key of its own.
Json with_usual_key(Json json) {
  const auto own = json.find("quantization");
  const bool is_mlx = own != json.end() && own->is_object() &&
                      (own->contains("bits") || own->contains("group_size"));
  const auto usual = json.find("quantization_config");
  if (is_mlx && (usual == json.end() || usual->is_null())) json["quantization_config"] = *own;
  return json;
}

ModelSpec read_config(const Json& stated, const std::string& where) {
  const Json json = stated.is_object() ? with_usual_key(stated) : stated;
  ConfigReader config(json, where);
  ModelSpec spec;
  spec.id = where;
  spec.names = {where};
  spec.checkpoint = where;
  spec.source = where;
  const Family& family = family_of(config, spec.architecture);
  spec.family = family.name;
  const std::vector<std::string> types = config.model_types();
  config.take_defaults_of(upstream_defaults(types.back()).empty() ? spec.architecture
                                                                  : types.back());
  read_head(config, spec);
  name_outer_type(config, spec);
  family.read(config, spec);
  refuse_other_operators(config);
  if (!spec.has_lm_head) spec.tied = false;  // no table to share
  read_stored_dtype(config, spec);
  read_quantization(config, spec);
  if (family.predict != nullptr) spec.prediction_modules = prediction::read_modules(config);
  name_the_rest(config, family.predict != nullptr, spec);
  spec.assumed = config.assumed();
  return spec;
}

// A shipped file wraps the configuration: {"id","aliases","source","config":{...}}.
bool is_shipped(const Json& json) {
  return json.is_object() && json.contains("config") && json.contains("id");
}

std::string shipped_text(const Json& json, const std::string& field, const std::string& where) {
  const auto it = json.find(field);
  if (it == json.end() || !it->is_string()) {
    throw refused("field '" + field + "' must be a text", where);
  }
  return it->get<std::string>();
}

// The configuration is that of another checkpoint, whose weights may be stored otherwise.
void name_precision(const std::string& recipe, ModelSpec& spec) {
  if (recipe.empty()) return;
  spec.named_precision = recipe;
  spec.assumed.push_back("weights in " + recipe + ", by the name");
}

// `asked`: the name that was typed; "" = the file's own.
ModelSpec read_document(const Json& json, const std::string& where, std::string_view asked) {
  if (!is_shipped(json)) return read_config(json, where);
  ModelSpec spec = read_config(json.at("config"), where);
  shipped_text(json, "id", where);
  spec.names = model_names(json);
  spec.id = kept_name(spec.names, asked);
  spec.checkpoint = checkpoint_name(json, spec.id);
  spec.source = shipped_text(json, "source", where);
  if (json.contains("precision")) name_precision(shipped_text(json, "precision", where), spec);
  if (json.contains("note")) spec.note = shipped_text(json, "note", where);
  const auto total = json.find("published_total_params");
  if (total != json.end() && total->is_number_integer()) {
    spec.published_total_params = total->get<std::int64_t>();
  }
  const auto active = json.find("published_active_params");
  if (active != json.end() && active->is_number_integer()) {
    spec.published_active_params = active->get<std::int64_t>();
  }
  return spec;
}

ModelListing read_listing(const fs::path& file) {
  const std::string where = file.string();
  const Json json = read_json_file(where);
  if (!is_shipped(json)) {
    throw refused("a shipped model needs 'id', 'aliases', 'source' and 'config'", where);
  }
  ModelListing out;
  out.id = shipped_text(json, "id", where);
  out.source = shipped_text(json, "source", where);
  out.file = file;
  const std::vector<std::string> names = model_names(json);
  out.aliases.assign(names.begin() + 1, names.end());
  const ConfigReader config(json.at("config"), where);
  const auto types = config.model_types();
  out.architecture = types.empty() ? std::string() : types.front();
  return out;
}

std::vector<fs::path> shipped_files(const std::vector<fs::path>& model_dirs) {
  std::vector<fs::path> out;
  for (const fs::path& dir : model_dirs) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(dir, code)) {
      if (entry.path().extension() == ".json") out.push_back(entry.path());
    }
  }
  std::ranges::sort(out);
  return out;
}

bool is_path(std::string_view text) {
  if (text.ends_with(".json") || text == "-" || names_weights(text)) return true;
  std::error_code code;
  return fs::is_regular_file(fs::path(text) / "config.json", code);
}

// Errors carry the path as the user typed it.
fs::path file_at(fs::path path) {
  std::error_code code;
  if (fs::is_directory(path, code)) path /= "config.json";
  return path;
}

bool answers_to(const ModelListing& listing, std::string_view name, Points points) {
  const std::string wanted = normalised(name, points);
  const auto is_wanted = [&](const std::string& known) {
    return normalised(known, points) == wanted;
  };
  return is_wanted(listing.id) || std::ranges::any_of(listing.aliases, is_wanted);
}

// The one that answers to the name; nothing when none does. Without its points a name may fit two.
const ModelListing* find_listing(std::string_view name, const std::vector<ModelListing>& known) {
  for (const Points points : {Points::kept, Points::dropped}) {
    std::vector<const ModelListing*> found;
    for (const ModelListing& listing : known) {
      if (answers_to(listing, name, points)) found.push_back(&listing);
    }
    if (found.size() > 1) {
      throw refused("model '" + printable(name) + "' is " + found[0]->id + " or " + found[1]->id,
                    {}, "name one of them");
    }
    if (!found.empty()) return found.front();
  }
  return nullptr;
}

}  // namespace

LayerMixer mixer_of(const ModelSpec& spec, std::int64_t layer) {
  const auto index = static_cast<std::size_t>(layer);
  if (!spec.mixers.empty()) return spec.mixers[index];
  return {.heads = spec.heads,
          .kv_heads = spec.kv_heads,
          .head_dim = spec.head_dim,
          .value_dim = spec.head_dim,
          .window = spec.windows[index],
          .has_rotary = spec.rotary_dim > 0};
}

ModelSpec read_model(std::string_view json_text, const std::string& where) {
  return read_document(parse_json(json_text, where), where, {});
}

namespace {

struct FoundModel {
  fs::path file;
  bool is_cached = false;  // in the cache of a hub, under the name that was asked for
  PastedName pasted = {};  // where the name answers only without some of its words
};

// Throws Error (exit 2) for a name that no file answers to.
FoundModel find_model(std::string_view id_or_path, const std::vector<fs::path>& model_dirs) {
  if (is_path(id_or_path)) return {file_at(fs::path(id_or_path))};
  const std::string wanted = normalised(id_or_path, Points::kept);
  const std::vector<fs::path> files = shipped_files(model_dirs);
  // The file is named after the id: the usual case opens one file, aliases open them all.
  for (const fs::path& file : files) {
    if (!wanted.empty() && normalised(file.stem().string(), Points::kept) == wanted) {
      return {file};
    }
  }
  std::vector<ModelListing> listings;
  std::vector<std::string> known, names;
  for (const fs::path& file : files) {
    listings.push_back(read_listing(file));
    known.push_back(file.stem().string());
    names.push_back(known.back());
    std::ranges::copy(listings.back().aliases, std::back_inserter(names));
  }
  const ModelListing* found = wanted.empty() ? nullptr : find_listing(id_or_path, listings);
  if (found != nullptr) return {found->file};
  if (const auto cached = cached_config(id_or_path)) return {*cached, true};
  PastedName pasted = pasted_name(id_or_path);
  const std::string family = same_family(id_or_path, known);
  std::vector<std::string> near = with_words_of(id_or_path, names);
  if (near.empty()) near = nearest(id_or_path, known);
  for (const std::string& shorter : pasted.shorter) {
    if (near.empty() && family.empty()) near = nearest(shorter, known);
    found = find_listing(shorter, listings);
    if (found == nullptr) continue;
    if (!pasted.of_file.empty()) {
      throw refused("weights in '" + pasted.of_file + "' are not known by the name '" +
                        printable(id_or_path) + "'",
                    {}, "name their file, or " + found->id + " with --dtype w4a16 or w8a16");
    }
    pasted.shorter = {shorter};
    return {found->file, false, std::move(pasted)};
  }
  if (names_file(std::string(id_or_path))) return {file_at(fs::path(id_or_path))};
  const std::string help =
      !near.empty() ? suggestion(near.front(), near)
      : family.empty()
          ? "no known name is near it (halmark models lists them); name the model's config.json"
          : "of that family " + family + " are known; or name the model's config.json";
  throw refused("unknown model '" + printable(id_or_path) + "'", {}, help);
}

}  // namespace

namespace {

Json config_at(const std::string& path) {
  return parse_json(read_kind(path, json_input, "model"), input_name(path));
}

// ModelOpt writes its scheme beside config.json, and into it only of late; X_config.json has an
// X_hf_quant_config.json.
void add_stated_beside(const fs::path& file, Json& config) {
  const std::string name = file.filename().string();
  constexpr std::string_view usual = "config.json";
  if (!name.ends_with(usual) || is_shipped(config)) return;
  const fs::path beside =
      file.parent_path() / (name.substr(0, name.size() - usual.size()) + "hf_quant_config.json");
  std::error_code code;
  if (!fs::is_regular_file(beside, code)) return;
  const Json stated = read_json_file(beside.string());
  if (!config.is_object() || !stated.is_object() || !stated.contains("quantization")) return;
  // It is about this checkpoint; a tower that it was made from may state another.
  for (auto& [key, value] : config.items()) {
    if (value.is_object()) value.erase("quantization_config");
  }
  Json& own = config["quantization_config"];
  if (own.is_null()) own = Json{{"quant_method", "modelopt"}};
  if (own.is_object() && !own.contains("quant_algo")) own["quantization"] = stated["quantization"];
}

Json whole_config(const fs::path& file) {
  Json out = config_at(file.string());
  add_stated_beside(file, out);
  return out;
}

// The configuration beside the weights where it is read.
Json document_of(const WeightsHeader& header) {
  std::error_code code;
  const fs::path place = header.place;
  const fs::path file =
      (fs::is_directory(place, code) ? place : place.parent_path()) / "config.json";
  if (!fs::is_regular_file(file, code)) return weights_document(header, nullptr, "");
  Json config;
  try {
    config = whole_config(file);
    (void)read_config(config, file.string());
    return config;
  } catch (const Error& error) {
    return weights_document(header, config, error.what());
  }
}

// A document has no types but its own.
Json document_at(const fs::path& file) {
  if (!names_weights(file.string())) return whole_config(file);
  const WeightsHeader header = read_weights(file.string());
  Json out = document_of(header);
  if (!header.is_gguf || out.value("model_type", std::string()) == "stored_matrices") return out;
  throw refused("has a config.json beside it, which does not say the types of its weights",
                header.place, "name a GGUF file in a folder of its own");
}

}  // namespace

ModelSpec load_weights(const WeightsHeader& header) {
  ModelSpec out = read_document(document_of(header), header.place, {});
  if (header.is_gguf && !out.stored_layers) take_formats(header, out);
  return out;
}

ModelSpec load_model(std::string_view id_or_path, const std::vector<fs::path>& model_dirs) {
  const FoundModel found = find_model(id_or_path, model_dirs);
  if (names_weights(found.file.string())) return load_weights(read_weights(found.file.string()));
  const Json document = whole_config(found.file);
  const std::string where = input_name(found.file.string());
  if (found.pasted.shorter.empty()) {
    ModelSpec spec = read_document(document, where, id_or_path);
    if (found.is_cached) spec.id = spec.checkpoint = spec.names.front() = id_or_path;
    return spec;
  }
  ModelSpec spec = read_document(document, where, found.pasted.shorter.front());
  // The checkpoint that was named, without the address of its hub, by the owner of the one that it
  // is a variant of; a tag ("llama3.3:70b-instruct-q4_0") is of another registry.
  const auto slash = spec.checkpoint.find('/');
  const auto end_of_owner = id_or_path.rfind('/');
  if (end_of_owner != std::string_view::npos && end_of_owner > 0) {
    const auto before = id_or_path.rfind('/', end_of_owner - 1);
    spec.checkpoint = id_or_path.substr(before + 1);  // npos + 1 = 0
  } else if (id_or_path.find(':') == std::string_view::npos) {
    spec.checkpoint = (slash == std::string::npos ? "" : spec.checkpoint.substr(0, slash + 1)) +
                      std::string(id_or_path);
  }
  spec.id = id_or_path;
  name_precision(found.pasted.precision, spec);
  return spec;
}

std::string model_document(std::string_view id_or_path, const std::vector<fs::path>& model_dirs) {
  const FoundModel found = find_model(id_or_path, model_dirs);
  Json document = document_at(found.file);
  if (!is_shipped(document)) return dump_json(document);
  document["id"] = found.pasted.shorter.empty() ? kept_name(model_names(document), id_or_path)
                                                : std::string(id_or_path);
  if (!found.pasted.precision.empty()) document["precision"] = found.pasted.precision;
  return dump_json(document);
}

std::vector<ModelListing> list_models(const std::vector<fs::path>& model_dirs) {
  std::vector<ModelListing> out;
  for (const fs::path& file : shipped_files(model_dirs)) out.push_back(read_listing(file));
  std::ranges::sort(out, {}, &ModelListing::id);
  return out;
}

}  // namespace halmark
