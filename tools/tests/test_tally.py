"""The closing line must count what ran: GoogleTest cases, pytest cases, and programs that died."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TALLY = Path(__file__).resolve().parent.parent / "tally.py"


def closing_line(folder: Path, *cases: str, gates: tuple[int, int] = (0, 0)) -> str:
    file = folder / "results.xml"
    file.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    command = [sys.executable, str(TALLY), "--gates", *map(str, gates), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def ctest_case(output: str, failed: bool = False) -> str:
    broken = '<failure message=""/>' if failed else ""
    return f'<testcase name="x" status="{"fail" if failed else "run"}">{broken}<system-out>{output}</system-out></testcase>'


def test_googletest_cases_are_counted(tmp_path: Path) -> None:
    one = ctest_case("[==========] 3 tests\n[  PASSED  ] 2 tests.\n[  SKIPPED ] 1 test, listed below:\n")
    two = ctest_case("[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.B\n", failed=True)
    assert closing_line(tmp_path, one, two) == "6 passed, 1 failed, 1 skipped"


def test_a_crash_is_a_failure(tmp_path: Path) -> None:
    assert closing_line(tmp_path, ctest_case("Segmentation fault", failed=True)) == "0 passed, 1 failed"
    # A leak found at exit: all cases passed, the program did not.
    assert closing_line(tmp_path, ctest_case("[  PASSED  ] 2 tests.\n", failed=True)) == "2 passed, 1 failed"


def test_pytest_cases(tmp_path: Path) -> None:
    cases = ('<testcase name="a"/>', '<testcase name="b"><failure/></testcase>', '<testcase name="c"><skipped/></testcase>')
    assert closing_line(tmp_path, *cases, gates=(3, 1)) == "4 passed, 2 failed, 1 skipped"


def test_missing_results_are_a_failure(tmp_path: Path) -> None:
    command = [sys.executable, str(TALLY), str(tmp_path / "absent.xml")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "0 passed, 1 failed"
