# What the gguf package of llama.cpp reads in a file, as JSON: gguf_peer.py FILE
import json
import sys

import gguf
import numpy

reader = gguf.GGUFReader(sys.argv[1])
tensors = {}
for tensor in reader.tensors:
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float64)
    tensors[tensor.name] = {
        "type": tensor.tensor_type.name,
        "shape": [int(n) for n in tensor.shape],
        "most": float(numpy.abs(values).max()),
        "mean": float(values.mean()),
    }
architecture = reader.get_field("general.architecture").contents()
print(json.dumps({
    "architecture": architecture,
    "tokens": len(reader.get_field("tokenizer.ggml.tokens").contents()),
    "block_count": int(reader.get_field(architecture + ".block_count").contents()),
    "tensors": tensors,
}))
