"""Tokenizers and models by name where the hub does not answer: from its local cache, or refused within seconds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from pdacon.cli.vocabularies import tiny_folder

pytest.importorskip("huggingface_hub")
NOBODY = "http://127.0.0.1:9"  # where connections are refused
SECONDS = 60  # most that a refusal may take on a busy machine; asking again and again takes longer still


def run(cache: Path, *arguments: str, endpoint: str = NOBODY, **others: str) -> subprocess.CompletedProcess[str]:
    names = {"HF_ENDPOINT": endpoint, "HF_HOME": str(cache), "HF_HUB_CACHE": str(cache / "hub"), **others}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    return subprocess.run(
        [sys.executable, "-P", "-m", "pdacon", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**kept, **names},
    )


@pytest.fixture
def cached(tmp_path: Path) -> Path:
    """A local cache of the hub that has the tiny tokenizer under the name org/small."""
    folder = tmp_path / "hub" / "models--org--small"
    shutil.copytree(tiny_folder(), folder / "snapshots" / "abc")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    return tmp_path


@pytest.fixture
def silent() -> Iterator[str]:
    """A host that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("tokens", "-t", "org/none"),
        ("mask", "json", "[", "-t", "org/none"),
        ("check", "json", "-t", "org/none"),
        ("compile", "json", "-t", "org/none", "-o", "never.pda"),
    ],
)
def test_a_tokenizer_that_is_nowhere_is_refused_at_once(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pdacon: cannot load the tokenizer 'org/none': the Hugging Face hub does not ")
    assert done.stderr.endswith(
        ", and the files of this tokenizer are not in its local cache; give a local folder that has them\n"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("generate", "json", "-p", "a"), ("serve",)])
def test_a_model_that_is_nowhere_is_refused_at_once(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    pytest.importorskip("transformers")
    done = run(tmp_path, *arguments, "--model", "org/none")
    assert done.returncode == 2
    assert "cannot load the tokenizer 'org/none': the Hugging Face hub does not answer" in done.stderr
    assert "give a local folder" in done.stderr


@pytest.mark.slow
def test_of_a_host_that_is_silent_it_says_how_long_was_waited(tmp_path: Path, silent: str) -> None:
    begun = monotonic()
    done = run(tmp_path, "tokens", "-t", "org/none", endpoint=silent, HF_HUB_ETAG_TIMEOUT="1")
    assert done.returncode == 2
    assert "does not answer within 1 s (HF_HUB_ETAG_TIMEOUT" in done.stderr or "timed out" in done.stderr
    assert monotonic() - begun < 20


def test_offline_nobody_is_asked(tmp_path: Path, silent: str) -> None:
    done = run(tmp_path, "tokens", "-t", "org/none", endpoint=silent, HF_HUB_OFFLINE="1")
    assert done.returncode == 2
    assert "HF_HUB_OFFLINE keeps from asking the Hugging Face hub, and the files of this tokenizer are" in done.stderr


@pytest.mark.parametrize("others", [{}, {"HF_HUB_OFFLINE": "1"}])
def test_a_tokenizer_of_the_local_cache_is_read(cached: Path, others: dict[str, str]) -> None:
    done = run(cached, "tokens", "-t", "org/small", **others)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace("org/small", "the tokenizer of the tiny model") == run(cached, "tokens").stdout


def spoiled(cached: Path, file: str) -> None:
    """Write what is no JSON into a file of the cache."""
    path = cached / "hub" / "models--org--small" / "snapshots" / "abc" / file
    path.unlink()
    path.write_text("{")


def test_a_cached_file_that_does_not_load_is_not_told_as_missing(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    from pdacon.integrations.hub import load_named

    def load(name: str, local_files_only: bool = False) -> str:
        raise OSError("It looks like the file at 'config.json' is not a valid JSON file.")

    monkeypatch.setattr(constants, "ENDPOINT", NOBODY)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cached / "hub"))
    with pytest.raises(ConnectionError, match=r"this tokenizer does not load: OSError: .*config.json' is not"):
        load_named("tokenizer", "org/small", load)
    with pytest.raises(ConnectionError, match=r"files of this tokenizer are not in its local cache"):
        load_named("tokenizer", "org/none", load)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_a_model_whose_cached_files_do_not_load_says_so(cached: Path, file: str) -> None:
    pytest.importorskip("transformers")
    spoiled(cached, file)
    done = run(cached, "generate", "json", "-p", "a", "--model", "org/small")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pdacon: cannot load the tokenizer 'org/small': ")
    assert "not in its local cache" not in done.stderr
    assert "JSON" in done.stderr or "line 1 column 2" in done.stderr


@pytest.mark.slow
def test_a_pipeline_of_a_name_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    from huggingface_hub import constants

    import pdacon

    monkeypatch.setattr(constants, "ENDPOINT", NOBODY)
    begun = monotonic()
    with pytest.raises(ConnectionError, match=r"the Hugging Face hub does not answer .* give a local folder"):
        pdacon.Pipeline("org/none-such")
    assert monotonic() - begun < 20
