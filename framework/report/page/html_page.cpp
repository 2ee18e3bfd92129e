#include "report/page/html_page.hpp"

#include "report/page/html_style.hpp"
#include "report/page/page_script.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::report {
namespace {

std::string head(const std::string& title, const std::string& policy) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'" +
         policy +
         "\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n" +
         element("title", title) + "<style>" + std::string(style_sheet()) + "</style>\n</head>\n";
}

}  // namespace

std::string element(const std::string& name, const std::string& text) {
  return '<' + name + '>' + html_text(text) + "</" + name + ">\n";
}

std::string page_head(const std::string& title) { return head(title, ""); }

std::string scripted_page_head(const std::string& title) {
  return head(title, "; script-src " + page_script_source());
}

std::string script_element() { return "<script>" + std::string(page_script()) + "</script>\n"; }

}  // namespace halmark::report
