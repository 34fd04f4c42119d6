"""Tokenizers to compare with: real tokenizer.json files and edits of them that turn each switch."""

import copy
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def real_tokenizers():
    """{name: path} of the WordPiece ones that models/get has made, minilm first; no two alike."""
    paths = sorted(ROOT.glob("models/cache/*/tokenizer.json"),
                   key=lambda path: (path.parent.name != "minilm", path))
    chosen, seen = {}, []
    for path in paths:
        tokenizer = json.loads(path.read_text())
        parts = [tokenizer[part] for part in ("model", "normalizer", "post_processor")]
        if tokenizer["model"].get("type") == "WordPiece" and parts not in seen:
            chosen[path.parent.name] = path
            seen.append(parts)
    return chosen


def normalizer(**change):
    def edit(tokenizer):
        tokenizer["normalizer"].update(change)
    return edit


def no_normalizer(tokenizer):
    tokenizer["normalizer"] = None


def no_pre_tokenizer(tokenizer):
    tokenizer["pre_tokenizer"] = None


def no_post_processor(tokenizer):
    tokenizer["post_processor"] = None


def bert_processing(tokenizer):
    tokenizer["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", 102],
                                   "cls": ["[CLS]", 101]}


def short_words(tokenizer):
    tokenizer["model"].update(max_input_chars_per_word=7, unk_token="[MASK]")


def no_prefix(tokenizer):
    tokenizer["model"]["continuing_subword_prefix"] = ""


def added(normalized, extra=()):
    """Added tokens of all kinds; `normalized` says in which text they are looked for."""
    kinds = [("<word>", {"single_word": True}), ("<left>", {"lstrip": True}),
             ("<right>", {"rstrip": True}), ("<both>", {"lstrip": True, "rstrip": True}),
             ("Über", {}), ("two words", {"single_word": True, "lstrip": True}), ("[MA", {}),
             ("[MASK][MASK]", {}), ("ab", {}), *extra]

    def edit(tokenizer):
        next_id = max(tokenizer["model"]["vocab"].values()) + 1
        for content, kind in kinds:
            token = dict(id=next_id, content=content, single_word=False, lstrip=False, rstrip=False,
                         normalized=normalized, special=False)
            tokenizer["added_tokens"].append({**token, **kind})
            next_id += 1
    return edit


EDITS = {
    "cased": normalizer(lowercase=False, strip_accents=None),
    "uncased": normalizer(lowercase=True, strip_accents=None),
    "keep_accents": normalizer(lowercase=True, strip_accents=False),
    "cased_strip_accents": normalizer(lowercase=False, strip_accents=True),
    "no_chinese": normalizer(handle_chinese_chars=False),
    "not_cleaned": normalizer(clean_text=False),
    "nothing": normalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False,
                          lowercase=False),
    "no_normalizer": no_normalizer,
    "no_pre_tokenizer": no_pre_tokenizer,
    "no_post_processor": no_post_processor,
    "bert_processing": bert_processing,
    "short_words": short_words,
    "no_prefix": no_prefix,
    "added_raw": added(False),
    "added_normalized": added(True),
}


def edited(base, name):
    """The JSON of `base` with the edit `name`."""
    tokenizer = copy.deepcopy(base)
    EDITS[name](tokenizer)
    return json.dumps(tokenizer, ensure_ascii=False)
