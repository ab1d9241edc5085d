#!/usr/bin/python3
"""Trains GPT-2 124M on this CPU with plain torch, as compact scripts in the manner of nanoGPT do.

Prints one JSON object: {torch, threads, step_seconds[], losses[], peak_rss_bytes}. Attention is
written out (matmul, masked softmax, matmul): torch 1.13 has no fused one for CPUs. bf16 is autocast
around fp32 parameters, which are then the master copy. Tokens are random: their values do not
matter to speed, and each step has others.
"""
import argparse
import json
import math
import resource
import time

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, POSITIONS, WIDTH, HEADS, LAYERS = 50257, 1024, 768, 12, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.joined = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x, later):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in self.joined(x).split(WIDTH, dim=-1))
        scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(WIDTH // HEADS))
        seen = F.softmax(scores.masked_fill(later, float("-inf")), dim=-1) @ v
        return self.output(seen.transpose(1, 2).flatten(-2))

    def forward(self, x, later):
        x = x + self.attention(self.norm1(x), later)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        later = torch.ones(POSITIONS, POSITIONS, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("later", later)

    def loss(self, ids, targets):
        seq = ids.shape[1]
        x = self.tokens(ids) + self.positions(torch.arange(seq))
        for layer in self.layers:
            x = layer(x, self.later[:seq, :seq])
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=["bf16", "fp32"], default="bf16")
    chosen = parser.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(1)
    model = Gpt2()
    weights = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [{"params": [w for w in weights if w.dim() > 1], "weight_decay": 0.1},
         {"params": [w for w in weights if w.dim() == 1], "weight_decay": 0.0}],
        lr=6e-4, betas=(0.9, 0.95), eps=1e-8)
    seconds, losses = [], []
    for _ in range(chosen.steps):
        rows = torch.randint(VOCABULARY, (chosen.batch, chosen.seq + 1))
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=chosen.precision == "bf16"):
            loss = model.loss(rows[:, :-1], rows[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - start)
        losses.append(loss.item())
    print(json.dumps({
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "step_seconds": seconds,
        "losses": losses,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }))


if __name__ == "__main__":
    main()
