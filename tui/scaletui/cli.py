"""The command line: decides what is asked before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Final

import scaletui
from scaletui import commands
from scaletui.arguments import Parser, followed, help_width
from scaletui.text.language import LANGUAGES, set_language, tr
from scaletui.text.printable import printable
from scaletui.text.refusals import refusal
from scaletui_engine.errors import ScenarioError, UnknownNameError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import TextIO

DEFAULT_COMMAND: Final = "budget"
UNUSABLE_INPUT: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""What a shell reports for SIGPIPE: neither a success nor "does not fit"."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 a failed check, 2 unusable input."""
    set_language()
    _open_closed_streams()
    _tolerate_narrow_encodings()
    try:
        code = _dispatch(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ScenarioError, OSError, UnicodeError) as error:
        _complain(f"scaletui: {_one_line(error)}")
        return UNUSABLE_INPUT
    return code


def _complain(line: str) -> None:
    """Where the line cannot be written either, the exit code alone has to tell."""
    for stream, text in ((sys.stdout, ""), (sys.stderr, f"{line}\n")):
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            _silence(stream)


def _dispatch(argv: list[str]) -> int:
    options, rest = _global_options(argv)
    set_language(options.lang)
    if options.version:
        print(f"scaletui {scaletui.__version__}")
        return 0
    named = bool(rest) and not rest[0].startswith("-")
    if not named and rest[:1] in (["-h"], ["--help"]):
        _main_parser().print_help()
        return 0
    name = rest.pop(0) if named else DEFAULT_COMMAND
    if name not in commands.MODULES:
        raise UnknownNameError("command", name, commands.MODULES)
    command = commands.load(name, rest)
    parser = Parser(f"scaletui {name}" if named else "scaletui", tr(command.HELP))
    command.add_arguments(parser)
    options.command = name
    return command.run(parser.parse_args(rest, options))


def _global_options(argv: list[str]) -> tuple[Namespace, list[str]]:
    """The options that every command takes, wherever they stand before a "--"; and the rest."""
    end = argv.index("--") if "--" in argv else len(argv)
    parser = Parser("scaletui", "", None)
    asks_help = [word for word in argv[:end] if word in ("-h", "--help")]
    words = [word for word in argv[:end] if word not in asks_help]
    _add_global_options(parser)
    options, rest = parser.parse_known_args(words)
    return options, rest + asks_help[:1] + argv[end:]


def _add_global_options(parser: ArgumentParser) -> None:
    parser.add_argument("--version", action="store_true", help=tr("print the version and leave"))
    parser.add_argument("--lang", choices=LANGUAGES, help=tr("language (else the locale's)"))
    parser.add_argument("--ascii", action="store_true", help=tr("draw with ASCII characters only"))
    parser.add_argument("--big", action="store_true", help=tr("double the digits and bars, for a projector"))
    parser.add_argument("--theme", metavar="NAME", help=tr("colours of the screen"))
    parser.add_argument("--fps", type=int, metavar="N", help=tr("frames a second (10; 4 over SSH)"))
    parser.add_argument("--no-mouse", action="store_true", help=tr("leave the mouse to the terminal"))


def _main_parser() -> Parser:
    width = max(map(len, commands.MODULES)) + 2
    lines = [_listed(name, width) for name in commands.MODULES]
    parser = Parser(
        "scaletui",
        tr("A terminal cockpit for distributed training. Without a command: the budget screen."),
        "\n".join((tr("commands"), *lines, "", tr("scaletui COMMAND --help tells more about one."))),
    )
    _add_global_options(parser)
    return parser


def _listed(name: str, width: int) -> str:
    """The command and what it does, wrapped under itself."""
    room = help_width() - width - 2
    first, *more = wrap(tr(commands.load(name).HELP), room)
    return "\n".join((f"  {name:<{width}}{first}", *(" " * (width + 2) + line for line in more)))


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{os.fsdecode(error.filename)}: {error.strerror}")
    text = refusal(error) if isinstance(error, ScenarioError) else str(error)
    return printable(" ".join(followed(text, _where_listed(error)).split()))


def _where_listed(error: BaseException | None) -> str:
    """For a name that does not exist, also one inside a refusal: the command that lists those that do."""
    while error is not None and not isinstance(error, UnknownNameError):
        error = error.__cause__
    if error is None or error.all_listed:
        return ""
    from scaletui.commands.names import listing

    found = listing(error)
    return "" if found is None else tr("{command} lists them all", command=found)


def _open_closed_streams() -> None:
    """What a shell has closed (">&-") goes nowhere, and no file that is opened later takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (until the end)


def _tolerate_narrow_encodings() -> None:
    """A terminal that lacks a letter shows a question mark instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _silence(stream: TextIO) -> None:
    """Let the interpreter's last flush go nowhere: nobody reads it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
