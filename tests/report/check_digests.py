"""check_digests.py FILE: exits 0 when every digest in a results file is that of what stands there, 77 when there is no xxhash
(Debian: python3-xxhash), else 1. Written from docs/results-schema.md alone, as another program would be."""
import json
import struct
import sys

try:
    from xxhash import xxh3_128_hexdigest
except ImportError:
    sys.exit(77)


def canonical(value):
    if value is None:
        return b"n"
    if value is True:
        return b"t"
    if value is False:
        return b"f"
    if isinstance(value, int) and abs(value) > 2**53:
        return b"u" + struct.pack("<Q", value % 2**64)
    if isinstance(value, (int, float)):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode()
        return b"s" + struct.pack("<Q", len(text)) + text
    if isinstance(value, list):
        return b"[" + struct.pack("<Q", len(value)) + b"".join(map(canonical, value))
    members = sorted(value.items(), key=lambda member: member[0].encode())
    return b"{" + struct.pack("<Q", len(members)) + b"".join(canonical(name) + canonical(inner) for name, inner in members)


def digest(value):
    return xxh3_128_hexdigest(canonical(value))


def without(line, name):
    return {key: value for key, value in line.items() if key != name}


def row_digests(row):
    weighing = row["weighing"]
    parts = {name: digest(value) for name, value in weighing.items() if isinstance(value, (dict, list))}
    parts["settings"] = digest({name: value for name, value in weighing.items() if not isinstance(value, (dict, list))})
    parts["screened"] = digest(row["screened"])
    parts["row"] = digest(dict(parts, model=row["model"], projection=row["projection"]))
    return parts


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header, *rows, footer = map(json.loads, file)
    right = header["digest"] == digest(without(header, "digest"))
    right = right and all(row["digest"] == row_digests(row) for row in rows)
    lines = [header["digest"]] + [row["digest"]["row"] for row in rows]
    return 0 if right and footer["digest"] == digest([lines, without(footer, "digest")]) else 1


if __name__ == "__main__":
    sys.exit(main())
