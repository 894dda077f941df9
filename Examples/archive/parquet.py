#!/usr/bin/env python3
"""Archives an expired partition as Parquet, for `sluice maintain --archive`, and writes its receipt.

Needs the packages adbc-driver-postgresql and pyarrow. Rows are streamed, so memory does not grow with the month. The
program reads the file again for the receipt, which so shows whether the file is complete. Every exception ends the
program with a status other than 0, and Sluice keeps the rows."""

import datetime
import decimal
import hashlib
import json
import os
import subprocess
import uuid

import adbc_driver_postgresql.dbapi as postgres
import pyarrow
import pyarrow.compute
import pyarrow.parquet

# Columns of other types are archived as PostgreSQL's text.
TYPES = "bool int2 int4 int8 float4 float8 numeric text varchar jsonb uuid date timestamptz".split()
BATCH_BYTES = 64 << 20

# An inexact sum is an error.
EXACT = decimal.Context(prec=1000, traps=[decimal.Inexact, decimal.InvalidOperation])


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def archive(partition, path):
    """Copies the rows to a file, and syncs it."""
    with postgres.connect("postgresql://") as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {partition} LIMIT 0")
        fields = cursor.fetch_record_batch().schema
        types = {field.name: field.metadata[b"POSTGRESQL:type"].decode() for field in fields}
        decimals = [name for name, type in types.items() if type == "numeric"]
        scale = "".join(f", max(scale({quoted(name)}))" for name in decimals)
        cursor.execute(f"SELECT count(*){scale} FROM {partition}")
        scales = dict(zip(decimals, cursor.fetchone()[1:]))
        columns = ", ".join(
            quoted(name) if type in TYPES else f"{quoted(name)}::text AS {quoted(name)}" for name, type in types.items()
        )
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES)})
        cursor.execute(f"SELECT {columns} FROM {partition}")
        rows = cursor.fetch_record_batch()
        # A number with more digits than Parquet's decimals have ends the program.
        schema = pyarrow.schema(
            pyarrow.field(
                field.name,
                pyarrow.decimal128(38, scales[field.name] or 0) if field.name in scales else field.type,
            )
            for field in rows.schema
        )
        with open(path, "wb") as file:
            with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
                for batch in rows:
                    arrays = [
                        storage(array).cast(field.type) if field.name in scales else array
                        for array, field in zip(batch.columns, schema)
                    ]
                    writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            file.flush()
            os.fsync(file.fileno())


def storage(array):
    """The values of an array, without what only their type says about them."""
    return array.storage if isinstance(array, pyarrow.ExtensionArray) else array


class Column:
    """What the receipt states of a column."""

    def __init__(self):
        self.nulls, self.least, self.greatest, self.sum = 0, None, None, None

    def add(self, array):
        self.nulls += array.null_count
        if array.null_count == len(array):
            return
        values = storage(array)
        limits = pyarrow.compute.min_max(values).as_py()
        least, greatest = limits["min"], limits["max"]
        self.least = least if self.least is None else min(self.least, least)
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        if pyarrow.types.is_integer(values.type):
            values = values.cast(pyarrow.decimal128(38, 0))
        if pyarrow.types.is_decimal(values.type):
            self.sum = EXACT.add(self.sum or decimal.Decimal(0), pyarrow.compute.sum(values).as_py())

    def stated(self):
        limits = {"nulls": self.nulls, "min": text(self.least), "max": text(self.greatest)}
        return limits if self.sum is None else limits | {"sum": text(self.sum)}


def text(value):
    """A value as Sluice compares it."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case decimal.Decimal():
            return format(value, "f")
        case datetime.datetime():
            return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case bytes():
            return str(uuid.UUID(bytes=value))
        case _:
            return str(value)


def receipt(path, folder):
    """Reads the file, and states what is in it."""
    rows, columns = 0, {}
    # Sorts on disk what does not fit into its memory.
    command = ["sort", "-S", "256M", "-T", folder]
    sort = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"LC_ALL": "C"})
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            rows += batch.num_rows
            for name, array in zip(batch.schema.names, batch.columns):
                columns.setdefault(name, Column()).add(array)
            ids = storage(batch.column("id")).to_pylist()
            sort.stdin.write("".join(f"{uuid.UUID(bytes=id)}\n" for id in ids).encode())
        names = file.schema_arrow.names
    sort.stdin.close()
    digest = hashlib.sha256()
    while chunk := sort.stdout.read(1 << 20):
        digest.update(chunk)
    if sort.wait() != 0:
        raise RuntimeError("sort failed")
    return {
        "rows": rows,
        "ids": digest.hexdigest(),
        "columns": {name: columns.get(name, Column()).stated() for name in names},
    }


def main():
    folder = os.environ["SLUICE_ARCHIVE_FOLDER"]
    path = os.path.join(folder, "events.parquet")
    archive(os.environ["SLUICE_ARCHIVE_PARTITION"], path)
    with open(os.path.join(folder, "receipt.json"), "w") as file:
        json.dump(receipt(path, folder), file, indent=2)
        file.flush()
        os.fsync(file.fileno())


main()
