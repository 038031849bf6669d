"""Every palette can be read: contrast, distance between roles, and no RGB where the terminal has its own."""

from __future__ import annotations

from itertools import combinations

import pytest

from scaletui_themes import ACTIONS, PARTS, ROLES, fill, load_palette, theme_ids
from scaletui_themes.contrast import contrast, linear, rgb
from scaletui_themes.roles import DRAWING, FILLED, FILLS, ODD_ACTIONS, READING, STATUS, TILES

OWN = [theme_id for theme_id in theme_ids() if not load_palette(theme_id).ansi]
ANSI = [theme_id for theme_id in theme_ids() if load_palette(theme_id).ansi]
WORDS = (*READING, *STATUS, "over")
BARS = (*PARTS, *ACTIONS, *ODD_ACTIONS, *TILES, "split", "reserved", "others", "over")


def oklab(light: tuple[float, float, float]) -> tuple[float, float, float]:
    """Linear sRGB as OKLab (Ottosson 2020, "A perceptual color space for image processing")."""
    red, green, blue = light
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of color vision
# deficiency", severity 1.0, on linear RGB.
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def seen(colour: str, eyes: str) -> tuple[float, float, float]:
    """A colour as those eyes see it, in OKLab."""
    light = [linear(channel) for channel in rgb(colour)]
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, light, strict=True)), 0.0), 1.0) for row in EYES[eyes]
    )
    return oklab((red, green, blue))


def distance(one: str, other: str, eyes: str = "normal") -> float:
    """Euclidean distance in OKLab; 0.02 is about what side by side can just be told apart."""
    return sum((a - b) ** 2 for a, b in zip(seen(one, eyes), seen(other, eyes), strict=True)) ** 0.5


@pytest.mark.parametrize("theme_id", theme_ids())
def test_every_role_has_a_look(theme_id: str) -> None:
    assert set(load_palette(theme_id).looks) == set(ROLES)


@pytest.mark.parametrize("theme_id", OWN)
@pytest.mark.parametrize("role", WORDS)
@pytest.mark.parametrize("ground", ["background", "surface", "panel"])
def test_words_have_contrast_4_5(theme_id: str, role: str, ground: str) -> None:
    palette = load_palette(theme_id)
    assert contrast(palette.looks[role].foreground, palette.base[ground]) >= 4.5


@pytest.mark.parametrize("theme_id", OWN)
@pytest.mark.parametrize("role", [*FILLS, "cursor", "selection"])
def test_ink_on_a_fill_has_contrast_4_5(theme_id: str, role: str) -> None:
    look = load_palette(theme_id).looks[role]
    if role == fill("free"):
        assert look.background != load_palette(theme_id).base["background"], "the track of a bar is seen"
    else:
        assert contrast(look.foreground, look.background) >= 4.5


@pytest.mark.parametrize("theme_id", OWN)
@pytest.mark.parametrize("role", [*BARS, *DRAWING])
def test_bars_and_lines_have_contrast_3(theme_id: str, role: str) -> None:
    palette = load_palette(theme_id)
    assert contrast(palette.looks[role].foreground, palette.base["background"]) >= 3


@pytest.mark.parametrize("theme_id", OWN)
@pytest.mark.parametrize("roles", [("over", "others", *PARTS), ACTIONS], ids=["parts", "actions"])
def test_hues_of_a_group_are_apart(theme_id: str, roles: tuple[str, ...]) -> None:
    looks = load_palette(theme_id).looks
    near = {
        (one, other): round(distance(looks[one].foreground, looks[other].foreground), 3)
        for one, other in combinations(roles, 2)
    }
    assert min(near.values()) >= 0.07, min(near, key=lambda pair: near[pair])


@pytest.mark.parametrize("eyes", [eyes for eyes in EYES if eyes != "normal"])
@pytest.mark.parametrize("roles", [PARTS[:6], ACTIONS], ids=["parts", "actions"])
def test_colour_blind_palette_stays_apart_for(eyes: str, roles: tuple[str, ...]) -> None:
    looks = load_palette("colour-blind").looks
    near = {
        (one, other): round(distance(looks[one].foreground, looks[other].foreground, eyes), 3)
        for one, other in combinations(roles, 2)
    }
    assert min(near.values()) >= 0.05, min(near, key=lambda pair: near[pair])


@pytest.mark.parametrize("theme_id", OWN)
@pytest.mark.parametrize("action", ACTIONS)
def test_chunks_are_two_shades(theme_id: str, action: str) -> None:
    looks = load_palette(theme_id).looks
    assert distance(looks[action].foreground, looks[f"{action}_odd"].foreground) >= 0.06


@pytest.mark.parametrize("theme_id", ANSI)
def test_ansi_palettes_hold_no_rgb(theme_id: str) -> None:
    palette = load_palette(theme_id)
    colours = {*palette.base.values(), *(look.foreground for look in palette.looks.values())}
    colours |= {look.background for look in palette.looks.values() if look.background}
    assert all(colour.startswith("ansi_") for colour in colours)


def test_mono_has_no_hue() -> None:
    looks = load_palette("mono").looks.values()
    assert {colour for look in looks for colour in (look.foreground, look.background)} <= {"ansi_default", ""}


@pytest.mark.parametrize("theme_id", ANSI)
@pytest.mark.parametrize(
    "roles", [ACTIONS + ODD_ACTIONS, ("tile", "tile_odd", "padding")], ids=["actions", "tiles"]
)
def test_fills_without_letters_differ_by_more_than_place(theme_id: str, roles: tuple[str, ...]) -> None:
    looks = load_palette(theme_id).looks
    fills = {
        (looks[fill(role)].background, looks[fill(role)].foreground, looks[fill(role)].attributes)
        for role in roles
    }
    assert len(fills) == len(roles)


def test_filled_roles_and_fills_are_all_roles() -> None:
    assert set(FILLED) | set(FILLS) <= set(ROLES)
    assert len(set(ROLES)) == len(ROLES)
