"""Starts the real server on free ports for tests that speak to it."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pytest

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # of the reference, before it is imported
ROOT = pathlib.Path(__file__).resolve().parent.parent
GIMBAL = pathlib.Path(os.environ.get("GIMBAL", ROOT / "build/release/bin/gimbal"))
MODELS = ROOT / "models/cache"


class Answer:
    """An HTTP answer, whatever its status."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """One `gimbal serve` process. `ready` is the line that it printed."""

    def __init__(self, *args, wait=True):
        self.log = tempfile.TemporaryFile()
        command = [str(GIMBAL), "serve", *map(str, args)]
        if "--http" not in args:
            command += ["--http", "127.0.0.1:0"]
        if "--metrics" not in args:
            command += ["--metrics", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log)
        self.ready = None
        if wait:
            line = self.process.stdout.readline()
            assert line, f"the server did not start: {self.log_text()}"
            self.ready = json.loads(line)
            self.url = "http://" + self.ready["http"]

    def log_text(self):
        self.log.seek(0)
        return self.log.read().decode()

    def log_lines(self, event=None):
        lines = [json.loads(line) for line in self.log_text().splitlines() if line.startswith("{")]
        return [line for line in lines if event is None or line["event"] == event]

    def request(self, method, path, body=None, headers=None, timeout=60):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        elif isinstance(body, str):
            body = body.encode()
        headers = {"Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def post(self, path, body=None, headers=None, **kw):
        return self.request("POST", path, body, headers, **kw)

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def metrics(self):
        """Samples of /metrics as {(name, frozenset(labels)): value}."""
        from prometheus_client.parser import text_string_to_metric_families

        text = self.get("/metrics").body.decode()
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def metric(self, name, **labels):
        """Sum of all samples of that name that have these labels."""
        want = set(labels.items())
        return sum(v for (n, have), v in self.metrics().items() if n == name and want <= have)

    def await_metric(self, name, at_least, **labels):
        """Waits until the metric has grown to a value; what tests wait for instead of sleeping."""
        limit = time.monotonic() + 30
        while self.metric(name, **labels) < at_least:
            assert time.monotonic() < limit, f"{name} stayed below {at_least}"
            assert self.process.poll() is None, "the server has ended"

    def stop(self, expect=0):
        """SIGTERM, then the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(60)
        assert code == expect, f"exit code {code}: {self.log_text()[-2000:]}"


@pytest.fixture(scope="session")
def minilm():
    path = MODELS / "minilm"
    assert (path / "model.onnx").exists(), "run models/get minilm (tools/dev test does)"
    return path


@pytest.fixture(scope="session")
def server(minilm):
    """A server with minilm and default settings, shared by tests that leave it as it was."""
    server = Server(minilm)
    yield server
    server.stop()


@pytest.fixture
def start():
    """Starts servers with settings of their own; stops what the test left running."""
    servers = []

    def make(*args, **kw):
        servers.append(Server(*args, **kw))
        return servers[-1]

    yield make
    for each in servers:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def in_threads(count, work):
    """Runs work(i) for i in range(count) at the same time; the results in order."""
    results = [None] * count

    def run(i):
        try:
            results[i] = work(i)
        except Exception as error:  # a test looks at it
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
