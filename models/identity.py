"""identity: a model of the same signature as minilm that computes next to nothing.

What a request costs with it is what the server costs: tokenizing, queueing, batching, serializing.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from get import ModelError
from onnx import TensorProto

import bert_graph
import minilm

WIDTH = 8


def graph() -> bert_graph.GraphWriter:
    """last_hidden_state[b, s, :] = input_ids * attention_mask + token_type_ids: every input matters, nothing is dear."""
    writer = bert_graph.GraphWriter()
    masked = writer.op("Mul", "masked", "input_ids", "attention_mask")
    total = writer.op("Add", "total", masked, "token_type_ids")
    number = writer.op("Cast", "number", total, to=TensorProto.FLOAT)
    column = writer.op("Unsqueeze", "column", number, writer.ints("last_axis", -1))
    writer.op("Expand", "last_hidden_state", column, writer.ints("wide", 1, 1, WIDTH))
    return writer


def check(model: Path) -> None:
    import onnxruntime

    ids = np.arange(6, dtype=np.int64).reshape(2, 3)
    mask = np.array([[1, 1, 1], [1, 1, 0]], dtype=np.int64)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    (output,) = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0 + 1})
    if not np.array_equal(output, np.repeat((ids * mask + 1)[..., None], WIDTH, -1).astype(np.float32)):
        raise ModelError("the written graph does not compute input_ids * attention_mask + token_type_ids")


def make(folder: Path) -> str:
    with minilm.open_package() as package:
        minilm.copy_files(package, folder)
    change_json(folder / "config.json", hidden_size=WIDTH, _name_or_path="identity")
    change_json(folder / "1_Pooling" / "config.json", word_embedding_dimension=WIDTH)
    # No normalising step: the values stay what the graph made of the ids.
    modules = json.loads((folder / "modules.json").read_text())
    modules = [module for module in modules if not module["type"].endswith(".Normalize")]
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")
    bert_graph.save(graph(), WIDTH, folder / "model.onnx", "identity")
    check(folder / "model.onnx")
    return "its answers are exact"


def change_json(path: Path, **fields) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields, indent=2) + "\n")
