"""Finds the entailment model that a setting names: a folder, an address or a fetched model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.labels import outputs_of
from veritrail_graph.verifier.nli.local import (
    HYPOTHESIS,
    PREMISE,
    LocalModel,
    PairForm,
    Runner,
    Tokenizer,
)
from veritrail_graph.verifier.nli.onnx import OnnxRunner, missing
from veritrail_graph.verifier.nli.transformers import TransformersRunner
from veritrail_graph.verifier.ports import JudgeError

ONNX_FILES = ("model.onnx", "onnx/model.onnx")
WEIGHTS = "*.safetensors"
FETCHED = "models"
"""The folder of fetched models within VERITRAIL_HOME."""

_DEFAULT_LIMIT, _LARGEST_LIMIT, _SMALLEST_LIMIT = 512, 100_000, 32
# These number the positions of tokens from behind the padding token on.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "longformer", "xmod", "data2vec-text")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The choice of an entailment model, and of how it reads.

    Attributes:
        model: A folder, an address (http or https) or the name of a fetched model.
        window: The most tokens of an input (of a server: words of a premise); None: the model's.
        labels: What its outputs mean, in order; None: as its config.json says.
        template: One text with `{premise}` and `{hypothesis}` for models that take one; None: two.
        api_key: The key of a server.
    """

    model: str
    window: int | None = None
    labels: str | None = None
    template: str | None = None
    api_key: str | None = field(default=None, repr=False)

    @property
    def is_address(self) -> bool:
        """Return whether a server is asked."""
        return self.model.startswith(("http://", "https://"))


def checked_template(template: str | None) -> str | None:
    """A template that holds both marks once.

    Raises:
        InputError: It does not.
    """
    if template is None:
        return None
    if template.count(PREMISE) != 1 or template.count(HYPOTHESIS) != 1:
        raise InputError(
            f"{template!r} is no template: write one text that holds {PREMISE} once and "
            f"{HYPOTHESIS} once.",
            code="entailment_template",
        )
    return template


def folder_of(choice: ModelChoice, home: Path) -> Path:
    """The folder that a choice names: itself, or that of a fetched model.

    Args:
        choice: The choice.
        home: Where fetched models are.

    Raises:
        InputError: There is no such folder.
    """
    given = Path(choice.model).expanduser()
    fetched = fetched_folder(home, choice.model)
    for folder in (given, fetched):
        if folder is not None and folder.is_dir():
            return folder
    if given.is_file():
        raise InputError(
            f"{choice.model} is a file; name the folder that holds model.onnx, tokenizer.json and "
            "config.json.",
            code="entailment_folder_needed",
        )
    if fetched is None:
        raise InputError(f"There is no folder {choice.model}.", code="entailment_folder_needed")
    raise InputError(
        f"There is no folder {choice.model}, and no model of this name was downloaded.",
        code="entailment_model_unknown",
        model=choice.model,
    )


def fetched_folder(home: Path, name: str) -> Path | None:
    """Return where a model of a hub is kept; None: the name is none of a model."""
    parts = name.split("/")
    is_name = len(parts) <= 2 and all(
        part
        and part.replace("-", "a").replace("_", "a").replace(".", "a").isalnum()
        and not part.startswith(".")
        for part in parts
    )
    return home / FETCHED / "--".join(parts) if is_name else None


def open_folder(folder: Path, choice: ModelChoice) -> LocalModel:
    """The model of a folder; it is loaded once in a process and tried with one pair.

    Args:
        folder: The folder: `model.onnx` (or `onnx/model.onnx`) or safetensors, `tokenizer.json`
            and `config.json`.
        choice: How it reads.

    Raises:
        InputError: A file is missing or wrong, or the model does not answer.
    """
    files = needed_files(folder)
    files += [path for path in [folder / "tokenizer_config.json"] if path.is_file()]
    states = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    return _loaded(folder.resolve(), states, choice.window, choice.labels, choice.template)


def needed_files(folder: Path) -> list[Path]:
    """The files that a model's folder must hold, the weights first.

    Raises:
        InputError: One is missing.
    """
    files = [*weights_of(folder), *(folder / name for name in ("tokenizer.json", "config.json"))]
    for path in files:
        if not path.is_file():
            raise InputError(f"{folder} holds no {path.name}; an entailment model needs it.")
    return files


