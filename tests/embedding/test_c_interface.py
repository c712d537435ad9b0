"""The C interface says what Python's Matcher says, and refuses what makes no sense."""

from __future__ import annotations

import ctypes
import json
import random
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from support import c_library, llama_samplers
from support.c_library import BAD_ARTIFACT, CANNOT_READ, EMPTY, INVALID, LIMIT, MISUSE, C, Matcher, StatusError
from support.scaling import scaled

import pdacon
from pdacon._native.embedding import include_folder, library
from pdacon.cli import main

TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    b'{"',
    b'": ',
    b"true",
    b", ",
    b"[1",
    b"def f(",
    b"\n    ",
    None,
    None,
]
VOCABULARY = pdacon.Vocabulary.from_tokens(TOKENS, eos_ids=[263])
TWO = 'value: "[" [value ("," value)*] "]" | NUMBER\nkey: NAME\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore " "'


def compiled(source: str) -> pdacon.Constraint:
    if source in ("json", "python", "sql"):
        return pdacon.compile(source, VOCABULARY)
    return pdacon.compile(pdacon.Grammar.from_lark(source, start=["value", "key"]), VOCABULARY)


@pytest.mark.parametrize("source", ["json", "python", "sql", TWO], ids=["json", "python", "sql", "two"])
def test_random_walks_get_the_same_answers(source: str) -> None:
    ours = compiled(source)
    theirs = c_library.Constraint(ours.to_bytes())
    assert theirs.num_starts == len(json.loads(theirs.settings())["starts"])
    for start in range(theirs.num_starts):
        name = json.loads(theirs.settings())["starts"][start]
        choose = random.Random(start)
        for walk in range(scaled(6)):
            one, other = ours.matcher(name), Matcher(theirs, start=start)
            for _ in range(80):
                mask = one.allowed_mask()
                assert np.array_equal(other.mask(), ours_mask(one))
                assert one.is_accepting() == other.is_accepting()
                assert one.is_terminated() == other.is_terminated()
                assert one.forced_bytes() == other.forced_bytes(1 << 16)
                assert one.shortest_completion() == other.shortest_completion()
                asked = choose.randrange(len(TOKENS))
                assert other.is_allowed(asked) == one.is_allowed(asked) == mask[asked]
                draft = [choose.choice(np.flatnonzero(mask).tolist()), choose.randrange(256)]
                assert other.validate_tokens(draft) == one.validate_tokens(draft)
                taken = draft[0] if choose.random() < 0.9 else asked
                assert one.accept_token(taken) == other.accept_token(taken)
                if choose.random() < 0.2 and walk:
                    other = other.fork()
                if choose.random() < 0.1 and other.validate_tokens([]) == 0 and one.text:
                    one.rollback(1)
                    other.rollback(1)
                if one.is_terminated():
                    break


