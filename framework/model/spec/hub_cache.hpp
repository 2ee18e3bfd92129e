// What a model hub's tools have left on this machine: nothing is ever downloaded.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace halmark {

// The config.json of "organisation/name", or of a bare name that one organisation has, in the cache
// of Hugging Face (HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or ~/.cache): of the revision that was
// fetched last. Nothing where the cache has none.
std::optional<std::filesystem::path> cached_config(std::string_view name);

}  // namespace halmark
