"""A headless Chromium driven over its debugging pipe (the DevTools protocol), with nothing but the standard library.

Used by page_test.py; a Browser keeps what the page said on its console and whom it asked over the network.
"""
import base64
import fcntl
import json
import os
import select
import subprocess
import time


class Browser:
    def __init__(self, program, folder, width=1280, height=900, dark=False):
        # The browser reads commands on descriptor 3 and answers on 4, documents ended by a zero byte.
        to_browser, self.out = os.pipe()
        self.answers, from_browser = os.pipe()
        command = [program, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                   f"--user-data-dir={folder}/profile", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")

        def descriptors():
            # Above those that are to be taken, so that neither move loses the other.
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_browser, from_browser)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number = b"", 0
        self.console, self.requests, self.session = [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.media(dark=dark)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, dark=False, **features):
        wanted = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        wanted += [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=wanted)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        number, limit = self.number, time.monotonic() + 60
        while True:
            said = self._next(limit)
            if said.get("id") == number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said.get("result", {})

    def _next(self, limit):
        while b"\0" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.answers, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self.buffer += chunk
        document, self.buffer = self.buffer.split(b"\0", 1)
        said = json.loads(document)
        self._note(said)
        return said

    def _note(self, said):
        method, what = said.get("method"), said.get("params", {})
        if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.console.append(str([a.get("value", a.get("description")) for a in what["args"]]))
        if method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.console.append(details["text"] + " " + details.get("exception", {}).get("description", ""))
        if method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.console.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression in the page; promises are awaited."""
        said = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in said:
            raise RuntimeError(script + ": " + json.dumps(said["exceptionDetails"]))
        return said["result"].get("value")

    def await_true(self, script, limit_s=20):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if self.run(script):
                return
            time.sleep(0.03)
        raise TimeoutError(script)

    def key(self, key, code=None, text=None):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **extra)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
