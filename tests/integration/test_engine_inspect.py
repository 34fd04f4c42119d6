"""`gimbal inspect` on real models, with the real engine."""

import hashlib
import json
import subprocess

from conftest import GIMBAL, MODELS


def inspect(*arguments):
    return subprocess.run([GIMBAL, "inspect", *arguments], capture_output=True, text=True, timeout=300)


def test_minilm_as_json():
    result = inspect(str(MODELS / "minilm"), "--json")
    assert result.returncode == 0, result.stderr
    (model,) = json.loads(result.stdout)["models"]
    assert (model["name"], model["task"], model["engine"]) == ("minilm", "text-embedding", "onnxruntime")
    assert [i["name"] for i in model["inputs"]] == ["input_ids", "attention_mask", "token_type_ids"]
    assert model["outputs"] == [{"name": "last_hidden_state", "datatype": "FP32", "shape": [-1, -1, 384]}]
    assert model["tokenizer"] == {"kind": "WordPiece", "vocab": 30522, "max_length": 256}
    graph = (MODELS / "minilm" / "model.onnx").read_bytes()
    assert model["hashes"]["model.onnx"] == hashlib.sha256(graph).hexdigest()
    assert model["batching"]["safe"] == "any"
    memory = model["memory"]
    assert 0.99 * len(graph) < memory["weights"] < 1.01 * len(graph)
    # A token needs at least its hidden state, its residual and its widened state (384, 384 and 1536 floats).
    assert 4 * (2 * 384 + 1536) < memory["per_row_token"] < 1 << 20
    assert max(batch["length"] for batch in memory["plan"]) == 256


def test_the_human_form_names_the_same():
    result = inspect(f"small={MODELS / 'identity'}")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("small (version 1): text-embedding with onnxruntime ")
    assert "rows that may share a batch: any" in result.stdout


def test_a_folder_that_is_no_model_is_named(tmp_path):
    result = inspect(str(tmp_path))
    assert result.returncode == 2
    assert str(tmp_path) in result.stderr and "model.onnx" in result.stderr
