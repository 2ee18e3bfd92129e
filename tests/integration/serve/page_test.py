"""Uses the page as a person would, in a headless browser, and prints as JSON what it saw.

    python3 page_test.py BROWSER ADDRESS FOLDER [--pictures FOLDER] [--file PAGE.html] [--sweep NAME [--program HALMARK]]

--sweep: one that takes some seconds; --program starts it from the shell too, and a server that is killed.

"failed" holds what was wrong, one line each; none = all is well. Nothing but ADDRESS may be asked for.
"""
import json
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_phases import serving, training  # noqa: E402
from page_sweeps import journal, killed_server, shell_sweep, sweep  # noqa: E402
from page_use import (asked, check, choose, explained_controls, failed, opened, page, phase, settle, shown,  # noqa: E402
                      slide, text_of)


def controls():
    """Each control changes the state that its link states."""
    opened(asked.address)
    for name, value in (("model", "llama-3.1-70b"), ("device", "b200"), ("fabric", "nvl72"), ("dtype", "bf16")):
        choose(name, value)
        check(f"{name}={value}" in shown(), f"{name}: {shown()}")
    for name, by in (("shards", 2), ("batch", 1), ("context", 1)):
        before = page.run(f"document.querySelector('[data-control={name}] output').textContent")
        slide(name, by)
        after = page.run(f"document.querySelector('[data-control={name}] output').textContent")
        check(before != after and f"{name}={after.replace(',', '')}" in shown(), f"{name}: {before} to {after}, {shown()}")
    before = shown()
    page.run("document.querySelector('input[name=phase][value=prefill]').click()")
    settle(before)
    check("phase=prefill" in shown(), "phase: " + shown())
    slide("new", -2)
    check("new=" in shown(), "new: " + shown())
    before = shown()
    page.run("document.querySelector('input[name=phase][value=decode]').click()")
    settle(before)
    explained_controls()
    layouts = page.run("[...document.getElementById('control-strategy').options].map((o) => o.value)")
    check(len(layouts) > 3 and layouts[0] == "auto", f"strategies: {layouts}")
    choose("strategy", layouts[2])
    check("strategy=" in shown() and "auto" not in shown(), "strategy: " + shown())
    link = page.run("location.href")
    title = text_of("#title")
    opened(link)
    settle()
    check(text_of("#title") == title, f"the link opens {text_of('#title')}, not {title}")
    opened(asked.address.split("#")[0] + "#model=llama-3.3-70b&device=h100&shards=4")
    settle()
    names = [page.run(f"document.getElementById('control-{name}').value") for name in ("model", "device")]
    check(names == ["llama-3.1-70b", "h100-sxm"] and page.run("document.getElementById('notice').hidden"), f"other names of the lists: {names}")


def search():
    """The list of models has what the words above it name; Enter takes the first of them."""
    opened(asked.address)
    field = "document.querySelector('[data-control=model] input[type=search]')"
    models = "[...document.getElementById('control-model').options].map((o) => o.value)"
    chosen, count = page.run("document.getElementById('control-model').value"), len(page.run(models))
    page.run(f"(() => {{const e = {field}; e.value = 'mixtral 8x7b'; e.dispatchEvent(new Event('input')); }})()")
    left = [name for name in page.run(models) if name != chosen]
    check(left and len(left) < count / 4 and all("mixtral" in name for name in left), f"of {count} models the search leaves {left}")
    before = shown()
    page.run(f"{field}.focus()")
    page.key("Enter", "Enter", "\r")
    settle(before)
    check(f"model={left[0]}" in shown(), "Enter takes no model: " + shown())
    check(len(page.run(models)) == count, "the list stays short")


def keyboard():
    """Without a mouse: from the top to a slider, and a figure's explanation."""
    opened(asked.address.split("#")[0] + "#model=qwen3-32b&device=h100-sxm&fabric=nvlink-node&shards=8&batch=16")
    settle()
    reached, active = [], "document.activeElement.id || document.activeElement.name || document.activeElement.textContent.slice(0, 30)"
    for _ in range(40):
        page.key("Tab")
        reached.append(page.run(active))
        if reached[-1] == "control-batch":
            break
    check("control-batch" in reached, f"Tab reaches {reached}")
    check(reached[0].startswith("Skip"), f"first: {reached[0]}")
    before = shown()
    page.key("ArrowRight")
    settle(before)
    check("batch=24" in shown(), "an arrow moves the batch: " + shown())
    check(page.run(active) == "control-batch", "the slider loses its focus: " + page.run(active))


