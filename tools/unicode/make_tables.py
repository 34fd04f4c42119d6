"""Writes src/preprocess/text/unicode_tables.inc: what the Hugging Face `tokenizers` library knows
about each code point.

The library's Rust crates are of several Unicode versions, none of them the newest. So nothing is
taken from a Unicode database: every answer comes from asking the pinned library itself, code point
by code point (about a minute).

    .deps/venv/bin/python tools/unicode/make_tables.py [--check]
"""

import argparse
import pathlib
import sys
import unicodedata

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/preprocess/text/unicode_tables.inc"
BLOCK = 128  # code points in a second-stage block
LAST = 0x10FFFF
# Bits of a record; unicode.h declares the same.
REMOVED, SPACE, PUNCTUATION, CJK, NONSPACING, WORD, DECOMPOSES, LOWERS = (1 << i for i in range(8))


def code_points():
    return (c for c in range(LAST + 1) if not 0xD800 <= c <= 0xDFFF)


def bert(**flag):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **flag}).normalize_str


def single_word_probe():
    """True for characters that the library's regular expressions call \\w."""
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("<probe>", single_word=True, normalized=False)])
    probe = tokenizer.token_to_id("<probe>")
    return lambda ch: probe not in tokenizer.encode(ch + "<probe>").ids


class CombiningClass:
    """Combining classes by watching which marks the library's NFD puts before which."""

    def __init__(self):
        self.nfd = normalizers.NFD().normalize_str
        # One mark a class stands for it: the first that the library knows as a mark.
        top = "\u0345"  # of the highest class, 240
        marks = {240: top}
        for ch in map(chr, code_points()):
            ccc = unicodedata.combining(ch)
            if ccc and ccc not in marks and self.nfd("a" + top + ch) == "a" + ch + top:
                marks[ccc] = ch
        self.marks = sorted(marks.items())
        order = [mark for _, mark in self.marks]
        if list(self.nfd("a" + "".join(reversed(order)))) != ["a"] + order:
            sys.exit("the library orders combining marks differently from what this script expects")

    def __call__(self, ch):
        first, last = self.marks[0][1], self.marks[-1][1]
        moves = self.nfd("a" + last + ch) == "a" + ch + last
        if not moves and self.nfd("a" + ch + first) != "a" + first + ch:
            return 0
        for ccc, mark in self.marks:
            if self.nfd("a" + ch + mark) == "a" + ch + mark and (
                self.nfd("a" + mark + ch) == "a" + mark + ch
            ):
                return ccc
        sys.exit(f"no combining class found for U+{ord(ch):04X}")


def probe():
    """The record (flags, combining class) and the two mappings of every code point."""
    clean, cjk, strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(
        strip_accents=True)
    lower = bert(lowercase=True)
    nfd = normalizers.NFD().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    is_word, combining = single_word_probe(), CombiningClass()
    records, decompositions, lowers = {}, {}, {}
    for cp in code_points():
        ch = chr(cp)
        flags = 0
        cleaned = clean("a" + ch + "b")
        if cleaned == "ab":
            flags |= REMOVED
        pieces = [piece for piece, _ in split("a" + ch + "b")]
        if pieces == ["a", "b"]:
            flags |= SPACE
        elif pieces == ["a", ch, "b"]:
            flags |= PUNCTUATION
        elif pieces != ["a" + ch + "b"]:
            sys.exit(f"unexpected split at U+{cp:04X}: {pieces}")
        if not flags & REMOVED and cleaned != ("a b" if flags & SPACE else "a" + ch + "b"):
            sys.exit(f"unexpected cleaning of U+{cp:04X}: {cleaned!r}")
        if cjk(ch) != ch:
            flags |= CJK
        if is_word(ch):
            flags |= WORD
        if nfd(ch) != ch:
            flags |= DECOMPOSES
            if not 0xAC00 <= cp <= 0xD7A3:  # Hangul syllables decompose by arithmetic
                decompositions[cp] = nfd(ch)
        elif strip(ch) != ch:
            flags |= NONSPACING
        if lower(ch) != ch:
            flags |= LOWERS
            lowers[cp] = lower(ch)
        records[cp] = (flags, 0 if flags & DECOMPOSES else combining(ch))
    return records, decompositions, lowers


def two_stage(values, default):
    """(first stage, blocks): value of cp = blocks[first[cp // BLOCK] * BLOCK + cp % BLOCK]."""
    first, blocks, seen = [], [], {}
    for start in range(0, LAST + 1, BLOCK):
        block = tuple(values.get(cp, default) for cp in range(start, start + BLOCK))
        if block not in seen:
            seen[block] = len(seen)
            blocks.extend(block)
        first.append(seen[block])
    return first, blocks


def array(ctype, name, values):
    lines, line = [], "   "
    for value in values:
        text = f" {value},"
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    lines.append(line)
    return f"inline constexpr {ctype} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def mapping_tables(name, mapping):
    """A pool of [length, code points...] and, for each code point, its place there (0: none)."""
    pool, places, starts = [0], {}, {}
    for cp, text in sorted(mapping.items()):
        if text not in places:
            places[text] = len(pool)
            pool.extend([len(text), *map(ord, text)])
        starts[cp] = places[text]
    first, blocks = two_stage(starts, 0)
    return (array("uint8_t", f"k{name}First", first) + array("uint16_t", f"k{name}Blocks", blocks)
            + array("uint32_t", f"k{name}Pool", pool))


def render():
    records, decompositions, lowers = probe()
    kinds = sorted(set(records.values()))
    number = {kind: i for i, kind in enumerate(kinds)}
    first, blocks = two_stage({cp: number[kind] for cp, kind in records.items()}, number[(0, 0)])
    return (
        "// Generated by tools/unicode/make_tables.py from the Hugging Face tokenizers library,\n"
        f"// version {tokenizers.__version__}. Do not edit.\n"
        "// clang-format off\n"
        + array("uint8_t", "kRecordFirst", first)
        + array("uint8_t", "kRecordBlocks", blocks)
        + array("CodePointRecord", "kRecords", [f"{{{f}, {c}}}" for f, c in kinds])
        + mapping_tables("Nfd", decompositions)
        + mapping_tables("Lower", lowers)
        + "// clang-format on\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    text = render()
    if not args.check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET} differs from what the library says")


if __name__ == "__main__":
    main()
