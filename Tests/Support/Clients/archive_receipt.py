"""Compares the receipt of an archive with what DuckDB reads from the archive's Parquet files: archive_receipt.py FOLDER

Prints the number of rows, and ends with 1 if anything differs."""

import decimal
import hashlib
import json
import os
import sys

import duckdb

NUMBERS = ("INTEGER", "BIGINT", "SMALLINT", "DECIMAL")


def text(kind, value):
    if value is None:
        return None
    if kind == "BOOLEAN":
        return str(value).lower()
    if kind.startswith("DECIMAL"):
        return format(value, "f")
    return str(value)


def selected(kind, name, aggregate):
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"strftime({aggregate}({name}) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')"
    if kind in ("UUID", "JSON"):
        return f"{aggregate}({name}::VARCHAR)"
    return f"{aggregate}({name})"


def main(folder):
    with open(os.path.join(folder, "receipt.json")) as file:
        receipt = json.load(file)
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    source = "read_parquet('" + os.path.join(folder, "*.parquet").replace("'", "''") + "')"
    columns = {}
    for name, kind in ((row[0], row[1]) for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()):
        quoted = '"' + name.replace('"', '""') + '"'
        values = [f"count(*) - count({quoted})", selected(kind, quoted, "min"), selected(kind, quoted, "max")]
        if kind.startswith(NUMBERS):
            values.append(f"sum({quoted})")
        row = database.execute(f"SELECT {', '.join(values)} FROM {source}").fetchone()
        columns[name] = {"nulls": row[0], "min": text(kind, row[1]), "max": text(kind, row[2])}
        if len(row) == 4 and row[3] is not None:
            columns[name]["sum"] = format(decimal.Decimal(row[3]), "f")
    digest = hashlib.sha256()
    for (id,) in database.execute(f"SELECT id::VARCHAR FROM {source} ORDER BY id").fetchall():
        digest.update(f"{id}\n".encode())
    rows = database.execute(f"SELECT count(*) FROM {source}").fetchone()[0]
    own = {"rows": rows, "ids": digest.hexdigest(), "columns": columns}
    if own != receipt:
        differing = [name for name in columns if columns[name] != receipt["columns"].get(name)]
        sys.exit(f"the receipt differs: {own['rows']} rows, {own['ids']}, columns {differing}")
    print(rows)


main(sys.argv[1])
