#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "serve/answers.hpp"
#include "serve/limits.hpp"
#include "serve/page_files.hpp"
#include "serve/request_guard.hpp"

namespace halmark::serve {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;
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

// Who is let in. Host and Origin as browsers send them: RFC 9112 (3.2), the Fetch standard (3.1).

const Guard guard{.port = 8080, .hosts = {"bench.example"}, .token = "0123456789abcdef"};

int status_of(const std::string& method, const std::string& target, Headers headers) {
  const auto rejection = guard.rejection({method, target, std::move(headers)});
  return rejection ? rejection->status : 200;
}

int host_status(const std::string& host) { return status_of("GET", "/", {{"host", host}}); }

TEST(RequestGuard, answers_under_its_own_names_alone) {
  for (const char* own : {"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LocalHost:8080",
                          "bench.example", "bench.example:8080"}) {
    EXPECT_EQ(host_status(own), 200) << own;
  }
  for (const char* foreign :
       {"evil.example", "evil.example:8080", "localhost", "localhost:8081", "localhost.:8080",
        "127.0.0.1:8080.evil.example", "localhost:8080@evil.example", "", "[::1]", "127.1:8080",
        "bench.example:81", "xbench.example"}) {
    EXPECT_EQ(host_status(foreign), 403) << foreign;
  }
}

TEST(RequestGuard, a_request_states_one_host) {
  EXPECT_EQ(status_of("GET", "/", {}), 400);
  EXPECT_EQ(status_of("GET", "/", {{"host", "localhost:8080"}, {"host", "evil.example"}}), 400);
}

TEST(RequestGuard, an_absolute_target_is_held_to_the_same_names) {
  const Headers own = {{"host", "localhost:8080"}};
  EXPECT_EQ(status_of("GET", "http://localhost:8080/api/runs", own), 200);
  EXPECT_EQ(status_of("GET", "http://evil.example/api/runs", own), 403);
  EXPECT_EQ(status_of("GET", "http://evil.example?x", own), 403);
}

TEST(RequestGuard, pages_of_other_sites_read_nothing) {
  const auto with = [](const char* origin) {
    return status_of("GET", "/api/runs", {{"host", "localhost:8080"}, {"origin", origin}});
  };
  EXPECT_EQ(with("http://localhost:8080"), 200);
  for (const char* foreign : {"http://evil.example", "null", "http://localhost:8081",
                              "localhost:8080", "http://localhost:8080.evil.example"}) {
    EXPECT_EQ(with(foreign), 403) << foreign;
  }
  EXPECT_EQ(
      status_of("GET", "/api/runs", {{"host", "localhost:8080"}, {"sec-fetch-site", "cross-site"}}),
      403);
  // A link on another page may open this one.
  EXPECT_EQ(status_of("GET", "/",
                      {{"host", "localhost:8080"},
                       {"sec-fetch-site", "cross-site"},
                       {"sec-fetch-mode", "navigate"}}),
            200);
}

const Headers acting = {{"host", "localhost:8080"},
                        {"origin", "http://localhost:8080"},
                        {"content-type", "application/json"},
                        {"x-halmark-token", "0123456789abcdef"}};

TEST(RequestGuard, what_acts_needs_origin_token_and_type) {
  EXPECT_EQ(status_of("POST", "/api/start", acting), 200);
  for (std::size_t left_out = 0; left_out < acting.size(); ++left_out) {
    Headers some = acting;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_NE(status_of("POST", "/api/start", some), 200) << acting[left_out].first;
  }
  for (const char* wrong : {"", "0123456789abcdee", "0123456789abcde", "0123456789abcdef0"}) {
    Headers some = acting;
    some[3].second = wrong;
    EXPECT_EQ(status_of("POST", "/api/start", some), 403) << wrong;
  }
  Headers form = acting;
  form[2].second = "application/x-www-form-urlencoded";
  EXPECT_EQ(status_of("POST", "/api/start", form), 415);
}

TEST(RequestGuard, without_a_token_nothing_acts) {
  const Guard reading{.port = 8080};
  Headers headers = acting;
  headers[3].second = "";
  EXPECT_EQ(reading.rejection({"POST", "/api/start", headers})->status, 403);
}

TEST(RequestGuard, other_methods_two_lengths_and_compressed_bodies_are_refused) {
  const Headers own = {{"host", "localhost:8080"}};
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"}) {
    EXPECT_EQ(status_of(method, "/", own), 405) << method;
  }
  Headers both = acting;
  both.emplace_back("content-length", "2");
  both.emplace_back("transfer-encoding", "chunked");
  EXPECT_EQ(status_of("POST", "/api/start", both), 400);
  Headers packed = acting;
  packed.emplace_back("content-encoding", "gzip");
  EXPECT_EQ(status_of("POST", "/api/start", packed), 415);
}

TEST(RequestGuard, headers_are_counted) {
  Headers many = {{"host", "localhost:8080"}};
  while (many.size() < headers_max) many.emplace_back("x-more", "1");
  EXPECT_EQ(status_of("GET", "/", many), 200);
  many.emplace_back("x-more", "1");
  EXPECT_EQ(status_of("GET", "/", many), 431);
}

TEST(RequestGuard, tokens_are_random_and_long) {
  const std::string one = random_token();
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, random_token());
}

TEST(PageQuestions, are_decoded) {
  const auto question = parse_question("/api/step?model=qwen3%2D8b&dtype=a+b&empty=&alone");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->path, "step");
  EXPECT_THAT(question->values,
              testing::ElementsAre(testing::Pair("alone", ""), testing::Pair("dtype", "a b"),
                                   testing::Pair("empty", ""), testing::Pair("model", "qwen3-8b")));
  EXPECT_EQ(parse_question("http://localhost:8080/api/runs?x=1")->path, "runs");
}

TEST(PageQuestions, that_are_broken_are_none) {
  for (const char* broken :
       {"/api/step?a=%", "/api/step?a=%4", "/api/step?a=%zz", "/api/step?a=%00", "/api/step?a=%1b",
        "/api/step?a=1&a=2", "/api/step?a=%83", "/api/step?\xff=1", "/other", "*", ""}) {
    EXPECT_FALSE(parse_question(broken)) << broken;
  }
  std::string many = "/api/step?";
  for (std::size_t i = 0; i < query_values_max; ++i) many += "k" + std::to_string(i) + "=1&";
  EXPECT_TRUE(parse_question(many));
  EXPECT_FALSE(parse_question(many + "one_more=1"));
}

}  // namespace
}  // namespace halmark::serve
