// The Debian package of this build; nothing is installed.
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Package : public HalmarkTest {
 protected:
  Outcome shell(const std::string& command) const {
    Launch launch = base_;
    launch.arguments = {"/bin/sh", "-c", command};
    return run(launch);
  }
};

TEST_F(Package, is_made_with_what_it_links_and_belongs_below_usr) {
  if (shell("command -v dpkg-deb && command -v dpkg-shlibdeps").exit_code != 0) {
    GTEST_SKIP() << "there is no dpkg-dev";
  }
  const Outcome made =
      shell("cpack -G DEB --config " + test::in_build("/CPackConfig.cmake") + " -B package");
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  const Outcome fields = shell("dpkg-deb -I package/halmark_*.deb");
  EXPECT_THAT(fields.out, HasSubstr("Package: halmark"));
  EXPECT_THAT(fields.out, HasSubstr("libsqlite3-0"));
  const Outcome files = shell("dpkg-deb -c package/halmark_*.deb");
  EXPECT_THAT(files.out, HasSubstr("./usr/bin/halmark\n"));
  EXPECT_THAT(files.out, HasSubstr("./usr/share/doc/halmark/copyright\n"));
  EXPECT_THAT(files.out, HasSubstr("./usr/share/man/man1/halmark-tune.1"));
  EXPECT_THAT(files.out, HasSubstr("/_halmark\n"));
  EXPECT_THAT(files.out, testing::Not(HasSubstr("./usr/local")));
}

}  // namespace
}  // namespace halmark::integration
