"""Colours of verdicts: read by everybody, and distinguished by colour-blind readers.

Colour is never alone, so this is the second safety: an icon and a word come first.
"""

from __future__ import annotations

import itertools
import re

import pytest

from veritrail_graph.api.show.rendering import text_of

KINDS = ("supported", "not-supported", "inconclusive", "failed", "unchecked")
AA = 4.5
APART = 14.0
"""Distance in CIELAB; 2.3 is what one can just see when both stand side by side."""

# How colours are seen without one kind of cone.
# Source: Machado, Oliveira and Fernandes 2009, severity 1.0.
SEEN = {
    "by most": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "without green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "without blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Colour = tuple[float, ...]


def variables(theme: str) -> dict[str, Colour]:
    found = re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", text_of("style.css"))
    return {name: linear(light if theme == "light" else dark) for name, light, dark in found}


def linear(code: str) -> Colour:
    parts = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)


def luminance(colour: Colour) -> float:
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), colour, strict=True))


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: Colour) -> Colour:
    red, green, blue = colour
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = luminance(colour)
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen(colour: Colour, how: str) -> Colour:
    mixed = (sum(a * b for a, b in zip(row, colour, strict=True)) for row in SEEN[how])
    return lab(tuple(min(1.0, max(0.0, one)) for one in mixed))


def distance(one: Colour, other: Colour) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_can_be_read_on_whatever_they_stand(theme: str) -> None:
    colours = variables(theme)
    for ground in ("paper", "raised", "sunk"):
        for name in (*KINDS, "ink", "muted", "accent"):
            assert contrast(colours[name], colours[ground]) >= AA, (name, ground)
    for kind in KINDS:
        assert contrast(colours[kind], colours[f"{kind}-bg"]) >= AA, kind
        assert contrast(colours["ink"], colours[f"{kind}-bg"]) >= AA, kind
    assert contrast(colours["on-accent"], colours["accent"]) >= AA


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("how", SEEN)
def test_verdicts_are_told_apart_whatever_one_cannot_see(theme: str, how: str) -> None:
    colours = variables(theme)
    for one, other in itertools.combinations(KINDS, 2):
        apart = distance(seen(colours[one], how), seen(colours[other], how))
        assert apart >= APART, (one, other, round(apart, 1))
