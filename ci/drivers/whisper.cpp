// whisper: a small real user of libwhisper, and a witness of what it computed.
//
// Compiled by scripts/engine.sh against the unmodified libraries it then drives. It transcribes the first seconds of a
// 16 kHz mono WAV file, one window of at most 30 seconds: the sound is encoded once, and the likeliest token is decoded until the
// model says that the text has ended, or N tokens are there. Every step is stamped with the clock of the traces.
//
// GGML's scheduler gets each of a step's graphs twice: to find memory for it, and to compute it. The first of these functions is
// defined here too, in front of the library's own, which it calls: so each graph's nodes are listed by GGML's own accessors before
// they are computed, and nothing that is traced passes through here.
//
// Output, one line each, fields separated by tabs (times: CLOCK_MONOTONIC, ns):
//   ready PID
//   node  CALL INDEX OP NAME TYPE NE0,NE1,NE2,NE3 [SOURCE_NAME:NE0,NE1,NE2,NE3 ...]
//   graph CALL STEP N_TOKENS START END       one graph of that step: from when it has its memory to the next graph, or the
//                                            end of the step; its `node` lines come before it
//   step  STEP KIND N_TOKENS N_PAST START END    one call of whisper_encode or whisper_decode
//   text  WHAT IT HEARD
// whisper's own counts and times (whisper_print_timings) go to stderr.

#include "ggml-backend.h"
#include "ggml.h"
#include "whisper.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <getopt.h>
#include <string>
#include <unistd.h>
#include <vector>

static long long now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct Witness {
    bool      list = false;
    int       call = 0, step = 0, n_tokens = 0;
    bool      in_step = false;
    long long start   = 0; // of the graph that is computed now; 0: none is
};
static Witness witness;

static void print_ne(const ggml_tensor * t) {
    printf("%lld,%lld,%lld,%lld", (long long) t->ne[0], (long long) t->ne[1], (long long) t->ne[2], (long long) t->ne[3]);
}

static void list(ggml_cgraph * graph) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const ggml_tensor * t = ggml_graph_node(graph, i);
        printf("node\t%d\t%d\t%s\t%s\t%s\t", witness.call, i, ggml_op_desc(t), t->name, ggml_type_name(t->type));
        print_ne(t);
        for (const ggml_tensor * source : t->src) {
            if (source) {
                printf("\t%s:", source->name);
                print_ne(source);
            }
        }
        putchar('\n');
    }
}

static void graph_ends() {
    if (witness.start) {
        printf("graph\t%d\t%d\t%d\t%lld\t%lld\n", witness.call++, witness.step, witness.n_tokens, witness.start, now_ns());
    }
    witness.start = 0;
}

// Takes the place of the library's own, which it calls.
extern "C" bool ggml_backend_sched_alloc_graph(ggml_backend_sched_t sched, ggml_cgraph * graph) {
    static const auto alloc = (decltype(&ggml_backend_sched_alloc_graph)) dlsym(RTLD_NEXT, "ggml_backend_sched_alloc_graph");
    if (!witness.in_step) { // while the model is loaded graphs get memory that are not computed
        return alloc(sched, graph);
    }
    graph_ends();
    if (witness.list) {
        list(graph);
    }
    const bool ok = alloc(sched, graph);
    witness.start = now_ns();
    return ok;
}

// Runs a step and says when; ends the program where the step fails.
template <class F> static void step(const char * kind, int n_tokens, int n_past, F run) {
    witness.n_tokens      = n_tokens;
    witness.in_step       = true;
    const long long start = now_ns();
    if (run() != 0) {
        fprintf(stderr, "whisper: %s of %d tokens at position %d failed\n", kind, n_tokens, n_past);
        exit(1);
    }
    graph_ends();
    witness.in_step = false;
    printf("step\t%d\t%s\t%d\t%d\t%lld\t%lld\n", witness.step++, kind, n_tokens, n_past, start, now_ns());
}

// The samples of a WAV file of 16 bits, 16 kHz and one channel.
static bool read_wav(const char * path, size_t seconds, std::vector<float> & to) {
    FILE * f = fopen(path, "rb");
    char   tag[4];
    uint32_t size = 0;
    if (!f || fseek(f, 12, SEEK_SET) != 0) {
        return false;
    }
    uint16_t format[8] = {};
    while (fread(tag, 1, 4, f) == 4 && fread(&size, 4, 1, f) == 1 && memcmp(tag, "data", 4) != 0) {
        const bool is_format = memcmp(tag, "fmt ", 4) == 0 && size >= sizeof format;
        if (is_format && fread(format, sizeof format, 1, f) != 1) {
            break;
        }
        fseek(f, (long) (size - (is_format ? sizeof format : 0)), SEEK_CUR);
    }
    // Kind, channels, rate (two words), …, bits.
    const bool fits = format[0] == 1 && format[1] == 1 && format[2] == 16000 && format[3] == 0 && format[7] == 16;
    std::vector<int16_t> samples(fits ? std::min<size_t>(size / 2, seconds * 16000) : 0);
    samples.resize(fread(samples.data(), 2, samples.size(), f));
    fclose(f);
    to.assign(samples.begin(), samples.end());
    for (float & s : to) {
        s /= 32768;
    }
    return !to.empty();
}

