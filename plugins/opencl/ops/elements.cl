// Stands in front of every kernel below: element types by name, and vectors of them as floats.
// SRC_KIND and DST_KIND are F32, BF16, F16, S8 or S32. 16-bit floats are storage: loads widen them
// to float, stores round to nearest, ties to even; f16 needs nothing of cl_khr_fp16 for that.

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

#define TYPE_F32 float
#define TYPE_BF16 ushort
#define TYPE_F16 half
#define TYPE_S8 char
#define TYPE_S32 int
#define SRC CAT(TYPE_, SRC_KIND)
#define DST CAT(TYPE_, DST_KIND)

// Elements as bits, for kernels that move them unread.
#define BITS_F32 uint
#define BITS_BF16 ushort
#define BITS_F16 ushort
#define BITS_S8 uchar
#define SRC_BITS CAT(BITS_, SRC_KIND)

// What products are summed in.
#define SUM_F32 float
#define SUM_BF16 float
#define SUM_F16 float
#define SUM_S8 int
#define SUM CAT(SUM_, SRC_KIND)

#define LOAD1_F32(p, i) (p)[i]
#define LOAD1_BF16(p, i) as_float((uint)(p)[i] << 16)
#define LOAD1_F16(p, i) vload_half(i, p)
#define LOAD1_S8(p, i) (int)(p)[i]
#define LOAD1_S32(p, i) (float)(p)[i]
#define LOAD1(p, i) CAT(LOAD1_, SRC_KIND)(p, i)

// `w` elements that begin at element i, aligned as one element is.
#define LOAD_F32(w, p, i) CAT(vload, w)(0, (p) + (i))
#define LOAD_BF16(w, p, i) \
  CAT(as_float, w)(CAT(convert_uint, w)(CAT(vload, w)(0, (p) + (i))) << 16)
#define LOAD_F16(w, p, i) CAT(vload_half, w)(0, (p) + (i))
#define LOAD_S8(w, p, i) CAT(convert_int, w)(CAT(vload, w)(0, (p) + (i)))
#define LOAD_S32(w, p, i) CAT(convert_float, w)(CAT(vload, w)(0, (p) + (i)))
#define LOAD(w, p, i) CAT(LOAD_, SRC_KIND)(w, p, i)

// A NaN keeps a set mantissa bit.
#define TO_BF16(w)                                                                   \
  CAT(ushort, w) CAT(to_bf16_, w)(CAT(float, w) value) {                             \
    const CAT(uint, w) bits = CAT(as_uint, w)(value);                                \
    const CAT(uint, w) rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;       \
    const CAT(int, w) is_nan = (bits & 0x7fffffffu) > 0x7f800000u;                   \
    return CAT(convert_ushort, w)(select(rounded, (bits >> 16) | 0x40u, is_nan));    \
  }
TO_BF16(4)
TO_BF16(8)
TO_BF16(16)
ushort to_bf16(float value) { return to_bf16_4((float4)(value)).x; }

#define STORE1_F32(v, p, i) (p)[i] = (v)
#define STORE1_BF16(v, p, i) (p)[i] = to_bf16(v)
#define STORE1_F16(v, p, i) vstore_half_rte(v, i, p)
#define STORE1_S8(v, p, i) (p)[i] = convert_char_sat_rte(v)
#define STORE1_S32(v, p, i) (p)[i] = (v)
#define STORE1(v, p, i) CAT(STORE1_, DST_KIND)(v, p, i)

#define STORE_F32(w, v, p, i) CAT(vstore, w)(v, 0, (p) + (i))
#define STORE_BF16(w, v, p, i) CAT(vstore, w)(CAT(to_bf16_, w)(v), 0, (p) + (i))
#define STORE_F16(w, v, p, i) CAT(CAT(vstore_half, w), _rte)(v, 0, (p) + (i))
#define STORE_S8(w, v, p, i) CAT(vstore, w)(CAT(CAT(convert_char, w), _sat_rte)(v), 0, (p) + (i))
#define STORE_S32(w, v, p, i) CAT(vstore, w)(v, 0, (p) + (i))
#define STORE(w, v, p, i) CAT(STORE_, DST_KIND)(w, v, p, i)
