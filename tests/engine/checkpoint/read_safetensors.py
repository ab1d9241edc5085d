"""An independent reader of safetensors, as a check on what the engine writes.

Usage: read_safetensors.py FOLDER. Prints one line per tensor: its name, dtype, shape and values.
Written from the format's description (github.com/safetensors/safetensors), standard library only.
"""
import json
import os
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        assert length % 8 == 0, "the data are aligned to 8 bytes"
        header = json.loads(file.read(length))
        data = file.read()
    assert header.pop("__metadata__") == {"format": "pt"}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        count = (end - begin) // {"F32": 4, "BF16": 2}[entry["dtype"]]
        if entry["dtype"] == "F32":
            values = struct.unpack(f"<{count}f", data[begin:end])
        else:
            halves = struct.unpack(f"<{count}H", data[begin:end])
            values = struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(h << 16 for h in halves)))
        yield name, entry["dtype"], entry["shape"], values


folder = sys.argv[1]
index = os.path.join(folder, "model.safetensors.index.json")
if os.path.exists(index):
    with open(index, encoding="utf-8") as file:
        where = json.load(file)["weight_map"]
else:
    where = None
shards = sorted(set(where.values())) if where else ["model.safetensors"]
for shard in shards:
    for name, dtype, shape, values in read(os.path.join(folder, shard)):
        assert where is None or where[name] == shard
        print(name, dtype, "x".join(map(str, shape)), *(f"{v:g}" if v < 1e6 else int(v) for v in values))
