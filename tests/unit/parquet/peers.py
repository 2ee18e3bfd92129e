"""peers.py pyarrow|duckdb FILE: the cells of a Parquet file as its reader of that name gives them."""
import struct
import sys


def read(peer, path):
    """Names, the types' names, and columns as lists."""
    if peer == "pyarrow":
        import pyarrow.parquet
        table = pyarrow.parquet.ParquetFile(path).read()
        return table.column_names, [str(t) for t in table.schema.types], [c.to_pylist() for c in table.columns]
    import duckdb
    result = duckdb.connect().execute("select * from read_parquet(?)", [path])
    names = [d[0] for d in result.description]
    types = [str(d[1]).lower() for d in result.description]
    rows = result.fetchall()
    return names, types, [[row[i] for row in rows] for i in range(len(names))]


def shortest(form, value, kind):
    for precision in range(340):
        text = form % (precision, value)
        again = float(text)
        if kind == "float":  # pyarrow's name of 32 bits
            again = struct.unpack("f", struct.pack("f", again))[0]
        if again == value:
            return text
    raise ValueError(value)


def digits(value, kind):
    """Shortest digits that give the value again, in the shorter of both notations as C++ chooses."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    plain, scientific = shortest("%.*f", value, kind), shortest("%.*e", value, kind)
    return plain if len(plain) <= len(scientific) else scientific


def cell(value, kind):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return digits(value, kind) if isinstance(value, float) else str(value)


names, types, columns = read(sys.argv[1], sys.argv[2])
known = [{} for _ in columns]
lines = ["".join(name + "\x1f" for name in names)]
for i in range(len(columns[0]) if columns else 0):
    fields = []
    for column, kind, texts in zip(columns, types, known):
        value = column[i]
        if value not in texts:
            texts[value] = cell(value, kind)
        fields.append(texts[value] + "\x1f")
    lines.append("".join(fields))
sys.stdout.write("\n".join(lines) + "\n")
