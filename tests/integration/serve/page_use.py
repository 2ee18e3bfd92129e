"""What a person does to the page, by script; what was wrong is collected in `failed`."""
import argparse
import json

from browser import Browser

parser = argparse.ArgumentParser()
parser.add_argument("browser")
parser.add_argument("address")
parser.add_argument("folder")
parser.add_argument("--pictures")
parser.add_argument("--file")
parser.add_argument("--sweep")
parser.add_argument("--program")
asked = parser.parse_args()
failed = []
page = Browser(asked.browser, asked.folder)


def check(is_right, what):
    if not is_right:
        failed.append(what)


def shown():
    return page.run("document.body.dataset.shown || ''")


def settle(before=None):
    """Until the last change is drawn, its front and timeline too."""
    page.await_true("document.body.dataset.settled !== undefined && document.body.dataset.settled === document.body.dataset.shown"
                    + (f" && document.body.dataset.shown !== {json.dumps(before)}" if before is not None else ""))


def text_of(selector):
    return page.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")


def opened(address):
    page.open("about:blank")
    page.open(address)
    page.await_true("document.body && document.body.dataset.settled !== undefined")


def choose(name, value):
    before = shown()
    if page.run(f"document.getElementById('control-{name}').value") == value:
        return
    page.run(f"(() => {{const e = document.getElementById('control-{name}'); e.value = {json.dumps(value)};"
             " e.dispatchEvent(new Event('change')); })()")
    settle(before)


def slide(name, steps):
    before = shown()
    page.run(f"(() => {{const e = document.getElementById('control-{name}'); e.value = Number(e.value) + ({steps});"
             " e.dispatchEvent(new Event('input')); })()")
    settle(before)


def phase(value):
    before = shown()
    page.run(f"document.querySelector('input[name=phase][value={value}]').click()")
    settle(before)
    check(f"phase={value}" in shown(), f"phase {value}: {shown()}")


def visible(selector):
    return page.run(f"[...document.querySelectorAll({json.dumps(selector)})].some((e) => e.getClientRects().length > 0)")


def figure_text(key):
    return text_of(f"[data-figure={key}] .value") or text_of(f"[data-figure={key}] dd")


def explained_controls():
    """Behind the label of every control that is shown stands what it means."""
    labels = page.run("""[...document.querySelectorAll('#controls .control')].filter((c) => !c.hidden).map((c) => {
      const term = c.querySelector('.term');
      if (!term) return [c.textContent, ''];
      term.focus();
      return [term.textContent, document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent];
    })""")
    check(len(labels) >= 8, f"controls: {labels}")
    for label, meaning in labels:
        check(len(meaning) > 20, f"without an explanation: {label}")
    page.run("document.activeElement.blur()")