def parts():
    opened(asked.address.split("#")[0] + "#model=llama-3.1-70b&device=b200&fabric=nvl72&shards=16&batch=64&dtype=bf16")
    settle()
    for part, least in (("#headline .value", 4), ("#figure-list dt", 4), ("#operators tbody tr", 5), ("#sharding-view tbody tr", 5),
                        ("#front-chart .point", 2), ("#front-chart .here", 1), ("#fabric-drawing .device", 72),
                        ("#fabric-drawing .link.used", 16), ("#timeline-canvas", 1), ("#words-view details:not([open]) dt", 20)):
        count = page.run(f"document.querySelectorAll({json.dumps(part)}).length")
        check(count >= least, f"{part}: {count}")
    names = page.run("[...document.querySelectorAll('button, select, input, canvas, a, summary')].filter((e) => !(e.textContent.trim() ||"
                     " e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))")
    check(not names, f"without a name: {names}")
    check("Apache-2.0" in text_of("footer") and any(c.isdigit() for c in text_of("#version")), "footer: " + text_of("footer"))
    page.run("document.querySelector('#headline .term').focus()")
    check(len(page.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")) > 20, "a word has no explanation")
    axes_and_point()
    timeline()
    exports()


def kept_and_priced():
    """Two states side by side, and what a million tokens cost at a price of one's own."""
    opened(asked.address.split("#")[0] + "#model=llama-3.1-8b&device=h100-sxm&fabric=&shards=2&batch=16&price=2.5")
    settle()
    seconds = page.run("Number(document.querySelector('[data-figure=tokens_per_s] .value').firstChild.textContent)")
    cost = text_of("[data-figure=usd_per_mtoken] dd")
    check(cost.endswith(" USD") and abs(float(cost.split()[0]) * seconds / (2.5 * 2 / 3600 * 1e6) - 1) < 0.02, f"{cost} at {seconds}")
    page.run("document.getElementById('keep').click()")
    check("batch 16" in text_of("#kept") and not text_of("#headline .kept"), "kept: " + text_of("#kept"))
    slide("batch", 2)
    beside = text_of("[data-figure=tokens_per_s] .kept")
    now = page.run("Number(document.querySelector('[data-figure=tokens_per_s] .value').firstChild.textContent)")
    check(beside.startswith("kept ") and abs(float(beside.split()[-2]) / (now / seconds) - 1) < 0.02, f"{beside}: {seconds}, {now}")
    check("price=2.5" in page.run("location.hash"), "a link has no price: " + page.run("location.hash"))
    page.run("document.querySelector('#kept button').click()")
    check(page.run("document.getElementById('kept').hidden") and not text_of(".figure-list .kept"), "it is not forgotten")


def axes_and_point():
    before = page.run("document.querySelector('#front-chart').getAttribute('aria-label')")
    page.run("(() => {const e = document.querySelector('#front-view select'); e.value = 'mfu'; e.dispatchEvent(new Event('change')); })()")
    check(page.run("document.querySelector('#front-chart').getAttribute('aria-label')") != before, "the axis does not change")
    before = shown()
    page.run("[...document.querySelectorAll('#front-chart .point')].find((p) => true).focus()")
    page.key("Enter", "Enter", "\r")
    settle(before)
    check("strategy=" in shown(), "a point of the front is not chosen: " + shown())


def timeline():
    span = "window.halmark_timeline.to - window.halmark_timeline.from"
    whole = page.run(span)
    page.run("document.getElementById('timeline-canvas').focus()")
    page.key("+", "Equal", "+")
    time.sleep(0.1)
    near = page.run(span)
    check(near < whole, f"plus does not zoom: {whole} to {near}")
    page.key("ArrowRight")
    page.key("Home")
    check(abs(page.run(span) - whole) < 1e-6 * whole, "Home does not show all")


def buttons():
    """Those beside a chart or in a table."""
    opened(asked.address.split("#")[0] + "#model=qwen3-235b-a22b&device=b200&fabric=nvl72&shards=32&batch=64&strategy=dp4%20tp8%20ep32")
    settle()
    span = "window.halmark_timeline.to - window.halmark_timeline.from"
    press = "[...document.querySelectorAll('#timeline-view button')].find((b) => b.getAttribute('aria-label') === {} || b.textContent === {}).click()"
    whole = page.run(span)
    page.run(press.format("'Zoom in'", "''"))
    check(page.run(span) < whole, "the button does not zoom in")
    near = page.run(span)
    page.run(press.format("'Zoom out'", "''"))
    check(page.run(span) > near, "the button does not zoom out")
    page.run(press.format("'Show the whole step'", "''"))
    check(page.run(span) == whole, "All does not show the whole step")
    some = page.run("window.halmark_timeline.count")
    page.run(press.format("''", "'Every device'"))
    page.await_true(f"window.halmark_timeline.count > {some}")
    before = shown()
    page.run("document.querySelector('#layouts details').open = true; document.querySelector('#layouts tbody tr:nth-child(2) button').click()")
    settle(before)
    check("strategy=auto" not in shown() and shown() != before, "a layout of the table is not chosen: " + shown())
    check(page.run("document.querySelector('#layouts details').open"), "what a reader opened is closed again")
    page.run("document.getElementById('copy-link').click()")
    page.await_true("document.getElementById('notice').textContent.includes('opens this state')")
    for link in page.run("[...document.querySelectorAll('.sections a')].map((a) => a.getAttribute('href'))"):
        check(page.run(f"Boolean(document.querySelector({json.dumps(link)}))"), f"nothing at {link}")


def exports():
    items = page.run("[...document.querySelectorAll('#export-list button')].map((b) => b.textContent)")
    check(len(items) >= 12, f"exports: {items}")
    for item in items:
        page.run("delete document.body.dataset.saved")
        page.run("[...document.querySelectorAll('#export-list button')].find((b) => b.textContent === " + json.dumps(item) + ").click()")
        try:
            page.await_true("document.body.dataset.saved || !document.getElementById('notice').hidden", 10)
        except TimeoutError:
            failed.append("not saved: " + item)
    # What an engine cannot do, it says.
    page.run("document.getElementById('notice').hidden = true")


def too_large():
    """What does not fit keeps its memory bar, and says from how many devices it fits."""
    opened(asked.address.split("#")[0] + "#model=llama-3.1-70b&device=rtx-4090&shards=2&batch=16&dtype=bf16")
    settle()
    check("does not fit, short by" in text_of("#memory"), "memory: " + text_of("#memory"))
    check(not page.run("document.getElementById('notice').hidden") and "fits from 8 devices" in text_of("#notice"), "notice: " + text_of("#notice"))
    # Training is priced by bounds: no figure of it is an expectation.
    opened(asked.address.split("#")[0] + "#model=llama-3.1-8b&device=h100-sxm&fabric=nvlink-node&shards=8&batch=16&dtype=bf16&phase=training")
    settle()
    check("at best" in text_of("#headline .value"), "a bound reads as a forecast: " + text_of("#headline"))
    check("unknown" not in text_of("#operators"), "time of no name: " + text_of("#operators"))


def refusals():
    page.open("about:blank")
    page.open(asked.address.split("#")[0] + "#model=llama-3.1-70b&shards=8&strategy=dp1%20tp3")
    page.await_true("document.getElementById('notice')?.hidden === false")
    check("tp" in text_of("#notice"), "a layout that cannot be: " + text_of("#notice"))


def widths():
    for width in (400, 1280, 1920):
        for dark in (False, True):
            page.size(width, 900)
            page.media(dark=dark)
            opened(asked.address.split("#")[0] + "#model=qwen3-30b-a3b&device=h100-sxm&fabric=nvlink-node&shards=8&batch=64")
            settle()
            time.sleep(0.2)
            check(page.run("document.documentElement.scrollWidth") <= width, f"wider than {width}: {page.run('document.documentElement.scrollWidth')}")
            if asked.pictures:
                page.size(width, min(6000, page.run("document.documentElement.scrollHeight")))
                time.sleep(0.3)
                page.picture(os.path.join(asked.pictures, f"{width}-{'dark' if dark else 'light'}.png"))
    page.size(1280, 900)
    page.media(dark=False, prefers_reduced_motion="reduce")


def file_alone():
    opened("file://" + asked.file)
    settle()
    before = text_of("#title")
    slide("batch", -1)
    check(text_of("#title") != before, "the file does not answer a slider")
    check(page.run("document.querySelectorAll('#front-chart .point').length") > 1, "the file has no front")
    for value in ("prefill", "serving"):
        phase(value)
        check(page.run("document.getElementById('notice').hidden"), f"the file has no {value}: {text_of('#notice')}")


try:
    controls()
    search()
    parts()
    kept_and_priced()
    buttons()
    training()
    serving()
    keyboard()
    too_large()
    refusals()
    widths()
    if asked.sweep:
        sweep()
        if asked.program:
            shell_sweep()
            journal()
            killed_server()
    if asked.file:
        file_alone()
    root = asked.address.split("#")[0]
    elsewhere = [u for u in page.requests if not u.startswith((root, "about:", "data:", "blob:", "file://"))]
    check(not elsewhere, f"asked elsewhere: {elsewhere[:5]}")
    check(not page.console, f"console: {page.console[:5]}")
except (TimeoutError, RuntimeError) as error:
    place = [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)][1:3]
    failed.append(f"{error!r} in {place}; notice: {text_of('#notice')}; console: {page.console[:5]}; "
                  f"progress: {text_of('#progress-view')}")
finally:
    page.close()
print(json.dumps({"failed": failed}))
