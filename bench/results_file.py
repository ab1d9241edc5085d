"""The CSV files of bench/results: who measured, when, and rows that compare.

Each row begins with the columns of COMMON; what follows is named by the bench and explained in
bench/results/README.md. A row is written as soon as it is measured: a run that is stopped leaves
what it has."""

import csv
import datetime
import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "results"
COMMON = ["date", "cpu", "isa", "setting", "sample", "load"]


def machine():
    """The CPU's model name, and the highest of its instruction sets that matters here."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    first = text.split("\n\n", 1)[0]
    pairs = (line.split(":", 1) for line in first.split("\n") if ":" in line)
    fields = {name.strip(): value.strip() for name, value in pairs}
    flags = fields.get("flags", "").split()
    ranked = [("amx_bf16", "amx"), ("avx512_bf16", "avx512_bf16"), ("avx512f", "avx512"),
              ("avx2", "avx2")]
    isa = next((name for flag, name in ranked if flag in flags), "other")
    return fields.get("model name", "unknown"), isa


def add_options(parser):
    """--csv FILE and --no-results, which exclude each other."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--csv", type=pathlib.Path,
                        help="the file of rows; bench/results/DATE-TIME-WHAT.csv if not given")
    choice.add_argument("--no-results", action="store_true", help="write no file")


class ResultsFile:
    """Rows of one run of a bench. `chosen` is what `add_options` has parsed; `what` names the file;
    `columns` are those after COMMON. A file that exists is refused: figures are never edited."""

    def __init__(self, chosen, what, columns):
        self.start = datetime.datetime.now()
        self.columns = columns
        self.cpu, self.isa = machine()
        self.path = None
        if not chosen.no_results:
            name = f"{self.start.strftime('%Y-%m-%d-%H%M')}-{what}.csv"
            self.path = chosen.csv or FOLDER / name
            if self.path.exists():
                raise SystemExit(f"{self.path} exists: results are never edited; name another")

    def add(self, setting, sample, load, values):
        """`sample` counts from 1; `load` is the machine's before it; `values` in the columns'
        order, numbers as Python prints six digits of them."""
        if self.path is None:
            return
        new = not self.path.exists()
        shown = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow([*COMMON, *self.columns])
            writer.writerow([self.start.date().isoformat(), self.cpu, self.isa, setting, sample,
                             f"{load:.2f}", *shown])


def load_average():
    """Over one minute: above 0 at the first sample, others were at work."""
    return os.getloadavg()[0]
