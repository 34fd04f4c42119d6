"""Checks what the documentation claims against the sources.

- every Stage of src/obs/stage.h is a heading of docs/life_of_a_request.md, in the same order, and no other stage is;
- the module table of docs/architecture.md has the modules of src/layers.txt with their dependencies;
- relative links in Markdown files lead to something that exists.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def stages(text: str) -> list[str]:
    """The names in `enum class Stage { kReceive, … }`, as they are written elsewhere: receive, …"""
    match = re.search(r"enum class Stage[^{]*\{(.*?)\}", text, re.DOTALL)
    if not match:
        return []
    body = re.sub(r"//.*", "", match.group(1))
    names = re.findall(r"\bk([A-Z]\w*)", body)
    return [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in names if name != "Count"]


def headings(text: str) -> list[str]:
    """Level-two and level-three headings, the first word of each, without back-quotes and numbers."""
    found = re.findall(r"^#{2,3}\s+(?:\d+\.?\s+)?`?([A-Za-z_]+)", text, re.MULTILINE)
    return [name.lower() for name in found]


def check_stages(root: Path) -> list[str]:
    names = stages((root / "src/obs/stage.h").read_text())
    page = root / "docs/life_of_a_request.md"
    if not names:
        return ["src/obs/stage.h: no 'enum class Stage { k… }' found"]
    if not page.is_file():
        return ["docs/life_of_a_request.md is missing"]
    found = [name for name in headings(page.read_text()) if name in names]
    missing = [f"docs/life_of_a_request.md: no heading for the stage '{name}'" for name in names if name not in found]
    if not missing and found != names:
        return [f"docs/life_of_a_request.md: stages as headings are {', '.join(found)}; the enum has {', '.join(names)}"]
    return missing


def check_modules(root: Path) -> list[str]:
    """Table rows `| `module` | dependencies | … |`."""
    page = root / "docs/architecture.md"
    if not page.is_file():
        return ["docs/architecture.md is missing"]
    rows = {}
    for name, dependencies in re.findall(r"^\|\s*\[?`(\w+)`\]?(?:\([^)]*\))?\s*\|([^|]*)\|", page.read_text(), re.MULTILINE):
        rows[name] = set(re.findall(r"[a-z_]+", dependencies))
    declared = {}
    for line in (root / "src/layers.txt").read_text().splitlines():
        name, colon, dependencies = line.split("#", 1)[0].partition(":")
        if colon:
            declared[name.strip()] = set(dependencies.split())
    errors = [f"docs/architecture.md: the module table has no row for `{name}`" for name in declared if name not in rows]
    for name in rows.keys() & declared.keys():
        if rows[name] != declared[name]:
            wanted = " ".join(sorted(declared[name])) or "nothing"
            errors.append(f"docs/architecture.md: row `{name}`: layers.txt says that it may include {wanted}")
    return errors


def check_links(root: Path, names: list[str]) -> list[str]:
    errors = []
    for name in names:
        page = root / name
        for link in LINK.findall(FENCE.sub("", page.read_text(errors="replace"))):
            if "://" in link or link.startswith(("#", "mailto:")):
                continue
            if not (page.parent / link.split("#", 1)[0]).exists():
                errors.append(f"{name}: the link {link} leads nowhere")
    return errors


def markdown_files(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [name for name in listing.split("\0") if name and (root / name).is_file()]


def main() -> int:
    errors = check_stages(ROOT) + check_modules(ROOT) + check_links(ROOT, markdown_files(ROOT))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
