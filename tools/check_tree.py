"""What must not be in the repository: paths of the machine that it was written on, files over 1 MiB."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 1 << 20
# Folders that every system has: a checkout directly below one makes its path no machine's secret.
EVERY_SYSTEM = {"/", "/tmp", "/var/tmp", "/home", "/opt", "/srv", "/usr/src", "/usr/local", "/mnt", "/media", "/root"}
HOMES = r"/home/[A-Za-z0-9_.-]+/"


def forbidden() -> re.Pattern:
    """This checkout, the folder it lies in, and home folders. Found at run time, so that no such path is written here."""
    paths = {str(ROOT), str(ROOT.parent), str(Path.home())} - EVERY_SYSTEM
    words = [re.escape(path) + r"(?![A-Za-z0-9_.-])" for path in sorted(paths, key=len, reverse=True)]
    return re.compile("|".join([rf"(?<![A-Za-z0-9_.-])(?:{word})" for word in words] + [HOMES]))


def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def main() -> int:
    errors = []
    pattern = forbidden()
    for path in tracked_files():
        name = path.relative_to(ROOT)
        if path.stat().st_size > MAX_BYTES:
            errors.append(f"{name}: {path.stat().st_size} bytes, at most {MAX_BYTES}")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if match := pattern.search(line):
                errors.append(f"{name}:{number}: a path of one machine: {match.group()}")
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
