// Bits, and bit masks from vectors: the few things compilers do not find by themselves.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "flexicase/bits.hpp"
#include "flexicase/rng.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

FX_INLINE u64 nonzero_bytes64(const u8* flags) {
#if defined(__AVX512BW__)
  const __m512i v = _mm512_loadu_si512(flags);
  return _mm512_test_epi8_mask(v, v);
#elif defined(__SSE2__)
  u64 mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + 16 * i));
    const u64 zeros = static_cast<u64>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())));
    mask |= (zeros ^ 0xFFFFu) << (16 * i);
  }
  return mask;
#else
  u64 mask = 0;
  for (int i = 0; i < 64; ++i) mask |= static_cast<u64>(flags[i] != 0) << i;
  return mask;
#endif
}

FX_INLINE u64 equal_bytes64(const u8* a, const u8* b) {
#if defined(__AVX512BW__)
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
#elif defined(__SSE2__)
  u64 mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + 16 * i));
    const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + 16 * i));
    mask |= static_cast<u64>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y))) << (16 * i);
  }
  return mask;
#else
  u64 mask = 0;
  for (int i = 0; i < 64; ++i) mask |= static_cast<u64>(a[i] == b[i]) << i;
  return mask;
#endif
}

// Turns doubles that are integers from 0 to 255 into bytes; reports how many came first, in
// multiples of 8, before something else was met.
FX_INLINE i64 doubles_to_bytes(const double* x, i64 count, u8* out) {
  i64 i = 0;
#if defined(__AVX512VL__)
  for (; i + 16 <= count; i += 16) {
    const __m512d a = _mm512_loadu_pd(x + i);
    const __m512d b = _mm512_loadu_pd(x + i + 8);
    const __m256i m = _mm512_cvttpd_epi32(a);
    const __m256i n = _mm512_cvttpd_epi32(b);
    const __m512i mn = _mm512_inserti64x4(_mm512_castsi256_si512(m), n, 1);
    const __mmask8 off = static_cast<__mmask8>(_mm512_cmp_pd_mask(_mm512_cvtepi32_pd(m), a, _CMP_NEQ_UQ) |
                                               _mm512_cmp_pd_mask(_mm512_cvtepi32_pd(n), b, _CMP_NEQ_UQ));
    if ((off | _mm512_test_epi32_mask(mn, _mm512_set1_epi32(~0xFF))) != 0) break;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtepi32_epi8(mn));
  }
#elif defined(__AVX2__)
  const __m256i low_bytes = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                             -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
  for (; i + 8 <= count; i += 8) {
    const __m256d a = _mm256_loadu_pd(x + i);
    const __m256d b = _mm256_loadu_pd(x + i + 4);
    const __m128i m = _mm256_cvttpd_epi32(a);
    const __m128i n = _mm256_cvttpd_epi32(b);
    const __m256i mn = _mm256_inserti128_si256(_mm256_castsi128_si256(m), n, 1);
    const __m256d off = _mm256_or_pd(_mm256_cmp_pd(_mm256_cvtepi32_pd(m), a, _CMP_NEQ_UQ),
                                     _mm256_cmp_pd(_mm256_cvtepi32_pd(n), b, _CMP_NEQ_UQ));
    if (_mm256_movemask_pd(off) != 0 || _mm256_testz_si256(mn, _mm256_set1_epi32(~0xFF)) == 0) break;
    const __m256i packed = _mm256_shuffle_epi8(mn, low_bytes);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i),
                     _mm_or_si128(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
  }
