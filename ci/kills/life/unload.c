// unload GGML-BASE CPU-BACKEND: computes small graphs with a CPU backend that it loads, unloads at SIGUSR1 and loads again at the next.
// Prints a line for each state; ends with status 1 at a wrong result.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct init {
	size_t size;
	void *buffer;
	bool no_alloc;
};
static volatile sig_atomic_t asked;
static void ask(int signal) { (void)signal, asked = 1; }

static void *of(void *library, const char *name) {
	void *found = dlsym(library, name);
	if (!found) fprintf(stderr, "no %s\n", name), exit(2);
	return found;
}

int main(int n, char **arguments) {
	void *base = n == 3 ? dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	if (!base) return fprintf(stderr, "%s\n", n == 3 ? dlerror() : "unload GGML-BASE CPU-BACKEND"), 2;
	void *(*init)(struct init) = of(base, "ggml_init");
	void (*release)(void *) = of(base, "ggml_free");
	void *(*tensor)(void *, int, long) = of(base, "ggml_new_tensor_1d");
	void *(*add)(void *, void *, void *) = of(base, "ggml_add"), *(*graph)(void *) = of(base, "ggml_new_graph");
	void (*expand)(void *, void *) = of(base, "ggml_build_forward_expand");
	signal(SIGUSR1, ask);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (;;) {
		void *cpu = dlopen(arguments[2], RTLD_NOW);
		if (!cpu) return fprintf(stderr, "%s\n", dlerror()), 2;
		void *(*set)(void *, float) = of(cpu, "ggml_set_f32");
		float (*get)(void *, int) = of(cpu, "ggml_get_f32_1d");
		int (*compute)(void *, void *, int) = of(cpu, "ggml_graph_compute_with_ctx");
		puts("loaded");
		for (asked = 0; !asked;) {
			void *context = init((struct init){1 << 20, NULL, false});
			void *one = set(tensor(context, 0, 64), 1), *sum = one, *g = graph(context);
			for (int i = 0; i < 32; i++) sum = add(context, sum, one);
			expand(g, sum);
			if (compute(context, g, 2) != 0 || get(sum, 63) != 33) return puts("wrong"), 1;
			release(context);
		}
		dlclose(cpu);
		puts(dlopen(arguments[2], RTLD_NOW | RTLD_NOLOAD) ? "still there" : "unloaded");
		for (asked = 0; !asked;) usleep(1000);
	}
}
