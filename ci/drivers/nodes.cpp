// nodes: the smallest real user of libllama, and a witness of what it computed.
//
// Compiled by scripts/engine.sh against the headers of the very release whose unmodified
// libraries it then drives; from b1660 (2023-12) on. It decodes a prompt of P tokens
// (ids 1..P, or a text's) and then N greedily chosen ones, and can list every node of every graph in
// the order of execution, as the engine's own eval callback is asked about them. The
// callback answers "not interested" each time, so the graph still runs in one piece. Releases
// without that callback have the graph's struct in their headers: there the list is read when the
// engine calls ggml_graph_plan, which comes before every graph.
//
// Output, one line each, fields separated by tabs (times: CLOCK_MONOTONIC, ns):
//   ready  PID
//   decode CALL MODEL N_TOKENS START END NEXT_TOKEN MINOR_FAULTS MAJOR_FAULTS     one call of llama_decode, and the
//                                                       page faults of the process in it (getrusage)
//   node   CALL INDEX OP NAME TYPE NE0,NE1,NE2,NE3 [SOURCE_NAME:NE0,NE1,NE2,NE3 ...]
//   experts CALL NAME TOKEN ID...                        with --experts: what the router chose for a token, by the name of
//                                                       the ids' tensor, once for all products that read it
// `node` lines come before the `decode` line of the call they belong to. With --prompt the
// text goes to stderr.

#include "ggml-backend.h"
#include "ggml.h"
#include "llama.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

// The recipe looks into llama.h and ggml-backend.h and sets
//   NODES_NEW_NAMES  llama_vocab_n_tokens and its contemporaries (2025-01 and later)
//   NODES_MEMORY     llama_memory_clear (2025-06 and later)
//   NODES_KV_SELF    llama_kv_self_clear (2025-03 until then)
//   NODES_LOAD_ALL   CPU variants are libraries loaded at run time (2024-11 and later)
//   NODES_NO_CALLBACK  there is no eval callback (before 2024-02)
//   NODES_LOAD_MODE  llama_model_params::load_mode instead of use_mmap (2026-08 and later)
//   NODES_THREADPOOL  the linked library makes pools of threads (2024-08 to 2024-11)

#ifdef NODES_LOAD_MODE
static void no_mmap(llama_model_params & p) { p.load_mode = LLAMA_LOAD_MODE_NONE; }
#else
static void no_mmap(llama_model_params & p) { p.use_mmap = false; }
#endif

#ifdef NODES_NEW_NAMES
static llama_model * load(const char * path, int gpu_layers, bool map) {
    llama_model_params params = llama_model_default_params();
    if (!map) no_mmap(params);
    if (gpu_layers >= 0) params.n_gpu_layers = gpu_layers;
    return llama_model_load_from_file(path, params);
}
static llama_context * make_context(llama_model * m, llama_context_params p) { return llama_init_from_model(m, p); }
static const llama_vocab * vocab_of(const llama_model * m) { return llama_model_get_vocab(m); }
static int vocab_size(const llama_model * m) { return llama_vocab_n_tokens(vocab_of(m)); }
static void unload(llama_model * m) { llama_model_free(m); }
#else
static llama_model * load(const char * path, int gpu_layers, bool map) {
    llama_model_params params = llama_model_default_params();
    if (!map) no_mmap(params);
    if (gpu_layers >= 0) params.n_gpu_layers = gpu_layers;
    return llama_load_model_from_file(path, params);
}
static llama_context * make_context(llama_model * m, llama_context_params p) { return llama_new_context_with_model(m, p); }
static const llama_model * vocab_of(const llama_model * m) { return m; }
static int vocab_size(const llama_model * m) { return llama_n_vocab(m); }
static void unload(llama_model * m) { llama_free_model(m); }
#endif

#ifdef NODES_MEMORY
static void forget(llama_context * ctx) { llama_memory_clear(llama_get_memory(ctx), true); }
#elif defined(NODES_KV_SELF)
static void forget(llama_context * ctx) { llama_kv_self_clear(ctx); }
#else
static void forget(llama_context * ctx) { llama_kv_cache_clear(ctx); }
#endif

