"""Reads what halmark export wrote with a peer's own reader, and prints what a test compares.

    python3 export_peers.py yaml|k8s|prometheus|parquet FILE
"""
import json
import sys

kind, path = sys.argv[1:3]
if kind == "yaml":
    import yaml

    print(json.dumps(yaml.safe_load(open(path)), sort_keys=True))
elif kind == "k8s":
    import kubernetes_validate
    import yaml

    kinds = []
    for document in yaml.safe_load_all(open(path)):
        kubernetes_validate.validate(document, "1.31", strict=True)
        kinds.append(document["kind"])
    print(" ".join(kinds))
elif kind == "prometheus":
    from prometheus_client.parser import text_string_to_metric_families

    families = list(text_string_to_metric_families(open(path).read()))
    print(len(families), sum(len(f.samples) for f in families))
elif kind == "parquet":
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    print(table.num_rows, " ".join(table.column_names))
