// dst = src, 16 bytes per work-item; what is left of the size is copied by the last one, singly.
__kernel void copy(const ulong bytes, __global const uchar* restrict src,
                   __global uchar* restrict dst) {
  const ulong at = (ulong)get_global_id(0) * 16;
  if (at + 16 <= bytes) {
    vstore16(vload16(0, src + at), 0, dst + at);
  } else {
    for (ulong i = at; i < bytes; ++i) dst[i] = src[i];
  }
}
