"""Compiles for the messages alone: the two gates that ask a compiler about our sources.

    compile.py headers BUILD    every header of src/ compiles alone (gcc)
    compile.py locks BUILD      clang's thread-safety analysis over the .cc files that BUILD compiles

Both run one compiler a core, print the messages of what failed, and exit 1 if anything did.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLANGS = ("clang++-16", "clang++-17", "clang++-18", "clang++-19", "clang++-20", "clang++")
Job = tuple[str, list[str]]  # what is compiled, the command


# An object that nobody uses costs little at -O0, and lets ccache remember that a file was found good; it remembers
# neither -fsyntax-only nor an output to /dev/null.
OBJECT = ["-O0", "-g0", "-c", "-o"]


def object_file(build: Path, kind: str, name: str) -> str:
    path = build / kind / f"{name}.o"
    path.parent.mkdir(parents=True, exist_ok=True)
    return str(path)


def ccache() -> list[str]:
    return ["ccache"] if shutil.which("ccache") else []


def read_commands(build: Path) -> list[dict]:
    path = build / "compile_commands.json"
    if not path.is_file():
        sys.exit(f"{path.relative_to(ROOT)} is missing: the release build must have been configured first")
    return json.loads(path.read_text())


def include_flags(commands: list[dict]) -> list[str]:
    """All include paths of the build, in the order of their first use: a header may need any module's vendor."""
    flags: dict[tuple[str, ...], None] = {}
    for command in commands:
        words = iter(shlex.split(command["command"]))
        for word in words:
            if word == "-isystem":
                flags[word, next(words)] = None
            elif word.startswith("-I"):
                flags[(word,)] = None
    return [word for flag in flags for word in flag]


def header_jobs(build: Path) -> list[Job]:
    flags = include_flags(read_commands(build))
    gcc = [*ccache(), "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags]
    jobs = []
    for header in sorted((ROOT / "src").rglob("*.h")):
        name = str(header.relative_to(ROOT / "src"))
        # The header is included by a file of one line: as the main file, its own #pragma once would be warned about.
        stub = build / "headers" / f"{name}.cc"
        output = object_file(build, "headers", name)
        if not stub.is_file():
            stub.write_text(f'#include "{name}"\n')
        jobs.append((f"src/{name}", [*gcc, str(stub), *OBJECT, output]))
    return jobs


def read_skipped() -> set[str]:
    """Files that the lock analysis leaves out: tools/locks_skip.txt, `path reason`. A stale line is an error."""
    skipped = set()
    for line in (ROOT / "tools" / "locks_skip.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            if not reason.strip() or not (ROOT / name).is_file():
                sys.exit(f"tools/locks_skip.txt: '{name}' has no reason or does not exist")
            skipped.add(name)
    return skipped


def clang_command(clang: str, command: dict) -> list[str]:
    """The build's own command with another compiler, no output, and the analysis on."""
    words = shlex.split(command["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    kept, skip_next = [], False
    for word in words[1:]:
        if skip_next or word in ("-c",):
            skip_next = False
        elif word in ("-o", "-MF", "-MT"):
            skip_next = True
        elif not word.startswith(("-MD", "-fuse-ld")):
            kept.append(word)
    return [*ccache(), clang, *kept, "-Wno-unknown-warning-option", "-Wthread-safety", "-Werror", *OBJECT]


def lock_jobs(build: Path) -> list[Job]:
    clang = next((name for name in CLANGS if shutil.which(name)), None)
    if clang is None:
        sys.exit("no clang++ found; tools/dev setup check installs one")
    skipped = read_skipped()
    jobs = []
    for command in read_commands(build):
        path = Path(command["directory"], command["file"]).resolve()
        # Tests hold no long-lived locks, and GoogleTest's headers would double the time; generated code is not ours.
        if path.is_relative_to(ROOT / "src") and not path.stem.endswith("_test"):
            name = str(path.relative_to(ROOT))
            if name not in skipped:
                jobs.append((name, [*clang_command(clang, command), object_file(build, "locks", name)]))
    return jobs


def compile_one(job: Job) -> str:
    name, command = job
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{name}:\n{result.stderr}" if result.returncode != 0 else ""


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("headers", "locks"):
        sys.exit(__doc__)
    build = Path(sys.argv[2]).resolve()
    jobs = header_jobs(build) if sys.argv[1] == "headers" else lock_jobs(build)
    if not jobs:
        sys.exit("nothing to compile: is this the right build folder?")
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        failures = [text for text in pool.map(compile_one, jobs) if text]
    print("\n".join(failures), end="")
    print(f"{len(jobs) - len(failures)} of {len(jobs)} compile")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
