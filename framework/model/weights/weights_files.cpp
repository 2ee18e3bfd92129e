// Which files a checkpoint consists of.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

namespace fs = std::filesystem;

namespace {

constexpr InputKind weights_input{"a file of weights", std::uint64_t{1} << 50,
                                  "name a file of weights that is there", false};
constexpr std::size_t files_max = 4096;

Error absent(const std::vector<std::string>& names, const std::string& where) {
  return refused(
      "names " + std::to_string(names.size()) + (names.size() == 1 ? " file" : " files") +
          " that cannot be read: " + printable(names.front()) + (names.size() > 1 ? ", ..." : ""),
      where, "put them beside it: their headers are read, never their data");
}

void read_file(const fs::path& path, WeightsHeader& out) {
  const InputFile file(path.string(), weights_input);
  ++out.files;
  (path.extension() == ".gguf" ? read_gguf : read_safetensors)(file, out);
}

// {"weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors"}}.
using FileOfTensor = std::unordered_map<std::string, std::string>;

FileOfTensor weight_map(const std::string& index) {
  const Json json = read_json_file(index);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object() || map->empty()) {
    throw refused("has no 'weight_map'", index, "name a model.safetensors.index.json");
  }
  FileOfTensor out;
  for (const auto& [tensor, file] : map->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name.find('/') != std::string::npos || !name.ends_with(".safetensors")) {
      throw refused("names no safetensors file beside it for '" + printable(tensor) + "'", index);
    }
    out.emplace(tensor, name);
  }
  return out;
}

// Tensors that the index leaves out are no part of the model.
void read_index(const std::string& index, WeightsHeader& out) {
  FileOfTensor map = weight_map(index);
  std::set<std::string> files;
  for (const auto& [tensor, file] : map) files.insert(file);
  if (files.size() > files_max) throw refused("names more files than are read", index);
  std::vector<std::string> missing;
  std::error_code code;
  const fs::path folder = fs::path(index).parent_path();
  for (const std::string& file : files) {
    if (!fs::is_regular_file(folder / file, code)) missing.push_back(file);
  }
  if (!missing.empty()) throw absent(missing, index);
  for (const std::string& file : files) {
    const std::size_t first = out.tensors.size();
    read_file(folder / file, out);
    const auto begin = out.tensors.begin() + static_cast<std::ptrdiff_t>(first);
    const auto is_other = [&](const StoredTensor& t) {
      const auto it = map.find(t.name);
      const bool is_here = it != map.end() && it->second == file;
      if (is_here) map.erase(it);
      return !is_here;
    };
    out.tensors.erase(std::remove_if(begin, out.tensors.end(), is_other), out.tensors.end());
  }
  if (map.empty()) return;
  const auto& [tensor, file] = *map.begin();
  throw refused("names " + std::to_string(map.size()) + " tensors that their files do not have: '" +
                    printable(tensor) + "' in " + printable(file) + (map.size() > 1 ? ", ..." : ""),
                index);
}

// "model-00001-of-00003.gguf" and those that go with it.
std::vector<fs::path> with_other_parts(const fs::path& path) {
  static const std::regex part(R"((.*)-(\d{5})-of-(\d{5})(\.gguf|\.safetensors))");
  const std::string name = path.filename().string();
  std::smatch found;
  if (!std::regex_match(name, found, part)) return {path};
  const std::size_t count = std::stoul(found[3]), own = std::stoul(found[2]);
  if (count > files_max) throw refused("is one of more files than are read", path.string());
  if (own < 1 || own > count) {
    throw refused(
        "is part " + std::to_string(own) + " of " + std::to_string(count) + " by its name",
        path.string());
  }
  std::vector<fs::path> out;
  std::vector<std::string> missing;
  std::error_code code;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    const std::string one = found[1].str() + '-' + std::string(5 - number.size(), '0') + number +
                            "-of-" + found[3].str() + found[4].str();
    out.push_back(path.parent_path() / one);
    if (!fs::is_regular_file(out.back(), code)) missing.push_back(one);
  }
  if (!missing.empty()) throw absent(missing, path.string());
  return out;
}

