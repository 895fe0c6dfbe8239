// The llama_decode calls in the output of an engine's driver (ci/drivers/nodes.cpp).
#include "kills.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A complete line of a llama_decode call; `got` is its content.
static bool parse(const char *line, struct call *got) {
	return strchr(line, '\n') && sscanf(line, "decode %*d %*d %d %*d %*d %d %*d", &got->in, &got->best) == 2;
}

struct calls calls_of(const char *path) {
	struct calls all = {0};
	char line[512];
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		struct call got;
		if (!parse(line, &got)) continue;
		all.of = need(realloc(all.of, (size_t)(all.n + 1) * sizeof *all.of));
		all.of[all.n++] = got;
	}
	if (file) fclose(file);
	return all;
}

bool compare_calls(const char *path, long *offset, long *n, const struct calls *alone) {
	char line[512];
	FILE *file = fopen(path, "r");
	if (!file) fail("%s cannot be read", path);
	long before = *n;
	fseek(file, *offset, SEEK_SET);
	while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
		struct call got, expected = alone->of[*n % alone->n];
		*offset += (long)strlen(line);
		if (!parse(line, &got)) fail("the engine wrote: %s", line);
		if (got.in != expected.in || got.best != expected.best)
			fail("call %ld of the engine: token %d instead of %d", *n, got.best, expected.best);
		++*n;
	}
	fclose(file);
	return *n > before;
}
