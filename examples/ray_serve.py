"""Two replicas of pdacon's server behind one address, by Ray Serve, with one folder of compiled constraints.

    pip install 'pdacon[serve]' 'ray[serve]'
    serve run examples.ray_serve:app        # or: python examples/ray_serve.py

Each replica has its own model and batches its own requests. What one has compiled the others map from the folder, and
so does a replica that is started anew; the folder can be on any file system that all machines see, and that nobody
else writes to. Where they see none, PDACON_STORE=s3://BUCKET/PREFIX, or what else fsspec has, is between their folders;
PDACON_FOLDER= is a folder for each replica.
"""

from __future__ import annotations

import os
from pathlib import Path

from ray import serve

FOLDER = os.environ.get("PDACON_FOLDER", str(Path.home() / ".cache" / "pdacon"))
STORE = os.environ.get("PDACON_STORE")
MODEL = os.environ.get("PDACON_MODEL", "tiny")
REPLICAS = int(os.environ.get("PDACON_REPLICAS", "2"))


def make_app() -> object:
    """The server of one replica; Ray Serve calls this there."""
    import torch

    from pdacon.integrations.huggingface import load_tiny
    from pdacon.serving import ServerSettings, create_app

    torch.set_num_threads(1)
    if MODEL == "tiny":
        model, tokenizer = load_tiny()
    else:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model, tokenizer = AutoModelForCausalLM.from_pretrained(MODEL), AutoTokenizer.from_pretrained(MODEL)
    return create_app(
        model, tokenizer, ServerSettings(model_name=MODEL, cache_directory=FOLDER or None, cache_store=STORE)
    )


@serve.deployment(num_replicas=REPLICAS, max_ongoing_requests=64, ray_actor_options={"num_cpus": 1})
@serve.ingress(make_app)
class Server:
    """The routes are those of pdacon's server."""


app = Server.bind()

if __name__ == "__main__":
    serve.run(app, blocking=True)
