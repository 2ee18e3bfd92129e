#include "serve/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "serve/page_files.hpp"

namespace halmark::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

class Echo : public PageValues {
 public:
  Json answer(const PageQuestion& question) override {
    if (question.path == "refused") throw refused("no such layout", {}, "choose another");
    if (question.path == "broken") throw std::runtime_error("defect");
    if (question.path != "echo") throw std::out_of_range("none");
    return {{"values", question.values}};
  }
  Json act(const PageQuestion& question) override { return {{"did", question.values}}; }
  Json progress() override { return {}; }
};

PageAnswer get(const std::string& target) {
  Echo values;
  return answered(values, {"GET", target, {}}, "");
}

TEST(Answers, of_the_values_are_documents) {
  const PageAnswer answer = get("/api/echo?a=1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_EQ(*answer.body, R"({"values":{"a":"1"}})");
}

TEST(Answers, that_are_refused_say_why) {
  const PageAnswer refused_one = get("/api/refused");
  EXPECT_EQ(refused_one.status, 200);
  EXPECT_THAT(*refused_one.body, HasSubstr("no such layout; choose another"));
  EXPECT_EQ(get("/api/none").status, 404);
  EXPECT_EQ(get("/api/broken").status, 500);
  EXPECT_EQ(get("/api/echo?a=%").status, 400);
}

TEST(Answers, are_made_of_no_path_of_a_file_system) {
  for (const char* path : {"/../etc/passwd", "/page/../../x", "/%2e%2e/x", "//etc/passwd", "/.",
                           "/x", "/index.html/..", "*"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
}

TEST(Answers, give_every_file_of_the_page) {
  for (const PageFile& file : page_files()) {
    const PageAnswer answer = get("/" + std::string(file.name));
    EXPECT_EQ(answer.status, 200) << file.name;
    EXPECT_EQ(*answer.body, file.text);
  }
  EXPECT_EQ(*get("/").body, page_files().front().text);
  EXPECT_THAT(get("/app.js").type, HasSubstr("text/javascript"));
}

TEST(Answers, to_what_acts_take_a_flat_object_of_texts) {
  Echo values;
  const auto post = [&](const std::string& body) {
    return answered(values, {"POST", "/api/start", {}}, body);
  };
  EXPECT_EQ(*post(R"({"sweep":"x"})").body, R"({"did":{"sweep":"x"}})");
  for (const char* wrong : {"", "[]", "{", R"({"a":1})", R"({"a":{}})", R"({"a":"1","a":"2"})"}) {
    EXPECT_EQ(post(wrong).status, 422) << wrong;
  }
  EXPECT_EQ(post(std::string(1000, '[')).status, 422);
}

TEST(Answers, carry_the_headers_that_keep_others_out) {
  const std::string head = head_text(get("/"), 3, true);
  EXPECT_THAT(head, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* header :
       {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "nosniff",
        "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
        "Content-Length: 3\r\n"}) {
    EXPECT_THAT(head, HasSubstr(header));
  }
  EXPECT_THAT(head, Not(HasSubstr("unsafe")));
  EXPECT_THAT(head, Not(HasSubstr("Access-Control")));
  EXPECT_THAT(head_text({}, -1, false), Not(HasSubstr("Content-Length")));
}

// What is loaded from elsewhere, or written inline, the policy above would stop.
TEST(PageFiles, name_no_other_host_and_hold_nothing_inline) {
  for (const PageFile& file : page_files()) {
    std::string text(file.text);
    for (const char* name : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}) {
      for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.erase(at, 10);
    }
    EXPECT_THAT(text, Not(HasSubstr("http://"))) << file.name;
    EXPECT_THAT(text, Not(HasSubstr("https://"))) << file.name;
    EXPECT_THAT(text, Not(HasSubstr("@import"))) << file.name;
    EXPECT_THAT(text, Not(HasSubstr("style=\""))) << file.name;
    EXPECT_THAT(text, Not(HasSubstr("innerHTML"))) << file.name;
  }
}

}  // namespace
}  // namespace halmark::serve
