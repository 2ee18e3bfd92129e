// The digest as text of at most 20 lines, Markdown, JSON, a message, and the body of a webhook.
#pragma once

#include <string>
#include <vector>

#include "history/digest.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"since", "night", "series", "news": [{"news", "series", "plugin", "ratio", "ratio_interval",
// "night", "cause"}], "still_slower": [...]}.
report::View digest_view(const Digest& digest);

// Into files, by suffix: .txt .md .json, and .eml, a message for sendmail -t without the lines of
// its way. To `url` ("" = nowhere), where something is new: the document with its text as "text",
// which chat services show. Where all of it went, and it is of all series, it is not new in the
// next digest of the database. Throws Error: exit 2, before anything is written, for another suffix
// or URL; exit 1 where it cannot be written or is not taken.
void send_digest(const Digest& digest, const std::vector<std::string>& files,
                 const std::string& url, const std::string& database);

}  // namespace halmark::history
