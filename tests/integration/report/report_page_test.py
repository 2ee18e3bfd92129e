"""Reads a report's page as a person would, in a headless browser, and prints as JSON what was wrong.

    python3 report_page_test.py BROWSER PAGE.html REPORT.json FOLDER [--runs RUNS.html] [--pictures FOLDER]

REPORT.json: "evaluations" of `halmark report --json`, and "sides", "configurations" of `halmark report --run A --run B
--json`, whose last run is the page's: what the page has to agree with. "failed" holds one line for each
difference; none = all is well. Nothing may be asked for over the network.
"""
import argparse
import base64
import html.parser
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from browser import Browser  # noqa: E402

failed = []


def check(is_so, what):
    if not is_so:
        failed.append(what)


class Rows(html.parser.HTMLParser):
    """Rows of the tables of all configurations, as they stand in the file."""

    def __init__(self):
        super().__init__()
        self.table, self.rows = None, []

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.table = dict(attributes).get("id", "")
        if tag == "tr" and self.table and self.table.startswith("rows-"):
            self.rows.append([])
        if tag == "td" and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.table and self.table.startswith("rows-") and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def column(page, table, title):
    """What the visible cells of a column say, from the top."""
    return page.run(f"""(() => {{ const t = document.getElementById('{table}');
      const c = [...t.tHead.rows[0].cells].findIndex((h) => h.textContent === {json.dumps(title)});
      return [...t.tBodies[0].rows].filter((r) => !r.hidden).map((r) => [r.cells[0].title, r.cells[c].dataset.v ?? r.cells[c].textContent]); }})()""")


def press(page, table, title):
    page.run(f"""[...document.getElementById('{table}').tHead.rows[0].cells].find((h) => h.textContent === {json.dumps(title)}).firstChild.click()""")


def complete_without_script(path, evaluations):
    reader = Rows()
    with open(path, encoding="utf-8") as file:
        reader.feed(file.read())
    rows = [row for row in reader.rows if row]
    check(len(rows) == len(evaluations), f"{len(rows)} rows in the file, {len(evaluations)} configurations")
    told = sorted(row[3] for row in rows)
    check(told == sorted(e["status"] for e in evaluations), f"statuses without script: {told}")


def sorts(page, table, evaluations):
    """By latency as the document has it: smallest first, then largest first, absent ones last."""
    known = {e["key"]: e.get("latency_ns") for e in evaluations}
    shown = sorted(v for v in known.values() if v is not None)
    for wanted, order in (("ascending", shown), ("descending", shown[::-1])):
        press(page, table, "latency")
        rows = column(page, table, "latency")
        got = [known[key] for key, _ in rows]
        check(got[:len(order)] == order, f"{wanted} by latency: {got[:5]}, not {order[:5]}")
        check(all(v is None for v in got[len(order):]), "absent figures do not come last")
        state = page.run(f"document.querySelector('#{table} th[aria-sort]').getAttribute('aria-sort')")
        check(state == wanted, f"aria-sort is {state}")
    press(page, table, "configuration")
    names = page.run(f"[...document.querySelectorAll('#{table} tbody tr')].map((r) => r.cells[0].textContent)")
    check(len(names) == len(evaluations), "sorting loses rows")


def filters(page, table, evaluations):
    box = f"document.querySelector('#{table}').closest('.scroll').previousElementSibling"

    def ask(words):
        page.run(f"(() => {{ const i = {box}.querySelector('input'); i.value = {json.dumps(words)}; i.dispatchEvent(new Event('input')); }})()")
        return {key for key, _ in column(page, table, "status")}

    for dtype in sorted({e["dtype"] for e in evaluations}):
        wanted = {e["key"] for e in evaluations if f" {dtype} " in e["key"]}
        check(ask(" " + dtype + " ") == wanted, f"filter {dtype}: {len(ask(dtype))} rows, not {len(wanted)}")
        check(ask("-" + dtype) == {e["key"] for e in evaluations} - wanted, f"filter -{dtype}")
    on_front = {e["key"] for e in evaluations if e["is_front"]}
    check(ask("front") == on_front, f"filter front: {ask('front')}, not {on_front}")
    count = page.run(f"{box}.querySelector('output').value")
    check(count == f"{len(on_front)} of {len(evaluations)} rows", f"the count says {count}")
    check(ask("nothing has this word") == set(), "a word of no row leaves rows")
    check(len(ask("")) == len(evaluations), "an empty filter hides rows")


def chart(page, table):
    """Other axes give another picture with the same configurations; so does a filter."""
    figure = f"document.querySelector('figure[data-of=\"{table}\"]')"
    titles = page.run(f"[...{figure}.querySelector('select').options].map((o) => o.textContent)")
    check({"latency", "tokens/s", "memory"} <= set(titles), f"axes: {titles}")
    check(page.run(f"[...{figure}.querySelectorAll('select')].every((s) => s.labels.length === 1)"), "an axis has no name")
    page.run(f"(() => {{ const s = {figure}.querySelectorAll('select')[0]; s.value = [...s.options].find((o) => o.textContent === 'memory').value;"
             " s.dispatchEvent(new Event('change')); })()")
    with_memory = [v for _, v in column(page, table, "memory") if v != "-"]
    marks = page.run(f"{figure}.querySelectorAll('svg .point').length")
    check(marks == len(with_memory), f"{marks} marks for {len(with_memory)} configurations with a memory")
    check("memory [GiB]" in page.run(f"{figure}.querySelector('svg[role=group]').getAttribute('aria-label')"), "the picture does not name its axes")
    # The mark that lies furthest right needs the most memory.
    right = page.run(f"""(() => {{ const x = (g) => g.getBoundingClientRect().left + g.getBoundingClientRect().width / 2;
      return [...{figure}.querySelectorAll('svg .point')].reduce((a, b) => x(b) > x(a) ? b : a).querySelector('title').textContent; }})()""")
    most = max(column(page, table, "memory"), key=lambda row: float(row[1]) if row[1] != "-" else -1)
    text = page.run(f"""[...document.querySelectorAll('#{table} tbody tr')].filter((r) => r.cells[0].title === {json.dumps(most[0])})[0].cells[7].textContent""")
    check(text in right, f"furthest right is {right}, most memory {text}")


