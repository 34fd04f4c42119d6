"""Embeddings over the wire equal the reference: Python onnxruntime + Hugging Face tokenizer, same weights."""

import json

import numpy as np
import onnxruntime
import openai
import pytest
from tokenizers import Tokenizer

from conftest import in_threads

TEXTS = [
    "hello world",
    "a",
    "The quick brown fox jumps over the lazy dog.",
    "Die Würde des Menschen ist unantastbar.",
    "模型服务需要同时兼顾延迟、吞吐和内存。",
    "emoji 😀 and\ttabs\n and   spaces",
    "[CLS] is also a text [MASK]",
    "word " * 100,
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "Straße naïve café ﬁne İstanbul",
    "x" * 300,
    "one two three " * 200,
]


@pytest.fixture(scope="session")
def reference(minilm):
    tokenizer = Tokenizer.from_file(str(minilm / "tokenizer.json"))
    tokenizer.no_padding()
    limit = json.loads((minilm / "sentence_bert_config.json").read_text())["max_seq_length"]
    tokenizer.enable_truncation(limit)
    session = onnxruntime.InferenceSession(str(minilm / "model.onnx"), providers=["CPUExecutionProvider"])

    def embed(text):
        encoding = tokenizer.encode(text)
        feed = {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": np.array([encoding.attention_mask], np.int64),
            "token_type_ids": np.array([encoding.type_ids], np.int64),
        }
        states = session.run(None, feed)[0][0]
        mean = states.mean(axis=0)
        return mean / np.linalg.norm(mean)

    return [embed(text) for text in TEXTS]


def distance(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.fixture
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)


def native_truncating(server, texts):
    """OpenAI's route refuses long texts instead of cutting them, so these go over the native one."""
    answer = server.post("/v1/infer/minilm", {"inputs": texts}).json()
    return [row["result"] for row in answer["results"]]


def test_alone_and_in_every_batch_equal_the_reference(client, server, reference):
    short = [i for i, text in enumerate(TEXTS) if len(text) < 600]
    worst = 0.0
    for i in short:
        data = client.embeddings.create(model="minilm", input=TEXTS[i]).data
        worst = max(worst, distance(data[0].embedding, reference[i]))
    for size in (2, 3, 5, len(short)):
        rng = np.random.default_rng(size)
        for _ in range(5):
            chosen = rng.choice(short, size)
            data = client.embeddings.create(model="minilm", input=[TEXTS[i] for i in chosen]).data
            assert [d.index for d in data] == list(range(size))
            worst = max(worst, *(distance(d.embedding, reference[i]) for d, i in zip(data, chosen)))
    for i, row in enumerate(native_truncating(server, TEXTS)):
        worst = max(worst, distance(row, reference[i]))
    print(f"worst cosine distance to the reference: {worst:.2e}")
    assert worst < 1e-5


def test_batches_across_clients_mix_nothing_up(server, reference):
    """Many clients at once: their rows share batches, each gets its own answer."""

    def work(i):
        out = []
        for k in range(10):
            index = (i * 7 + k) % len(TEXTS)
            answer = server.post("/v1/infer/minilm", {"text": TEXTS[index], "id": f"{i}-{k}"}).json()
            assert answer["id"] == f"{i}-{k}"
            out.append((distance(answer["result"], reference[index]), answer["cost"]["batch_size"]))
        return out

    results = in_threads(16, work)
    assert all(isinstance(r, list) for r in results), results
    assert max(d for r in results for d, _ in r) < 1e-5
    assert max(b for r in results for _, b in r) > 1, "no two clients ever shared a batch"


def test_usage_and_float_and_base64_agree(server):
    body = {"model": "minilm", "input": "hello world"}
    plain = server.post("/v1/embeddings", {**body, "encoding_format": "float"}).json()
    packed = server.post("/v1/embeddings", {**body, "encoding_format": "base64"}).json()
    import base64

    floats = np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4")
    assert np.array_equal(floats, np.array(plain["data"][0]["embedding"], np.float32))
    assert plain["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    assert plain["object"] == "list" and plain["model"] == "minilm"


def test_the_openai_client_lists_models_and_sees_errors(client):
    assert [m.id for m in client.models.list()] == ["minilm"]
    with pytest.raises(openai.NotFoundError, match="not served"):
        client.embeddings.create(model="other", input="x")
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="minilm", input="")
