#include "core/text/url.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

TEST(Url, a_password_is_shown_nowhere) {
  EXPECT_EQ(without_password("postgresql://u:p@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("postgresql://u:p%40q@h:5432/d"), "postgresql://u@h:5432/d");
  EXPECT_EQ(without_password("postgresql://u:p@q/r@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("postgresql://h/d?password=p&user=u"),
            "postgresql://h/d?password=...&user=u");
  EXPECT_EQ(without_password("postgresql://u:p@/d?host=/run&password=q"),
            "postgresql://u@/d?host=/run&password=...");
}

TEST(Url, what_has_no_password_stays_as_it_is) {
  for (const char* text : {"sqlite:///a.db", "postgresql://h:5432/d?user=a@b", "a.db",
                           "postgresql://u@h:5432/d", "postgresql://u@[::1]:5432/d"}) {
    EXPECT_EQ(without_password(text), text);
  }
}

TEST(Url, only_what_names_a_scheme_is_a_url) {
  EXPECT_EQ(url_scheme("postgresql+psycopg2://h/d"), "postgresql+psycopg2");
  EXPECT_EQ(url_scheme("mysql://h/d"), "mysql");
  for (const char* path : {"a.db", "/a/b.db", "://h", "c://d", "folder/a://b", "postgresql:/h"}) {
    EXPECT_EQ(url_scheme(path), "") << path;
  }
}

TEST(Url, a_driver_of_python_says_nothing_about_the_server) {
  for (const char* url : {"postgresql://h/d", "postgresql+psycopg2://h/d"}) {
    EXPECT_TRUE(is_postgresql_url(url));
    EXPECT_EQ(libpq_url(url), "postgresql://h/d");
  }
  EXPECT_EQ(libpq_url("postgres://h/d"), "postgres://h/d");
  for (const char* other : {"sqlite:///a.db", "postgresqlx://h", "postgresql", "a.db", ""}) {
    EXPECT_FALSE(is_postgresql_url(other)) << other;
  }
}

TEST(Url, options_that_are_there_stay_as_they_are) {
  EXPECT_EQ(with_options("postgresql://h/d", {{"a", "1"}, {"b", "2"}}), "postgresql://h/d?a=1&b=2");
  EXPECT_EQ(with_options("postgresql://h/d?xa=0&b=9", {{"a", "1"}, {"b", "2"}}),
            "postgresql://h/d?xa=0&b=9&a=1");
}

TEST(Url, passwords_are_hidden_wherever_they_stand_in_a_text) {
  EXPECT_EQ(with_passwords_hidden("a 'postgresql://u:p@h/d' and :p@h; password=q",
                                  passwords_in("journal:postgresql://u:p@h/d?password=q&x=1")),
            "a 'postgresql://u@h/d' and @h; password=...");
  EXPECT_TRUE(passwords_in("postgresql://u@h:5432/d").empty());
}

}  // namespace
}  // namespace halmark
