"""Strings that are made to break tokenizers: seeded, endless, the same on every machine.

    python tests/exactness/fuzz.py SEED COUNT   prints them, one a line; some are not UTF-8
"""

import random
import sys

# (first, last) code points; a string draws from a few of these.
RANGES = {
    "ascii": (0x20, 0x7E), "control": (0x00, 0x1F), "latin1": (0x7F, 0xFF), "latin": (0x100, 0x24F),
    "marks": (0x300, 0x36F), "greek": (0x370, 0x3FF), "cyrillic": (0x400, 0x52F),
    "hebrew": (0x590, 0x5FF), "arabic": (0x600, 0x6FF), "indic": (0x900, 0xD7F),
    "thai_lao": (0xE00, 0xEFF), "tibetan": (0xF00, 0xFFF), "jamo": (0x1100, 0x11FF),
    "khmer_mongolian": (0x1780, 0x18AF), "balinese": (0x1B00, 0x1BFF),
    "marks_extended": (0x1AB0, 0x1AFF), "marks_supplement": (0x1DC0, 0x1DFF),
    "latin_additional": (0x1E00, 0x1EFF), "greek_extended": (0x1F00, 0x1FFF),
    "punctuation": (0x2000, 0x206F), "symbols": (0x2070, 0x2BFF), "coptic": (0x2C80, 0x2DFF),
    "cjk_punctuation": (0x3000, 0x303F), "kana": (0x3040, 0x30FF), "cjk": (0x4E00, 0x9FFF),
    "cjk_a": (0x3400, 0x4DBF), "hangul": (0xAC00, 0xD7A3), "private": (0xE000, 0xE0FF),
    "cjk_compatibility": (0xF900, 0xFAFF), "presentation": (0xFB00, 0xFDFF),
    "variation": (0xFE00, 0xFE2F), "halfwidth": (0xFF00, 0xFFEF), "specials": (0xFFF0, 0xFFFF),
    "old": (0x10000, 0x10FFF), "brahmi": (0x11000, 0x11FFF), "music": (0x1D100, 0x1D1FF),
    "letters_math": (0x1D400, 0x1D7FF), "deseret_adlam": (0x1E900, 0x1E95F),
    "emoji": (0x1F300, 0x1FAFF), "cjk_b": (0x20000, 0x2A6DF), "cjk_gaps": (0x2A6D0, 0x2EBFF),
    "cjk_supplement": (0x2F800, 0x2FA1F), "tags": (0xE0000, 0xE007F),
    "variation_b": (0xE0100, 0xE01EF), "last_planes": (0xF0000, 0x10FFFF), "any": (0, 0x10FFFF),
}
PIECES = [
    "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]", "[cls]", "[ CLS ]", "[CLS", "CLS]",
    "[MASK][MASK]", "[[MASK]]", "[SEP", "[M",
    "<word>", "<left>", "<right>", "  <both>  ", "Über", "über", "naïve",
    "two words", "İstanbul", "ΌΣΟΣ", "straße", "\u1e9e", "\u0130", "don't", "e\u0301", "\u00e9",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3",
    "\u202eabc\u202c", "\u200b", "\u00a0", "\u3000", "\u2028", "\x85", "\x0b", "\x0c", "\t", "\r",
    "\0", "\ufffd", "\ufeff", "a\u0315\u0300\u05ae\u0300\u0062", "\u0344\u0345", "\u0f73\u0f71",
    "\u302e\u302f\u0301", "\U0001d15e\U0001d16d", "\u1b44\u0301", "##ing", "#", "a" * 99, "b" * 100,
    "c" * 101, "\u0301" * 40, "漢字かな交じり文", "안녕하세요", "สวัสดี", "नमस्ते", "unaffable",
    "antidisestablishmentarianism", "http://example.com/a?b=c&d=%20", "3.14159e-10",
]


def random_char(rng, names):
    first, last = RANGES[rng.choice(names)]
    cp = rng.randint(first, last)
    return "?" if 0xD800 <= cp <= 0xDFFF or cp == 0x0A else chr(cp)


def random_string(rng):
    names = rng.sample(sorted(RANGES), rng.randint(1, 4))
    if rng.random() < 0.5:
        names += ["ascii"] * rng.randint(1, 4)
    if rng.random() < 0.3:
        names += ["marks", "marks"]
    parts = []
    for _ in range(rng.choice((0, 1, 3, 6, 12, 12, 25, 25, 60))):
        kind = rng.random()
        if kind < 0.60:
            parts.append(random_char(rng, names))
        elif kind < 0.75:
            parts.append(rng.choice(PIECES))
        elif kind < 0.88:
            parts.append(" " * rng.choice((1, 1, 1, 2, 5)))
        else:
            parts.append(random_char(rng, names) * rng.choice((1, 2, 3, 20, 101)))
    if rng.random() < 0.005:  # longer than the pieces in which texts are worked through
        parts *= rng.choice((20, 80))
    return "".join(parts)


def random_bytes(rng):
    """A string as bytes; now and then damaged, so that it is not UTF-8."""
    data = bytearray(random_string(rng).encode())
    if rng.random() < 0.1:
        for _ in range(rng.randint(1, 4)):
            data.insert(rng.randint(0, len(data)), rng.choice((0x80, 0xBF, 0xC0, 0xE2, 0xED, 0xF0,
                                                               0xF4, 0xFF)))
        del data[rng.randint(0, len(data)):]
    return bytes(data).replace(b"\n", b" ")


def strings(seed, count):
    rng = random.Random(seed)
    return [random_bytes(rng) for _ in range(count)]


def main():
    for data in strings(int(sys.argv[1]), int(sys.argv[2])):
        sys.stdout.buffer.write(data + b"\n")


if __name__ == "__main__":
    main()
