"""What goes wrong, against the real binary: the right code, a reason that names the field, neighbours unharmed."""

import json
import shutil
import socket
import subprocess
import time

import pytest

from conftest import GIMBAL, Server

INFER = "/v1/infer/minilm"


@pytest.fixture(autouse=True)
def neighbours_unharmed(server):
    yield
    assert server.post(INFER, {"text": "still here"}).status == 200
    assert server.process.poll() is None


@pytest.mark.parametrize("body, status, kind, words", [
    (b"", 400, "invalid", "empty"),
    (b"{", 400, "invalid", "JSON"),
    (b"[]", 400, "invalid", "object"),
    (b"7", 400, "invalid", "object"),
    (b"null", 400, "invalid", "object"),
    (b'{"text": "a"} x', 400, "invalid", ""),
    (b"{}", 400, "invalid", "text"),
    (b'{"text": ""}', 400, "invalid", "text"),
    (b'{"text": 7}', 400, "invalid", "text"),
    (b'{"text": null}', 400, "invalid", "text"),
    (b'{"text": ["a"]}', 400, "invalid", "text"),
    (b'{"inputs": []}', 400, "invalid", "inputs"),
    (b'{"inputs": "a"}', 400, "invalid", "inputs"),
    (b'{"inputs": {}}', 400, "invalid", "inputs"),
    (b'{"text": "a", "inputs": ["a"]}', 400, "invalid", "inputs"),
    (b'{"texts": "a"}', 400, "invalid", "texts"),
    (b'{"text": "\xff"}', 400, "invalid", "UTF-8"),
    (b'{"text": "a", "timeout_ms": -1}', 400, "invalid", "timeout_ms"),
    (b'{"text": "a", "timeout_ms": "soon"}', 400, "invalid", "timeout_ms"),
    (b'{"text": "a", "priority": "high"}', 400, "invalid", "priority"),
    (b'{"text": "a", "id": {}}', 400, "invalid", "id"),
    (b'{"inputs": [' + b'"a",' * 512 + b'"a"]}', 413, "too_large", "512"),
    (b"[" * 100000, 400, "invalid", ""),
])
def test_native_bodies(server, body, status, kind, words):
    answer = server.post(INFER, body)
    assert answer.status == status, answer.body
    out = answer.json()
    assert out["status"] == "error" and out["type"] == kind
    assert words in out["reason"], out["reason"]


@pytest.mark.parametrize("body, status", [
    (b"", 400),
    (b"{", 400),
    ({"model": "minilm"}, 400),
    ({"model": "minilm", "input": ""}, 400),
    ({"model": "minilm", "input": []}, 400),
    ({"model": "minilm", "input": ["a", ""]}, 400),
    ({"model": "minilm", "input": 7}, 400),
    ({"model": "minilm", "input": [{}]}, 400),
    ({"model": "minilm", "input": "word " * 400}, 400),
    ({"model": "minilm", "input": "a", "encoding_format": "xml"}, 400),
    ({"input": "a"}, 400),
    ({"model": "gpt", "input": "a"}, 404),
])
def test_openai_bodies(server, body, status):
    answer = server.post("/v1/embeddings", body)
    assert answer.status == status, answer.body
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["message"]


def test_unknown_model_version_and_route(server):
    answer = server.post("/v1/infer/nothere", {"text": "a"})
    assert answer.status == 404 and answer.json()["type"] == "not_found"
    assert "minilm" in answer.json()["reason"], "the error says what there is"
    assert server.post(INFER + "/versions/9", {"text": "a"}).status == 404
    assert server.get("/nope").status == 404
    answer = server.get(INFER)
    assert answer.status == 405 and "POST" in answer.headers["Allow"]


def test_wrong_content_type_and_encoding(server):
    answer = server.post(INFER, b"<a/>", {"Content-Type": "application/xml"})
    assert answer.status == 415 and answer.json()["type"] == "unsupported_media"
    assert server.post(INFER, {"text": "a"}, {"Content-Encoding": "br"}).status == 415


def test_bad_timeout_header(server):
    answer = server.post(INFER, {"text": "a"}, {"X-Timeout-Ms": "soon"})
    assert answer.status == 400 and "X-Timeout-Ms" in answer.json()["reason"]


def connect(server):
    host, port = server.ready["http"].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=30)


