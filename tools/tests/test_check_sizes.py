"""check_sizes must fail on what is too large, on an exception without a reason, and on one that nothing needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import load

check_sizes = load("check_sizes")


def run(root: Path, source: str, allow: str = "") -> list[str]:
    (root / "a.cc").write_text(source)
    (root / "allow.txt").write_text(allow)
    return check_sizes.check(root, ["a.cc"], root / "allow.txt")


def function(lines: int, parameters: int = 1) -> str:
    """A C++ function of exactly so many lines."""
    names = ", ".join(f"int p{index}" for index in range(parameters))
    return f"int Work({names}) {{\n" + "  p0 += 1;\n" * (lines - 3) + "  return p0;\n}\n"


@pytest.mark.parametrize(("lines", "parameters"), [(60, 1), (10, 6)])
def test_at_the_limit(tmp_path: Path, lines: int, parameters: int) -> None:
    assert run(tmp_path, function(lines, parameters)) == []


def test_long_function(tmp_path: Path) -> None:
    assert run(tmp_path, function(61)) == ["a.cc:1: Work: 61 lines, at most 60"]


def test_many_parameters(tmp_path: Path) -> None:
    assert run(tmp_path, function(5, 7)) == ["a.cc:1: Work: 7 parameters, at most 6"]


def test_long_file(tmp_path: Path) -> None:
    assert run(tmp_path, "int x;\n" * 500) == []
    assert run(tmp_path, "int x;\n" * 501) == ["a.cc: 501 lines, at most 500"]


def test_exception_allows(tmp_path: Path) -> None:
    assert run(tmp_path, function(61), "# comment\n\na.cc:Work one switch over all cases\n") == []


def test_exception_without_reason(tmp_path: Path) -> None:
    assert run(tmp_path, function(61), "a.cc:Work\n") == ["allow.txt:1: 'a.cc:Work' has no reason"]


def test_unused_exception(tmp_path: Path) -> None:
    assert run(tmp_path, function(5), "a.cc:Work because\n") == ["allow.txt: 'a.cc:Work' is not needed any more: remove it"]
