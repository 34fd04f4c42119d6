"""The download cache: only content with the pinned hash ever gets in, and what went bad there is not used."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest
from scripts import TOOLS

sys.path.insert(0, str(TOOLS))
import fetch  # noqa: E402 (found through the line above)

CONTENT = b"the artefact"
PIN = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIMBAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def download(content: bytes, calls: list[int]):
    def write(folder: Path) -> None:
        calls.append(1)
        (folder / "file").write_bytes(content)

    return write


def test_second_use_downloads_nothing() -> None:
    calls: list[int] = []
    for _ in range(2):
        assert fetch._cached(PIN, "it", download(CONTENT, calls)).read_bytes() == CONTENT
    assert len(calls) == 1


def test_wrong_content_is_refused_and_not_kept(cache: Path) -> None:
    with pytest.raises(fetch.FetchError, match="the pinned one is"):
        fetch._cached(PIN, "it", download(b"something else", []))
    assert list(cache.iterdir()) == []


def test_damaged_copy_is_replaced(cache: Path) -> None:
    cache.mkdir()
    (cache / PIN).write_bytes(b"the arte")
    assert fetch._cached(PIN, "it", download(CONTENT, [])).read_bytes() == CONTENT


def test_broken_off_download_leaves_nothing(cache: Path) -> None:
    def break_off(folder: Path) -> None:
        (folder / "file").write_bytes(CONTENT[:3])
        raise fetch.FetchError("connection lost")

    with pytest.raises(fetch.FetchError, match="connection lost"):
        fetch._cached(PIN, "it", break_off)
    assert list(cache.iterdir()) == []
