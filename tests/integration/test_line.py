"""The line as its users see it: stages, metrics, logs, health, deadlines, drain."""

import json
import re
import signal
import subprocess
import threading
import urllib.request

import pytest

from conftest import GIMBAL, MODELS, in_threads

STAGES = ["receive", "parse", "admit", "preprocess", "queue", "assemble", "model", "postprocess", "serialize", "send"]


def server_timing(answer):
    entries = re.findall(r"([a-z]+);dur=([0-9.]+)", answer.headers["Server-Timing"])
    return {name: float(ms) for name, ms in entries}


def test_the_stages_of_a_row_add_up_to_its_total(server):
    for text in ("hi", "a few more words than that " * 8):
        for _ in range(20):
            server.post("/v1/infer/minilm", {"text": text})
    server.await_metric("gimbal_requests_total", 40, code="ok", protocol="native")
    lines = [l for l in server.log_lines("request") if l["rows"] == 1 and l["status"] == "ok"]
    assert len(lines) >= 40
    worst = max(abs(sum(l["stages_ms"].values()) / l["total_ms"] - 1) for l in lines)
    print(f"worst difference between the stages' sum and the total: {100 * worst:.2f} %")
    assert worst < 0.01
    assert list(lines[-1]["stages_ms"]) == STAGES


def test_server_timing_and_cost_name_the_stages(server):
    answer = server.post("/v1/infer/minilm", {"text": "hello", "id": "x"}, {"X-Request-Id": "abc-1"})
    timing = server_timing(answer)
    assert list(timing) == STAGES[:-1] + ["total"]
    assert answer.headers["X-Request-Id"] == "abc-1"
    body = answer.json()
    cost = body["cost"]
    assert [key for key in cost if key.endswith("_ms")] == [s + "_ms" for s in STAGES[:8]] + ["total_ms"]
    assert cost["batch_size"] >= 1 and cost["tokens"] == 3 and cost["padded_tokens"] >= 3
    assert body["id"] == "x" and body["status"] == "ok" and len(body["result"]) == 384
    assert server.post("/v1/infer/minilm", "{").headers["X-Request-Id"]
    assert "total" in server_timing(server.post("/v1/embeddings", {"model": "minilm", "input": "a"}))


def test_metrics_have_the_names_of_the_contract(server):
    server.post("/v1/infer/minilm", {"text": "hello"})
    names = {name for name, _ in server.metrics()}
    for name in ("gimbal_requests_total", "gimbal_request_seconds_bucket", "gimbal_stage_seconds_bucket",
                 "gimbal_batch_rows_bucket", "gimbal_batch_padding_ratio_bucket", "gimbal_batches_total",
                 "gimbal_queue_rows", "gimbal_memory_bytes", "gimbal_model_ready",
                 "process_cpu_seconds_total"):
        assert name in names, name
    stages = {dict(labels)["stage"] for name, labels in server.metrics()
              if name == "gimbal_stage_seconds_count" and dict(labels)["model"] == "minilm"}
    assert stages == set(STAGES)
    with urllib.request.urlopen(f"http://{server.ready['metrics']}/metrics") as answer:
        assert b"gimbal_requests_total" in answer.read()


def test_logs_hold_no_contents(server):
    secret = "correct horse battery staple"
    server.post("/v1/infer/minilm", {"text": secret})
    server.post("/v1/infer/minilm", '{"text": "' + secret)
    server.post("/v1/infer/minilm", {"text": [secret]})
    server.post("/v1/embeddings", {"model": "minilm", "input": secret}, {"Authorization": "Bearer sesame"})
    assert "battery" not in server.log_text() and "sesame" not in server.log_text()


