"""Scores the engine on a file of published cases: python tests/golden/score.py KIND FILE [--json].

Exit 0 when every gate holds on FILE, 1 when one does not, 2 when FILE cannot be read.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("memory", "fsdp_memtracker", "pipeline", "sharding")


def main(arguments: list[str] | None = None) -> int:
    """Score one file and print it."""
    parser = argparse.ArgumentParser(prog="score.py", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args(arguments)
    try:
        cases = json.loads(options.file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(f"score.py: {options.file}: {error}", file=sys.stderr)
        return 2
    for folder in (HERE, HERE.parents[1] / "engine"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    unreadable = importlib.import_module("scoring.report").UnreadableError
    try:
        report = importlib.import_module(f"scoring.{options.kind}").score(cases)
    except unreadable as error:
        print(f"score.py: {options.file}: {error}", file=sys.stderr)
        return 2
    say(json.dumps(report.as_json(), indent=1) if options.json else "\n".join(report.lines()))
    return 0 if report.holds else 1


def say(text: str) -> None:
    """Print; a reader that has seen enough (head) ends nothing."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
