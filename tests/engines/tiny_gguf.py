"""The tiny model as a GGUF file, as llama.cpp's own conversion would write it."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

import pdacon

MODEL = Path(pdacon.__file__).parent / "models" / "tiny"


def write(path: Path) -> None:
    """Write the model and its tokenizer, in float32."""
    config = json.loads((MODEL / "config.json").read_text())
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_tokenizer(writer, config)
    for name, values in _tensors():
        writer.add_tensor(*_renamed(name, values, config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokenizer(writer: gguf.GGUFWriter, config: dict[str, int]) -> None:
    tokenizer = json.loads((MODEL / "tokenizer.json").read_text())
    words = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].__getitem__)
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    kinds = [gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(len(words))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(words)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(True)


def _tensors() -> list[tuple[str, NDArray[np.float32]]]:
    """The tensors of the file, which are bfloat16: the upper halves of float32."""
    data = (MODEL / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = []
    for name, said in header.items():
        if name == "__metadata__":
            continue
        first, last = said["data_offsets"]
        halves = np.frombuffer(data[8 + length + first : 8 + length + last], "<u2").astype(np.uint32)
        found.append((name, (halves << 16).view(np.float32).reshape(said["shape"])))
    return found


def _renamed(name: str, values: NDArray[np.float32], config: dict[str, int]) -> tuple[str, NDArray[np.float32]]:
    if name == "model.embed_tokens.weight":
        return "token_embd.weight", values
    if name == "model.norm.weight":
        return "output_norm.weight", values
    _, _, layer, rest = name.split(".", 3)
    if rest in ("self_attn.q_proj.weight", "self_attn.k_proj.weight"):  # llama.cpp rotates neighbours, not halves
        heads = config["num_attention_heads" if ".q_" in rest else "num_key_value_heads"]
        rows, columns = values.shape
        values = values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
    names = {
        "input_layernorm.weight": "attn_norm",
        "post_attention_layernorm.weight": "ffn_norm",
        "self_attn.q_proj.weight": "attn_q",
        "self_attn.k_proj.weight": "attn_k",
        "self_attn.v_proj.weight": "attn_v",
        "self_attn.o_proj.weight": "attn_output",
        "mlp.gate_proj.weight": "ffn_gate",
        "mlp.up_proj.weight": "ffn_up",
        "mlp.down_proj.weight": "ffn_down",
    }
    return f"blk.{layer}.{names[rest]}.weight", values