def test_health_and_metadata(server):
    assert server.get("/v2/health/live").status == 200
    assert server.get("/v2/health/ready").status == 200
    assert server.get("/v2/models/minilm/ready").status == 200
    assert server.get("/v2/models/other/ready").status == 404
    about = server.get("/v2").json()
    assert about["name"] == "gimbal" and about["version"]
    meta = server.get("/v2/models/minilm").json()
    assert meta["versions"] == ["1"] and meta["platform"] == "onnx_onnxv1"
    assert meta["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
    assert meta["outputs"] == [{"name": "embedding", "datatype": "FP32", "shape": [-1, 384]}]


def test_partial_success(server):
    answer = server.post("/v1/infer/minilm", {"inputs": ["good", 7, "", {"text": "also good"}, None]})
    body = answer.json()
    assert answer.status == 200 and body["status"] == "partial"
    assert [r["status"] for r in body["results"]] == ["ok", "error", "error", "ok", "error"]
    assert "inputs[1]" in body["results"][1]["reason"] and "number" in body["results"][1]["reason"]
    assert body["results"][2]["type"] == "invalid"
    assert body["cost"]["tokens"] == 3 + 4 and body["cost"]["padded_tokens"] >= 7


def test_several_models_have_a_queue_each(start, minilm):
    server = start(minilm, f"null={MODELS / 'identity'}")
    assert sorted(server.ready["models"]) == ["minilm", "null"]
    assert len(server.post("/v1/infer/null", {"text": "a"}).json()["result"]) == 8
    assert len(server.post("/v1/infer/minilm", {"text": "a"}).json()["result"]) == 384
    for model in ("minilm", "null"):
        assert server.metric("gimbal_batch_rows_count", model=model) == 1
    server.stop()


def test_sigterm_under_load_loses_nothing(start):
    """Clients on keep-alive and new connections; after the signal each request that was sent is answered."""
    for _ in range(3):
        server = start(MODELS / "minilm")
        answered, failed = [0], []
        stop = threading.Event()
        host, port = server.ready["http"].rsplit(":", 1)

        def work(i):
            import http.client

            body = json.dumps({"text": f"client {i} says something of moderate length"})
            connection = None
            while not stop.is_set():
                try:
                    if connection is None:
                        connection = http.client.HTTPConnection(host, int(port), timeout=30)
                        connection.connect()
                except OSError:
                    return  # refused before anything was sent: the listener has closed
                try:
                    connection.request("POST", "/v1/infer/minilm", body, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, http.client.HTTPException) as error:
                    # A keep-alive connection that the server closed while it was idle may be tried again
                    # on a new one (RFC 9112, 9.3.1); anything else is a loss.
                    if getattr(connection, "served", 0) and isinstance(
                            error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                        connection = None
                        continue
                    failed.append(repr(error))
                    return
                if answer.status != 200:
                    failed.append(answer.status)
                answered[0] += 1
                connection.served = 1
                if answer.will_close:
                    connection.close()
                    connection = None

        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        server.await_metric("gimbal_requests_total", 30, code="ok", model="minilm")
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(60)
        stop.set()
        for thread in threads:
            thread.join()
        ended = server.log_lines("request")
        cut = [l for l in ended if l["status"] not in ("ok",)]
        print(f"answered {answered[0]}, lost {len(failed)}, exit code {code}")
        assert code == 0 and not failed and not cut
        # Every request of which the server saw a byte came back to a client: no connection that was
        # closed on a client had taken its request along.
        assert len([l for l in ended if l["route"].startswith("/v1/infer")]) == answered[0]


def test_a_deadline_passes_while_the_row_waits(start, minilm):
    server = start(minilm, "--instances", "1", "--max-rows", "8", "--max-predicted-wait", "0s")
    long_text = "many words make a long text " * 60
    busy = threading.Thread(target=server.post, args=("/v1/infer/minilm", {"inputs": [long_text] * 24}))
    busy.start()
    server.await_metric("gimbal_queue_rows", 1, model="minilm")
    answer = server.post("/v1/infer/minilm", {"text": "hello"}, {"X-Timeout-Ms": "20"})
    assert answer.status == 504 and answer.json()["type"] == "deadline"
    answer = server.post("/v1/infer/minilm", {"text": "hello", "timeout_ms": 20})
    assert answer.status == 504
    busy.join()
    assert server.metric("gimbal_timeouts_total", model="minilm") == 2
    server.stop()


def test_a_full_queue_says_when_to_come_back(start, minilm):
    server = start(minilm, "--instances", "1", "--max-rows", "2", "--queue-rows", "4")
    long_text = "many words make a long text " * 60
    answers = in_threads(24, lambda i: server.post("/v1/infer/minilm", {"text": long_text}))
    refused = [a for a in answers if a.status == 429]
    assert refused and all(a.status in (200, 429) for a in answers)
    for answer in refused:
        assert answer.json()["type"] == "overloaded"
        assert int(answer.headers["Retry-After"]) >= 1
    assert server.post("/v1/infer/minilm", {"text": "after"}).status == 200
    server.stop()


def test_a_model_that_still_loads_is_told_from_one_that_is_unknown(start, minilm):
    server = start(minilm, wait=False)
    # The port answers before the model does; where it is, the log says.
    while not server.log_lines("server_started"):
        assert server.process.poll() is None
    server.url = "http://" + server.log_lines("server_started")[0]["http"]
    answers = []
    while server.get("/v2/health/ready").status != 200:
        answers.append(server.post("/v1/infer/minilm", {"text": "a"}))
        assert server.post("/v1/infer/other", {"text": "a"}).status == 404
    assert {a.status for a in answers} <= {200, 503}
    assert any(a.status == 503 and a.json()["type"] == "unavailable" and a.headers["Retry-After"] for a in answers)
    server.stop()


def test_sigterm_while_a_model_loads_ends_without_ready(start, minilm):
    server = start(*[f"m{i}={minilm}" for i in range(6)], wait=False)
    while not server.log_lines("server_started"):
        assert server.process.poll() is None
    server.stop()
    assert server.process.stdout.read() == b""
    assert len(server.log_lines("model_ready")) < 6


def test_the_drain_limit_bounds_the_stop(start, minilm):
    """What is still queued at the limit is dropped, not computed for nobody."""
    server = start(minilm, "--drain-timeout", "1s", "--instances", "1", "--max-predicted-wait", "0s")
    body = {"inputs": ["many words make a long text " * 60] * 256}
    client = threading.Thread(target=lambda: pytest.raises(Exception, server.post, "/v1/infer/minilm", body))
    client.start()
    server.await_metric("gimbal_queue_rows", 100, model="minilm")
    server.stop(expect=3)
    client.join()
    stopped = server.log_lines("server_stopped")[0]
    assert not stopped["drained"]
    cut = [l for l in server.log_lines("request") if l["status"] == "cancelled"]
    assert len(cut) == 1


@pytest.mark.parametrize("load", [["--concurrency", "4"], ["--rate", "20"]])
def test_bench_of_a_folder_reports_every_field(minilm, load):
    out = subprocess.run([GIMBAL, "bench", minilm, *load, "--duration", "2s", "--warmup", "0s", "--json"],
                         capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    report = json.loads(out.stdout)
    for field in ("target", "scenario", "seed", "requests", "rows", "errors", "throughput_per_s", "rows_per_s",
                  "latency_ms", "stages_ms", "batch_size_mean", "sender_lateness_ms", "client_cpu_share", "server",
                  "valid", "reasons", "settings", "machine"):
        assert field in report, field
    assert report["requests"] > 0 and report["errors"] == {}
    assert set(report["stages_ms"]) >= set(STAGES[:9])
    assert report["batch_size_mean"] >= 1 and report["server"]["cpu_s_per_1000"] > 0


def test_scenarios_and_explain(minilm):
    out = subprocess.run([GIMBAL, "serve", minilm, "--scenario", "batch", "--explain"], capture_output=True, text=True)
    assert out.returncode == 0
    assert re.search(r"scenario: batch\s+# --scenario", out.stdout), out.stdout
    assert re.search(r"max_rows: 32\s+# default", out.stdout), out.stdout


def test_version_and_wrong_usage():
    out = subprocess.run([GIMBAL, "--version"], capture_output=True, text=True)
    assert out.returncode == 0 and re.match(r"gimbal \d+\.\d+\.\d+", out.stdout)
    out = subprocess.run([GIMBAL, "serve", "--max-row", "3", "x"], capture_output=True, text=True)
    assert out.returncode == 2 and "--max-rows" in out.stderr
