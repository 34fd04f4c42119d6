"""Real text in many scripts, from what Debian packages carry: translations, man pages, fortunes.

    python tests/exactness/corpus.py   makes .cache/exactness/corpus.txt, prints the scripts

Packages are downloaded and unpacked below .cache/exactness, never installed. The same packages give
the same lines in the same order.
"""

import collections
import functools
import gettext
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache/exactness"
PACKAGES = [
    "iso-codes", "fortunes", "fortunes-zh", "fortunes-ru", "unicode-data", "manpages-de",
    "manpages-el", "manpages-fr", "manpages-ja", "manpages-ru", "manpages-tr", "manpages-uk",
    "manpages-vi", "manpages-zh",
]
LINES_PER_SCRIPT = 25_000  # so that no script crowds out the others
SCRIPTS_OF_JAPANESE = {"HIRAGANA", "KATAKANA", "HALFWIDTH"}


def unpack():
    """Folder of each package, downloaded when it is not there."""
    folders = []
    for package in PACKAGES:
        folder = CACHE / "packages" / package
        if not (folder / "usr").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True,
                           capture_output=True)
            deb = next(folder.glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", deb.name, "."], cwd=folder, check=True)
        folders.append(folder)
    return folders


def read_translations(path):
    with path.open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog
    for text in catalog.values():
        yield from text.split("\n")


def read_lines(path):
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    yield from data.decode("utf-8", "replace").split("\n")


def lines_of(folder):
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        parts = path.parts
        if path.suffix == ".mo":
            yield from read_translations(path)
        elif "man" in parts and path.suffix == ".gz":
            yield from read_lines(path)
        elif "games" in parts and path.suffix in ("", ".u8"):
            yield from read_lines(path)
        elif path.name.startswith(("emoji-test", "NormalizationTest", "NamesList")):
            yield from read_lines(path)


@functools.cache
def script_of_char(ch):
    """First word of the letter's name; None for what is no letter."""
    if not ch.isalpha():
        return None
    word = unicodedata.name(ch, "UNNAMED").split()[0]
    return "JAPANESE" if word in SCRIPTS_OF_JAPANESE else word


def script_of(line):
    """The script of most of the line's letters."""
    count = collections.Counter(map(script_of_char, line))
    del count[None]
    if count["JAPANESE"]:
        return "JAPANESE"
    return count.most_common(1)[0][0] if count else "NONE"


def collect():
    by_script = collections.defaultdict(dict)
    for folder in unpack():
        for line in lines_of(folder):
            if line.strip():
                by_script[script_of(line)][line] = None
    chosen = {}
    for script, lines in sorted(by_script.items()):
        lines = sorted(lines, key=lambda line: hashlib.sha256(line.encode()).digest())
        chosen[script] = lines[:LINES_PER_SCRIPT]
    return chosen


def corpus():
    """(lines, {script: number of lines}); made on the first call."""
    text, counts = CACHE / "corpus.txt", CACHE / "corpus.json"
    if not counts.exists():
        chosen = collect()
        text.write_text("\n".join(line for lines in chosen.values() for line in lines))
        counts.write_text(json.dumps({script: len(lines) for script, lines in chosen.items()}))
    with text.open(newline="") as file:
        lines = file.read().split("\n")
    return lines, json.loads(counts.read_text())


def main():
    lines, counts = corpus()
    for script, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:8} {script}")
    print(f"{len(lines)} lines, {len(counts)} scripts, {sum(len(x.encode()) for x in lines)} bytes")


if __name__ == "__main__":
    sys.exit(main())
