#!/usr/bin/python3
"""Writes torch_reference.txt: what torch.optim does to a few fp32 weights (Debian 12's python3-torch).

Each case is a line `case NAME OPTIMIZER LR BETA1 BETA2 EPSILON DECAY`, the weights at the start, and
for each step the gradients and the weights after it. Numbers are C99 hexadecimal, so exact.
"""
import sys

import torch

ELEMENTS, STEPS = 11, 6


def line(word, values):
    print(word, *(float(value).hex() for value in values))


def run(name, kind, lr, beta1, beta2, epsilon, decay, scale):
    generator = torch.Generator().manual_seed(7)
    weight = torch.nn.Parameter(torch.randn(ELEMENTS, generator=generator))
    if kind == "adamw":
        optimizer = torch.optim.AdamW([weight], lr=lr, betas=(beta1, beta2), eps=epsilon,
                                      weight_decay=decay)
    else:
        optimizer = torch.optim.SGD([weight], lr=lr, momentum=beta1, weight_decay=decay)
    print("case", name, kind, *(value.hex() for value in (lr, beta1, beta2, epsilon, decay)))
    line("weight", weight.tolist())
    for step in range(STEPS):
        weight.grad = scale * torch.randn(ELEMENTS, generator=generator)
        if step == 2:
            weight.grad[3] = 0
        line("gradient", weight.grad.tolist())
        optimizer.step()
        line("weight", weight.tolist())


print("# Written by torch_reference.py with torch", torch.__version__, "on Python",
      sys.version.split()[0])
run("usual", "adamw", 1e-3, 0.9, 0.95, 1e-8, 0.1, 1.0)
run("no_decay", "adamw", 3e-4, 0.9, 0.999, 1e-8, 0.0, 1.0)
run("large_epsilon", "adamw", 1e-2, 0.8, 0.99, 1e-3, 0.01, 1e-3)
run("momentum", "sgd", 1e-2, 0.9, 0.0, 0.0, 0.0, 1.0)
run("momentum_and_decay", "sgd", 1e-1, 0.5, 0.0, 0.0, 0.1, 1.0)
