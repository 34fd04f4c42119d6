"""The demo: serves a sentence-embedding model, loads it in two scenarios, shows where the time and the memory went.

Called by `tools/dev demo`, which builds the server and fetches the model. With --once it ends after the table,
otherwise it goes on serving until Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "gimbal"
MODEL = "minilm"
LOGS = ROOT / "build" / "demo"
READY_WITHIN_S = 60
STOP_WITHIN_S = 15
HTTP_PORT, METRICS_PORT = 8000, 8002
# How many requests are under way at once: a few people waiting, against a job that only wants to be done.
CONCURRENCY = {"online": 8, "batch": 64}


class DemoError(Exception):
    """Why the demo cannot go on; shown to the user as it is."""


def address(port: int) -> str:
    """The loopback address with this port, or with 0 (any free one) when somebody else has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            print(f"port {port} is in use: taking a free one instead")
            return "127.0.0.1:0"
    return f"127.0.0.1:{port}"


class Server:
    """One `gimbal serve` process, from its ready line to its end."""

    def __init__(self, scenario: str, http: str, metrics: str) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"server-{scenario}.log"
        command = [str(BINARY), "serve", str(ROOT / "models" / "cache" / MODEL), "--scenario", scenario]
        command += ["--http", http, "--metrics", metrics]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log.open("wb"), text=True
        )
        try:
            self.ready = self._wait_ready()
        except BaseException:
            self.stop()
            raise

    def _wait_ready(self) -> dict:
        # A thread reads on after the ready line too: a full pipe would stop the server.
        lines: queue.Queue[str | None] = queue.Queue()

        def read() -> None:
            for line in self.process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, name="server-stdout", daemon=True).start()
        try:
            while (line := lines.get(timeout=READY_WITHIN_S)) is not None:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict) and event.get("event") == "ready":
                    return event
        except queue.Empty:
            raise DemoError(f"the server was not ready within {READY_WITHIN_S} s\n{self._log_end()}") from None
        code = self.process.wait()
        raise DemoError(f"the server ended with exit code {code} before it was ready\n{self._log_end()}")

    def _log_end(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"the end of its log ({self.log.relative_to(ROOT)}):", *("    " + line for line in lines)])

    @property
    def url(self) -> str:
        return f"http://{self.ready['http']}"

    def memory(self) -> dict[str, int]:
        """Resident bytes now and at their highest, as the kernel counts them."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return {name: int(fields[key].split()[0]) * 1024 for name, key in (("now", "VmRSS"), ("peak", "VmHWM"))}

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@dataclass
class Run:
    report: dict  # what `gimbal bench --json` printed
    memory: dict[str, int]


def load(server: Server, scenario: str) -> Run:
    command = [str(BINARY), "bench", server.url, "--model", MODEL, "--protocol", "openai", "--seed", "1", "--json"]
    command += ["--concurrency", str(CONCURRENCY[scenario]), "--duration", "12s", "--requests", "1500"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        report = json.loads(result.stdout)
    except ValueError:
        raise DemoError(f"gimbal bench (exit code {result.returncode}) printed no report:\n{result.stderr[-2000:]}") from None
    if not report.get("rows"):
        raise DemoError(f"the server answered nothing: errors {report.get('errors')}, reasons {report.get('reasons')}")
    return Run(report, server.memory())


def number(value: float | None, digits: int = 2) -> str:
    """A figure that could not be given honestly is null in the report, and stays one here."""
    return "-" if value is None else f"{value:.{digits}f}"


def mean(run: Run, stage: str) -> float | None:
    return run.report.get("stages_ms", {}).get(stage, {}).get("mean")


def rows_of(runs: dict[str, Run]) -> list[list[str]]:
    """The table, a line for each figure and a column for each scenario."""
    columns = list(runs.values())
    latency = [run.report.get("latency_ms", {}) for run in columns]
    stages = [name for name in columns[0].report.get("stages_ms", {}) if name != "total"]
    totals = [sum(mean(run, stage) or 0.0 for stage in stages) for run in columns]
    table = [
        ["scenario", *runs],
        ["requests at once", *(str(CONCURRENCY[name]) for name in runs)],
        ["throughput, rows/s", *(number(run.report.get("rows_per_s"), 1) for run in columns)],
        ["latency p50, ms", *(number(entry.get("p50")) for entry in latency)],
        ["latency p99, ms", *(number(entry.get("p99")) for entry in latency)],
        ["queue wait, ms", *(number(mean(run, "queue")) for run in columns)],
        ["model time, ms", *(number(mean(run, "model")) for run in columns)],
        ["total in server, ms", *(number(total) for total in totals)],
        ["mean batch size, rows", *(number(run.report.get("batch_size_mean")) for run in columns)],
        ["memory, MiB", *(number(run.memory["now"] / 2**20, 1) for run in columns)],
        ["memory at its peak, MiB", *(number(run.memory["peak"] / 2**20, 1) for run in columns)],
    ]
    for stage in stages:
        shares = [100 * (mean(run, stage) or 0.0) / total if total else None for run, total in zip(columns, totals)]
        table.append([f"  {stage}, % of total", *(number(share, 1) for share in shares)])
    return table


def print_table(runs: dict[str, Run]) -> None:
    table = rows_of(runs)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    print()
    for index, row in enumerate(table):
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
        if index == 0:
            print("  ".join("-" * width for width in widths))
    print("(stage times are means)")
    for scenario, run in runs.items():
        if not run.report.get("valid", True):
            print(f"note: the {scenario} run is no valid measurement: {'; '.join(run.report.get('reasons', []))}")
    print()


def demo(once: bool) -> None:
    runs = {}
    print(f"serving {MODEL} (scenario online) and loading it for a few seconds", flush=True)
    server = Server("online", address(HTTP_PORT), address(METRICS_PORT))
    try:
        runs["online"] = load(server, "online")
        print("the same in scenario batch, in a second server", flush=True)
        second = Server("batch", "127.0.0.1:0", "127.0.0.1:0")
        try:
            runs["batch"] = load(second, "batch")
        finally:
            second.stop()
        print_table(runs)
        body = json.dumps({"text": "How does a gimbal work?"})
        print(f"try it:   curl -s {server.url}/v1/infer/{MODEL} -H 'Content-Type: application/json' -d '{body}'")
        print(f"metrics:  http://{server.ready['metrics']}/metrics", flush=True)
        if not once:
            print("serving until Ctrl-C", flush=True)
            code = server.process.wait()
            raise DemoError(f"the server ended by itself, exit code {code}; its log: {server.log.relative_to(ROOT)}")
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/dev demo")
    parser.add_argument("--once", action="store_true", help="end after the table")
    arguments = parser.parse_args()
    if not os.access(BINARY, os.X_OK):
        print("demo: build/release/bin/gimbal is missing; tools/dev build makes it", file=sys.stderr)
        return 3
    try:
        demo(arguments.once)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("\nstopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
