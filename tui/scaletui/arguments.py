"""argparse in the language in force, with one line for every mistake."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NoReturn

from scaletui.text.language import N_, tr
from scaletui_engine.errors import ScenarioError, brief, nearest_name

if TYPE_CHECKING:
    from argparse import Action, _MutuallyExclusiveGroup
    from collections.abc import Iterable

    from _typeshed import SupportsWrite

_HEADINGS: Final = (N_("options"), N_("positional arguments"))

_MISTAKES: Final = (
    (r"unrecognized arguments: (?P<what>.*)", N_("unknown argument: {what}")),
    (r"the following arguments are required: (?P<what>.*)", N_("missing: {what}")),
    (r"argument (?P<name>\S+): expected one argument", N_("{name} wants a value")),
    (r"argument (?P<name>\S+): expected at least one argument", N_("{name} wants at least one value")),
    (
        r"argument (?P<name>.+?): invalid choice: (?P<value>.*) \(choose from (?P<choices>.*)\)",
        N_("{name}: {value} is none of {choices}"),
    ),
    (
        r"argument (?P<name>.+?): invalid int value: (?P<value>.*)",
        N_("{name}: {value} is not a whole number"),
    ),
    (r"argument (?P<name>.+?): invalid float value: (?P<value>.*)", N_("{name}: {value} is not a number")),
    (r"argument (?P<name>\S+): ignored explicit argument (?P<value>.*)", N_("{name} takes no value")),
    (
        r"argument (?P<name>.+?): not allowed with argument (?P<other>.*)",
        N_("{name} does not go with {other}"),
    ),
)  # fmt: skip
"""argparse's own sentences, as ours; one that is not here passes as it is."""


class UsageError(ScenarioError):
    """Arguments that no command takes."""


_MOST_LISTED: Final = 10
"""Options that a usage line still lists one by one."""
_LEAST_WIDTH: Final = 40
"""Cells that help is written for in a terminal that has fewer, or says that it has."""


def help_width() -> int:
    """Cells of a line of help."""
    return max(get_terminal_size().columns, _LEAST_WIDTH) - 2


def _positional(action: Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    if action.option_strings:
        return ""
    return f"[{name}]" if action.nargs in ("?", "*") else name


class _Formatter(RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width())

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[Action],
        groups: Iterable[_MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        listed = list(actions)
        if usage is None and len(listed) > _MOST_LISTED:
            usage = " ".join(("%(prog)s", f"[{tr('options')}]", *filter(None, map(_positional, listed))))
        super().add_usage(usage, listed, groups, tr("usage: ") if prefix is None else prefix)

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and tr(heading))


class Parser(ArgumentParser):
    """An argument parser that raises UsageError instead of printing its usage."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description="\n".join(wrap(description, help_width())),
            epilog=epilog,
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-h", "--help", action="help", help=tr("show this help and leave"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, with a value that begins like a negative number ("-1d") taken for a value."""
        words = _joined(list(sys.argv[1:] if args is None else args))
        for word in words[: _end(words)]:
            # argparse drops a "--" from an option's value too, and hands over an empty list.
            name, _, value = word.partition("=")
            if value == "--" and name in self._option_string_actions:
                self.error(f"argument {name}: expected one argument")
        return super().parse_known_args(words, namespace)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Help that cannot be written is an error; argparse passes over it."""
        print(message, end="", file=file)
        sys.stdout.flush()

    def error(self, message: str) -> NoReturn:
        """Raise the mistake as one line that ends in where to read on."""
        more = tr("{command} --help tells more", command=self.prog)
        raise UsageError(followed(self._meant(message) or _explain(message), more))

    def _meant(self, message: str) -> str | None:
        """The mistake with the option that an unknown one comes near to, where there is one."""
        found = re.fullmatch(r"unrecognized arguments: (--(?P<option>[^ =]+).*)", message, re.DOTALL)
        known = [name[2:] for name in self._option_string_actions if name.startswith("--")]
        close = found and nearest_name(found["option"], known, alike=0.7)
        if not (found and close):
            return None
        return tr("unknown argument: {what}, did you mean {close}?", what=found[1], close=f"--{close}")


def followed(mistake: str, more: str) -> str:
    """A mistake, and what tells more about it, on one line."""
    if not more:
        return mistake
    return f"{mistake} {more}" if mistake.endswith("?") else f"{mistake}; {more}"


def _joined(words: list[str]) -> list[str]:
    """Options and such values as one word each, up to a "--"; negative numbers argparse knows itself."""
    end = _end(words)
    found: list[str] = []
    for word in words[:end]:
        if found and re.fullmatch(r"-\d+[^\d.].*", word) and re.fullmatch(r"--[^=]+", found[-1]):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found + words[end:]


def _end(words: list[str]) -> int:
    """Where the options end."""
    return words.index("--") if "--" in words else len(words)


def _explain(message: str) -> str:
    for pattern, sentence in _MISTAKES:
        if match := re.fullmatch(pattern, message, re.DOTALL):
            return tr(sentence, **{name: _shortened(name, text) for name, text in match.groupdict().items()})
    return message


def _shortened(name: str, text: str) -> str:
    """A value as argparse quotes it, without what no line needs."""
    return brief(text[1:-1]) if name == "value" and text[:1] == text[-1:] == "'" else text
