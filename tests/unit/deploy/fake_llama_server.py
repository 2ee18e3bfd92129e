#!/usr/bin/env python3
"""A server that answers as llama-server does, with times that a test knows.

Beside it lies `scenario`, a word: "" (all is well), "ends" (it ends while it loads), "refuses" (400 to
every request), "dies" (it ends when it is asked), "whole" (tokens come four at a time). It writes its
arguments and the requests to `asked`, a JSON a line.

Health is bad at first. A prompt of n tokens takes 7 n ms, token k ends k (k + 1) / 2 ms after the first
began.
"""
import http.server
import json
import os
import pathlib
import sys
import threading

here = pathlib.Path(__file__).resolve().parent
scenario = (here / "scenario").read_text() if (here / "scenario").exists() else ""
lock = threading.Lock()
health_asked = 0


def note(value):
    with lock, (here / "asked").open("a") as file:
        file.write(json.dumps(value) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        global health_asked
        if self.path == "/props":
            return self.answer(200, json.dumps({"build_info": "b7-fake"}))
        health_asked += 1
        self.answer(200 if health_asked > 2 else 503, "{}")

    def event(self, value):
        data = f"data: {json.dumps(value)}\n\n".encode()
        half = len(data) // 2
        for piece in (data[:half], data[half:]):
            self.wfile.write(b"%X\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note(request)
        if scenario == "dies":
            print("ggml failed: out of memory", file=sys.stderr, flush=True)
            print("  at 0x123", file=sys.stderr, flush=True)
            os._exit(9)
        if scenario == "refuses":
            return self.answer(400, "no such slot")
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        count = request["n_predict"]
        prompt_ms = 7.0 * len(request["prompt"])
        step = 4 if scenario == "whole" else 1
        self.event({"content": "x"})  # no times yet
        for k in [*range(step, count, step), count, count]:
            self.event({"timings": {"predicted_n": k, "predicted_ms": k * (k + 1) / 2,
                                    "prompt_ms": prompt_ms}})
        self.wfile.write(b"0\r\n\r\n")


note({"arguments": sys.argv[1:], "environment": sorted(os.environ)})
if scenario == "ends":
    print("error: cannot open the model")
    print("done")
    sys.exit(3)
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