std::vector<fs::path> files_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> out;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    const bool is_tower = name.starts_with("mmproj");  // of llama.cpp
    if (name.ends_with(ending) && !is_tower && out.size() < files_max) out.push_back(entry.path());
  }
  std::ranges::sort(out);
  // The same weights again, as Mistral names them; they alone are the checkpoint.
  const auto again = std::ranges::partition(out, [](const fs::path& path) {
    return !path.filename().string().starts_with("consolidated");
  });
  if (again.begin() != out.begin()) out.erase(again.begin(), again.end());
  std::ranges::sort(out);
  return out;
}

void read_folder(const std::string& place, WeightsHeader& out) {
  const std::vector<fs::path> indices = files_in(place, ".safetensors.index.json");
  if (indices.size() == 1) return read_index(indices.front().string(), out);
  std::vector<fs::path> files = files_in(place, ".safetensors");
  if (files.empty()) files = files_in(place, ".gguf");
  if (files.empty() || indices.size() > 1) {
    throw refused(files.empty() ? "holds no safetensors and no GGUF file" : "holds several indices",
                  place, "name the index or file of one checkpoint; pickled weights are not read");
  }
  if (files.front().extension() == ".gguf" &&
      with_other_parts(files.front()).size() != files.size()) {
    throw refused("holds several GGUF files", place,
                  "name one: " + files.front().filename().string());
  }
  std::set<fs::path> whole;  // with every part there
  for (const fs::path& file : files) {
    if (whole.contains(file)) continue;
    for (fs::path& part : with_other_parts(file)) whole.insert(std::move(part));
  }
  for (const fs::path& file : files) read_file(file, out);
}

void require_sound(const WeightsHeader& header) {
  std::set<std::string_view> names;
  std::int64_t values = 0, bytes = 0;
  for (const StoredTensor& tensor : header.tensors) {
    values += tensor.values();
    bytes += tensor.bytes;
    if (values > weights_values_max || bytes > weights_bytes_max) {
      throw refused("has more values or bytes than any memory holds", header.place);
    }
    if (names.insert(tensor.name).second) continue;
    throw refused("has tensor '" + printable(tensor.name) + "' twice", header.place);
  }
  if (names.empty()) throw refused("has no tensors", header.place);
}

}  // namespace

std::int64_t StoredTensor::values() const {
  std::int64_t out = 1;
  for (const std::int64_t size : shape) out *= size;
  return out;
}

void require_values(const StoredTensor& tensor, const std::string& where) {
  std::int64_t product = 1;
  for (const std::int64_t size : tensor.shape) {
    const bool is_beyond = size < 0 || (size > 0 && product > weights_values_max / size);
    if (is_beyond || tensor.shape.size() > 16) {
      throw refused("tensor '" + printable(tensor.name) + "' has a shape that no memory holds",
                    where);
    }
    product *= std::max<std::int64_t>(1, size);
  }
}

bool names_weights(std::string_view path) {
  return path.ends_with(".gguf") || path.ends_with(".safetensors") ||
         path.ends_with(".safetensors.index.json");
}

WeightsHeader read_weights(const std::string& place) {
  WeightsHeader out{.place = place};
  std::error_code code;
  if (fs::is_directory(place, code)) {
    read_folder(place, out);
  } else if (place.ends_with(".json")) {
    read_index(place, out);
  } else if (names_weights(place)) {
    for (const fs::path& file : with_other_parts(place)) read_file(file, out);
  } else {
    throw refused("is no checkpoint by its name", place,
                  "name a folder, model.safetensors.index.json, FILE.safetensors or FILE.gguf");
  }
  require_sound(out);
  return out;
}

}  // namespace halmark
