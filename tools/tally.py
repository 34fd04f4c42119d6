"""Sums up test results: tally.py [--gates PASSED FAILED] JUNIT_XML… prints "N passed, N failed".

A ctest entry is a whole GoogleTest program; its cases are counted from GoogleTest's closing lines. A program that
ended without them (a crash, a time-out) counts as one failure.
"""

from __future__ import annotations

import argparse
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

CLOSING = re.compile(r"^\[  (PASSED|FAILED|SKIPPED) *\] +(\d+) tests?[.,]", re.MULTILINE)
KEYS = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def count_case(case: ElementTree.Element) -> Counter:
    broken = case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"
    output = case.findtext("system-out") or ""
    counts = Counter()
    for word, number in CLOSING.findall(output):
        counts[KEYS[word]] += int(number)
    if broken:
        return counts if counts["failed"] else counts + Counter(failed=1)
    if counts:
        return counts
    return Counter(skipped=1) if case.find("skipped") is not None else Counter(passed=1)


def count_file(path: str) -> Counter:
    try:
        tree = ElementTree.parse(path)
    except (OSError, ElementTree.ParseError):
        return Counter(failed=1)  # the run that should have written it broke off
    return sum((count_case(case) for case in tree.iter("testcase")), Counter())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gates", nargs=2, type=int, default=(0, 0), metavar=("PASSED", "FAILED"))
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    total = Counter(passed=arguments.gates[0], failed=arguments.gates[1])
    for path in arguments.files:
        total.update(count_file(path))
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")


if __name__ == "__main__":
    main()
