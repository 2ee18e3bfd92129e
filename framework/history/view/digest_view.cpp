#include "history/view/digest_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/input/input_file.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "serve/http_client.hpp"

namespace halmark::history {
namespace {

using report::signed_percent_text;

// A line each, and one for what is left: 20 lines with the head and what is still slower.
struct Share {
  News news;
  std::size_t lines;
};
constexpr std::array shares = {Share{News::slower, 6}, Share{News::lost, 4},
                               Share{News::recovered, 2}, Share{News::faster, 1},
                               Share{News::created, 0}};
constexpr std::size_t named_max = 3;  // where names stand in one line

std::vector<const NewsLine*> lines_of(const Digest& digest, News news) {
  std::vector<const NewsLine*> out;
  for (const NewsLine& line : digest.lines) {
    if (line.news == news) out.push_back(&line);
  }
  return out;
}

std::string change_text(const NewsLine& line) {
  if (!line.ratio) return {};
  std::string out = signed_percent_text(*line.ratio - 1);
  const bool has_interval = line.news == News::slower || line.news == News::faster;
  if (!has_interval || line.interval.high == 0) return out;
  if (!line.has_usable_interval()) return out + " (no usable interval)";
  return out + fmt::format(" ({} .. {})", signed_percent_text(line.interval.low - 1),
                           signed_percent_text(line.interval.high - 1));
}

std::string line_text(const NewsLine& line) {
  std::string out = std::string(news_name(line.news));
  if (const std::string change = change_text(line); !change.empty()) out += ' ' + change;
  out += "  " + line.name.what;
  if (line.news != News::lost) out += "  since " + line.night;
  if (!line.cause.empty()) {
    out += line.news == News::lost ? ": " + line.cause : "; cause: " + line.cause;
  }
  return out;
}

std::string named(const std::vector<const NewsLine*>& lines) {
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), named_max); ++i) {
    append_item(out, ", ", lines[i]->name.what);
    if (!lines[i]->ratio) continue;
    out += ' ' + change_text(*lines[i]) + " since " + lines[i]->night;
  }
  if (lines.size() > named_max) out += fmt::format(" and {} more", lines.size() - named_max);
  return out;
}

std::string headline_of(const Digest& digest) {
  std::string counts;
  for (const Share& share : shares) {
    const std::size_t count = lines_of(digest, share.news).size();
    if (count == 0) continue;
    append_item(counts, ", ", fmt::format("{} {}", count, news_name(share.news)));
  }
  return counts.empty() ? "nothing new" : counts;
}

std::vector<std::string> text_lines(const Digest& digest) {
  std::vector<std::string> out = {fmt::format("{} of {} series in the night of {}, since {}",
                                              headline_of(digest), digest.series, digest.night,
                                              digest.since)};
  for (const Share& share : shares) {
    const std::vector<const NewsLine*> lines = lines_of(digest, share.news);
    const std::size_t shown = std::min(lines.size(), share.lines);
    for (std::size_t i = 0; i < shown; ++i) out.push_back(line_text(*lines[i]));
    const std::vector<const NewsLine*> rest(lines.begin() + static_cast<std::ptrdiff_t>(shown),
                                            lines.end());
    if (rest.empty()) continue;
    out.push_back(
        fmt::format("{}{}  {}", shown > 0 ? "further " : "", news_name(share.news), named(rest)));
  }
  std::vector<const NewsLine*> still;
  for (const NewsLine& line : digest.still_slower) still.push_back(&line);
  if (!still.empty()) out.push_back(fmt::format("still slower: {}", named(still)));
  return out;
}

Json line_json(const NewsLine& line) {
  const bool has_interval = line.ratio && line.interval.high > 0;
  return {{"news", news_name(line.news)},
          {"series", line.name.what},
          {"plugin", line.name.plugin},
          {"ratio", optional_number(line.ratio)},
          {"ratio_interval", has_interval ? Json(line.interval) : Json(nullptr)},
          {"night", line.night},
          {"cause", line.cause}};
}

Json digest_json(const Digest& digest) {
  Json news = json_list(digest.lines, line_json);
  Json still = json_list(digest.still_slower, line_json);
  return {{"since", digest.since},
          {"night", digest.night},
          {"series", digest.series},
          {"news", std::move(news)},
          {"still_slower", std::move(still)}};
}

std::string digest_text(const Digest& digest) {
  std::string out;
  for (const std::string& line : text_lines(digest)) out += report::clean_text(line) + '\n';
  return out;
}

std::string digest_markdown(const Digest& digest) {
  std::string out = "## Halmark: " + headline_of(digest) + "\n\n";
  for (const std::string& line : text_lines(digest)) {
    out += "- " + report::markdown_text(line) + '\n';
  }
  return out;
}

std::string digest_message(const Digest& digest) {
  return "Subject: Halmark " + digest.night + ": " + headline_of(digest) +
         "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n" + digest_text(digest);
}

std::string document(const Digest& digest, const std::string& path) {
  if (path.ends_with(".json")) return dump_json(digest_json(digest), 1) + '\n';
  if (path.ends_with(".md")) return digest_markdown(digest);
  if (path.ends_with(".eml")) return digest_message(digest);
  if (path.ends_with(".txt")) return digest_text(digest);
  throw refused("unknown format of a digest", path, "known: .txt, .md, .json, .eml");
}

// Notes what is sent before it is, and takes the note back unless all of it went.
class SentNote {
 public:
  SentNote(const Digest& digest, std::string path) : path_(std::move(path)) {
    if (std::filesystem::exists(path_)) before_ = read_input(path_, json_input);
    write_whole_file(fmt::format("{} {}\n", digest.run, digest.fingerprint), path_);
  }
  ~SentNote() {
    std::error_code ignored;
    if (!is_sent_) std::filesystem::remove(path_, ignored);
    if (is_sent_ || before_.empty()) return;
    try {
      write_whole_file(before_, path_);
    } catch (const Error&) {  // without a note what was said before is said again
    }
  }
  SentNote(const SentNote&) = delete;
  SentNote& operator=(const SentNote&) = delete;
  void keep() { is_sent_ = true; }

 private:
  std::string path_, before_;
  bool is_sent_ = false;
};

}  // namespace

report::View digest_view(const Digest& digest) {
  return {.data = digest_json(digest), .text = digest_text(digest)};
}

void send_digest(const Digest& digest, const std::vector<std::string>& files,
                 const std::string& url, const std::string& database) {
  std::vector<std::string> documents;
  for (const std::string& file : files) documents.push_back(document(digest, file));
  std::optional<serve::HttpTarget> to;
  if (!url.empty()) to = serve::http_target(url, "80");
  if (files.empty() && !to) return;
  std::optional<SentNote> note;
  if (digest.is_of_all && !is_postgresql_url(database)) note.emplace(digest, sent_path(database));
  for (std::size_t i = 0; i < files.size(); ++i) write_whole_file(documents[i], files[i]);
  if (to && !digest.lines.empty()) {
    Json posted = digest_json(digest);
    posted["text"] = digest_text(digest);
    serve::post_json(*to, "", dump_json(posted));
  }
  if (note) note->keep();
}

}  // namespace halmark::history
