# A small checkpoint that the gguf package of llama.cpp writes, and what its reader says of it, as
# JSON: gguf_header_peer.py FILE
import json
import sys

import gguf
import numpy

writer = gguf.GGUFWriter(sys.argv[1], "qwen3")
writer.add_block_count(2)
writer.add_head_count(4)
writer.add_head_count_kv(2)
writer.add_key_length(64)
writer.add_token_list(["a", "b", "c"])
writer.add_tensor("output_norm.weight", numpy.zeros(256, numpy.float32))
kinds = [kind for kind in gguf.GGMLQuantizationType if kind.name not in ("I8", "I16", "I32", "I64", "F64", "Q1_0")]
for i, kind in enumerate(kinds):
    block, size = gguf.GGML_QUANT_SIZES[kind]
    rows = 8 * (i + 1)
    data = numpy.zeros((rows, 256 // block * size), numpy.uint8)
    if kind.name in ("F32", "F16"):
        data = data.view(numpy.float32 if kind.name == "F32" else numpy.float16)
        writer.add_tensor(f"blk.{i % 2}.{kind.name}.weight", data)
    else:
        writer.add_tensor(f"blk.{i % 2}.{kind.name}.weight", data, raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
tensors = {
    tensor.name: [tensor.tensor_type.name, [int(n) for n in reversed(tensor.shape)], int(tensor.n_bytes)]
    for tensor in gguf.GGUFReader(sys.argv[1]).tensors
}
print(json.dumps({"tensors": tensors}))
