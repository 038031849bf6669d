"""The language of the sentences: English in the code, the others in catalogues."""

from __future__ import annotations

import os
from gettext import NullTranslations
from typing import TYPE_CHECKING, Final

from scaletui.text import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES: Final = ("en", "pt-BR")
"""What `--lang` takes."""

_FOLDERS: Final = {"pt-BR": "pt_BR"}
_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


class _Speaker:
    """The language in force: one process speaks one language."""

    language = "en"
    translations = NullTranslations()


def set_language(code: str | None = None) -> str:
    """Speak `code`, or what the locale asks for when it is None; returns the language now in force.

    Call it before anything that builds sentences at import, the screens included.
    """
    chosen = language_of(os.environ) if code is None else code
    _Speaker.translations = catalogue.load(_FOLDERS[chosen]) if chosen in _FOLDERS else NullTranslations()
    _Speaker.language = chosen
    return chosen


def language() -> str:
    """The language in force, a member of `LANGUAGES`."""
    return _Speaker.language


def language_of(environ: Mapping[str, str]) -> str:
    """The language of a POSIX locale: Portuguese for any pt locale, else English."""
    locale = next((environ[name] for name in _VARIABLES if environ.get(name)), "")
    return "pt-BR" if locale.lower().split(".")[0].split("_")[0] == "pt" else "en"


def tr(message: str, **values: object) -> str:
    """The sentence in the language in force, its {placeholders} filled when there are values for them."""
    sentence = _Speaker.translations.gettext(message)
    return sentence.format(**values) if values else sentence


def ntr(singular: str, plural: str, n: int, **values: object) -> str:
    """The sentence for n things; {n} is filled too."""
    return _Speaker.translations.ngettext(singular, plural, n).format(n=n, **values)


def N_(message: str) -> str:  # noqa: N802  gettext's own name, known to every extractor
    """Mark a sentence of a module-level table; `tr` translates it where it is shown."""
    return message
