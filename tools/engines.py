"""Puts the inference engine in place: `.deps/onnxruntime/{lib,include}`. Called by `tools/dev setup`.

    engines.py install    fetch, verify, unpack (or link GIMBAL_ONNXRUNTIME_ROOT)
    engines.py need-npm   exit 0 when npm will be asked for the headers, 1 when it will not

The library and its headers come from two packages because the Python wheel carries no headers. The binary never links
the library: it opens it at run time, so only the C API version has to agree (docs/decisions).
"""

from __future__ import annotations

import io
import json
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import fetch

ROOT = Path(__file__).resolve().parent.parent
PINS = json.loads((ROOT / "tools" / "engines.json").read_text())["onnxruntime"]
TARGET = ROOT / ".deps" / "onnxruntime"


def unpack_library(lib: Path) -> None:
    machine = platform.machine()
    wheel = PINS["wheel"]
    if machine not in wheel:
        raise fetch.FetchError(
            f"no ONNX Runtime wheel is pinned for {machine}; unpack an official release and set GIMBAL_ONNXRUNTIME_ROOT"
        )
    pin = wheel[machine]
    archive = fetch.from_pypi(
        wheel["name"], PINS["version"], pin["sha256"], platform=pin["platform"], python=wheel["python"]
    )
    lib.mkdir(parents=True)
    with zipfile.ZipFile(archive) as content:
        for member in content.namelist():
            name = Path(member).name
            if member.startswith("onnxruntime/capi/libonnxruntime"):
                (lib / name).write_bytes(content.read(member))
            elif member in ("onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt"):
                (lib.parent / name).write_bytes(content.read(member))
    full = lib / f"libonnxruntime.so.{PINS['version']}"
    if not full.is_file():
        raise fetch.FetchError(f"the onnxruntime wheel holds no {full.name}; its layout has changed")
    (lib / "libonnxruntime.so.1").symlink_to(full.name)
    (lib / "libonnxruntime.so").symlink_to("libonnxruntime.so.1")


def unpack_headers(include: Path) -> None:
    pin = PINS["headers"]
    package = fetch.from_npm(pin["npm"], pin["version"], pin["sha256"])
    include.mkdir(parents=True)
    with tarfile.open(package) as outer:
        member = outer.extractfile(pin["archive"])
        if member is None:
            raise fetch.FetchError(f"{pin['npm']} holds no {pin['archive']}")
        inner = zipfile.ZipFile(io.BytesIO(member.read()))
    for name in inner.namelist():
        if name.startswith("headers/") and name.endswith(".h"):
            (include / Path(name).name).write_bytes(inner.read(name))
    if not (include / "onnxruntime_cxx_api.h").is_file():
        raise fetch.FetchError(f"{pin['archive']} holds no onnxruntime_cxx_api.h; its layout has changed")


def link_release(root: Path, staging: Path) -> None:
    """Uses an official release that the user unpacked somewhere."""
    for folder, proof in (("lib", "libonnxruntime.so*"), ("include", "onnxruntime_cxx_api.h")):
        if not list((root / folder).glob(proof)):
            raise fetch.FetchError(f"GIMBAL_ONNXRUNTIME_ROOT={root} has no {folder}/{proof}")
        (staging / folder).symlink_to(root / folder)


def install() -> None:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=TARGET.parent, prefix="onnxruntime-"))
    try:
        staging.chmod(0o755)
        own_release = os.environ.get("GIMBAL_ONNXRUNTIME_ROOT")
        if own_release:
            link_release(Path(own_release).resolve(), staging)
        else:
            unpack_library(staging / "lib")
            unpack_headers(staging / "include")
        if TARGET.exists():
            shutil.rmtree(TARGET)
        staging.rename(TARGET)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def main() -> int:
    if sys.argv[1:] == ["need-npm"]:
        needed = not os.environ.get("GIMBAL_ONNXRUNTIME_ROOT") and not fetch.has(PINS["headers"]["sha256"])
        return 0 if needed else 1
    try:
        install()
    except fetch.FetchError as error:
        print(f"  {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
