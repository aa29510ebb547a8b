"""Draws that depend on what they are for alone, and not on how many were drawn before.

So two settings meet the same luck at the same node of the same claim, and what differs between
them is the settings. A stricter rate keeps what a laxer one keeps: less noise is never other noise.

The mixing function is SplitMix64's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_TO_UNIT = 2.0**-53


def key(*parts: int) -> int:
    """A 64-bit key from whole numbers."""
    mixed = 0
    for part in parts:
        mixed = _mixed((mixed ^ part) + _STEP & _MASK)
    return mixed


def uniform(of: int, number: int) -> float:
    """A number from 0 to below 1 for one number under a key."""
    return (_mixed((of ^ number) + _STEP & _MASK) >> 11) * _TO_UNIT


def uniforms(of: int, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the same for many numbers at once."""
    mixed = (numbers.astype(np.uint64) ^ np.uint64(of)) + np.uint64(_STEP)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_FIRST)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_SECOND)
    mixed ^= mixed >> np.uint64(31)
    found: NDArray[np.float64] = (mixed >> np.uint64(11)).astype(np.float64) * _TO_UNIT
    return found


def _mixed(value: int) -> int:
    value = (value ^ (value >> 30)) * _FIRST & _MASK
    value = (value ^ (value >> 27)) * _SECOND & _MASK
    return value ^ (value >> 31)
