#!/usr/bin/python3
"""What Debian 12's python3-torch computes from the weights and tokens of a job.

Usage: reference.py JOB.json. The job, all paths absolute:
  precision  fp32, or bf16: forward and backward read weights rounded to bf16, all arithmetic is
             fp32, and AdamW updates the fp32 weights. So the engine's own rounding of activations
             and gradients is what remains, and not the sum of its rounding and autocast's.
  tokens     file of uint16; sequence i is the T inputs from token i T on, targets one further
  seq        T
  points     folders (config.json, model.safetensors) of weights to find logits and gradients at
  batch      the sequences of their loss; the logits are those of the first `logits` of them
  training   {weights, batches (sequences of every step), lr, min_lr, warm_up, beta1, beta2,
             epsilon, weight_decay, clip}
  out        folder for logits-K.safetensors and gradients-K.safetensors of point K, result.json:
             {torch, points [{loss}], steps [{loss, norm}]}
"""
import json
import math
import os
import sys

try:
    import numpy
    import torch
except ImportError as missing:
    sys.exit(f"{missing}: install python3-torch (scripts/packages-test.txt)")

import models
import safetensors_file


def batch_of(tokens, seq, sequences):
    """Inputs and targets, [sequences, seq] each."""
    rows = torch.stack([tokens[i * seq : i * seq + seq + 1] for i in sequences])
    return rows[:, :-1], rows[:, 1:]


class Model:
    def __init__(self, folder, precision):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.masters = safetensors_file.read(os.path.join(folder, "model.safetensors"))
        self.rounded = precision == "bf16"

    def logits_and_loss(self, ids, targets):
        """Leaves the gradient of the mean loss in the masters."""
        held = {}
        for name, master in self.masters.items():
            value = master.detach()
            if self.rounded:
                value = value.to(torch.bfloat16).to(torch.float32)
            held[name] = value.clone().requires_grad_()
        logits = models.LOGITS[self.config["model_type"]](held, self.config, ids)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        for name, weight in held.items():
            self.masters[name].grad = weight.grad
        return logits.detach(), loss.item()


def learning_rate(training, step, steps):
    """Linear warm-up to lr, then half a cosine down to min_lr at the last step; counted from 1."""
    if step <= training["warm_up"]:
        return training["lr"] * step / training["warm_up"]
    share = (step - training["warm_up"]) / (steps - training["warm_up"])
    fall = (training["lr"] - training["min_lr"]) / 2
    return training["min_lr"] + fall * (1 + math.cos(math.pi * share))


def train(model, training, tokens, seq):
    weights = list(model.masters.values())
    groups = [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": training["weight_decay"]},
        {"params": [w for w in weights if w.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(
        groups, betas=(training["beta1"], training["beta2"]), eps=training["epsilon"]
    )
    for step, sequences in enumerate(training["batches"], start=1):
        _, loss = model.logits_and_loss(*batch_of(tokens, seq, sequences))
        norm = torch.nn.utils.clip_grad_norm_(weights, training["clip"]).item()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(training, step, len(training["batches"]))
        optimizer.step()
        yield {"loss": loss, "norm": norm}


def main(job):
    tokens = torch.from_numpy(numpy.fromfile(job["tokens"], numpy.uint16).astype(numpy.int64))
    seq = job["seq"]
    result = {"torch": torch.__version__, "points": []}
    for number, folder in enumerate(job["points"]):
        model = Model(folder, job["precision"])
        logits, loss = model.logits_and_loss(*batch_of(tokens, seq, job["batch"]))
        out = os.path.join(job["out"], f"%s-{number}.safetensors")
        safetensors_file.write(out % "logits", {"logits": logits[: job["logits"]].clone()})
        gradients = {name: master.grad for name, master in model.masters.items()}
        safetensors_file.write(out % "gradients", gradients)
        result["points"].append({"loss": loss})
    training = job["training"]
    result["steps"] = list(
        train(Model(training["weights"], job["precision"]), training, tokens, seq)
    )
    with open(os.path.join(job["out"], "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as job_file:
        main(json.load(job_file))