def head(length):
    return (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()


def test_a_body_over_the_limit_is_refused_unread(server):
    with connect(server) as client:
        client.sendall(head(10 ** 12))  # and not one byte of the body
        answer = client.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 413 ")
    assert "too_large" in answer and "max_body" in answer.replace("max-body", "max_body")


def test_chunked_bodies_are_cut_at_the_limit(start, minilm):
    server = start(minilm, "--max-body", "64KiB")
    with connect(server) as client:
        client.sendall(f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n".encode())
        answer = b""
        try:
            for _ in range(100):
                client.sendall(b"1000\r\n" + b"a" * 4096 + b"\r\n")
        except OSError:
            pass  # the server has answered and closed
        try:
            answer = client.recv(65536)
        except OSError:
            pass
    assert answer.startswith(b"HTTP/1.1 413 ")
    server.stop()


def test_one_text_of_a_megabyte(server, start, minilm):
    words = "word " * 200_000
    answer = server.post(INFER, {"text": words})
    assert answer.status == 200 and answer.json()["cost"]["tokens"] == 256
    for text in ("a" * 1_000_000, " " * 1_000_000, "\u0301" * 500_000, "字" * 300_000):
        assert server.post(INFER, {"text": text}).status == 200
    answer = server.post(INFER, {"text": words, "parameters": {"truncate": False}})
    assert answer.status == 422 and answer.json()["type"] == "unprocessable"
    small = start(minilm, "--max-text", "64KiB")
    answer = small.post(INFER, {"text": words})
    assert answer.status == 413 and answer.json()["type"] == "too_large"
    small.stop()


def test_a_client_that_leaves_takes_its_rows_along(start, minilm):
    server = start(minilm, "--instances", "1", "--max-rows", "1")
    body = json.dumps({"inputs": ["many words make a long text " * 60] * 40}).encode()
    with connect(server) as client:
        client.sendall(head(len(body)) + body)
        server.await_metric("gimbal_queue_rows", 30, model="minilm")
    server.await_metric("gimbal_requests_total", 1, code="cancelled", model="minilm")
    assert server.metric("gimbal_batch_rows_count", model="minilm") < 30
    assert server.metric("gimbal_queue_rows", model="minilm") == 0
    server.stop()


def test_garbage_instead_of_http(server):
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"\r\n\r\n\r\n\r\n", b"A" * 100_000):
        with connect(server) as client:
            try:
                client.sendall(garbage)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except OSError:
                pass  # reset is an answer too


def test_a_text_whose_ids_the_graph_does_not_know_never_reaches_a_client(minilm, tmp_path):
    broken = tmp_path / "ids"
    shutil.copytree(minilm, broken)
    tokenizer = json.loads((broken / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["zebra"] = 40000
    (broken / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert "40000" in failing_start(broken)


def failing_start(*args):
    done = subprocess.run([GIMBAL, "serve", *map(str, args), "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode in (2, 3) and not done.stdout, done
    return " ".join(line for line in done.stderr.splitlines() if line.startswith("gimbal serve: "))


def test_broken_or_missing_model_files(minilm, tmp_path):
    assert "nowhere" in failing_start(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "onnx" in failing_start(empty)

    def copy(name):
        target = tmp_path / name
        shutil.copytree(minilm, target)
        return target

    broken = copy("cut")
    with open(broken / "model.onnx", "r+b") as f:
        f.truncate(1000)
    assert "model.onnx" in failing_start(broken)
    broken = copy("text")
    (broken / "model.onnx").write_text("this is not a graph")
    assert "model.onnx" in failing_start(broken)
    broken = copy("tokenizer")
    (broken / "tokenizer.json").write_text('{"model": {"type": "Unknown"}}')
    assert "tokenizer.json" in failing_start(broken)
    (broken / "tokenizer.json").unlink()
    assert "tokenizer.json" in failing_start(broken)
    broken = copy("config")
    (broken / "config.json").write_text("{")
    assert "config.json" in failing_start(broken)
    broken = copy("pooling")
    (broken / "1_Pooling/config.json").write_text('{"pooling_mode_weightedmean_tokens": true}')
    assert "1_Pooling/config.json" in failing_start(broken)


def test_port_in_use(server, minilm):
    done = subprocess.run([GIMBAL, "serve", minilm, "--http", server.ready["http"], "--metrics", "127.0.0.1:0"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode in (2, 3)
    assert server.ready["http"] in done.stderr and "in use" in done.stderr


def test_a_model_that_never_fits_the_budget(minilm):
    assert "budget" in failing_start(minilm, "--model-memory", "10MiB")
