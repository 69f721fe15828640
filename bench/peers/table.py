"""Reads the RESULT lines of our binaries and of the peers from standard input and prints ratios as a Markdown table."""

import json
import sys

TIMES = ("s", "ms", "µs", "ns")
WIDE = "| {:28} | {:19} | {:>9} | {:>9} | {:>6} | {} |"


def note(found):
    """Whatever a result says beside its value."""
    return ", ".join(f"{k} {v:.6g}" for k, v in found.items() if k not in ("key", "value", "unit", "peer"))


def main():
    ours, theirs = {}, {}
    for line in sys.stdin:
        if line.startswith("RESULT "):
            found = json.loads(line[len("RESULT ") :])
            if found["peer"] == "littoral":
                ours[found["key"]] = found
            else:
                theirs.setdefault(found["key"], []).append(found)
    print(WIDE.format("work", "unit", "littoral", "peer", "ratio", "peer, and what each says"))
    print("|---|---|---:|---:|---:|---|")
    value = lambda found: f"{found['value']:.4g}"
    for key, a in ours.items():
        for b in theirs.get(key, [None]):
            if b is None:
                print(WIDE.format(key, a["unit"], value(a), "–", "–", note(a)))
                continue
            timed = a["unit"].split("/")[0] in TIMES
            ratio = f"{b['value'] / a['value']:.2f}" if timed and a["value"] > 0 else "–"
            said = f"{b['peer']}: {note(b)}; littoral: {note(a)}"
            print(WIDE.format(key, a["unit"], value(a), value(b), ratio, said))


if __name__ == "__main__":
    main()
