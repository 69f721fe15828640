"""Reads the RESULT lines of our binaries and of the peers from standard input and prints ratios as a Markdown table."""

import json
import sys

WIDE = "| {:28} | {:19} | {:>9} | {:>9} | {:>6} | {} |"


def note(found):
    """Whatever a result says beside its value."""
    return ", ".join(f"{k} {v:.6g}" for k, v in found.items() if k not in ("key", "value", "unit", "peer"))


def main():
    ours, theirs = {}, {}
    for line in sys.stdin:
        if line.startswith("RESULT "):
            found = json.loads(line[len("RESULT ") :])
            (ours if found["peer"] == "littoral" else theirs)[found["key"]] = found
    print(WIDE.format("work", "unit", "littoral", "peer", "ratio", "peer, and what each says"))
    print("|---|---|---:|---:|---:|---|")
    for key, a in ours.items():
        b = theirs.get(key)
        value = lambda found: f"{found['value']:.4g}"
        if b is None:
            print(WIDE.format(key, a["unit"], value(a), "–", "–", note(a)))
            continue
        ratio = f"{b['value'] / a['value']:.2f}" if a["value"] > 0 else "–"
        said = f"{b['peer']}: {note(b)}; littoral: {note(a)}"
        print(WIDE.format(key, a["unit"], value(a), value(b), ratio, said))


if __name__ == "__main__":
    main()