def ours_mask(matcher: pdacon.Matcher) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    row = np.zeros(-(-len(TOKENS) // 32), np.int32)
    matcher.fill_bitmask(row)
    return row


def test_a_file_is_mapped_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "json.pda"
    compiled("json").save(path)
    loaded = c_library.Constraint(str(path), verify=True)
    assert [loaded.token(token) or None for token in range(loaded.num_tokens)] == TOKENS
    assert loaded.end_tokens() == [263]
    assert json.loads(loaded.settings())["name"]
    matcher = Matcher(loaded)
    del loaded  # a matcher keeps what it needs
    assert matcher.accept_bytes(b'{"a": [1, ')
    assert matcher.shortest_completion() == b"0]}"
    assert matcher.mask(more=3)[-3:].tolist() == [0, 0, 0]
    with pytest.raises(StatusError, match="No such file") as caught:
        c_library.Constraint(str(tmp_path / "none.pda"))
    assert caught.value.status == CANNOT_READ
    with pytest.raises(StatusError) as caught:
        c_library.Constraint(str(tmp_path))
    assert caught.value.status == CANNOT_READ
    (tmp_path / "empty.pda").touch()
    for name in ("empty.pda", "notes.txt"):
        with (tmp_path / name).open("ab") as file:
            file.write(b"" if name == "empty.pda" else b"no artifact at all, and rather long for one" * 3)
        with pytest.raises(StatusError, match=rf"{name}: not an artifact.*pdacon compile") as caught:
            c_library.Constraint(str(tmp_path / name))
        assert caught.value.status == BAD_ARTIFACT


def test_damage_is_found_and_never_crashes() -> None:
    whole = compiled("json").to_bytes()
    choose = random.Random(7)
    for _ in range(scaled(60)):
        at = choose.randrange(len(whole))
        damaged = whole[:at] + bytes([whole[at] ^ 1 << choose.randrange(8)]) + whole[at + 1 :]
        with pytest.raises(StatusError) as caught:
            c_library.Constraint(damaged, verify=True)
        assert caught.value.status == BAD_ARTIFACT
    for size in (0, 1, 31, 32, 1000, len(whole) - 1):
        with pytest.raises(StatusError) as caught:
            c_library.Constraint(whole[:size])
        assert caught.value.status == BAD_ARTIFACT


def test_what_makes_no_sense_is_refused_and_changes_nothing() -> None:
    constraint = c_library.Constraint(compiled(TWO).to_bytes())
    matcher = Matcher(constraint, max_rollback=2)
    for options, what in [
        ({"start": 2}, "no such start"),
        ({"max_rollback": -2}, "max_rollback"),
        ({"max_tokens": -2}, "max_tokens"),
        ({"max_tokens": 0}, "the shortest sentence has 1 tokens"),
        ({"size": 8}, "PDACON_MATCHER_OPTIONS_INIT"),
    ]:
        with pytest.raises(StatusError, match=what) as caught:
            Matcher(constraint, **options)
        assert caught.value.status == INVALID
    for token in (-1, len(TOKENS), 1 << 40):
        for ask in (matcher.is_allowed, matcher.accept_token):
            with pytest.raises(StatusError) as caught:
                ask(token)
            assert caught.value.status == INVALID
        with pytest.raises(StatusError):
            constraint.token(token)
    with pytest.raises(StatusError, match="fewer words"):
        c_library.call("matcher_fill_mask", matcher.address, np.zeros(1, np.int32).ctypes.data, 1)
    assert not matcher.accept_bytes(b"]")
    assert "does not allow" in C.pdacon_last_error().decode()
    for token in b"[[[":
        assert matcher.accept_token(token)
    with pytest.raises(StatusError, match="only 2") as caught:
        matcher.rollback(3)
    assert caught.value.status == MISUSE
    matcher.rollback(2)
    assert matcher.shortest_completion() == b"]"
    matcher.reset()
    assert matcher.shortest_completion() == b"0"
    for name in dir(C):
        if name.startswith("pdacon_") and getattr(C, name).argtypes and not name.endswith("_free"):
            nothing = [
                None if kind in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(kind, "contents") else 0
                for kind in getattr(C, name).argtypes
            ]
            counts = name.endswith(("_num_tokens", "_mask_words", "_num_starts"))
            assert getattr(C, name)(*nothing) == (0 if counts else INVALID), name


def test_budgets_limits_and_empty_languages() -> None:
    constraint = c_library.Constraint(compiled("json").to_bytes())
    matcher = Matcher(constraint, max_tokens=4)
    assert matcher.accept_bytes(b'{"')
    assert not matcher.accept_token(ord('"'))  # `:`, a value and `}` would be one too many
    assert matcher.accept_token(257)
    assert not matcher.accept_token(ord("["))
    deep = pdacon.compile(pdacon.Grammar.from_lark(TWO, start="value"), VOCABULARY, limits=pdacon.Limits(depth=50))
    matcher = Matcher(c_library.Constraint(deep.to_bytes()))
    with pytest.raises(StatusError, match=r"depth: .* exceeds the limit of 50") as caught:
        matcher.accept_bytes(b"[" * 100)
    assert caught.value.status == LIMIT
    assert matcher.accept_bytes(b"[" * 10)
    endless = pdacon.Grammar.from_lark('start: "a"\nother: "b" other', start=["start", "other"])
    constraint = c_library.Constraint(pdacon.compile(endless, VOCABULARY).to_bytes())
    Matcher(constraint)
    with pytest.raises(StatusError, match="no text") as caught:
        Matcher(constraint, start=1)
    assert caught.value.status == EMPTY


@pytest.mark.slow
def test_a_budget_that_cannot_be_counted_is_refused_and_harms_nobody() -> None:
    """With indentation in a string of JSON; a constraint that was loaded says no more than that, in Python, too."""
    quoted = pdacon.Grammar.builtin("python").escaped("json", quotes=True)
    ours = pdacon.Constraint.from_bytes(pdacon.compile(quoted, VOCABULARY).to_bytes())
    with pytest.raises(ValueError, match="indentation within strings of JSON"):
        ours.matcher(budget=pdacon.Budget(tokens=9))
    theirs = c_library.Constraint(ours.to_bytes())
    before = Matcher(theirs)
    for _ in range(2):
        with pytest.raises(StatusError, match="indentation within strings of JSON") as caught:
            Matcher(theirs, max_tokens=9)
        assert caught.value.status == INVALID
    assert before.accept_bytes(b'"x = 1')
    assert Matcher(theirs).accept_bytes(b'"y')


def test_messages_name_their_function_and_are_one_line() -> None:
    with pytest.raises(StatusError, match=r"^2: pdacon_constraint_load: a null pointer was given$"):
        c_library.call("constraint_load", None, False, None)
    with pytest.raises(StatusError, match=r"^2: pdacon_constraint_load: the path is empty$"):
        c_library.Constraint("")
    for path in ("é" * 600, "x" + "é" * 600, "a\nb"):
        with pytest.raises(StatusError) as caught:
            c_library.Constraint(path)
        assert caught.value.status == CANNOT_READ
        assert caught.value.message.isprintable()


def test_many_copies_of_the_library_can_be_loaded(tmp_path: Path) -> None:
    """A module that is loaded while a program runs finds little room for variables of each thread."""
    copies = [shutil.copy(library(), tmp_path / f"{number}.so") for number in range(12)]
    assert len([ctypes.CDLL(str(path)) for path in copies]) == 12


def test_tokens_that_are_no_text() -> None:
    """A special token is itself, and never its text; neither is the spelling that the core has for it."""
    vocabulary = VOCABULARY.with_special_tokens({"<|call|>": 264})
    grammar = pdacon.Grammar.from_lark(
        r'start: "a" CALL "b"' + "\n" + r"CALL: /(?P<TOKEN><\|call\|>)/", extensions=True
    )
    ours = pdacon.compile(grammar, vocabulary)
    theirs = c_library.Constraint(ours.to_bytes())
    one, other = ours.matcher(), Matcher(theirs)
    for token in (ord("a"), 264, ord("b"), 263):
        assert np.array_equal(other.mask(), ours_mask(one))
        assert one.accept_token(token)
        if token == 264:
            assert not any(other.accept_bytes(bytes([byte])) for byte in range(256))
            assert not other.accept_bytes(b"<|call|>")
        assert other.accept_token(token)
    assert other.is_terminated()
    with pytest.raises(StatusError, match="max_tokens is not for"):
        Matcher(theirs, max_tokens=9)
    with pytest.raises(StatusError, match="a token that is no text"):
        Matcher(theirs).shortest_completion()


def test_a_leading_space() -> None:
    ours = pdacon.compile("json", VOCABULARY)
    other = Matcher(c_library.Constraint(ours.to_bytes()), strip_leading_space=True)
    assert np.array_equal(other.mask(), ours_mask(ours.matcher(strip_leading_space=True)))


def test_a_sampler_of_llama_cpp() -> None:
    """The rest is held by the tests of `pdacon.integrations.llama_cpp`, whose samplers are of the same code."""
    constraint = c_library.Constraint(compiled("json").to_bytes())
    matcher = Matcher(constraint)
    assert matcher.accept_bytes(b"[1")
    structures = (
        llama_samplers.llama_sampler,
        llama_samplers.llama_sampler_i,
        llama_samplers.llama_token_data,
        llama_samplers.llama_token_data_array,
    )
    init = ctypes.cast(llama_samplers.llama_sampler_init, ctypes.c_void_p)
    said = c_library.Llama(ctypes.sizeof(c_library.Llama), *map(ctypes.sizeof, structures), init)
    sampler = ctypes.c_void_p()
    c_library.call("llama_sampler_new", matcher.address, ctypes.byref(said), ctypes.byref(sampler))
    allowed = np.flatnonzero(np.unpackbits(matcher.mask().view(np.uint8), bitorder="little")).tolist()
    with pytest.raises(StatusError, match="not asked for a single token") as caught:
        c_library.call("llama_sampler_check", sampler)
    assert caught.value.status == MISUSE
    assert llama_samplers.left(sampler, list(range(len(TOKENS)))) == allowed
    llama_samplers.accept(sampler, ord("]"))
    assert llama_samplers.left(sampler, [1, 263]) == [263]
    c_library.call("llama_sampler_check", sampler)
    assert not matcher.is_allowed(263), "the matcher stays where it was"
    llama_samplers.accept(sampler, ord("]"))
    assert llama_samplers.left(sampler, [1, 2]) == [263]
    twin = llama_samplers.clone(sampler)
    llama_samplers.reset(twin)
    assert set(b'[{"') <= set(llama_samplers.left(twin, list(range(len(TOKENS))))), "another text"
    llama_samplers.copy_state(sampler, twin)
    assert llama_samplers.left(twin, [1, 2]) == [263]
    llama_samplers.free(twin)
    with pytest.raises(StatusError, match="token 93 was chosen") as caught:
        c_library.call("llama_sampler_check", sampler)
    assert caught.value.status == MISUSE
    llama_samplers.free(sampler)
    for name, wrong, what in [("size", 8, "PDACON_LLAMA_INIT"), ("candidate_size", 16, "other structures"),
                              ("sampler_init", None, "null pointer")]:  # fmt: skip
        other = c_library.Llama.from_buffer_copy(said)
        setattr(other, name, wrong)
        with pytest.raises(StatusError, match=what) as caught:
            c_library.call("llama_sampler_new", matcher.address, ctypes.byref(other), ctypes.byref(sampler))
        assert caught.value.status == INVALID


@pytest.mark.slow
def test_threads_share_a_constraint() -> None:
    constraint = c_library.Constraint(compiled("sql").to_bytes())
    wanted: list[bytes] = []

    def walk(found: list[bytes]) -> None:
        choose, matcher = random.Random(5), Matcher(constraint)
        for _ in range(60):
            mask = matcher.mask()
            found.append(mask.tobytes())
            allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
            if not matcher.accept_token(int(choose.choice(allowed.tolist()))) or matcher.is_terminated():
                break

    results: list[list[bytes]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=walk, args=(found,)) for found in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    walk(wanted)
    assert all(found == wanted for found in results)


def test_the_library_shows_nothing_but_its_functions() -> None:
    """What it takes in place of the standard library's, such as `operator new`, must not reach a program."""
    if shutil.which("nm") is None:
        pytest.skip("this needs nm")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True
    ).stdout
    shown = {line.split()[-1] for line in listed.splitlines()}
    header = (include_folder() / "pdacon.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^PDACON_API .*?\b(pdacon_\w+)\(", header, re.MULTILINE))
    assert {name for name in shown if not name.startswith("__")} == declared
    assert C.pdacon_version().decode() == pdacon.__version__
    assert f"#define PDACON_ABI_VERSION {C.pdacon_abi_version()}" in header


