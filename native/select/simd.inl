// Bit masks from vectors: the few things compilers do not find by themselves.

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
    const __m256i v =
        _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + 8 * i)), bias);
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

// Position of the k-th set bit (k from 0) of a word that has more than k.
FX_INLINE int select_bit(u64 word, int k) {
#if defined(__BMI2__)
  return std::countr_zero(_pdep_u64(u64{1} << k, word));
#else
  for (; k > 0; --k) word &= word - 1;
  return std::countr_zero(word);
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
