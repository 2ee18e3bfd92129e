"""Sweeps that the page starts or sees, and a server that goes away."""
import json
import subprocess

from page_use import asked, check, opened, page, settle, text_of, visible


def progress_text():
    return text_of("#progress-view")


def press(label):
    page.run(f"[...document.querySelectorAll('#progress-view button')].find((b) => b.textContent === {json.dumps(label)}).click()")


def says(words, limit_s=60):
    page.await_true(f"document.getElementById('progress-view').textContent.includes({json.dumps(words)})", limit_s)


def sweep():
    """Started from the page, stopped, resumed, followed to its end."""
    opened(asked.address)
    check("token" not in page.run("location.href"), "the token stays in the address")
    page.await_true("Boolean(document.querySelector('#progress-view select'))")
    page.run(f"document.querySelector('#progress-view select').value = {json.dumps(asked.sweep)}")
    press("Start")
    says("Running")
    page.await_true("/[1-9][0-9]* of/.test(document.getElementById('progress-view').textContent)", 60)
    press("Stop")
    says("stopped")
    stopped = progress_text()
    check(visible("#progress-view progress"), "no bar: " + stopped)
    press("Resume")
    says("complete", 90)  # what is left may end before the page is looked at again
    check(not page.run("[...document.querySelectorAll('#progress-view button')].some((b) => b.textContent === 'Resume')"), "a complete sweep can be resumed")
    check(", now" not in progress_text(), "an ended sweep is said to go on: " + progress_text())
    page.await_true(f"document.getElementById('journal-view').textContent.includes({json.dumps(asked.sweep + '.toml')})", 10)


def launched(arguments):
    return subprocess.Popen([asked.program, *arguments], cwd=asked.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def shell_sweep():
    """Started elsewhere: seen, and not stopped from here."""
    other = launched(["tune", f"own/sweeps/{asked.sweep}.toml", "--db", "r.db", "--again"])
    try:
        says("Running: halmark", 60)
        check(not page.run("[...document.querySelectorAll('#progress-view button')].some((b) => b.textContent === 'Stop')"), "another's sweep can be stopped")
        check("Ctrl-C" in progress_text(), "how another's sweep is stopped: " + progress_text())
    finally:
        other.communicate(timeout=90)
    page.await_true("!document.getElementById('progress-view').textContent.includes('Running')", 30)


def journal():
    """Runs of the database: the configurations of one, and two of them side by side."""
    opened(asked.address)
    page.await_true("document.querySelectorAll('#journal-view tbody tr').length >= 3", 20)
    page.run("document.querySelector('#journal-view tbody td:nth-child(3) button').click()")
    page.await_true("Boolean(document.querySelector('#run-view h3'))", 20)
    check("Run" in text_of("#run-view h3"), "the configurations of a run: " + text_of("#run-view"))
    check(page.run("document.getElementById('compare').disabled"), "nothing is chosen, and it can be compared")
    page.run("[...document.querySelectorAll('#journal-view input[name=before]')].at(1).click()")
    page.run("[...document.querySelectorAll('#journal-view input[name=after]')].at(0).click()")
    page.run("document.getElementById('compare').click()")
    page.await_true("document.getElementById('compare-view').textContent.length > 20", 20)
    check("against" in text_of("#compare-view"), "two runs of one sweep do not compare: " + text_of("#compare-view"))


def killed_server():
    """The page says so, keeps what it shows, and goes on when the server is back."""
    first = launched(["serve", "--db", "r.db"])
    address = first.stdout.readline().strip()
    opened(address)
    settle()
    title = text_of("#title")
    first.kill()
    first.wait()
    page.await_true("document.getElementById('notice').textContent.includes('does not answer')", 20)
    check(text_of("#title") == title, "what was shown is gone")
    page.run("(() => {const e = document.getElementById('control-batch'); e.value = Number(e.value) + 1; e.dispatchEvent(new Event('input')); })()")
    page.await_true("document.getElementById('notice').textContent.includes('halmark serve again')", 20)
    second = launched(["serve", "--db", "r.db", "--port", address.split(":")[2].strip("/")])
    try:
        second.stdout.readline()
        page.await_true("document.getElementById('notice').textContent.includes('answers again')", 30)
        check(text_of("#title") != title, "the move while it was away is not made up for: " + text_of("#title"))
    finally:
        second.terminate()
        second.wait(20)
    # A browser tells its console of every server that does not answer.
    page.console[:] = [line for line in page.console if not ("net::ERR_" in line and address.split("#")[0] in line)]
    page.requests[:] = [url for url in page.requests if not url.startswith(address.split("#")[0])]
