#!/usr/bin/env python3
"""Writes docs/judges.md and docs/judges.svg from results/judges/judges.json alone.

    bench/judges/page.py [JSON] [FOLDER]"""
import json
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
EXPLAINED = """# Tare's rule and those of others, on the same data

<!-- Written by bench/judges/page.py from results/judges/judges.json: change those, not this page. -->

Region times of identical arms were recorded once (`data/traces`), and every rule was given windows of them: {runs} A/A
windows a setting (one of them is {one:.1f} %), half as many again from a block bootstrap, and windows in which the candidate's times were multiplied.
Rules that time one arm after the other got such recordings, on buffers of their own; rules that interleave got
interleaved ones. What each rule is, and where it was published: `bench/judges/README.md`.

- **false**: a faster or slower was claimed between equal arms, %: contiguous windows / bootstrapped ones.
- **missed**: the planted cost or gain was not claimed in its direction within the budget, %, by its size.
- **7 % in 15 %**: the same of a cost of 7 % in 15 % of the calls, 1 % in the mean.
- **wrong way**: claimed in the direction opposite to the planted one, %, of the effect where that was most often.
- **covers**: the 95 % interval held the truth in A/A, %; Tare's at *every* look. –: no interval.
- **seconds**: of kernel time, all arms, until a 1 % difference was claimed (median of those that claimed it).

{machine}, {date}. `{command}`
"""


def number(value, digits=0):
    return "–" if value is None else f"{value:.{digits}f}"


def false_of(figures):
    return max(figures["false_percent_real"], figures["false_percent_bootstrapped"])


def effects_of(figures):
    return [*figures["effects"].values(), figures["intermittent"]]


def row(name, rule, figures):
    # Enough digits to tell 0.3 % from 0.
    cells = [f"**{name}**" if name == "Tare" else name, rule["decided_by"],
             f"{figures['false_percent_real']:.1f} / {figures['false_percent_bootstrapped']:.1f}",
             *(number(effect["missed_percent"]) for effect in effects_of(figures)),
             number(max(effect["wrong_percent"] for effect in effects_of(figures))), number(figures.get("covers_95"), 1), number(figures["effects"]["1"]["seconds"], 3)]
    return "| " + " | ".join(cells) + " |"


def table(found, name):
    setting = found["settings"][name]
    sizes = next(iter(setting["rules"].values()))["effects"]
    trace = setting["trace"]
    threads = "1 thread" if trace["threads"] == 1 else f"{trace['threads']} threads"
    lines = [f"\n## {name}: {trace['k']}×{trace['n']}, {threads}, {trace['residency']}, neighbour: {trace['neighbour']}, "
             f"budget {setting['budget_seconds']:g} s\n",
             "| rule | decided by | false | " + " | ".join(f"missed {size} %" for size in sizes)
             + " | 7 % in 15 % | wrong way | covers | seconds |", "|---" * (len(sizes) + 7) + "|"]
    lines += [row(rule, found["rules"][rule], figures) for rule, figures in setting["rules"].items()]
    tare = setting["rules"].get("Tare")
    if tare:
        lines.append(f"\nTare found equal arms equal within 1 % in {tare['equivalent_percent']:.0f} % of the windows"
                     + (f"; nine in ten within {tare['equivalent_seconds_of_9_in_10']:.2f} s."
                        if tare["equivalent_seconds_of_9_in_10"] else "."))
    return "\n".join(lines) + "\n"


def missed_less(figures, tare):
    """The effects that a rule missed less often than Tare, with both percentages."""
    labels = [f"{size} %" for size in figures["effects"]] + ["7 % in 15 %"]
    return [f"{label} ({theirs['missed_percent']:.0f} % against {ours['missed_percent']:.0f} %)"
            for label, theirs, ours in zip(labels, effects_of(figures), effects_of(tare), strict=True)
            if theirs["missed_percent"] < ours["missed_percent"]]


def beats(found):
    """Where a rule was wrong less often than Tare, or missed less; rules that are wrong in a tenth of A/A are left out."""
    lines = []
    for name, setting in found["settings"].items():
        tare = setting["rules"].get("Tare")
        for rule, figures in setting["rules"].items():
            if tare is None or rule == "Tare" or false_of(figures) > 10:
                continue
            wrong = f"{false_of(figures):.1f} % against {false_of(tare):.1f} %"
            if false_of(figures) < false_of(tare):
                lines.append(f"- {name}: **{rule}** was wrong less often in A/A ({wrong}).")
            less = missed_less(figures, tare)
            if less:
                price = f", but was wrong more often in A/A ({wrong})" if false_of(figures) > false_of(tare) else ""
                lines.append(f"- {name}: **{rule}** missed less of {', '.join(less)}{price}.")
    return lines


def summary(found):
    lines = beats(found)
    absent = "".join(f"\n- Not run: {name} ({advice})." for name, advice in found["absent"].items())
    if "Tare" in found["absent"]:
        return f"\n## Where a peer beats Tare\n\nTare's rule was not run.\n{absent}\n"
    head = "\n".join(lines) if lines else "Nowhere: no rule was wrong less often, and none that was wrong in less than a tenth of A/A missed less."
    return f"\n## Where a peer beats Tare\n\n{head}\n{absent}"


# ---- the plot -----------------------------------------------------------------------------------
LEFT, BAR, ROW, TOP = 220, 260, 22, 56


def means(found, rule):
    every = [setting["rules"][rule] for setting in found["settings"].values()]
    return (sum(map(false_of, every)) / len(every),
            sum(figures["effects"]["1"]["missed_percent"] for figures in every) / len(every))


def bar(x, y, percent, colour):
    return (f'<rect x="{x}" y="{y}" width="{BAR * percent / 100:.1f}" height="{ROW - 8}" fill="{colour}"/>'
            f'<text x="{x + BAR * percent / 100 + 4:.1f}" y="{y + ROW - 11}">{percent:.1f}</text>')


def plot(found):
    rules = list(found["rules"])
    height, width = TOP + ROW * len(rules) + 10, LEFT + 2 * (BAR + 60)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="8" y="18" font-size="14">Wrong and blind, mean over {len(found["settings"])} settings (shorter is better)</text>',
             f'<text x="{LEFT}" y="44">equal arms called different, %</text>',
             f'<text x="{LEFT + BAR + 60}" y="44">a 1 % difference missed, %</text>']
    for index, rule in enumerate(rules):
        y = TOP + ROW * index
        wrong, missed = means(found, rule)
        weight = ' font-weight="bold"' if rule == "Tare" else ""
        lines += [f'<text x="8" y="{y + ROW - 11}"{weight}>{escape(rule)}</text>', bar(LEFT, y, wrong, "#c0392b"),
                  bar(LEFT + BAR + 60, y, missed, "#2c6fbb")]
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/judges/judges.json"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs"
    found = json.loads(source.read_text(encoding="utf-8"))
    some = next(iter(next(iter(found["settings"].values()))["rules"].values()))
    text = EXPLAINED.format(runs=some["runs_real"], one=100 / some["runs_real"], machine=found["machine"], date=found["date"],
                            command=" ".join(found["command"]))
    text += "\n![False verdicts and missed differences](judges.svg)\n" + summary(found)
    text += "".join(table(found, name) for name in found["settings"])
    (folder / "judges.md").write_text(text, encoding="utf-8")
    (folder / "judges.svg").write_text(plot(found), encoding="utf-8")


if __name__ == "__main__":
    main()
