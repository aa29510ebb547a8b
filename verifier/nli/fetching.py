"""Downloads an entailment model from a hub, when a person asks for it and never otherwise."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.port import Unreachable
from veritrail_graph.verifier.nli.onnx import missing, short_words
from veritrail_graph.verifier.nli.opening import ONNX_FILES, fetched_folder

ABOUT = ("config.json", "tokenizer.json")
_OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A model that was downloaded.

    Attributes:
        folder: Where it is.
        revision: The commit of the hub that it is of.
        files: Its files, relative to the folder.
        bytes: Their size together.
    """

    folder: Path
    revision: str
    files: tuple[str, ...]
    bytes: int


def fetch(
    name: str,
    home: Path,
    *,
    revision: str | None = None,
    on_file: Callable[[str], None] = lambda _file: None,
) -> Fetched:
    """Download a model: its ONNX form where the hub has one, else its safetensors.

    The hub is that of `HF_ENDPOINT`, else huggingface.co; a private one takes `HF_TOKEN`.

    Args:
        name: Its name on the hub, such as `owner/model`.
        home: The folder that keeps fetched models.
        revision: A branch, tag or commit; None: the main branch.
        on_file: Called with each file before it is downloaded.

    Raises:
        InputError: The name is none, there is no such model, or it holds no weights that are read.
        Unreachable: The hub did not answer.
    """
    folder = fetched_folder(home, name)
    if folder is None:
        raise InputError(f"{name!r} is no name of a model; write it as owner/model.")
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError:
        raise missing("huggingface_hub") from None
    endpoint = os.environ.get("HF_ENDPOINT") or None
    where = endpoint or "https://huggingface.co"
    try:
        hub = huggingface_hub.HfApi(endpoint=endpoint, token=os.environ.get("HF_TOKEN") or False)
        about = hub.model_info(name, revision=revision)
        commit = str(about.sha)
        wanted = _wanted(name, [one.rfilename for one in about.siblings or ()])
        part = folder.with_name(f"{folder.name}.part")
        for file in wanted:
            on_file(file)
            hub.hf_hub_download(name, file, revision=commit, local_dir=part)
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise InputError(f"{where} has no model {name!r}: {short_words(error)}") from None
    except errors.GatedRepoError as error:
        raise InputError(
            f"{name!r} is given to people who accepted its terms: {short_words(error)}"
        ) from None
    except (InputError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - the client of the day decides its class
        raise Unreachable(
            f"{name} could not be downloaded from {where}: {short_words(error)}"
        ) from None
    shutil.rmtree(part / ".cache", ignore_errors=True)
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)
    size = sum((folder / file).stat().st_size for file in wanted)
    return Fetched(folder, commit, tuple(wanted), size)


def _wanted(name: str, files: Sequence[str]) -> list[str]:
    """The files that are read, and no others: hubs keep many forms of the same weights."""
    there = set(files)
    missing_files = [file for file in ABOUT if file not in there]
    if missing_files:
        raise InputError(
            f"{name!r} has no {' and no '.join(missing_files)}; an entailment model needs both."
        )
    about = [file for file in (*ABOUT, *_OPTIONAL) if file in there]
    for file in ONNX_FILES:
        if file in there:
            beside = [one for one in files if one.startswith((f"{file}_data", f"{file}.data"))]
            return [*about, file, *beside]
    weights = sorted(file for file in files if file.endswith(".safetensors") and "/" not in file)
    if not weights:
        raise InputError(
            f"{name!r} has no {' or '.join(ONNX_FILES)} and no safetensors; other weights are not "
            "read."
        )
    index = [file for file in files if file == "model.safetensors.index.json"]
    return [*about, *index, *weights]
