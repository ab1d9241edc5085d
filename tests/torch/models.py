"""GPT-2, Llama and Mistral in plain torch, on tensors under their published names.

Written from the papers and the layout of the published files, without the transformers library:
GPT-2 keeps its linears as [in, out] ("Conv1D") and ties the head to the token table; Llama turns
the two halves of a head against each other (rotary positions as Hugging Face stores them), shares
each key-value head among a group of query heads, and has a head of its own; Mistral is Llama with
a sliding window.
"""
import math

import torch
from torch.nn import functional as F


def causal_attention(q, k, v, window=None):
    """q, k, v: [batch, heads, seq, head_dim]; every position sees itself and those before it: with
    a window W the W - 1 before it (A. Q. Jiang et al., arXiv 2310.06825, section 2)."""
    seq, head_dim = q.shape[-2:]
    scores = q @ k.transpose(-2, -1) / math.sqrt(head_dim)
    all_pairs = torch.ones(seq, seq, dtype=torch.bool)
    hidden = all_pairs.triu(diagonal=1)
    if window is not None:
        hidden = hidden | all_pairs.tril(diagonal=-window)
    return scores.masked_fill(hidden, float("-inf")).softmax(dim=-1) @ v


def split_heads(x, heads):
    """[batch, seq, heads x head_dim] -> [batch, heads, seq, head_dim]"""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).flatten(-2)


# --- GPT-2: A. Radford et al. 2019, section 2.3 --------------------------------------------------


def gpt2_logits(weights, config, ids):
    """ids [batch, seq] -> logits [batch, seq, vocabulary]"""
    width, epsilon = config["n_embd"], config["layer_norm_epsilon"]

    def linear(name, x):
        return x @ weights[name + ".weight"] + weights[name + ".bias"]

    def norm(name, x):
        scale, shift = weights[name + ".weight"], weights[name + ".bias"]
        return F.layer_norm(x, (width,), scale, shift, epsilon)

    table = weights["transformer.wte.weight"]
    x = table[ids] + weights["transformer.wpe.weight"][: ids.shape[1]]
    for layer in range(config["n_layer"]):
        name = f"transformer.h.{layer}."
        joined = linear(name + "attn.c_attn", norm(name + "ln_1", x))
        q, k, v = (split_heads(part, config["n_head"]) for part in joined.split(width, dim=-1))
        x = x + linear(name + "attn.c_proj", join_heads(causal_attention(q, k, v)))
        inner = F.gelu(linear(name + "mlp.c_fc", norm(name + "ln_2", x)), approximate="tanh")
        x = x + linear(name + "mlp.c_proj", inner)
    return norm("transformer.ln_f", x) @ table.T


# --- Llama: H. Touvron et al., arXiv 2302.13971, 2307.09288 (grouped-query attention) -----------


def rotate(x, base):
    """J. Su et al., arXiv 2104.09864, with element i of a head turned against i + head_dim / 2."""
    seq, head_dim = x.shape[-2:]
    frequencies = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.arange(seq, dtype=torch.float64)[:, None] * frequencies
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def llama_logits(weights, config, ids):
    """ids [batch, seq] -> logits [batch, seq, vocabulary]"""
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    window = config.get("sliding_window")

    def linear(name, x):
        return F.linear(x, weights[name + ".weight"])

    def norm(name, x):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x * (mean_square + config["rms_norm_eps"]).rsqrt() * weights[name + ".weight"]

    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        name = f"model.layers.{layer}."
        normed = norm(name + "input_layernorm", x)
        q = split_heads(linear(name + "self_attn.q_proj", normed), heads)
        k = split_heads(linear(name + "self_attn.k_proj", normed), groups)
        v = split_heads(linear(name + "self_attn.v_proj", normed), groups)
        q, k = rotate(q, config["rope_theta"]), rotate(k, config["rope_theta"])
        k, v = (x_.repeat_interleave(heads // groups, dim=1) for x_ in (k, v))
        attended = join_heads(causal_attention(q, k, v, window))
        x = x + linear(name + "self_attn.o_proj", attended)
        normed = norm(name + "post_attention_layernorm", x)
        gate = F.silu(linear(name + "mlp.gate_proj", normed))
        x = x + linear(name + "mlp.down_proj", gate * linear(name + "mlp.up_proj", normed))
    return linear("lm_head", norm("model.norm", x))


LOGITS = {"gpt2": gpt2_logits, "llama": llama_logits, "mistral": llama_logits}
