"""Reads a board of many machines as a person would, in a headless browser, and prints as JSON what was wrong.

    python3 board_page_test.py BROWSER BOARD.html BOARD.json FOLDER

BOARD.json: what `halmark board --out BOARD.json` wrote of the same machines. "failed" holds one line for each difference,
"seconds" how long opening took, a filter until its first screens, and until all its rows, are drawn; nothing may be asked for over the network.
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
from browser import Browser  # noqa: E402

failed, seconds = [], {}


def check(is_so, what):
    if not is_so:
        failed.append(what)


def shown(page, table):
    return page.run(f"[...document.querySelectorAll('#{table} tbody tr')].filter((r) => !r.hidden).map((r) => r.cells[0].textContent)")


def filtered(page, table, words):
    """Milliseconds until the page has drawn the first screens of what the words leave, and all of it."""
    return page.run(f"""(async () => {{
      const box = document.querySelector('#{table}').closest('.scroll').previousElementSibling, input = box.querySelector('input');
      const drawn = () => document.body.offsetHeight && document.querySelectorAll('#{table} tbody tr:not([hidden])').length;
      const begin = performance.now();
      input.value = {json.dumps(words)};
      input.dispatchEvent(new Event('input'));
      drawn();
      const first = performance.now() - begin;
      while (drawn() !== parseInt(box.querySelector('output').value)) await new Promise((next) => setTimeout(next, 5));
      return [first, performance.now() - begin]; }})()""")


def main():
    browser, path, document, folder = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        machines = json.load(file)["machines"]
    page = Browser(browser, folder)
    try:
        begin = time.monotonic()
        page.open("file://" + path)
        page.await_true("document.readyState === 'complete' && document.querySelector('#machines th button') !== null")
        page.run("document.body.offsetHeight")
        seconds["open"] = time.monotonic() - begin
        check(shown(page, "machines") == [m["name"] for m in machines], "machines are not in the order of their shares")
        marks = page.run("document.querySelectorAll('figure[data-of=shares] svg g.point, figure[data-of=shares] svg .h').length")
        check(marks > 0, "the scatter is empty")
        wanted = machines[len(machines) // 2]["name"]
        times = [filtered(page, "machines", wanted.split()[-1]), filtered(page, "machines", "-" + wanted.split()[-1])]
        check(wanted not in shown(page, "machines"), "a word with a minus leaves its row")
        times.append(filtered(page, "machines", ""))
        rows = shown(page, "shares")
        times.append(filtered(page, "shares", "bf16"))
        left = shown(page, "shares")
        check(0 < len(left) < len(rows), f"{len(left)} of {len(rows)} classes are of bf16")
        points = page.run("document.querySelectorAll('figure[data-of=shares] svg .point').length")
        check(points == len(left), f"{points} marks for {len(left)} classes")
        label = page.run("document.querySelector('figure[data-of=shares] svg').getAttribute('aria-label')")
        check(label.startswith("bytes against share"), f"the scatter is of {label}")
        seconds["filter"], seconds["filter_all"] = (max(t) / 1000 for t in zip(*times))
        page.run("[...document.querySelectorAll('#machines th button')].find((b) => b.textContent === 'FLOP/J').click()")
        page.run("[...document.querySelectorAll('#machines th button')].find((b) => b.textContent === 'FLOP/J').click()")
        most = max(machines, key=lambda m: m["flops_per_joule"] or 0)
        check(shown(page, "machines")[0] == most["name"], "sorting by FLOP/J does not bring the most efficient one up")
        for width in (400, 1280):
            page.size(width, 900)
            over = page.run("document.scrollingElement.scrollWidth - innerWidth")
            check(over <= 0, f"{over} px wider than {width}")
        check(all(u.startswith(("file://", "about:")) for u in page.requests), f"asked for: {page.requests[:5]}")
        check(not page.console, f"console: {page.console[:5]}")
    finally:
        page.close()
    print(json.dumps({"failed": failed, "seconds": seconds}))


main()
