// clblast: a graph of an unmodified GGML whose operators on the CPU call ggml_cl_mul_mat and ggml_cl_mul, as those of llama.cpp
// with CLBlast did up to b3065.
//
// No such build runs here. The graph, its threads and its operators are the real engine's; custom operators take the
// place of MUL_MAT and MUL, and functions of this program, with the names and arguments of CLBlast's, compute the products on
// the processor, on the first of the operator's threads, while the others wait.
//
//   clblast ROUNDS
// computes the graph so often and compares the result with its own. Output, fields separated by tabs:
//   node   0 INDEX OP NAME TYPE NE0,NE1,NE2,NE3 [SOURCE_NAME:NE0,NE1,NE2,NE3 ...]    as the driver `nodes` has it
//   called SYMBOL COUNT
// Products of the node `sleepy` take 2 ms longer.

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#define EXPORTED __attribute__((visibility("default"), noipa))

enum { SIZE = 64, ROWS = 3, LAYERS = 4 };

static long products, multiplications;

extern "C" EXPORTED void ggml_cl_mul_mat(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst, void *, size_t) {
    products++;
    if (!strcmp(dst->name, "sleepy")) {
        usleep(2000);
    }
    for (int j = 0; j < ROWS; j++) {
        for (int i = 0; i < SIZE; i++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++) {
                sum += ((float *) src0->data)[i * SIZE + k] * ((float *) src1->data)[j * SIZE + k];
            }
            ((float *) dst->data)[j * SIZE + i] = sum;
        }
    }
}

extern "C" EXPORTED void ggml_cl_mul(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst) {
    multiplications++;
    for (int i = 0; i < SIZE * ROWS; i++) {
        ((float *) dst->data)[i] = ((float *) src0->data)[i] * ((float *) src1->data)[i];
    }
}

static void mul_mat(ggml_tensor * dst, const ggml_tensor * a, const ggml_tensor * b, int ith, int, void *) {
    if (ith == 0) {
        ggml_cl_mul_mat(a, b, dst, nullptr, 0);
    }
}

static void mul(ggml_tensor * dst, const ggml_tensor * a, const ggml_tensor * b, int ith, int, void *) {
    if (ith == 0) {
        ggml_cl_mul(a, b, dst);
    }
}

static void list(const ggml_tensor * t, int index) {
    printf("node\t0\t%d\t%s\t%s\t%s", index, ggml_op_desc(t), t->name, ggml_type_name(t->type));
    printf("\t%lld,%lld,%lld,%lld", (long long) t->ne[0], (long long) t->ne[1], (long long) t->ne[2], (long long) t->ne[3]);
    for (int i = 0; i < GGML_MAX_SRC && t->src[i]; i++) {
        const ggml_tensor * s = t->src[i];
        printf("\t%s:%lld,%lld,%lld,%lld", s->name, (long long) s->ne[0], (long long) s->ne[1], (long long) s->ne[2], (long long) s->ne[3]);
    }
    putchar('\n');
}

static ggml_tensor * named(ggml_tensor * t, const char * format, int layer) {
    ggml_format_name(t, format, layer);
    return t;
}

// x ← relu(W·x ∘ x), on paper.
static std::vector<float> reference(const std::vector<float> & w, std::vector<float> x) {
    for (int layer = 0; layer < LAYERS; layer++) {
        std::vector<float> y(x.size());
        for (int j = 0; j < ROWS; j++) {
            for (int i = 0; i < SIZE; i++) {
                double sum = 0;
                for (int k = 0; k < SIZE; k++) {
                    sum += (double) w[i * SIZE + k] * x[j * SIZE + k];
                }
                y[j * SIZE + i] = (float) std::fmax(0, sum * x[j * SIZE + i]);
            }
        }
        x = y;
    }
    return x;
}

int main(int argc, char ** argv) {
    const int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 1) {
        fputs("clblast ROUNDS\n", stderr);
        return 2;
    }
    ggml_log_set([](ggml_log_level, const char *, void *) {}, nullptr); // what fails is said by what follows
    ggml_backend_load_all();
    ggml_backend_t cpu = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr);
    if (!cpu) {
        fputs("clblast: the engine has no CPU backend\n", stderr);
        return 1;
    }
    auto set_threads = (ggml_backend_set_n_threads_t) ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(ggml_backend_get_device(cpu)), "ggml_backend_set_n_threads");
    set_threads(cpu, 2);

    ggml_init_params memory = { 1 << 20, nullptr, true };
    ggml_context *   ctx    = ggml_init(memory);
    ggml_tensor *    w      = named(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, SIZE, SIZE), "w.weight", 0);
    ggml_tensor *    input  = named(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, SIZE, ROWS), "input", 0);
    ggml_set_input(w);
    ggml_set_input(input);
    ggml_cgraph * graph = ggml_new_graph(ctx);
    ggml_tensor * x     = input;
    for (int layer = 0; layer < LAYERS; layer++) {
        ggml_tensor * product = ggml_map_custom2(ctx, w, x, mul_mat, GGML_N_TASKS_MAX, nullptr);
        // A custom operator's result is like its first source: here a square, of which the first rows are used.
        named(product, layer == 1 ? "sleepy" : "product-%d", layer);
        ggml_tensor * rows = named(ggml_view_2d(ctx, product, SIZE, ROWS, product->nb[1], 0), "rows-%d", layer);
        ggml_tensor * scaled = named(ggml_map_custom2(ctx, rows, x, mul, GGML_N_TASKS_MAX, nullptr), "scaled-%d", layer);
        x                  = named(ggml_relu(ctx, scaled), "relu-%d", layer);
    }
    ggml_set_output(x);
    ggml_build_forward_expand(graph, x);
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        list(ggml_graph_node(graph, i), i);
    }

    ggml_backend_sched_t sched = ggml_backend_sched_new(&cpu, nullptr, 1, GGML_DEFAULT_GRAPH_SIZE, false, false);
    if (!ggml_backend_sched_alloc_graph(sched, graph)) {
        fputs("clblast: the engine could not allocate the graph\n", stderr);
        return 1;
    }
    std::vector<float> weights(SIZE * SIZE), start(SIZE * ROWS), result(SIZE * ROWS);
    for (size_t i = 0; i < weights.size(); i++) {
        weights[i] = 0.1f * std::sin((float) i);
    }
    for (size_t i = 0; i < start.size(); i++) {
        start[i] = 1 + 0.5f * std::cos((float) i);
    }
    const std::vector<float> expected = reference(weights, start);
    for (int r = 0; r < rounds; r++) {
        ggml_backend_tensor_set(w, weights.data(), 0, ggml_nbytes(w));
        ggml_backend_tensor_set(input, start.data(), 0, ggml_nbytes(input));
        if (ggml_backend_sched_graph_compute(sched, graph) != GGML_STATUS_SUCCESS) {
            fputs("clblast: the engine could not compute the graph\n", stderr);
            return 1;
        }
        ggml_backend_tensor_get(x, result.data(), 0, ggml_nbytes(x));
        for (size_t i = 0; i < result.size(); i++) {
            if (std::fabs(result[i] - expected[i]) > 1e-3f * (1 + std::fabs(expected[i]))) {
                fprintf(stderr, "clblast: element %zu is %g instead of %g\n", i, result[i], expected[i]);
                return 1;
            }
        }
    }
    printf("called\tggml_cl_mul_mat\t%ld\ncalled\tggml_cl_mul\t%ld\n", products, multiplications);
    ggml_backend_sched_free(sched);
    ggml_free(ctx);
    ggml_backend_free(cpu);
    return 0;
}