// Functions that have changed, by their types.
[[maybe_unused]] static void begin(void (*backend_init)()) { backend_init(); }
[[maybe_unused]] static void begin(void (*backend_init)(bool)) { backend_init(false); }

// What knows the vocabulary: the model itself, in old releases and in some functions of forks.
template <class V> static const V * words(const llama_model * m) {
    if constexpr (std::is_same_v<V, llama_model>) {
        return m;
    } else {
        return vocab_of(m);
    }
}
template <class V>
static int piece(int32_t (*f)(const V *, llama_token, char *, int32_t, int32_t, bool), const llama_model * m, llama_token t, char * to, int n) {
    return f(words<V>(m), t, to, n, 0, false);
}
template <class V>
static int piece(int32_t (*f)(const V *, llama_token, char *, int32_t, bool), const llama_model * m, llama_token t, char * to, int n) {
    return f(words<V>(m), t, to, n, false);
}
template <class V>
static int piece(int32_t (*f)(const V *, llama_token, char *, int32_t), const llama_model * m, llama_token t, char * to, int n) {
    return f(words<V>(m), t, to, n);
}
template <class V>
static int split(int32_t (*f)(const V *, const char *, int32_t, llama_token *, int32_t, bool, bool), const llama_model * m, const char * text, std::vector<llama_token> & to) {
    return f(words<V>(m), text, (int32_t) strlen(text), to.data(), (int32_t) to.size(), true, true);
}

struct Session { // one loaded model and its context
    llama_model *            model   = nullptr;
    llama_context *          ctx     = nullptr;
    int                      n_vocab = 0;
    int                      n_past  = 0;
    std::vector<llama_token> prompt;
};

// Takes the models' pages from this process before a call, so that the call has to fault them in again; with `cold`
// from the page cache as well, so that they come from the disk. A planted cause for tests of page faults.
static void evict(bool cold) {
    FILE * maps = fopen("/proc/self/maps", "r");
    char   line[4096], path[2048];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %2047[^\n]", &from, &to, path) != 3 || !strstr(path, ".gguf")) {
            continue;
        }
        madvise((void *) from, to - from, MADV_DONTNEED);
        const int fd = cold ? open(path, O_RDONLY) : -1;
        if (fd >= 0) {
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            close(fd);
        }
    }
    if (maps) {
        fclose(maps);
    }
}

struct Lister { // what the eval callback writes to
    int call  = 0;
    int index = 0;
    int evict = 0; // 1: unmap the model before every call, 2: from the page cache too
    bool experts = false; // list what the routers chose, not the nodes
    std::string choice;   // the ids' tensor whose choice was listed last
};

static long long now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void print_ne(const ggml_tensor * t) {
    printf("%lld,%lld,%lld,%lld", (long long) t->ne[0], (long long) t->ne[1], (long long) t->ne[2], (long long) t->ne[3]);
}

static void list(ggml_tensor * t, Lister * l) {
    printf("node\t%d\t%d\t%s\t%s\t%s\t", l->call, l->index++, ggml_op_desc(t), t->name, ggml_type_name(t->type));
    print_ne(t);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (t->src[i]) {
            printf("\t%s:", t->src[i]->name);
            print_ne(t->src[i]);
        }
    }
    putchar('\n');
}

#ifdef NODES_NO_CALLBACK
static Lister * listing = nullptr;

template <class Graph> Graph * first(ggml_cplan (*)(Graph *, int)); // the graph is const in some releases

// Takes the place of the engine's own, which it calls.
extern "C" ggml_cplan ggml_graph_plan(decltype(first(ggml_graph_plan)) graph, int n_threads) {
    static const auto plan = (decltype(&ggml_graph_plan)) dlsym(RTLD_NEXT, "ggml_graph_plan");
    for (int i = 0; listing && i < graph->n_nodes; i++) {
        list(graph->nodes[i], listing);
    }
    return plan(graph, n_threads);
}
static void list_into(llama_context_params &, Lister & lister) { listing = &lister; }
#else
// The ids are there once the product that works by them is done: the callback asks for that, which cuts the graph behind it.
static void list_experts(const ggml_tensor * product, Lister * l) {
    const ggml_tensor * ids = product->src[2];
    if (!ids || ids->type != GGML_TYPE_I32) {
        ids = product->src[0]; // before b2591
    }
    if (l->choice == ids->name) {
        return;
    }
    l->choice = ids->name;
    std::vector<int32_t> row((size_t) ids->ne[0]);
    for (int64_t token = 0; token < ids->ne[1]; token++) {
        ggml_backend_tensor_get(ids, row.data(), (size_t) token * ids->nb[1], row.size() * sizeof row[0]);
        printf("experts\t%d\t%s\t%lld", l->call, ids->name, (long long) token);
        for (int32_t id : row) {
            printf("\t%d", id);
        }
        putchar('\n');
    }
}

