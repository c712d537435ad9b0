"""What the tests against the definition share."""

from __future__ import annotations

import base64
import json
from importlib.resources import files

import pytest

from pdacon import Vocabulary

TEKKEN_END = 2


@pytest.fixture(scope="session")
def tekken() -> Vocabulary:
    """A real vocabulary: 131,072 ids, byte-level BPE, of which 1,000 are control tokens; 2 ends a text."""
    pytest.importorskip("mistral_common", reason="the tekken vocabulary comes with mistral-common")
    model = json.loads((files("mistral_common") / "data" / "tekken_240911.json").read_text())
    control = model["config"]["default_num_special_tokens"]
    entries = model["vocab"][: model["config"]["default_vocab_size"] - control]
    tokens = [None] * control + [base64.b64decode(entry["token_bytes"]) for entry in entries]
    return Vocabulary.from_tokens(tokens, eos_ids=[TEKKEN_END])