// The likeliest token behind the last of `n_tokens`.
static whisper_token likeliest(whisper_context * ctx, int n_tokens) {
    const float * logits = whisper_get_logits(ctx) + (size_t) (n_tokens - 1) * (size_t) whisper_n_vocab(ctx);
    whisper_token best   = 0;
    for (whisper_token t = 1; t <= whisper_token_eot(ctx); t++) { // behind it: no words
        best = logits[t] > logits[best] ? t : best;
    }
    return best;
}

static void quiet(ggml_log_level level, const char * text, void *) {
    if (level >= GGML_LOG_LEVEL_WARN || strstr(text, "whisper_print_timings")) {
        fputs(text, stderr);
    }
}

static int usage() {
    fputs("whisper -m MODEL -f SOUND.wav [-t THREADS] [-s SECONDS] [-n TOKENS] [-r ROUNDS] [--list] [--pause]\n"
          "  -s      how much of the sound (30)     -n  at most so many tokens (64)     -r  how often all of it (1)\n"
          "  --list  print every node of every graph, in order\n"
          "  --pause after loading, print `ready` and wait for a line on stdin\n",
          stderr);
    return 2;
}

int main(int argc, char ** argv) {
    const char * model = nullptr, * sound = nullptr;
    int          n_threads = 1, seconds = 30, n_max = 64, rounds = 1, pause = 0, lists = 0;
    const option longs[] = { { "list", no_argument, &lists, 1 }, { "pause", no_argument, &pause, 1 }, {} };
    for (int c; (c = getopt_long(argc, argv, "m:f:t:s:n:r:", longs, nullptr)) != -1;) {
        switch (c) {
            case 'm': model = optarg; break;
            case 'f': sound = optarg; break;
            case 't': n_threads = atoi(optarg); break;
            case 's': seconds = atoi(optarg); break;
            case 'n': n_max = atoi(optarg); break;
            case 'r': rounds = atoi(optarg); break;
            case 0: break;
            default: return usage();
        }
    }
    if (!model || !sound || optind != argc || n_threads < 1 || seconds < 1 || n_max < 1) {
        return usage();
    }
    std::vector<float> samples;
    if (!read_wav(sound, (size_t) seconds, samples)) {
        fprintf(stderr, "whisper: '%s' is no WAV file of 16 bits, 16 kHz and one channel\n", sound);
        return 1;
    }
    whisper_log_set(quiet, nullptr);
#ifdef WHISPER_LOAD_ALL
    ggml_backend_load_all();
#endif
    whisper_context_params params = whisper_context_default_params();
    params.use_gpu                = false;
    whisper_context * ctx         = whisper_init_from_file_with_params(model, params);
    if (!ctx) {
        fprintf(stderr, "whisper: cannot load the model '%s'\n", model);
        return 1;
    }
    if (pause) {
        printf("ready\t%d\n", (int) getpid());
        fflush(stdout);
        for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
        }
    }
    witness.list = lists;
    for (int r = 0; r < rounds; r++) {
        if (whisper_pcm_to_mel(ctx, samples.data(), (int) samples.size(), n_threads) != 0) {
            fprintf(stderr, "whisper: the spectrum of '%s' cannot be computed\n", sound);
            return 1;
        }
        step("encode", 0, 0, [&] { return whisper_encode(ctx, 0, n_threads); });
        const whisper_token begin = whisper_token_sot(ctx), english = whisper_token_lang(ctx, whisper_lang_id("en"));
        std::vector<whisper_token> next = { begin, english, whisper_token_transcribe(ctx), whisper_token_not(ctx) };
        std::string                text;
        for (int n_past = 0, n = 0; n < n_max; n++) {
            step("decode", (int) next.size(), n_past, [&] { return whisper_decode(ctx, next.data(), (int) next.size(), n_past, n_threads); });
            n_past += (int) next.size();
            next = { likeliest(ctx, (int) next.size()) };
            if (next[0] == whisper_token_eot(ctx)) {
                break;
            }
            text += whisper_token_to_str(ctx, next[0]);
        }
        printf("text\t%s\n", text.c_str());
    }
    whisper_print_timings(ctx);
    whisper_free(ctx);
    return 0;
}