#elif defined(__SSE2__)
  // 2^52 + v has v in the lowest bits of its mantissa, and nothing above its lowest byte changes.
  const __m128d shift = _mm_set1_pd(0x1p52);
  for (; i + 8 <= count; i += 8) {
    __m128 words[4];
    __m128d off = _mm_setzero_pd();
    __m128d changed = _mm_setzero_pd();
    for (int j = 0; j < 4; ++j) {
      const __m128d v = _mm_loadu_pd(x + i + 2 * j);
      const __m128d shifted = _mm_add_pd(v, shift);
      off = _mm_or_pd(off, _mm_cmpneq_pd(_mm_sub_pd(shifted, shift), v));
      changed = _mm_or_pd(changed, _mm_xor_pd(shifted, shift));
      words[j] = _mm_castpd_ps(shifted);
    }
    const __m128i above = _mm_andnot_si128(_mm_set1_epi64x(0xFF), _mm_castpd_si128(changed));
    const __m128i wrong = _mm_or_si128(above, _mm_castpd_si128(off));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(wrong, _mm_setzero_si128())) != 0xFFFF) break;
    const __m128i low = _mm_castps_si128(_mm_shuffle_ps(words[0], words[1], _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i high = _mm_castps_si128(_mm_shuffle_ps(words[2], words[3], _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i pairs = _mm_packs_epi32(low, high);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(pairs, pairs));
  }
#else
  static_cast<void>(x), static_cast<void>(count), static_cast<void>(out);
#endif
  return i;
}

// How many numbers are smaller than v, four vectors at a time.
FX_INLINE i64 count_below(const double* x, i64 n, double v) {
  i64 i = 0;
  u64 count = 0;
#if defined(__AVX512F__)
  const __m512d limit = _mm512_set1_pd(v);
  const __m512i one = _mm512_set1_epi64(1);
  __m512i sums[2] = {};
  for (; i + 32 <= n; i += 32) {
    for (int j = 0; j < 4; ++j) {
      const __mmask8 below = _mm512_cmp_pd_mask(_mm512_loadu_pd(x + i + 8 * j), limit, _CMP_LT_OQ);
      sums[j % 2] = _mm512_mask_add_epi64(sums[j % 2], below, sums[j % 2], one);
    }
  }
  count = static_cast<u64>(_mm512_reduce_add_epi64(_mm512_add_epi64(sums[0], sums[1])));
#elif defined(__AVX2__)
  const __m256d limit = _mm256_set1_pd(v);
  __m256i sums[2] = {};
  for (; i + 16 <= n; i += 16) {
    for (int j = 0; j < 4; ++j) {
      const __m256d below = _mm256_cmp_pd(_mm256_loadu_pd(x + i + 4 * j), limit, _CMP_LT_OQ);
      sums[j % 2] = _mm256_sub_epi64(sums[j % 2], _mm256_castpd_si256(below));
    }
  }
  alignas(32) u64 lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi64(sums[0], sums[1]));
  count = lanes[0] + lanes[1] + lanes[2] + lanes[3];
#endif
  for (; i < n; ++i) count += x[i] < v ? 1 : 0;
  return static_cast<i64>(count);
}

// Copies the numbers from `low` (above it, if strict) up to but without `high` (NaN: no limit) to
// `out`, which has room for 8 more than there are; returns how many.
template <bool strict>
FX_INLINE i64 copy_between(const double* x, i64 count, double low, double high, double* out) {
  i64 kept = 0;
  i64 i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= count; i += 8) {
    const __m512d v = _mm512_loadu_pd(x + i);
    const __mmask8 above = _mm512_cmp_pd_mask(v, _mm512_set1_pd(low), strict ? _CMP_GT_OQ : _CMP_GE_OQ);
    const __mmask8 over = _mm512_cmp_pd_mask(v, _mm512_set1_pd(high), _CMP_GE_OQ);
    const unsigned inside = above & ~static_cast<unsigned>(over);
    _mm512_storeu_pd(out + kept, _mm512_maskz_compress_pd(static_cast<__mmask8>(inside), v));
    kept += count_ones(inside);
  }
#endif
  for (; i < count; ++i) {
    out[kept] = x[i];
    kept += (strict ? x[i] > low : x[i] >= low) & !(x[i] >= high);
  }
  return kept;
}

