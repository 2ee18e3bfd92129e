// The document behind a model: what a file keeps that has to stand for itself elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

// JSON text that read_model reads to what load_model gives for the same name. Throws Error as
// load_model does.
std::string model_document(std::string_view id_or_path,
                           const std::vector<std::filesystem::path>& model_dirs);

}  // namespace halmark
