"""How fast the page draws, in a headless browser; prints as JSON frames_per_s and paint_ms.

    python3 page_speed.py BROWSER ADDRESS FOLDER

ADDRESS: of a running `halmark serve`, with a state of 64 devices. For bench_page.
"""
import json

from page_use import asked, opened, page, settle, slide


def frames_per_s():
    """A hundred thousand events of a timeline, panned frame by frame; the least of three widths."""
    return page.run("""(async () => {
      const lanes = 16, each = 6250, resources = [], events = [];
      for (let r = 0; r < lanes; ++r) {
        resources.push({name: 'device' + r + ' compute', is_link: false});
        for (let i = 0; i < each; ++i) events.push([i * 10 + r, i * 10 + r + 8, i % 40, r, r, 7 + i % 3, r === 0 ? 1 : 0]);
      }
      const data = {...window.halmark_timeline.data, resources, events, actors: resources.map((r) => r.name), makespan_us: each * 10 + lanes};
      data.labels = Array.from({length: 40}, (_, i) => 'kernel ' + i);
      const view = window.halmark_timeline;
      const made = new view.constructor(data);
      view.canvas.replaceWith(made.canvas);
      await new Promise(requestAnimationFrame);
      const frames = [];
      for (const share of [1, .2, .02]) {
        made.show(0, data.makespan_us * share);
        await new Promise(requestAnimationFrame);
        const began = performance.now();
        for (let i = 0; i < 40; ++i) { made.pan(.01); await new Promise(requestAnimationFrame); }
        frames.push(40 / (performance.now() - began) * 1000);
      }
      return Math.min(...frames);
    })()""")


def paint_ms():
    """From a slider's answer to the drawn page: the median of eight moves."""
    paints = []
    for step in (1, 1, 1, -1, -1, -1, 1, 1):
        slide("batch", step)
        paints.append(float(page.run("document.body.dataset.paintMs")))
    return sorted(paints)[len(paints) // 2]


try:
    opened(asked.address)
    settle()
    seen = {"paint_ms": paint_ms()}
    seen["frames_per_s"] = frames_per_s()
finally:
    page.close()
print(json.dumps(seen))
