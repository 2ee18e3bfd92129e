// A certified front as a person gets it: measured, proved, written, checked, taken up again.
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Certify : public HalmarkTest {
 protected:
  static Arguments command(const Arguments& more) {
    Arguments out = {"tune",      "tiny.toml", "--db",    "r.db",
                     "--sampler", "certify",   "--proof", "f.hmproof"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Outcome tune(const Arguments& more = {}) const { return halmark(command(more)); }
  Outcome undisturbed_tune(const Arguments& more = {}) const { return undisturbed(command(more)); }
  Outcome verify(Arguments more = {}) const {
    Arguments arguments = {"verify-front", "f.hmproof"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return halmark(arguments);
  }
};

TEST_F(Certify, proves_the_front_of_a_sweep_and_somebody_else_can_check_it) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome o = undisturbed_tune({"--json"});
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json certificate = envelope_of(o.out)["data"]["certificate"];
  EXPECT_EQ(certificate["state"], "certified");
  EXPECT_EQ(certificate["configurations"], 2);
  EXPECT_EQ(certificate["open"], 0);
  EXPECT_FALSE(certificate["composition_confirmed"]);
  // Nothing that ran it whole: the proof holds on that condition.
  const Outcome check = verify({"--journal", "r.db", "--json"});
  EXPECT_EQ(check.exit_code, 4) << check.out << check.err;
  const Json data = envelope_of(check.out)["data"];
  EXPECT_EQ(data["verdict"], "holds with a condition");
  EXPECT_EQ(data["reason"], "composition not confirmed");
  EXPECT_TRUE(data["rows_compared"]);
  EXPECT_EQ(data["kernels_measured"], certificate["kernels_measured"]);
}

TEST_F(Certify, goes_on_from_the_rows_that_are_there_and_proves_the_same) {
  tiny_sweep("fake", "shards = [1]");
  ASSERT_EQ(undisturbed_tune().exit_code, 0);
  const std::string count = "SELECT count(*) FROM entry";
  const std::int64_t rows = sql_count(path("r.db"), count);
  const Outcome first = verify();
  // Whatever were measured now would be a failed row.
  base_.environment["HALMARK_FAKE_SCRIPT"] = "crash=prepare";
  EXPECT_EQ(tune().exit_code, 0);
  EXPECT_EQ(sql_count(path("r.db"), count), rows);
  EXPECT_EQ(verify().out, first.out);
}

TEST_F(Certify, a_kernel_that_fails_takes_its_configurations_out_of_the_claim) {
  tiny_sweep("fake", "shards = [1]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "crash=prepare";
  const Outcome o = tune({"--json"});
  EXPECT_EQ(o.exit_code, 4) << o.err;
  EXPECT_EQ(envelope_of(o.out)["data"]["certificate"]["failed"], 2);
  const Outcome check = verify();
  EXPECT_EQ(check.exit_code, 0) << check.out << "a claim about nothing holds";
  EXPECT_THAT(check.out, HasSubstr("2 failed"));
}

TEST_F(Certify, a_proof_that_was_changed_is_refused_by_its_record) {
  tiny_sweep("fake", "shards = [1]");
  ASSERT_EQ(undisturbed_tune().exit_code, 0);
  const std::string proof = read("f.hmproof");
  const std::size_t at = proof.find("\"evaluated\":[[") + 14;
  write("f.hmproof", proof.substr(0, at) + "1" + proof.substr(at));
  const Outcome broken = verify();
  EXPECT_EQ(broken.exit_code, 3) << broken.out;
  EXPECT_THAT(broken.out, testing::MatchesRegex("f.hmproof:[0-9]+: the proof broken: .*\n"));
  write("f.hmproof", proof.substr(0, proof.size() / 2));
  EXPECT_EQ(verify().exit_code, 2);
}

TEST_F(Certify, says_what_it_needs) {
  tiny_sweep("fake", "shards = [1]");
  const Outcome o = halmark({"tune", "tiny.toml", "--db", "r.db", "--proof", "f.hmproof"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("--sampler certify"));
  EXPECT_EQ(halmark({"verify-front", "absent"}).exit_code, 2);
}

}  // namespace
}  // namespace halmark::integration
