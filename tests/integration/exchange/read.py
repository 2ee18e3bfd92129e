"""Reads an export with a library of others and prints as JSON what a test compares.

    python3 read.py csv|parquet|prometheus|otlp FILE   rows [case, metric, value], sorted
    python3 read.py perfetto FILE                      [track, its parent, slices from the outermost on]
    python3 read.py optuna FILE                        studies: a journal, or SQLite where FILE ends in .db
"""
import json
import sys


def csv_rows(path):
    import csv

    with open(path, newline="") as file:
        return [[r["name"], r["metric"], float(r["value"])] for r in csv.DictReader(file)]


def parquet_rows(path):
    import pyarrow.parquet

    return [[r["name"], r["metric"], r["value"]] for r in pyarrow.parquet.read_table(path).to_pylist()]


# Base units back to those of the tables: seconds are nanoseconds there.
def prometheus_rows(path):
    from prometheus_client.parser import text_string_to_metric_families

    out = []
    for family in text_string_to_metric_families(open(path).read()):
        assert family.type == "gauge" and family.documentation, family
        name = family.name.replace("halmark_kernel_", "").replace("halmark_deployment_", "")
        for s in family.samples:
            assert s.timestamp is None, s  # node_exporter skips a file with one
            if name.endswith("_seconds"):
                out.append([s.labels["case"], name.replace("_seconds", "_ns"), s.value * 1e9])
            else:
                out.append([s.labels["case"], name.replace("_per_second", "_per_s"), s.value])
    return out


# The parser refuses a key that the schema does not have, and a number that is no 64-bit integer.
def otlp_rows(path):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

    request = json_format.Parse(open(path).read(), metrics_service_pb2.ExportMetricsServiceRequest())
    endings = {"ns": "_ns", "By": "_bytes"}
    out = []
    for resource in request.resource_metrics:
        assert {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"] == "halmark"
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                assert metric.WhichOneof("data") == "gauge" and metric.unit, metric
                name = metric.name.split(".", 2)[2] + endings.get(metric.unit, "")
                name = "mfu_ratio" if name == "mfu" else name
                for point in metric.gauge.data_points:
                    assert point.time_unix_nano > 1_700_000_000_000_000_000, point
                    case = {a.key: a.value.string_value for a in point.attributes}["case"]
                    # Ends of intervals and counts have no row of their own in tables.
                    if "." not in name and name != "processes":
                        out.append([case, name, point.as_double])
    return out


# Begin and end pair up, inner slices lie within outer ones, and none begins before its turn.
def perfetto_tracks(path):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    trace = Trace()
    trace.ParseFromString(open(path, "rb").read())
    names, parents, slices, open_slices, now = {}, {}, {}, {}, {}
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1, packet
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in names, track
            names[track.uuid], parents[track.uuid] = track.name, track.parent_uuid
            slices[track.uuid], open_slices[track.uuid], now[track.uuid] = [], [], 0
            continue
        event = packet.track_event
        uuid = event.track_uuid
        assert packet.timestamp >= now[uuid], packet
        now[uuid] = packet.timestamp
        if event.type == event.TYPE_SLICE_BEGIN:
            notes = {a.name: getattr(a, a.WhichOneof("value")) for a in event.debug_annotations}
            depth = len(open_slices[uuid])
            new = {"name": event.name, "depth": depth, "begin": packet.timestamp, "notes": notes,
                   "categories": list(event.categories)}
            open_slices[uuid].append(new)
            slices[uuid].append(new)
        else:
            assert event.type == event.TYPE_SLICE_END, packet
            ended = open_slices[uuid].pop()
            ended["duration"] = packet.timestamp - ended.pop("begin")
    assert not any(open_slices.values()), open_slices
    return [[names[u], names[parents[u]], slices[u]] for u in names if parents[u]]


def optuna_studies(path):
    import warnings

    warnings.filterwarnings("ignore")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if path.endswith(".db"):
        storage = optuna.storages.RDBStorage("sqlite:///" + path)
    else:
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    out = []
    for name in optuna.study.get_all_study_names(storage):
        study = optuna.load_study(study_name=name, storage=storage)
        trials = [{"state": t.state.name, "values": t.values, "params": t.params, "user": t.user_attrs,
                   "started": str(t.datetime_start)} for t in study.trials]
        out.append({"name": name, "metrics": study.metric_names, "user": study.user_attrs, "trials": trials,
                    "directions": [d.name for d in study.directions],
                    "front": sorted(t.number for t in study.best_trials)})
    return out


readers = {"csv": csv_rows, "parquet": parquet_rows, "prometheus": prometheus_rows, "otlp": otlp_rows,
           "perfetto": perfetto_tracks, "optuna": optuna_studies}
kind, file = sys.argv[1:3]
found = readers[kind](file)
print(json.dumps(sorted(found) if kind not in ("perfetto", "optuna") else found, sort_keys=True))