@pytest.mark.slow
@pytest.mark.parametrize("language", [["cc", "-std=c99"], ["c++", "-std=c++11", "-x", "c++"]], ids=["c", "c++"])
def test_the_header_is_plain(language: list[str], tmp_path: Path) -> None:
    if shutil.which(language[0]) is None:
        pytest.skip(f"this needs {language[0]}")
    (tmp_path / "program.c").write_text(
        "#include <pdacon.h>\nint main() { return pdacon_abi_version() != PDACON_ABI_VERSION; }\n"
    )
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    done = subprocess.run(
        [*language, *warnings, f"-I{include_folder()}", "-fsyntax-only", "program.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--cflags", "--libs"]) == 0
    options = shlex.split(capsys.readouterr().out)
    assert options[0] == f"-I{include_folder()}"
    assert "-lpdacon" in options
    assert main(["config"]) == 2
    assert "--cflags" in capsys.readouterr().err


def test_constraints_that_are_loaded_share_their_tokens() -> None:
    """What a constraint has of its own does not grow with the vocabulary, which the first one that is loaded has."""
    letters = [b"%d" % number for number in range(50_000)]
    words = pdacon.Vocabulary.from_tokens([*TOKENS[:256], *letters[10:], None], eos_ids=[256 + 49_990])
    saved = pdacon.compile('start: "a" | "b"', words).to_bytes()
    first, second = (pdacon.Constraint.from_bytes(saved) for _ in range(2))
    assert max(first.nbytes, second.nbytes) - len(saved) < words.size
    assert second.matcher().accept_bytes(b"a")
    other = pdacon.Vocabulary.from_tokens([*TOKENS[:256], *letters[10:-1], b"!!", None], eos_ids=[256 + 49_990])
    third = pdacon.Constraint.from_bytes(pdacon.compile('start: "!!"', other).to_bytes())
    assert third.matcher().allowed_mask()[256 + 49_989]
    assert not first.matcher().allowed_mask()[256 + 49_989]
