"""check_docs must notice a stage without heading, a module table that is not layers.txt, and a dead link."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import TOOLS

sys.path.insert(0, str(TOOLS))
import check_docs  # noqa: E402 (found through the line above)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "obs").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "src" / "obs" / "stage.h").write_text("enum class Stage {\n  kReceive,  // why\n  kSend,\n};\n")
    (tmp_path / "src" / "layers.txt").write_text("# comment\nlow:   # why\nhigh: low\n")
    (tmp_path / "docs" / "life_of_a_request.md").write_text("# Life\n\n## receive\n\n## 2. `send`: why\n\n## More\n")
    (tmp_path / "docs" / "architecture.md").write_text(
        "| module | may include | why |\n| --- | --- | --- |\n| `low` | - | x |\n| [`high`](../src/high) | `low` | x |\n"
    )
    return tmp_path


def test_true_pages(root: Path) -> None:
    assert check_docs.check_stages(root) == []
    assert check_docs.check_modules(root) == []


def test_stage_without_heading(root: Path) -> None:
    (root / "docs" / "life_of_a_request.md").write_text("## receive\n")
    assert check_docs.check_stages(root) == ["docs/life_of_a_request.md: no heading for the stage 'send'"]


def test_stages_out_of_order(root: Path) -> None:
    (root / "docs" / "life_of_a_request.md").write_text("## send\n## receive\n")
    assert "the enum has receive, send" in check_docs.check_stages(root)[0]


def test_module_table(root: Path) -> None:
    (root / "src" / "layers.txt").write_text("low:\nhigh:\nnew: low\n")
    errors = check_docs.check_modules(root)
    assert "docs/architecture.md: the module table has no row for `new`" in errors
    assert "docs/architecture.md: row `high`: layers.txt says that it may include nothing" in errors


def test_links(root: Path) -> None:
    page = root / "README.md"
    page.write_text("[a](docs/architecture.md#x) [b](#here) [c](https://example.org) [d](docs/gone.md)\n```\n[e](no)\n```\n")
    assert check_docs.check_links(root, ["README.md"]) == ["README.md: the link docs/gone.md leads nowhere"]