def keyboard(page, table):
    page.run("document.activeElement.blur()")
    page.run(f"[...document.querySelectorAll('#{table} th button')].find((b) => b.textContent === 'MFU').focus()")
    page.key("Enter", "Enter", "\r")
    check(page.run(f"document.querySelector('#{table} th[aria-sort]')?.textContent") == "MFU", "Enter on a heading does not sort")
    nameless = page.run("[...document.querySelectorAll('button, select, input, a')].filter((e) => !(e.textContent.trim() || e.labels?.length ||"
                        " e.querySelector('title'))).length")
    check(nameless == 0, f"{nameless} controls have no name")


def widths(page, url, pictures):
    for width in (400, 1280, 1920):
        for dark in (False, True):
            page.size(width, 900)
            page.media(dark=dark)
            page.open(url)
            page.await_true("document.readyState === 'complete'")
            time.sleep(0.1)
            over = page.run("document.scrollingElement.scrollWidth - innerWidth")
            check(over <= 0, f"{over} px wider than {width}")
            if width >= 1280:
                hidden = page.run("[...document.querySelectorAll('section .scroll')].filter((s) => /front|configurations/.test(s.getAttribute('aria-label'))"
                                  " && s.scrollWidth > s.clientWidth).map((s) => s.getAttribute('aria-label'))")
                check(not hidden, f"at {width} px hidden columns: {hidden}")
            if width == 1920:
                used = page.run("document.querySelector('table.rows').getBoundingClientRect().width")
                check(used > 1700, f"at 1920 px the table takes {used}")
            if pictures:
                page.size(width, min(5000, page.run("document.documentElement.scrollHeight")))
                page.picture(os.path.join(pictures, f"{width}-{'dark' if dark else 'light'}.png"))
    page.size(1280, 900)
    page.media()
    untitled = page.run("[...document.querySelectorAll('th')].filter((t) => !t.title).map((t) => t.textContent)")
    check(not untitled, f"headings without a word: {untitled}")


def printed(page, pictures):
    """On paper every row is there and no control is."""
    page.call("Emulation.setEmulatedMedia", media="print")
    check(page.run("[...document.querySelectorAll('.controls')].every((c) => getComputedStyle(c).display === 'none')"), "controls are printed")
    cut = page.run("[...document.querySelectorAll('.scroll')].filter((s) => s.querySelector('.rows') && s.scrollHeight > s.clientHeight + 2).length")
    check(cut == 0, f"{cut} tables are cut on paper")
    if pictures:
        data = page.call("Page.printToPDF", printBackground=True)["data"]
        with open(os.path.join(pictures, "printed.pdf"), "wb") as file:
            file.write(base64.b64decode(data))
    page.call("Emulation.setEmulatedMedia", media="")


def main():
    options = argparse.ArgumentParser()
    for name in ("browser", "page", "json", "folder"):
        options.add_argument(name)
    options.add_argument("--runs")
    options.add_argument("--pictures")
    asked = options.parse_args()
    with open(asked.json, encoding="utf-8") as file:
        known = json.load(file)
    decode = [{"key": side["key"], "latency_ns": side["runs"][-1]["latency_ns"], "is_front": side["runs"][-1]["is_on_front"],
               "dtype": re.search(r" (\S+) dp\d", side["key"])[1]} for side in known["sides"] if side["phase"] == "decode"]
    # Two documents of one run: what they say of latencies is the same.
    times = sorted(e["estimate"]["step_ns"] for e in known["evaluations"] if e["estimate"] and e["deployment"]["workload"]["phase"] == "decode")
    check(sorted(e["latency_ns"] for e in decode if e["latency_ns"]) == times, "the two documents differ")
    check(len(times) >= 2, "too few configurations to sort")
    complete_without_script(asked.page, known["evaluations"])
    page = Browser(asked.browser, asked.folder)
    try:
        widths(page, "file://" + asked.page, asked.pictures)
        page.open("file://" + asked.page)
        page.await_true("document.querySelector('#rows-decode th button') !== null")
        sorts(page, "rows-decode", decode)
        filters(page, "rows-decode", decode)
        chart(page, "rows-decode")
        keyboard(page, "rows-decode")
        printed(page, asked.pictures)
        if asked.runs:
            widths(page, "file://" + asked.runs, None)
            page.open("file://" + asked.runs)
            page.await_true("document.querySelector('#rows-decode th button') !== null")
            runs = page.run("[...document.querySelectorAll('main > .scroll tbody tr')].map((r) => r.cells[0].textContent)")
            check(len(runs) == 2, f"runs: {runs}")
            rows = page.run("document.querySelectorAll('#rows-decode tbody tr').length")
            check(rows == 2 * len(decode), f"{rows} rows of two runs with {len(decode)} configurations each")
            if asked.pictures:
                page.size(1280, min(5000, page.run("document.documentElement.scrollHeight")))
                page.picture(os.path.join(asked.pictures, "runs.png"))
        check(all(u.startswith(("file://", "about:")) for u in page.requests), f"asked for: {page.requests[:5]}")
        check(not page.console, f"console: {page.console[:5]}")
    finally:
        page.close()
    print(json.dumps({"failed": failed}))


main()
