#!/usr/bin/env python3
"""make.py OUT: files of pyarrow, DuckDB and Polars with the table of tests/unit/parquet/formula_table.hpp."""
import sys

import duckdb
import polars
import pyarrow
import pyarrow.parquet

out, rows = sys.argv[1], range(300)
schema = pyarrow.schema([("flag", pyarrow.bool_()), ("small", pyarrow.int32()), ("wide", pyarrow.int64()),
                         ("single", pyarrow.float32()), ("real", pyarrow.float64()), ("name", pyarrow.string()),
                         ("gap", pyarrow.int64()), ("note", pyarrow.string())])
table = pyarrow.table(dict(
    flag=[k % 3 == 0 for k in rows],
    small=[k * 7 - 100 for k in rows],
    wide=[(k * k - 50) * 1000000007 for k in rows],
    single=[k / 8 for k in rows],
    real=[k / 7 for k in rows],
    name=["kernel_%d" % (k % 5) for k in rows],
    gap=[None if k % 4 == 1 else k for k in rows],
    note=[None if k % 3 == 2 else "n%d" % k for k in rows]), schema=schema)


def write(name, **options):
    pyarrow.parquet.write_table(table, f"{out}/{name}.parquet", store_schema=False, **options)


write("pyarrow_snappy_dictionary", compression="snappy", row_group_size=128)
write("pyarrow_plain", compression="none", use_dictionary=False, write_statistics=False)
write("pyarrow_zstd_v2", compression="zstd", data_page_version="2.0", data_page_size=256)
write("pyarrow_gzip", compression="gzip", version="1.0")
write("pyarrow_delta_split", compression="none", use_dictionary=False, data_page_version="2.0", write_statistics=False,
      column_encoding=dict(flag="RLE", small="DELTA_BINARY_PACKED", wide="DELTA_BINARY_PACKED",
                           single="BYTE_STREAM_SPLIT", real="BYTE_STREAM_SPLIT", name="DELTA_LENGTH_BYTE_ARRAY",
                           gap="DELTA_BINARY_PACKED", note="DELTA_LENGTH_BYTE_ARRAY"))
database = duckdb.connect()
database.register("formula", table)
for name, options in (("snappy", "compression snappy"), ("v2_zstd", "compression zstd, parquet_version v2")):
    database.execute(f"copy formula to '{out}/duckdb_{name}.parquet' (format parquet, {options})")
frame = polars.from_arrow(table)
frame.write_parquet(f"{out}/polars_zstd.parquet", compression="zstd", statistics=False)
frame.write_parquet(f"{out}/polars_plain.parquet", compression="uncompressed", data_page_size=300, row_group_size=100,
                    statistics=False)
# What is refused.
nested = pyarrow.table({"m": [1, 2], "shape": [[1, 2], [3]]})
pyarrow.parquet.write_table(nested, f"{out}/refused_list.parquet", store_schema=False)
struct = pyarrow.table({"m": [1, 2], "shape": [{"a": 1}, {"a": 2}]})
pyarrow.parquet.write_table(struct, f"{out}/refused_struct.parquet", store_schema=False)
pyarrow.parquet.write_table(table.select(["name"]), f"{out}/refused_encoding.parquet", compression="none",
                            use_dictionary=False, column_encoding={"name": "DELTA_BYTE_ARRAY"}, store_schema=False)
pyarrow.parquet.write_table(table.select(["small"]), f"{out}/refused_codec.parquet", compression="brotli",
                            store_schema=False)
database.execute(f"copy (select 1.5::decimal(9, 2) as price) to '{out}/refused_decimal.parquet' (format parquet)")
