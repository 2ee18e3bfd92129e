// Recorded tuning spaces as problems: a configuration is asked for, the file answers with what was
// measured. The files are other people's measurements and are not part of this repository.
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "core/json/json.hpp"
#include "problem.hpp"
#include "tests/shared_data.hpp"

namespace halmark::problems {
namespace {

struct Row {
  double time_ms = 0, compile_ms = 0;
  bool is_measured = false;
};

struct Recording {
  std::vector<SearchDomain> domains;
  std::unordered_map<std::string, Row> rows;  // by key
};

struct Source {
  const char* name;
  const char* file;
  std::vector<StatedConstraint> constraints;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> out = {
      {"conv",
       "convolution_milo__A100.json.gz",
       {{"threads_per_block", "block_size_x*block_size_y <= 1024", {}},
        {"padding", "use_padding == 0 or (block_size_x % 32 != 0 and use_shmem == 1)", {}},
        {"shared_memory",
         "use_shmem == 0 or (block_size_x*tile_size_x + 14)*(block_size_y*tile_size_y + 14) < "
         "12288",
         {}}}},
      {"gemm",
       "gemm__RTX_3090.json.gz",
       {{"m_compute", "MWG % (MDIMC*VWM) == 0", {}},
        {"n_compute", "NWG % (NDIMC*VWN) == 0", {}},
        {"m_load", "MWG % (MDIMA*VWM) == 0", {}},
        {"n_load", "NWG % (NDIMB*VWN) == 0", {}},
        {"k_of_a", "(KWG*MDIMA) % (MDIMC*NDIMC) == 0", {}},
        {"k_of_b", "(KWG*NDIMB) % (MDIMC*NDIMC) == 0", {}},
        {"k_unroll", "KWG % KWI == 0", {}}}},
      {"dedisp",
       "dedispersion_milo__A100.json.gz",
       {{"threads_per_block", "32 <= block_size_x*block_size_y <= 1024", {}},
        {"stride_x", "tile_stride_x == 0 or tile_size_x > 1", {}},
        {"stride_y", "tile_stride_y == 0 or tile_size_y > 1", {}}}}};
  return out;
}

std::string unpacked(const std::string& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  std::vector<char> block(1 << 18);
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;) {
    out.append(block.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  return out;
}

Recording recording(const std::string& path) {
  // Single repetitions are most of the file, and nothing here reads them.
  const auto keep = [](int, Json::parse_event_t event, Json& value) {
    return !(event == Json::parse_event_t::key && value == "times");
  };
  const Json file = Json::parse(unpacked(path), keep);
  Recording out;
  for (const auto& key : file.at("tune_params_keys")) {
    SearchDomain domain{.name = key.get<std::string>(), .kind = DomainKind::ordinal};
    for (const auto& value : file.at("tune_params").at(domain.name)) {
      domain.values.emplace_back(value.get<std::int64_t>());
    }
    out.domains.push_back(std::move(domain));
  }
  for (const auto& [key, row] : file.at("cache").items()) {
    Row r;
    r.is_measured = row.at("time").is_number();
    if (r.is_measured) {
      r.time_ms = row.at("time").get<double>();
      r.compile_ms = row.value("compile_time", 0.0);
    }
    out.rows.emplace(key, r);
  }
  return out;
}

using Values = std::map<std::string, double>;

// The derived resources of the three-objective problems: figures of merit, not measurements.
Objectives objectives_of(const std::string& name, const Values& v, const Row& row) {
  if (name == "convres3") {
    return {row.time_ms, row.compile_ms,
            4 * v.at("use_shmem") * (v.at("block_size_x") * v.at("tile_size_x") + 14) *
                (v.at("block_size_y") * v.at("tile_size_y") + 14)};
  }
  if (name == "gemmres3") {
    return {row.time_ms, 4 * v.at("KWG") * (v.at("SA") * v.at("MWG") + v.at("SB") * v.at("NWG")),
            (v.at("MWG") / v.at("MDIMC")) * (v.at("NWG") / v.at("NDIMC"))};
  }
  if (name == "dedispres3") {
    return {row.time_ms, v.at("block_size_x") * v.at("block_size_y"),
            v.at("tile_size_x") * v.at("tile_size_y")};
  }
  return {row.time_ms};
}

std::string key_of(const Space& space, const Point& point) {
  std::string out;
  for (const auto& [name, value] : space.setting(point)) {
    out += (out.empty() ? "" : ",") + text_of(value);
  }
  return out;
}

Told look_up(const std::string& name, const Recording& recorded, const Space& space,
             const Point& point) {
  const auto row = recorded.rows.find(key_of(space, point));
  if (row == recorded.rows.end() || !row->second.is_measured) {
    return {.point = point,
            .outcome = TrialOutcome::failed,
            .reason = row == recorded.rows.end() ? "forbidden" : "did not compile or run"};
  }
  Values values;
  for (const auto& [parameter, value] : space.setting(point)) {
    values[parameter] = static_cast<double>(std::get<std::int64_t>(value));
  }
  return {.point = point, .objectives = objectives_of(name, values, row->second)};
}

// The exact front, from every measured row.
void add_answer(Problem& problem, const Recording& recorded) {
  std::vector<Objectives> all;
  for (const auto& [key, row] : recorded.rows) {
    if (!row.is_measured) continue;
    Values values;
    std::size_t at = 0;
    for (const SearchDomain& domain : recorded.domains) {
      const std::size_t comma = key.find(',', at);
      values[domain.name] = std::stod(key.substr(at, comma - at));
      at = comma + 1;
    }
    all.push_back(objectives_of(problem.name, values, row));
  }
  for (const std::size_t i : non_dominated(all)) problem.front.push_back(all[i]);
  std::ranges::sort(problem.front);
  problem.front.erase(std::ranges::unique(problem.front).begin(), problem.front.end());
  problem.ideal = problem.nadir = problem.front.front();
  for (const Objectives& p : problem.front) {
    for (std::size_t d = 0; d < p.size(); ++d) {
      problem.ideal[d] = std::min(problem.ideal[d], p[d]);
      problem.nadir[d] = std::max(problem.nadir[d], p[d]);
    }
  }
  if (problem.ideal.size() < 2) return;
  std::vector<Objectives> normalised = problem.front;
  for (Objectives& p : normalised) {
    for (std::size_t d = 0; d < p.size(); ++d) {
      p[d] = (p[d] - problem.ideal[d]) / (problem.nadir[d] - problem.ideal[d]);
    }
  }
  problem.exact_hypervolume = hypervolume(normalised, Objectives(problem.ideal.size(), 1.1));
}

}  // namespace

std::string data_folder() { return test::shared_data().string(); }

std::optional<Problem> replay(const std::string& name, bool hide_constraints) {
  for (const Source& source : sources()) {
    if (!name.starts_with(source.name)) continue;
    const std::string path = data_folder() + "/search/" + source.file;
    if (!std::filesystem::exists(path)) return std::nullopt;
    static std::map<std::string, std::shared_ptr<const Recording>> read;
    auto& recorded = read[path];
    if (!recorded) recorded = std::make_shared<const Recording>(recording(path));
    Problem out{.name = name};
    out.description.domains = recorded->domains;
    if (!hide_constraints) out.description.constraints = source.constraints;
    add_answer(out, *recorded);
    for (std::size_t m = 0; m < out.front.front().size(); ++m) {
      out.description.objectives.push_back({"objective" + std::to_string(m), "", false});
    }
    out.evaluate = [name, recorded](const Space& space, const Point& point) {
      return look_up(name, *recorded, space, point);
    };
    return out;
  }
  return std::nullopt;
}

}  // namespace halmark::problems