def weights_of(folder: Path) -> list[Path]:
    """The files of a model's weights, whether or not they are there."""
    for name in ONNX_FILES:
        if (path := folder / name).is_file():
            # Large models keep their weights in a file of their own beside it.
            return [path, *sorted(path.parent.glob(f"{path.name}[._]data*"))]
    return sorted(folder.glob(WEIGHTS)) or [folder / ONNX_FILES[0]]


@lru_cache(maxsize=2)
def _loaded(
    folder: Path,
    states: tuple[tuple[str, int, int], ...],
    window: int | None,
    labels: str | None,
    template: str | None,
) -> LocalModel:
    config = read_json(folder / "config.json")
    about = read_json(folder / "tokenizer_config.json", optional=True)
    outputs = outputs_of(_names(config), str(folder / "config.json"), labels)
    tokenizer = tokenizer_of(folder / "tokenizer.json")
    limit = limit_of(config, about)
    pad = pad_of(config, about, tokenizer)
    weights = Path(states[0][0])
    runner: Runner
    if weights.suffix == ".onnx":
        onnx = runner = OnnxRunner(weights, pad)
        limit = min(limit, onnx.length or limit)
    else:
        runner = TransformersRunner(folder, pad)
    if window is not None:
        if not _SMALLEST_LIMIT <= window <= limit:
            raise InputError(
                f"{folder.name} reads inputs of at most {limit} tokens, not in windows of {window};"
                f" write a number from {_SMALLEST_LIMIT} to {limit}.",
                code="entailment_window",
            )
        limit = window
    reading = PairForm(limit, min(64, limit // 8), template)
    fingerprint = fingerprint_of([Path(path) for path, _, _ in states])
    model = LocalModel(folder.name, fingerprint, tokenizer, runner, outputs, reading)
    try:
        model.check()
    except JudgeError as error:
        raise InputError(f"{folder} is no entailment model that can be used: {error}.") from None
    return model


def tokenizer_of(path: Path) -> Tokenizer:
    """The tokenizer of a file; it neither fills up nor cuts off.

    Raises:
        InputError: The extra is missing, or the file is none of a tokenizer.
    """
    try:
        import tokenizers
    except ImportError:
        raise missing("tokenizers") from None
    try:
        tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001 - it raises Exception itself
        raise InputError(f"{path} is no file of a tokenizer: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()  # nothing is cut off: long texts are read in windows
    found: Tokenizer = tokenizer
    return found


def _names(config: Mapping[str, Any]) -> dict[int, str]:
    names = config.get("id2label")
    if isinstance(names, Mapping) and names and all(str(key).isdecimal() for key in names):
        return {int(key): str(name) for key, name in names.items()}
    given = config.get("num_labels")
    count = given if isinstance(given, int) and 0 < given < 100 else 2
    return {place: f"LABEL_{place}" for place in range(count)}


def limit_of(config: Mapping[str, Any], about: Mapping[str, Any]) -> int:
    """The most tokens of an input: the least of what the files say.

    Raises:
        InputError: Too few.
    """
    found = [about.get("model_max_length"), config.get("max_position_embeddings")]
    if isinstance(found[1], int) and config.get("model_type") in _OFFSET_POSITIONS:
        found[1] -= 2
    known = [one for one in found if isinstance(one, int | float) and 0 < one <= _LARGEST_LIMIT]
    limit = int(min(known, default=_DEFAULT_LIMIT))
    if limit < _SMALLEST_LIMIT:
        raise InputError(f"config.json says that the model reads {limit} token(s): too few.")
    return limit


def pad_of(config: Mapping[str, Any], about: Mapping[str, Any], tokenizer: Any) -> int:
    """The id of the token that fills short inputs up."""
    pad = about.get("pad_token")
    text = pad.get("content") if isinstance(pad, Mapping) else pad
    found = tokenizer.token_to_id(text) if isinstance(text, str) else None
    if found is None:
        found = config.get("pad_token_id")
    return found if isinstance(found, int) and found >= 0 else 0


def read_json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    """A JSON object of a file; empty where an optional file is not there.

    Raises:
        InputError: It cannot be read, or is none.
    """
    if optional and not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object.")
    return found


def fingerprint_of(paths: list[Path]) -> str:
    """Return what tells these files from others: a model that is replaced gives other verdicts."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]
