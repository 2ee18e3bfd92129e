"""The package `halmark` as a person at a notebook uses it, and the guide's notebook, run cell by cell.

    from_python.py NOTEBOOK
"""
import json
import subprocess
import sys
import xml.dom.minidom

import halmark

with open(sys.argv[1], encoding="utf-8") as file:
    cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
assert len(cells) == 10, len(cells)
names = {}
for cell in cells:
    assert cell["outputs"] == [] and cell["execution_count"] is None, "a notebook is kept without its outputs"
    exec(compile("".join(cell["source"]), "python.ipynb", "exec"), names)  # a cell ends with what it shows
assert names["half"].answer.expected_tokens_per_s > names["step"].answer.expected_tokens_per_s
assert abs(names["best"].params["tile"] - 24) <= 24

# What comes back is the document that the command prints, by attribute as by key.
words = ["halmark", "model", "llama-3.1-8b", "--device", "h200", "--batch", "16", "--json"]
printed = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["data"]
assert names["step"] == printed
assert names["step"].answer is names["step"]["answer"]

# A picture is a document of its own, with a marker and its title for each point of the front.
found = names["found"]
picture = xml.dom.minidom.parseString(found.plot()._repr_svg_())
points = [title for title in picture.getElementsByTagName("title") if title.firstChild.data.startswith("point ")]
assert len(points) == len(found.front), (len(points), len(found.front))


def refused(call, text, exit_code=None):
    try:
        call()
    except (halmark.Error, AttributeError) as error:
        assert text in str(error), str(error)
        assert getattr(error, "exit_code", None) == exit_code, error
    else:
        raise AssertionError(f"not refused: {text}")


refused(lambda: halmark.model("llama-3.1-8b", devise="h200"), "unknown option '--devise'", 2)
refused(lambda: halmark.run("models", program="no-such-program"), "there is no program 'no-such-program'", 5)
refused(lambda: found.frunt, "there are front")
refused(lambda: names["step"].plot(), "0 pictures", 1)
# Nothing fits: no error, and the exit code says it.
none = halmark.tune("llama-3.1-405b", device="h100")
assert none.exit_code == 3 and none.front == [] and none.least_that_fits, none.text
told = []
halmark.bench(op="rmsnorm", params="rows=1,cols=64", rounds=1, progress=told.append)
assert [line for line in told if "1/1" in line and "rmsnorm" in line], told
print("package ok")
