"""What replay.py and commands.py have to notice, on texts with known faults.

test_tools.py HALMARK
"""
import sys
import unittest

import commands
import page
import replay

PAGE = """# A page
<!-- needs: python3 -->
<!-- varies: valid:|run on -->
```toml a.toml
x = 1
```
<!-- shown: 5 2 -->
```console
$ first \\
    --more
head of   columns
1 2
...
valid: today
$ second
# exits with 0, 3 or 4
```
```console nightly
$ third
```
"""


class Pages(unittest.TestCase):
    def test_hold_files_commands_outputs_and_exit_codes(self):
        file, first, second, third = page.steps(PAGE)
        self.assertEqual((file.name, file.text), ("a.toml", "x = 1\n"))
        self.assertEqual(first.text, "first \\\n    --more")
        self.assertEqual((first.codes, first.line, first.shown), ([0], 9, (5, 2)))
        self.assertEqual(first.output, ["head of   columns", "1 2", "...", "valid: today"])
        self.assertEqual((second.codes, second.output), ([0, 3, 4], []))
        self.assertEqual((second.nightly, third.nightly), (False, True))
        self.assertEqual(page.needs(PAGE), ["python3"])

    def test_a_printed_line_without_a_digit_has_to_be_printed(self):
        first = page.steps(PAGE)[1]
        varying = page.varies(PAGE)
        self.assertEqual(replay.missing_lines(first, "head of columns\n3 4\n", varying), [])
        self.assertEqual(replay.missing_lines(first, "head of rows\n1 2\n", varying), ["head of columns"])
        self.assertEqual(replay.missing_lines(first, "head of columns\n", ()), ["valid: today"])

    def test_long_outputs_are_shortened_and_progress_is_left_out(self):
        real = "tune 1/9 failed 0\n" + "\n".join("abcdefgh")
        self.assertEqual(replay.shown(real, 5, 2), ["a", "b", "...", "g", "h"])


class Commands(unittest.TestCase):
    def test_are_read_from_code_and_backticks(self):
        text = ("    halmark tune a.toml   # why\n`halmark peaks` and `halmark-worker`\n```console\n$ halmark ops \\\n"
                "    gemm\nhalmark: no command\n```\nhalmark is no command here\n")
        self.assertEqual([command for _, command in commands.commands_in(text)],
                         ["halmark tune a.toml", "halmark peaks", "halmark ops gemm"])

    def test_faults_are_found(self):
        for command, why in {
                "halmark tuen": "no command",
                "halmark study lst": "no command",
                "halmark tune a.toml --sampel grid": "no option --sampel",
                "halmark model a b": "takes no 'b'",
                "halmark bench --op gemm --params m=[1,2],n=1,k=1": "zsh",
                "halmark bench --store=yes": "takes no value",
        }.items():
            self.assertIn(why, commands.fault(PROGRAM, command) or "nothing", command)

    def test_notation_of_prose_is_understood(self):
        for command in ("halmark tune SWEEP.toml [--plan] [--validate[=all]] [--out FILE]...",
                        "halmark study list|show|export|import", "halmark trace FILE.json[.gz]",
                        "halmark devices --known --where 'memory_bytes >= 80e9' --sort bandwidth",
                        "halmark bench --op gemm --params 'm=[1,2],n=1,k=1' --dtype f32"):
            self.assertIsNone(commands.fault(PROGRAM, command), command)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
