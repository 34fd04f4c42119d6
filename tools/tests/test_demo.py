"""The demo against a stand-in for the server: its table, and its words when something goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import TOOLS

sys.path.insert(0, str(TOOLS))
import demo  # noqa: E402 (found through the line above)

STAND_IN = """#!{python}
import json, signal, sys, time
if sys.argv[1] == "bench":
    batch = sys.argv[sys.argv.index("--concurrency") + 1] == "64"
    stages = {{"queue": {{"mean": 1.0}}, "model": {{"mean": 3.0}}}}
    print(json.dumps({{"rows": 10, "rows_per_s": 200.0 if batch else 100.0, "latency_ms": {{"p50": 4.0, "p99": None}},
                      "stages_ms": stages, "batch_size_mean": 2.5, "valid": not batch, "reasons": ["too short"]}}))
else:
    {serve}
"""
READY = """print("a line of something else")
    print(json.dumps({"event": "ready", "http": "127.0.0.1:1", "metrics": "127.0.0.1:2", "models": ["minilm"]}), flush=True)
    time.sleep(60)"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def make(serve: str) -> None:
        binary = tmp_path / "gimbal"
        binary.write_text(STAND_IN.format(python=sys.executable, serve=serve))
        binary.chmod(0o755)
        monkeypatch.setattr(demo, "BINARY", binary)
        monkeypatch.setattr(demo, "ROOT", tmp_path)
        monkeypatch.setattr(demo, "LOGS", tmp_path / "logs")

    return make


def test_table(stand_in, capsys: pytest.CaptureFixture) -> None:
    stand_in(READY)
    demo.demo(once=True)
    output = capsys.readouterr().out
    lines = [line.rstrip() for line in output.splitlines()]
    assert any(line.split() == ["scenario", "online", "batch"] for line in lines)
    assert any(line.split() == ["throughput,", "rows/s", "100.0", "200.0"] for line in lines)
    # What the bench would not state honestly is a dash, not a zero.
    assert any(line.split() == ["latency", "p99,", "ms", "-", "-"] for line in lines)
    assert any(line.split() == ["model,", "%", "of", "total", "75.0", "75.0"] for line in lines)
    assert "note: the batch run is no valid measurement: too short" in lines
    assert "metrics:  http://127.0.0.1:2/metrics" in lines
    table = [line for line in lines if ", ms" in line or ", MiB" in line or "%" in line]
    assert len({len(line) for line in table}) == 1


def test_server_that_ends_is_explained(stand_in) -> None:
    stand_in('print("no such model", file=sys.stderr); sys.exit(2)')
    with pytest.raises(demo.DemoError, match=r"exit code 2 before it was ready\n(.|\n)*no such model"):
        demo.demo(once=True)


def test_server_that_hangs_is_explained(stand_in, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "READY_WITHIN_S", 0.3)
    stand_in("time.sleep(60)")
    with pytest.raises(demo.DemoError, match="not ready within"):
        demo.demo(once=True)
