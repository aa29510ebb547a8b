"""Prompts: one file for each step and version, the whole system message of its calls.

A released file never changes; another wording is another version. Users may bring a folder
of their own: a file `STEP.VERSION.md` in it takes the place of ours for that step.

Source: VeriTrail C.2; Claimify for the claim steps.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.ablation import ZERO_SHOT
from veritrail_graph.verifier.models.port import Step

MOST_BYTES = 1_000_000
AnyStep = TypeVar("AnyStep", bound=StrEnum)

_EXAMPLES = re.compile(
    r"<!-- examples -->\n((?:(?!<!-- examples -->).)*?)<!-- /examples -->\n*", re.DOTALL
)
"""The block of a prompt that a run without examples leaves out."""

TRUE_FALSE = "true_false"
"""How the version of a verdict prompt ends whose answer is the word True or False."""

BRIEF = "brief"
"""How the version of a prompt ends that wants its answer alone, without written reasoning."""

_REWORDED = (
    Step.SUB_CLAIM_DECOMPOSITION,
    Step.EVIDENCE_SELECTION,
    Step.EVIDENCE_SELECTION_SHARED,
    Step.VERDICT,
    Step.VERDICT_SHARED,
)
"""The steps of verification that there are several wordings of."""

EARLIER_TURNS = "earlier_turns"
"""How the version of a categorisation prompt ends that shows earlier turns of the conversation."""

PAPER = "paper"
"""The name of the paper's wording: summaries are handed on, and a verdict is one word."""

SECOND = "v2"
"""How the version of a prompt begins that asks part by part: the second wording."""

_OF_PAPER: Mapping[Step, str] = dict.fromkeys(_REWORDED, "v1")

CURRENT: Mapping[Step, str] = dict.fromkeys(Step, "v1") | dict.fromkeys(_REWORDED, SECOND)
"""The version of each of our prompts that is used: the second wording, where there is one."""

VARIANTS: Mapping[str, Mapping[Step, str]] = {
    "every_word": {**_OF_PAPER, Step.VERDICT: "v1_every_word"},
    TRUE_FALSE: {**_OF_PAPER, Step.VERDICT: f"v1_{TRUE_FALSE}"},
    BRIEF: dict.fromkeys(_REWORDED, f"v1_{BRIEF}"),
    PAPER: _OF_PAPER,
    SECOND: {
        **dict.fromkeys(_REWORDED, SECOND),
        Step.DIALOGUE_CATEGORISATION: f"v1_{EARLIER_TURNS}",
    },
    EARLIER_TURNS: {Step.DIALOGUE_CATEGORISATION: f"v1_{EARLIER_TURNS}"},
    "any_turn": {Step.DIALOGUE_TURN_CHECK: "v1_any_turn"},
}
"""Versions that are shipped for ablations, and for short answers, by the name that is given in
place of a folder.

`every_word`: without our addition that words that cannot be checked need no evidence
(docs/adr/0024-words-that-cannot-be-checked.md).

`true_false`: a short prompt that asks whether the claim is true or false. Source: VeriTrail E.5.

`any_turn`: the check of a turn of a dialogue counts contradictions of what the user said, too.
Source: VISTA A.1.4.

`earlier_turns`: a claim of a dialogue that is not verified is held against the three earlier turns
that are most like it, too. Source: VISTA 9 (future work); the choice is ours.

`brief`: the same rules, but the answer is the JSON object alone, without the written steps that
the paper's prompts ask for. Ours; docs/costs.md.

`paper`: what the paper does: summaries are handed on to a verdict in one word.

`v2`: sentences are handed on, and verdicts are given part by part, as by default; dialogues as
`earlier_turns`, with which no model was measured. Ours; docs/adr/0077-second-wording.md.
"""