static bool list_node(ggml_tensor * t, bool ask, void * user) {
    Lister * l = static_cast<Lister *>(user);
    if (l->experts) {
        if (!ask && t->op == GGML_OP_MUL_MAT_ID) {
            list_experts(t, l);
        }
        return !ask || t->op == GGML_OP_MUL_MAT_ID;
    }
    if (ask) {
        list(t, static_cast<Lister *>(user));
    }
    return !ask;
}
static void list_into(llama_context_params & p, Lister & lister) {
    p.cb_eval           = list_node;
    p.cb_eval_user_data = &lister;
}
#endif

// Tokens for the end of the context, of which the last one has logits.
static llama_batch batch_of(const Session & s, const std::vector<llama_token> & tokens) {
    llama_batch batch = llama_batch_init((int) tokens.size(), 0, 1);
    for (size_t i = 0; i < tokens.size(); i++) {
        batch.token[i]     = tokens[i];
        batch.pos[i]       = s.n_past + (int) i;
        batch.n_seq_id[i]  = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i]    = i + 1 == tokens.size();
    }
    batch.n_tokens = (int) tokens.size();
    return batch;
}

// Decodes the tokens at the end of the context and returns the likeliest next one.
static llama_token decode(Session & s, int which, const std::vector<llama_token> & tokens, Lister & lister) {
    llama_batch batch = batch_of(s, tokens);
    lister.index    = 0;
    lister.choice.clear();
    if (lister.evict) {
        evict(lister.evict == 2);
    }
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const long long start  = now_ns();
    const int       status = llama_decode(s.ctx, batch);
    const long long end    = now_ns();
    getrusage(RUSAGE_SELF, &after);
    llama_batch_free(batch);
    if (status != 0) {
        fprintf(stderr, "nodes: llama_decode of %zu tokens at position %d failed with %d\n", tokens.size(), s.n_past, status);
        exit(1);
    }
    s.n_past += (int) tokens.size();

    const float * logits = llama_get_logits_ith(s.ctx, (int) tokens.size() - 1);
    llama_token   best   = 0;
    for (int i = 1; i < s.n_vocab; i++) {
        if (logits[i] > logits[best]) {
            best = i;
        }
    }
    printf("decode\t%d\t%d\t%zu\t%lld\t%lld\t%d\t%ld\t%ld\n", lister.call++, which, tokens.size(), start, end, best,
           after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
    return best;
}

// A call that is not printed, and a context that is empty again. Programs of llama.cpp begin with one.
static void warm_up(Session & s) {
    llama_batch batch = batch_of(s, { s.prompt[0] });
    if (llama_decode(s.ctx, batch) != 0) {
        fputs("nodes: the warm-up failed\n", stderr);
        exit(1);
    }
    llama_batch_free(batch);
    forget(s.ctx);
}

static std::vector<llama_token> tokenize(const llama_model * m, const char * text) {
    std::vector<llama_token> tokens(strlen(text) + 8);
    const int n = split(llama_tokenize, m, text, tokens);
    tokens.resize(n > 0 ? (size_t) n : 0);
    return tokens;
}

static void print_text(const llama_model * m, llama_token token) {
    char text[256];
    const int n = piece(llama_token_to_piece, m, token, text, (int) sizeof text);
    if (n > 0) {
        fwrite(text, 1, (size_t) n, stderr);
    }
}

// With NODES_STRICT=1, where OpenMP does not start the threads: they stay, each on a CPU of its own.
static void bind_threads(llama_context * c, int n) {
#ifdef NODES_THREADPOOL
    ggml_threadpool_params p = ggml_threadpool_params_default(n);
    for (int i = 0; i < n; i++) {
        p.cpumask[i] = true;
    }
    p.strict_cpu = true;
    llama_attach_threadpool(c, ggml_threadpool_new(&p), nullptr);
#else
    (void) c, (void) n;
#endif
}

static void quiet(ggml_log_level level, const char * text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) {
        fputs(text, stderr);
    }
}

