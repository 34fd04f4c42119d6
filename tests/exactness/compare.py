"""Compares `gimbal tokenize` with the Hugging Face library: ids and offsets, text by text.

    python tests/exactness/compare.py --full [--gimbal build/release/bin/gimbal]

--full takes every text of the corpus, 100 000 fuzzed strings and every code point, and a quarter of
them for each edit of tokenizer.json (variants.py); without it, a slice of them. Exits with 1 when
anything differs.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import tokenizers

import corpus
import fuzz
import variants

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH = 5000
SHOWN = 5  # differences that are printed, of each run


def ours(gimbal, tokenizer_file, texts, extra=()):
    """The lines that `gimbal tokenize` answers, one a text."""
    done = subprocess.run([gimbal, "tokenize", "--tokenizer", str(tokenizer_file), *extra],
                          input=b"\n".join(texts) + b"\n", capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{gimbal} tokenize: {done.stderr.decode(errors='replace')}")
    lines = done.stdout.splitlines()
    if len(lines) != len(texts):
        sys.exit(f"{len(texts)} texts, {len(lines)} answers")
    return lines


def differences(gimbal, tokenizer_file, texts, special=True):
    """Texts on which the two disagree."""
    theirs = tokenizers.Tokenizer.from_file(str(tokenizer_file))
    theirs.no_truncation()
    theirs.no_padding()
    wrong = []
    for start in range(0, len(texts), BATCH):
        part = texts[start:start + BATCH]
        answers = ours(gimbal, tokenizer_file, part, () if special else ("--no-special",))
        encodings = theirs.encode_batch([t.decode("utf-8", "replace") for t in part],
                                        add_special_tokens=special)
        for text, answer, encoding in zip(part, answers, encodings):
            got = json.loads(answer)
            if got["ids"] != encoding.ids or got["offsets"] != [list(o) for o in encoding.offsets]:
                wrong.append((text, got, encoding))
    return wrong


def report(name, texts, wrong, seconds):
    print(f"{name:40} {len(texts):8} texts  {len(wrong):5} differences  {seconds:6.1f} s",
          flush=True)
    for text, got, encoding in wrong[:SHOWN]:
        print(f"  text    {text[:200]!r}\n  gimbal  {got['ids'][:40]} {got['offsets'][:40]}\n"
              f"  library {encoding.ids[:40]} {encoding.offsets[:40]}")


def code_points():
    """Every code point between letters, before a mark, and alone."""
    return [f"a{c}b {c}\u0301 {c}".encode() for c in map(chr, range(0x110000))
            if c != "\n" and not "\ud800" <= c <= "\udfff"]


def texts_of(full, seed, real_count, fuzz_count):
    lines, counts = corpus.corpus()
    real = [line.encode() for line in lines]
    if full:
        real_count, fuzz_count = len(real), max(fuzz_count, 100_000)
    sample = real if full else random.Random(seed).sample(real, min(real_count, len(real)))
    print(f"library {tokenizers.__version__}; {len(sample)} real lines of {len(counts)} scripts, "
          f"{fuzz_count} fuzzed strings (seed {seed})")
    return {"real": sample, "fuzz": fuzz.strings(seed, fuzz_count)}


def runs(full, texts, bases):
    """(name, tokenizer.json as text, texts, with special tokens)"""
    for base_name, path in bases.items():
        base = json.loads(path.read_text())
        for kind, some in texts.items():
            yield f"{base_name} {kind}", json.dumps(base), some, True
        if full:
            yield f"{base_name} code points", json.dumps(base), code_points(), True
    base_name, path = next(iter(bases.items()))
    base = json.loads(path.read_text())
    share = 4 if full else len(variants.EDITS)
    for number, edit in enumerate(variants.EDITS):
        edited = variants.edited(base, edit)
        for kind, some in texts.items():
            yield f"{base_name} {edit} {kind}", edited, some[number % share::share], edit != "cased"
        if full and edit in ("nothing", "keep_accents", "cased_strip_accents"):
            yield f"{base_name} {edit} code points", edited, code_points(), True


def compare(gimbal, full, seed=1, real_count=10_000, fuzz_count=10_000, extra=()):
    """Number of differences and of texts compared."""
    bases = variants.real_tokenizers()
    for path in extra:
        bases[path.stem] = path
    if not bases:
        sys.exit("no tokenizer: run `models/get minilm`, or give --tokenizer FILE")
    total = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "tokenizer.json"
        for name, content, some, special in runs(full, texts_of(full, seed, real_count, fuzz_count),
                                                 bases):
            file.write_text(content)
            start = time.monotonic()
            wrong = differences(gimbal, file, some, special)
            report(name, some, wrong, time.monotonic() - start)
            total += len(wrong)
            compared += len(some)
    print(f"{compared} texts compared, {total} differences")
    return total, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gimbal", default=str(ROOT / "build/release/bin/gimbal"))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fuzz", type=int, default=10_000, help="fuzzed strings, at least")
    parser.add_argument("--tokenizer", type=pathlib.Path, action="append", default=[],
                        help="a further tokenizer.json")
    args = parser.parse_args()
    total, _ = compare(args.gimbal, args.full, args.seed, fuzz_count=args.fuzz,
                       extra=args.tokenizer)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
