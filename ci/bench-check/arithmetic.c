/* Multiply-accumulate, reading and copying as a compiler makes it of plain loops with vector types, for ci/bench-check.sh: GOP/s or
 * GB/s of one thread.
 *
 *   arithmetic int8|f32|read|copy MILLISECONDS [BYTES]
 *
 * Accumulators are independent and stay in registers; the factors change in ways that the compiler cannot foresee. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

enum { ACC = 12, ROUNDS = 4096, BETWEEN_LOOKS = 1 << 20 };

/* Each accumulator is a variable, because a compiler leaves an array on the stack. */
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)

#if defined(__AVX512VNNI__)
#define WAY "AVX512-VNNI"
#define KEEP "v"
typedef __m512i ints;
typedef float floats __attribute__((vector_size(64)));
#define PRODUCT(acc) acc = _mm512_dpbusd_epi32(acc, a, b)
#elif defined(__AVX2__)
#define WAY "AVX2"
#define KEEP "x"
typedef __m256i ints;
typedef float floats __attribute__((vector_size(32)));
/* The factor changes as far as the compiler knows, so that the product is not taken out of the loop. */
#define PRODUCT(acc) \
	__asm__("" : "+x"(a)); \
	acc = _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)))
#elif defined(__ARM_FEATURE_DOTPROD)
#define WAY "sdot"
#define KEEP "w"
typedef int8x16_t ints;
typedef float floats __attribute__((vector_size(16)));
#define PRODUCT(acc) acc = (ints)vdotq_s32((int32x4_t)acc, a, b)
#else
#error "no int8 instructions: compile with -march=native"
#endif

#define ZERO(i) acc##i = (__typeof__(acc##i)){0};
#define STORE(i) memcpy((char *)out + i * sizeof(acc##i), &acc##i, sizeof(acc##i));
#define INTS(i) ints acc##i;
#define FLOATS(i) floats acc##i;
#define DOT(i) PRODUCT(acc##i); __asm__("" : "+" KEEP(acc##i));
#define FMA(i) acc##i += a * b; __asm__("" : "+" KEEP(acc##i)); /* one instruction, by -ffp-contract=fast */

/* Multiplications and additions of one call. */
static double int8(const void *x, void *out)
{
	ints a, b;
	EACH(INTS)

	memcpy(&a, x, sizeof(a));
	memcpy(&b, (const char *)x + 64, sizeof(b));
	EACH(ZERO)
	for (int r = 0; r < ROUNDS; r++) {
		EACH(DOT)
	}
	EACH(STORE)
	return 2.0 * sizeof(ints) * ACC * ROUNDS;
}

static double f32(const void *x, void *out)
{
	floats a, b;
	EACH(FLOATS)

	memcpy(&a, x, sizeof(a));
	memcpy(&b, (const char *)x + 64, sizeof(b));
	EACH(ZERO)
	for (int r = 0; r < ROUNDS; r++) {
		EACH(FMA)
	}
	EACH(STORE)
	return 2.0 * (sizeof(floats) / 4) * ACC * ROUNDS;
}

/* Bytes of one pass; a sum as STREAM would do it without its store, in as many parts as there are accumulators. */
typedef uint64_t words __attribute__((vector_size(sizeof(ints))));
#define WORDS(i) words acc##i;
#define ADD(i) acc##i += v[i];
#define SUM(i) total += acc##i;

static double read_all(const void *from, size_t bytes, void *out)
{
	words total = {0};
	EACH(WORDS)

	EACH(ZERO)
	const words *v = from, *end = v + bytes / sizeof(words) / ACC * ACC;
	for (; v < end; v += ACC) {
		EACH(ADD)
	}
	EACH(SUM)
	memcpy(out, &total, sizeof(total));
	return (double)((const char *)end - (const char *)from);
}

/* Bytes copied from the first half to the second, past the cache where there are instructions for it. */
static double copy_half(void *memory, size_t bytes)
{
	size_t n = bytes / 2 / sizeof(ints);
	const ints *from = memory;
	ints *to = (ints *)memory + n;

	for (size_t i = 0; i < n; i++) {
#if defined(__AVX512VNNI__)
		_mm512_stream_si512(to + i, from[i]);
#elif defined(__AVX2__)
		_mm256_stream_si256(to + i, from[i]);
#else
		to[i] = from[i];
#endif
	}
	return (double)(n * sizeof(ints));
}

int main(int argc, char **argv)
{
	static int8_t bytes[128];
	static float numbers[32];
	static char out[64 * ACC];
	const char *what = argc > 2 ? argv[1] : "";
	double length = argc > 2 ? atof(argv[2]) / 1e3 : 0, work = 0, begun;
	size_t bytes_of = argc > 3 ? strtoull(argv[3], NULL, 10) / 4096 * 4096 : 0;
	uint64_t *memory = NULL;

	if (bytes_of) {
		memory = aligned_alloc(4096, bytes_of);
		if (!memory)
			return 1;
		for (size_t i = 0; i < bytes_of / 8; i++)
			memory[i] = i * 0x9e3779b97f4a7c15u;
	}
	for (int i = 0; i < 128; i++)
		bytes[i] = (int8_t)(1 + i % 7);
	for (int i = 0; i < 32; i++)
		numbers[i] = (float)(argc + i) / 64;
	for (int warm = 1; warm >= 0; warm--) {
		double share = warm ? length / 5 : length;

		work = 0;
		begun = seconds();
		do {
			if (!strcmp(what, "int8"))
				work += int8(bytes, out);
			else if (!strcmp(what, "f32"))
				work += f32(numbers, out);
			else if (!strcmp(what, "read") && bytes_of)
				/* A look at the clock takes as long as reading some KB of a cache. */
				for (size_t done = 0; done < BETWEEN_LOOKS; done += bytes_of) {
					work += read_all(memory, bytes_of, out);
					__asm__ volatile("" : : "r"(out), "r"(memory) : "memory");
				}
			else if (!strcmp(what, "copy") && bytes_of)
				work += copy_half(memory, bytes_of);
			else
				return 2;
			__asm__ volatile("" : : "r"(out), "r"(memory) : "memory");
		} while (seconds() - begun < share);
		work /= seconds() - begun;
	}
	printf("%.3f %s\n", work / 1e9, strcmp(what, "int8") ? what : WAY);
	return 0;
}
