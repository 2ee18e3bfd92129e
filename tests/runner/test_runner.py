"""Tests of tests/run_cases.py, on a program whose cases fail, crash, hang and exit, and of the command line of tests/suite.py.

test_runner.py RUNNER SPECIMEN BUILD
"""
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

runner, specimen, build = sys.argv[1:4]


class Runner(unittest.TestCase):
    def run_cases(self, *options, limit="2", program=None):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", runner, "--name", "specimen", "--results", folder, "--limit", limit, *options,
                                   "--", program or specimen], capture_output=True, text=True, check=False, env={**os.environ, "HALMARK_SPECIMEN": folder})
            file = os.path.join(folder, "specimen.xml")
            suite = xml.parse(file).getroot() if os.path.exists(file) else []
            cases = {f"{case.get('classname')}.{case.get('name')}": case for case in suite}
            return done, {name: next((child.get("message") if child.tag == "failure" else child.tag for child in case), "passed")
                          for name, case in cases.items()}, cases

    def test_each_way_to_end_is_named_and_those_behind_still_run(self):
        done, outcome, _ = self.run_cases()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(outcome, {
            "Good.passes": "passed", "Good.is_skipped": "skipped", "Bad.fails": "failed", "Bad.crashes": "crashed",
            "Bad.hangs": "hung", "Bad.leaves_by_exit": "crashed", "Busy.passes_the_second_time": "failed",
            "Late.stands_behind_all_of_them": "passed"})
        for line in ("FAILED Bad.fails", "a figure that is wrong", "CRASHED Bad.crashes", "signal SIGABRT", "HUNG Bad.hangs",
                     "did not end within 2 s", "CRASHED Bad.leaves_by_exit"):
            self.assertIn(line, done.stdout)

    def test_what_was_left_out_does_not_run(self):
        done, outcome, _ = self.run_cases("--leave=Bad.*:Busy.*")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(set(outcome), {"Good.passes", "Good.is_skipped", "Late.stands_behind_all_of_them"})

    def test_a_second_try_is_counted(self):
        done, outcome, cases = self.run_cases("--only=Busy.*:Bad.fails", "--tries=3")
        self.assertEqual(outcome, {"Busy.passes_the_second_time": "passed", "Bad.fails": "failed"})
        self.assertEqual(cases["Busy.passes_the_second_time"].get("tries"), "2")
        self.assertEqual(cases["Bad.fails"].get("tries"), "3")
        self.assertIn("passed at try 2: Busy.passes_the_second_time", done.stdout)

    def test_a_time_out_is_not_tried_again(self):
        _, outcome, cases = self.run_cases("--only=Bad.hangs", "--tries=3", limit="1")
        self.assertEqual(outcome, {"Bad.hangs": "hung"})
        self.assertEqual(cases["Bad.hangs"].get("tries"), "1")

    def test_a_pattern_without_a_case_fails(self):
        done, _, _ = self.run_cases("--only=Good.passes:Gone.*")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no case is called Gone.*", done.stdout)

    def test_a_program_that_ends_before_its_first_case_fails(self):
        for program in ("false", "true"):
            done, _, _ = self.run_cases(program=program)
            self.assertEqual(done.returncode, 1, program)

    def test_repeat_takes_options_of_ctest(self):
        suite = os.path.join(os.path.dirname(runner), "suite.py")
        done = subprocess.run([sys.executable, "-B", suite, "repeat", "--load", "1", build, "0", "--", "-L", "unit"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_nothing_but_skipped_cases_is_skipped(self):
        done, _, _ = self.run_cases("--only=Good.is_skipped")
        self.assertEqual(done.returncode, 77)


unittest.main(argv=sys.argv[:1])