static void usage(FILE * out) {
    fputs("nodes -m MODEL.gguf [-m OTHER.gguf ...] [-t THREADS] [-p PROMPT_TOKENS] [-n TOKENS]\n"
          "      [-c CONTEXT] [-g LAYERS] [-r ROUNDS [--fresh]] [--warm-up] [--prompt TEXT] [--list | --experts] [--pause] [--no-mmap] [--evict HOW] [--verbose]\n"
          "\n"
          "  -m  model; with several, each decode call is made for all of them in turn\n"
          "  -t  threads (1)      -p  tokens in the prompt (8)      -n  tokens to generate (8)\n"
          "  -c  context size (512, or more if needed)\n"
          "  -g  layers on an accelerator, where the build has one (its own default)\n"
          "  -r  how often to decode prompt and tokens, each time further on in the context (1)\n"
          "  --warm-up  decode one token first, and empty the context\n"
          "  --fresh  empty the context before each round, so that all rounds are alike\n"
          "  --prompt TEXT  decode this instead of -p tokens, and write the text to stderr\n"
          "  --no-mmap  copy the weights instead of mapping the file\n"
          "  --evict unmap|cold  before each call take the model's pages from the process; `cold`: from the page cache too\n"
          "  --list   print every node of every graph, in order\n"
          "  --experts  print what the routers of a mixture-of-experts model chose; graphs then run in pieces\n"
          "  --pause  after loading, print `ready` and wait for a line on stdin\n",
          out);
}

struct Options {
    std::vector<const char *> models;
    const char * text = nullptr;
    int  n_threads = 1, n_prompt = 8, n_gen = 8, n_ctx = 512, rounds = 1, evict = 0, gpu_layers = -1;
    bool list = false, experts = false, pause = false, verbose = false, fresh = false, no_mmap = false, warm_up = false;
};

static bool parse(int argc, char ** argv, Options & o) {
    enum { LIST = 256, PAUSE, VERBOSE, PROMPT, FRESH, EVICT, EXPERTS, NO_MMAP, WARM_UP };
    const option longs[] = {
        { "list", no_argument, nullptr, LIST },       { "pause", no_argument, nullptr, PAUSE },
        { "verbose", no_argument, nullptr, VERBOSE }, { "prompt", required_argument, nullptr, PROMPT },
        { "help", no_argument, nullptr, 'h' },        { "fresh", no_argument, nullptr, FRESH },
        { "evict", required_argument, nullptr, EVICT },  { "experts", no_argument, nullptr, EXPERTS },
        { "no-mmap", no_argument, nullptr, NO_MMAP }, { "warm-up", no_argument, nullptr, WARM_UP },
        { nullptr, 0, nullptr, 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "m:t:p:n:c:r:g:h", longs, nullptr)) != -1;) {
        switch (c) {
            case 'm': o.models.push_back(optarg); break;
            case 't': o.n_threads = atoi(optarg); break;
            case 'p': o.n_prompt = atoi(optarg); break;
            case 'n': o.n_gen = atoi(optarg); break;
            case 'c': o.n_ctx = atoi(optarg); break;
            case 'r': o.rounds = atoi(optarg); break;
            case 'g': o.gpu_layers = atoi(optarg); break;
            case PROMPT: o.text = optarg; break;
            case LIST: o.list = true; break;
            case EXPERTS: o.experts = true; break;
            case PAUSE: o.pause = true; break;
            case EVICT: o.evict = strcmp(optarg, "cold") ? 1 : 2; break;
            case NO_MMAP: o.no_mmap = true; break;
            case WARM_UP: o.warm_up = true; break;
            case FRESH: o.fresh = true; break;
            case VERBOSE: o.verbose = true; break;
            case 'h': usage(stdout); exit(0);
            default: return false;
        }
    }
    return !o.models.empty() && optind == argc && o.n_threads > 0 && o.n_prompt > 0 && o.n_gen >= 0 && o.rounds > 0;
}