// Which of 16 keys lie in [low, low + width).
FX_INLINE u32 keys_within16(const u32* keys, u32 low, u32 width) {
#if defined(__AVX512F__)
  const __m512i v = _mm512_sub_epi32(_mm512_loadu_si512(keys), _mm512_set1_epi32(static_cast<int>(low)));
  return _mm512_cmplt_epu32_mask(v, _mm512_set1_epi32(static_cast<int>(width)));
#elif defined(__AVX2__)
  u32 mask = 0;
  const __m256i bias = _mm256_set1_epi32(static_cast<int>(low));
  const __m256i top = _mm256_set1_epi32(static_cast<int>(width - 1));
  for (int i = 0; i < 2; ++i) {
    const __m256i v = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + 8 * i)), bias);
    const __m256i in = _mm256_cmpeq_epi32(_mm256_min_epu32(v, top), v);
    mask |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(in))) << (8 * i);
  }
  return width == 0 ? 0 : mask;
#else
  u32 mask = 0;
  for (int i = 0; i < 16; ++i) mask |= static_cast<u32>(keys[i] - low < width) << i;
  return mask;
#endif
}

// Calls word(w) for w = 0 … n-1, n a multiple of 8, and counts the bits set in what it returns.
template <class Word>
FX_INLINE i64 count_ones_of(i64 n, Word&& word) {
  i64 sum = 0;
  for (i64 start = 0; start < n; start += 8) {
    for (i64 w = start; w < start + 8; ++w) sum += count_ones(word(w));
  }
  return sum;
}

// Position of the k-th set bit (k from 0) of a word that has more than k.
FX_INLINE int select_bit(u64 word, int k) {
#if defined(__BMI2__)
  return lowest_bit(_pdep_u64(u64{1} << k, word));
#else
  for (; k > 0; --k) word &= word - 1;
  return lowest_bit(word);
#endif
}

// Turns 64 rows of 64 bits into 64 columns of 64 bits.
FX_INLINE void transpose64(u64* a) {
  u64 mask = 0x00000000FFFFFFFFu;
  for (int j = 32; j != 0; j >>= 1, mask ^= mask << j) {
    for (int base = 0; base < 64; base += 2 * j) {
      for (int k = base; k < base + j; ++k) {
        const u64 t = ((a[k] >> j) ^ a[k + j]) & mask;
        a[k] ^= t << j;
        a[k + j] ^= t;
      }
    }
  }
}

// Which of 16 keys do not exceed a limit of their own.
FX_INLINE u32 keys_up_to16(const u32* keys, const u32* limits) {
#if defined(__AVX512F__)
  return _mm512_cmple_epu32_mask(_mm512_loadu_si512(keys), _mm512_loadu_si512(limits));
#elif defined(__AVX2__)
  u32 mask = 0;
  for (int i = 0; i < 2; ++i) {
    const __m256i k = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + 8 * i));
    const __m256i l = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(limits + 8 * i));
    const __m256i within = _mm256_cmpeq_epi32(_mm256_min_epu32(k, l), k);
    mask |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(within))) << (8 * i);
  }
  return mask;
#else
  u32 mask = 0;
  for (int i = 0; i < 16; ++i) mask |= static_cast<u32>(keys[i] <= limits[i]) << i;
  return mask;
#endif
}

// Writes the keys of 16 cases and reports which of them lie below a limit.
FX_INLINE u32 case_keys16(u64 lane, u32 c, u32 limit, u32* keys) {
#if defined(__AVX512F__)
  const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i x = _mm512_add_epi32(places, _mm512_set1_epi32(static_cast<int>(c)));
  x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(0x9E3779B1u)));
  x = _mm512_add_epi32(x, _mm512_set1_epi32(static_cast<int>(lane)));
  x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  x = _mm512_mullo_epi32(x, _mm512_set1_epi32(0x7FEB352D));
  x = _mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int>(lane >> 32)));
  x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
  x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(0x846CA68Bu)));
  x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  _mm512_storeu_si512(keys, x);
  return _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32(static_cast<int>(limit)));
#else
  for (u32 i = 0; i < 16; ++i) keys[i] = case_key(lane, c + i);
  return keys_within16(keys, 0, limit);
#endif
}

