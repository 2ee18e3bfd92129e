// Texts as files, all of them or none.
#pragma once

#include <string>
#include <vector>

#include "export/text_file.hpp"

namespace halmark::exports {

// The first as it is, the others behind a line with their name.
std::string files_text(const std::vector<TextFile>& files);

// Of files that are there already and that the user did not name: a script and a config are edited
// by hand, figures for other tools come every night anew.
enum class Existing { refused, replaced };

// Into `path`: a folder takes all (it ends in '/' or is there), a file the first and the rest
// beside it. Each by a temporary name and a rename; scripts become executable. Returns lines
// "written: PATH", "replaced: PATH" or "unchanged: PATH". Throws Error: exit 2, before anything is
// written, for a file of another content that `existing` protects; exit 1 naming the path.
std::string write_files(const std::vector<TextFile>& files, const std::string& path,
                        Existing existing);

}  // namespace halmark::exports
