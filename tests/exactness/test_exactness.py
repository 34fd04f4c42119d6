"""A slice of compare.py: ids and offsets equal those of the Hugging Face library."""

import os
import pathlib

import pytest

import compare
import fuzz
import variants

GIMBAL = os.environ.get("GIMBAL", str(compare.ROOT / "build/release/bin/gimbal"))


def needs(condition, reason):
    return pytest.mark.skipif(not condition, reason=reason)


@needs(pathlib.Path(GIMBAL).exists(), "gimbal is not built")
@needs(variants.real_tokenizers(), "no tokenizer: run models/get minilm")
def test_ids_and_offsets_equal_the_library():
    total, compared = compare.compare(GIMBAL, full=False, seed=7)
    assert total == 0
    assert compared >= 20_000


def test_fuzz_is_the_same_everywhere():
    assert fuzz.strings(1, 20) == fuzz.strings(1, 20)
    assert fuzz.strings(1, 20) != fuzz.strings(2, 20)
    assert not any(b"\n" in text for text in fuzz.strings(3, 1000))


def test_every_edit_changes_the_file():
    base = {"normalizer": {}, "pre_tokenizer": {}, "post_processor": {}, "added_tokens": [],
            "model": {"vocab": {"a": 0}}}
    for name in variants.EDITS:
        assert variants.edited(base, name) != compare.json.dumps(base)
