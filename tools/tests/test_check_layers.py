"""check_layers must fail on each thing that it exists to find, and on nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import load

check_layers = load("check_layers")


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A correct tree: low <- middle <- high."""
    folder = tmp_path / "src"
    for module in ("low", "middle", "high"):
        (folder / module).mkdir(parents=True)
        (folder / module / "README.md").write_text("why\n")
        (folder / module / f"{module}.h").write_text("#pragma once\n#include <vector>\n")
    (folder / "layers.txt").write_text("# comment\nlow:\nmiddle: low  # why\nhigh:   middle\n")
    (folder / "middle" / "middle.cc").write_text('#include "middle/middle.h"\n\n#include <fmt/format.h>\n#include "low/low.h"\n')
    return folder


def test_correct_tree_has_no_findings(src: Path) -> None:
    assert check_layers.check(src) == []


def test_undeclared_edge(src: Path) -> None:
    (src / "low" / "low.cc").write_text('\n#include "high/high.h"\n')
    (error,) = check_layers.check(src)
    assert error == "src/low/low.cc:2: low may not include high/high.h: layers.txt has no edge low -> high"


def test_edges_are_not_transitive_outside_tests(src: Path) -> None:
    (src / "high" / "high.cc").write_text('#include "low/low.h"\n')
    (src / "high" / "high_test.cc").write_text('#include "low/low.h"\n')
    (error,) = check_layers.check(src)
    assert error.startswith("src/high/high.cc:1:")


def test_a_test_may_not_include_upwards(src: Path) -> None:
    (src / "low" / "low_test.cc").write_text('#include "high/high.h"\n')
    assert len(check_layers.check(src)) == 1


def test_cycle(src: Path) -> None:
    (src / "layers.txt").write_text("low: high\nmiddle: low\nhigh: middle\n")
    assert "layers.txt: a cycle: low -> high -> middle -> low" in check_layers.check(src)


def test_vendor_header_in_a_header(src: Path) -> None:
    (src / "low" / "low.h").write_text("#pragma once\n#include <boost/asio.hpp>\n")
    (error,) = check_layers.check(src)
    assert "src/low/low.h:2:" in error and "boost/asio.hpp" in error


def test_folder_and_line_must_match(src: Path) -> None:
    (src / "stray").mkdir()
    with (src / "layers.txt").open("a") as file:
        file.write("ghost: low\nodd: nothing\n")
    errors = "\n".join(check_layers.check(src))
    assert "src/stray: has no line in layers.txt" in errors
    assert "src/stray: has no README.md" in errors
    assert "there is no folder src/ghost" in errors
    assert "'odd' names 'nothing', which has no line" in errors


def test_unreadable_line(src: Path) -> None:
    (src / "layers.txt").write_text("low\nmiddle: low\nhigh: middle\n")
    assert any("expected 'name: dependency" in error for error in check_layers.check(src))