// Position of the least of 16 keys, the first of them if several are equal; puts the largest key
// there. Whole vectors are written, because reading one after a partial write would stall.
FX_INLINE int take_least(u32* keys) {
#if defined(__AVX512F__)
  const __m512i v = _mm512_load_si512(keys);
  const __m512i least = _mm512_set1_epi32(static_cast<int>(_mm512_reduce_min_epu32(v)));
  const __mmask16 found = _mm512_cmpeq_epi32_mask(v, least);
  _mm512_store_si512(keys, _mm512_mask_set1_epi32(v, found, -1));
  return lowest_bit(static_cast<u32>(found));
#elif defined(__AVX2__)
  const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
  const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys + 8));
  const __m256i m = _mm256_min_epu32(a, b);
  __m128i l = _mm_min_epu32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
  l = _mm_min_epu32(l, _mm_shuffle_epi32(l, 0x4E));
  l = _mm_min_epu32(l, _mm_shuffle_epi32(l, 0xB1));
  const __m256i least = _mm256_broadcastd_epi32(l);
  const __m256i in_a = _mm256_cmpeq_epi32(a, least);
  const __m256i in_b = _mm256_cmpeq_epi32(b, least);
  _mm256_store_si256(reinterpret_cast<__m256i*>(keys), _mm256_or_si256(a, in_a));
  _mm256_store_si256(reinterpret_cast<__m256i*>(keys + 8), _mm256_or_si256(b, in_b));
  return lowest_bit(static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(in_a))) |
                    static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(in_b))) << 8);
#else
  int at = 0;
  for (int i = 1; i < 16; ++i) at = keys[i] < keys[at] ? i : at;
  keys[at] = 0xFFFFFFFFu;
  return at;
#endif
}

// Takes one off those of 16 numbers that exceed a limit; how many do not.
FX_INLINE int lower_above16(i32* x, i32 limit) {
#if defined(__AVX512F__)
  const __m512i v = _mm512_load_si512(x);
  const __mmask16 above = _mm512_cmpgt_epi32_mask(v, _mm512_set1_epi32(limit));
  _mm512_store_si512(x, _mm512_mask_sub_epi32(v, above, v, _mm512_set1_epi32(1)));
  return 16 - count_ones(static_cast<u32>(above));
#elif defined(__AVX2__)
  u32 above = 0;
  for (int i = 0; i < 2; ++i) {
    __m256i* part = reinterpret_cast<__m256i*>(x + 8 * i);
    const __m256i over = _mm256_cmpgt_epi32(*part, _mm256_set1_epi32(limit));
    *part = _mm256_add_epi32(*part, over);
    above |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(over))) << (8 * i);
  }
  return 16 - count_ones(above);
#elif defined(__SSE2__)
  __m128i over[4];
  for (int i = 0; i < 4; ++i) {
    __m128i* part = reinterpret_cast<__m128i*>(x + 4 * i);
    over[i] = _mm_cmpgt_epi32(*part, _mm_set1_epi32(limit));
    *part = _mm_add_epi32(*part, over[i]);
  }
  const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(over[0], over[1]), _mm_packs_epi32(over[2], over[3]));
  return 16 - count_ones(static_cast<u64>(_mm_movemask_epi8(bytes)));
#else
  int up_to = 0;
  for (int i = 0; i < 16; ++i) {
    const bool above = x[i] > limit;
    up_to += !above;
    x[i] -= above;
  }
  return up_to;
#endif
}

// Sorts up to `room` numbers by counting, for each, how many are smaller. Calls place(slot, i) for i = 0 … n-1 if the
// i-th number belongs at position `slot`; equal numbers keep their order. Ranks are doubles to stay in one kind of
// vector.
template <int room, class Get, class Place>
FX_INLINE void sort_by_counting(int n, Get&& get, Place&& place) {
  alignas(64) double x[room];
  alignas(64) double rank[room] = {};
  for (int i = 0; i < n; ++i) x[i] = get(i);
  for (int i = n; i < room; ++i) x[i] = infinity;
  for (int j = 0; j < n; ++j) {
    const double v = x[j];
    for (int i = 0; i < room; ++i) rank[i] += v < x[i] ? 1.0 : 0.0;
  }
  u64 taken = 0;
  for (int i = 0; i < n; ++i) {
    int slot = static_cast<int>(rank[i]);
    while ((taken >> slot & 1) != 0) ++slot;
    taken |= u64{1} << slot;
    place(slot, i);
  }
}

}  // namespace flexicase::FX_ISA
