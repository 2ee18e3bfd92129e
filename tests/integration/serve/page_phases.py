"""Training steps and streams of requests as further phases of the state."""
from page_use import asked, check, choose, explained_controls, figure_text, opened, page, phase, settle, shown, slide, text_of, visible


def training():
    opened(asked.address.split("#")[0] + "#model=qwen3-8b&device=h100-sxm&fabric=nvlink-node&shards=8&batch=32&context=2048&phase=training&zero=1")
    settle()
    explained_controls()
    for name, value in (("recompute", "full"), ("optimizer", "adam8bit"), ("zero", "2"), ("micro", "2"), ("schedule", "zero-bubble")):
        choose(name, value)
        check(f"{name}={value}" in shown(), f"{name}: {shown()}")
    check(visible("#timeline-canvas"), "training has no timeline")
    check("training" in text_of("#title"), "training: " + text_of("#title"))
    check("optimizer" in text_of("#memory"), "training's memory: " + text_of("#memory"))
    check("backward" in text_of("#timeline-view table"), "no backward pass on the critical path")
    check(page.run("document.querySelectorAll('#layouts tbody tr').length") > 1, "training has no layouts to choose")


def serving():
    phase("serving")
    explained_controls()
    check(not visible("#timeline") and visible("#serving"), "a stream of requests is not one step")
    for name in ("clients", "input", "output"):
        slide(name, 1)
        check(f"{name}=" in shown(), f"{name}: {shown()}")
    choose("requests", "100")
    before = figure_text("tpot_p50_ns")
    choose("engine", "none")
    check(figure_text("tpot_p50_ns") != before, "an engine's terms change nothing")
    before = shown()
    page.run("(() => {const e = document.getElementById('control-arrivals'); e.value = 'rate'; e.dispatchEvent(new Event('change')); })()")
    settle(before)
    slide("rate", 1)
    check("rate=" in shown() and "clients=" not in shown(), "rate: " + shown())
    rows = page.run("[...document.querySelectorAll('#serving-view tbody tr')].map((r) => [...r.children].map((c) => c.textContent))")
    check(len(rows) >= 4 and all(len(r[1]) > 1 for r in rows), f"what requests experience: {rows}")
    link, title = page.run("location.href"), text_of("#title")
    opened(link)
    settle()
    check(text_of("#title") == title, f"the link of a server opens {text_of('#title')}, not {title}")
    phase("decode")
    check(visible("#timeline") and not visible("#serving"), "back at a step")