static bool open_session(const char * path, const Options & o, Lister & lister, Session & s) {
    s.model = load(path, o.gpu_layers, !o.no_mmap);
    if (!s.model) {
        fprintf(stderr, "nodes: cannot load the model '%s'\n", path);
        return false;
    }
    s.n_vocab = vocab_size(s.model);
    if (o.text) {
        s.prompt = tokenize(s.model, o.text);
    } else if (o.n_prompt < s.n_vocab) {
        for (int i = 1; i <= o.n_prompt; i++) {
            s.prompt.push_back(i);
        }
    }
    if (s.prompt.empty()) {
        fprintf(stderr, "nodes: the vocabulary of '%s' (%d tokens) cannot make that prompt\n", path, s.n_vocab);
        return false;
    }
    const int            needed = (o.fresh ? 1 : o.rounds) * ((int) s.prompt.size() + o.n_gen);
    llama_context_params p      = llama_context_default_params();
    p.n_ctx                     = (uint32_t) (o.n_ctx < needed ? needed : o.n_ctx);
    p.n_batch                   = p.n_ctx;
    p.n_threads                 = o.n_threads;
    p.n_threads_batch           = o.n_threads;
    lister.experts = o.experts;
    if (o.list || o.experts) {
        list_into(p, lister);
    }
    s.ctx = make_context(s.model, p);
    if (!s.ctx) {
        fprintf(stderr, "nodes: cannot make a context of %u tokens for '%s'\n", p.n_ctx, path);
        return false;
    }
    if (getenv("NODES_STRICT")) {
        bind_threads(s.ctx, o.n_threads);
    }
    return true;
}

static void wait_for_a_line() {
    printf("ready\t%d\n", (int) getpid());
    fflush(stdout);
    for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
    }
}

// One round: every session's prompt, then n_gen times every session's next token.
static void run_round(std::vector<Session> & sessions, const Options & o, Lister & lister) {
    std::vector<llama_token> last(sessions.size());
    for (int i = 0; i <= o.n_gen; i++) {
        for (size_t k = 0; k < sessions.size(); k++) {
            Session & s = sessions[k];
            last[k]     = decode(s, (int) k, i == 0 ? s.prompt : std::vector<llama_token>{ last[k] }, lister);
            if (o.text && i < o.n_gen) {
                print_text(s.model, last[k]);
            }
        }
    }
}

int main(int argc, char ** argv) {
    Options o;
    if (!parse(argc, argv, o)) {
        usage(stderr);
        return 2;
    }
#ifdef NODES_NO_CALLBACK
    if (o.experts) {
        fputs("nodes: this release has no callback that could tell the experts\n", stderr);
        return 2;
    }
#endif
    if (!o.list && !o.experts) {
        setvbuf(stdout, nullptr, _IOLBF, 0); // whoever measures reads along
    }
    if (!o.verbose) {
        llama_log_set(quiet, nullptr);
    }
#ifdef NODES_LOAD_ALL
    ggml_backend_load_all();
#endif
    begin(llama_backend_init);

    Lister               lister;
    lister.evict = o.evict;
    std::vector<Session> sessions(o.models.size());
    for (size_t k = 0; k < sessions.size(); k++) {
        if (!open_session(o.models[k], o, lister, sessions[k])) {
            return 1;
        }
    }
    if (o.pause) {
        wait_for_a_line();
    }
    for (size_t k = 0; o.warm_up && k < sessions.size(); k++) {
        warm_up(sessions[k]);
    }
    if (o.text) {
        fputs(o.text, stderr);
    }
    for (int r = 0; r < o.rounds; r++) {
        for (size_t k = 0; o.fresh && k < sessions.size(); k++) {
            forget(sessions[k].ctx);
            sessions[k].n_past = 0;
        }
        run_round(sessions, o, lister);
    }
    if (o.text) {
        fputc('\n', stderr);
    }
    for (Session & s : sessions) {
        llama_free(s.ctx);
        unload(s.model);
    }
    llama_backend_free();
    return 0;
}
