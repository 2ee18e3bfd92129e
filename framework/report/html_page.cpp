#include "report/html_page.hpp"

#include "report/html_style.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::report {

std::string element(const std::string& name, const std::string& text) {
  return '<' + name + '>' + html_text(text) + "</" + name + ">\n";
}

std::string page_head(const std::string& title) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n" +
         element("title", title) + "<style>" + std::string(style_sheet()) + "</style>\n</head>\n";
}

}  // namespace halmark::report