class InvalidPrompts(InputError):
    """A folder of prompts cannot be used."""

    code = "invalid_prompts"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt.

    Attributes:
        step: The step that it instructs: one of verification, or of another method.
        version: Its version, from the name of its file.
        text: The system message.
        hash: SHA-256 of the file in hexadecimal.
        zero_shot_text: The system message without its block of examples.
    """

    step: StrEnum
    version: str
    text: str
    hash: str
    zero_shot_text: str = ""

    @property
    def name(self) -> str:
        """Step and version, such as `evidence_selection.v1`."""
        return f"{self.step}.{self.version}"

    @property
    def asks_true_or_false(self) -> bool:
        """Return whether its answer is the word True or False, not JSON. Source: VeriTrail E.5."""
        return self.step is Step.VERDICT and self.version.endswith(TRUE_FALSE)

    @property
    def is_brief(self) -> bool:
        """Return whether its answer is the JSON object alone, without written reasoning. Ours."""
        return self.version.endswith(BRIEF)

    @property
    def shows_earlier_turns(self) -> bool:
        """Return whether it shows earlier turns of the conversation with a claim. Ours."""
        return self.version.removesuffix(ZERO_SHOT).endswith(EARLIER_TURNS)

    @property
    def asks_by_part(self) -> bool:
        """Return whether it is of the second wording: split once, with sides and verdicts by part.

        Ours; docs/adr/0077-second-wording.md.
        """
        return asks_by_part(self.version)

    @property
    def zero_shot(self) -> Prompt:
        """Return the same without its examples. Source: VISTA 6.3 (the zero-shot ablation)."""
        text = self.zero_shot_text or self.text
        hash_ = hashlib.sha256(text.encode()).hexdigest()
        return Prompt(self.step, f"{self.version}{ZERO_SHOT}", text, hash_, text)


def asks_by_part(version: str) -> bool:
    """Return whether a prompt of this version is of the second wording."""
    return version == SECOND or version.startswith((f"{SECOND}.", f"{SECOND}_"))


Prompts = Mapping[Step, Prompt]


def shared_verdict_of(prompts: Prompts) -> Prompt | None:
    """The prompt that gives verdicts on several claims; None: none is of the verdict prompt's kind.

    A prompt for one claim and one for several are of one kind if they have one version.
    """
    shared = prompts[Step.VERDICT_SHARED]
    return shared if shared.version == prompts[Step.VERDICT].version else None


def load_prompts(chosen: Path | str | None = None) -> Prompts:
    """The prompts of all steps: ours, with those of a user's folder or a variant in their place.

    Where a folder holds a prompt of the paper's wording, ours beside it are of that wording, too.

    Args:
        chosen: The name of a variant; or a folder of prompts, or what the name of a variant is
            where there is no folder of it.

    Raises:
        InvalidPrompts: The folder cannot be read, or a file in it is no prompt of a step.
    """
    if chosen is None:
        return prompts_of(CURRENT, __name__)
    if isinstance(chosen, str) or (str(chosen) in VARIANTS and not chosen.exists()):
        return prompts_of({**CURRENT, **VARIANTS[str(chosen)]}, __name__)
    own = _of_user(chosen, list(CURRENT))
    is_of_paper = any(step in _REWORDED and not one.asks_by_part for step, one in own.items())
    return {**prompts_of({**CURRENT, **(_OF_PAPER if is_of_paper else {})}, __name__), **own}


def prompts_of(
    versions: Mapping[AnyStep, str], package: str, folder: Path | None = None
) -> dict[AnyStep, Prompt]:
    """The prompts of some steps: ours, with those of a user's folder in their place.

    Args:
        versions: The version of each step's prompt that is ours.
        package: The package that holds our files `STEP.VERSION.md`.
        folder: A folder of prompts, or None.

    Raises:
        InvalidPrompts: The folder cannot be read, or a file in it is no prompt of these steps.
    """
    prompts = {step: _own(package, step, version) for step, version in versions.items()}
    return prompts if folder is None else {**prompts, **_of_user(folder, list(versions))}


@cache
def _own(package: str, step: AnyStep, version: str) -> Prompt:
    """Read a file of ours, which never changes; runs of thousands of processes share it."""
    return _prompt(step, version, (resources.files(package) / f"{step}.{version}.md").read_bytes())


def _of_user(folder: Path, steps: Sequence[AnyStep]) -> dict[AnyStep, Prompt]:
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".md")
    except FileNotFoundError:
        raise InvalidPrompts(
            f"Folder of prompts {folder}: there is none, and no variant of this name; variants: "
            f"{', '.join(VARIANTS)}"
        ) from None
    except OSError as error:
        raise InvalidPrompts(f"Folder of prompts {folder}: {error.strerror or error}") from None
    if not files:
        raise InvalidPrompts(f"The folder {folder} holds no prompt; name files STEP.VERSION.md")
    found: dict[AnyStep, Prompt] = {}
    for path in files:
        name, _, version = path.stem.partition(".")
        step = next((one for one in steps if one == name), None)
        if step is None or not version:
            known = ", ".join(steps)
            raise InvalidPrompts(f"{path} is no prompt: name it STEP.VERSION.md; steps: {known}")
        if step in found:
            raise InvalidPrompts(f"{folder} holds two prompts for {step}: keep one of them")
        found[step] = _prompt(step, version, _read(path))
    return found


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise InvalidPrompts(f"{path} is not a file")
        if path.stat().st_size > MOST_BYTES:
            raise InvalidPrompts(f"{path} is larger than {MOST_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InvalidPrompts(f"{path} cannot be read: {error.strerror or error}") from None


def _prompt(step: StrEnum, version: str, content: bytes) -> Prompt:
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").strip()
    except UnicodeDecodeError as error:
        message = f"prompt {step}.{version}.md is not UTF-8: byte {error.start} cannot be decoded"
        raise InvalidPrompts(message) from None
    if not text:
        raise InvalidPrompts(f"prompt {step}.{version}.md is empty")
    whole = _EXAMPLES.sub(r"\1", text)
    bare = _EXAMPLES.sub("", text)
    return Prompt(step, version, whole, hashlib.sha256(content).hexdigest(), bare)
