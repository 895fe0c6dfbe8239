// nodes: the smallest real user of libllama, and a witness of what it computed.
//
// Compiled by scripts/engine.sh against the headers of the very release whose unmodified
// libraries it then drives; from b3889 (2024-10) on. It decodes a prompt of P tokens
// (ids 1..P) and then N greedily chosen ones, and can list every node of every graph in
// the order of execution, as the engine's own eval callback is asked about them. The
// callback answers "not interested" each time, so the graph still runs in one piece.
//
// Output, one line each, fields separated by tabs (times: CLOCK_MONOTONIC, ns):
//   ready  PID
//   decode CALL MODEL N_TOKENS START END NEXT_TOKEN     one call of llama_decode
//   node   CALL INDEX OP NAME TYPE NE0,NE1,NE2,NE3 [SOURCE_NAME:NE0,NE1,NE2,NE3 ...]
// `node` lines come before the `decode` line of the call they belong to.

#include "ggml-backend.h"
#include "ggml.h"
#include "llama.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <getopt.h>
#include <string>
#include <unistd.h>
#include <vector>

// The recipe looks into llama.h and ggml-backend.h and sets
//   NODES_NEW_NAMES  llama_vocab_n_tokens and its contemporaries (2025-01 and later)
//   NODES_LOAD_ALL   CPU variants are libraries loaded at run time (2024-11 and later)
#ifdef NODES_NEW_NAMES
static llama_model * load(const char * path) { return llama_model_load_from_file(path, llama_model_default_params()); }
static llama_context * make_context(llama_model * m, llama_context_params p) { return llama_init_from_model(m, p); }
static int vocab_size(const llama_model * m) { return llama_vocab_n_tokens(llama_model_get_vocab(m)); }
static void unload(llama_model * m) { llama_model_free(m); }
#else
static llama_model * load(const char * path) { return llama_load_model_from_file(path, llama_model_default_params()); }
static llama_context * make_context(llama_model * m, llama_context_params p) { return llama_new_context_with_model(m, p); }
static int vocab_size(const llama_model * m) { return llama_n_vocab(m); }
static void unload(llama_model * m) { llama_free_model(m); }
#endif

struct Session { // one loaded model and its context
    llama_model *   model;
    llama_context * ctx;
    int             n_vocab;
    int             n_past = 0;
};

struct Lister { // what the eval callback writes to
    int call  = 0;
    int index = 0;
};

static long long now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void print_ne(const ggml_tensor * t) {
    printf("%lld,%lld,%lld,%lld", (long long) t->ne[0], (long long) t->ne[1], (long long) t->ne[2], (long long) t->ne[3]);
}

static bool list_node(ggml_tensor * t, bool ask, void * user) {
    if (!ask) {
        return true;
    }
    Lister * l = static_cast<Lister *>(user);
    printf("node\t%d\t%d\t%s\t%s\t%s\t", l->call, l->index++, ggml_op_desc(t), t->name, ggml_type_name(t->type));
    print_ne(t);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (t->src[i]) {
            printf("\t%s:", t->src[i]->name);
            print_ne(t->src[i]);
        }
    }
    putchar('\n');
    return false;
}

// Decodes the tokens at the end of the context and returns the likeliest next one.
static llama_token decode(Session & s, int which, const std::vector<llama_token> & tokens, Lister & lister) {
    llama_batch batch = llama_batch_init((int) tokens.size(), 0, 1);
    for (size_t i = 0; i < tokens.size(); i++) {
        batch.token[i]     = tokens[i];
        batch.pos[i]       = s.n_past + (int) i;
        batch.n_seq_id[i]  = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i]    = i + 1 == tokens.size();
    }
    batch.n_tokens = (int) tokens.size();

    lister.index    = 0;
    const long long start  = now_ns();
    const int       status = llama_decode(s.ctx, batch);
    const long long end    = now_ns();
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
    printf("decode\t%d\t%d\t%zu\t%lld\t%lld\t%d\n", lister.call++, which, tokens.size(), start, end, best);
    return best;
}

static void quiet(ggml_log_level level, const char * text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) {
        fputs(text, stderr);
    }
}

static void usage(FILE * out) {
    fputs("nodes -m MODEL.gguf [-m OTHER.gguf ...] [-t THREADS] [-p PROMPT_TOKENS] [-n TOKENS]\n"
          "      [-c CONTEXT] [-r ROUNDS] [--list] [--pause] [--verbose]\n"
          "\n"
          "  -m  model; with several, each decode call is made for all of them in turn\n"
          "  -t  threads (1)      -p  tokens in the prompt (8)      -n  tokens to generate (8)\n"
          "  -c  context size (512, or more if needed)\n"
          "  -r  how often to decode prompt and tokens, each time further on in the context (1)\n"
          "  --list   print every node of every graph, in order\n"
          "  --pause  after loading, print `ready` and wait for a line on stdin\n",
          out);
}

int main(int argc, char ** argv) {
    std::vector<const char *> paths;
    int  n_threads = 1, n_prompt = 8, n_gen = 8, n_ctx = 512, rounds = 1;
    bool list = false, pause = false, verbose = false;
    enum { LIST = 256, PAUSE, VERBOSE };
    const option longs[] = {
        { "list", no_argument, nullptr, LIST },       { "pause", no_argument, nullptr, PAUSE },
        { "verbose", no_argument, nullptr, VERBOSE }, { "help", no_argument, nullptr, 'h' },
        { nullptr, 0, nullptr, 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "m:t:p:n:c:r:h", longs, nullptr)) != -1;) {
        switch (c) {
            case 'm': paths.push_back(optarg); break;
            case 't': n_threads = atoi(optarg); break;
            case 'p': n_prompt = atoi(optarg); break;
            case 'n': n_gen = atoi(optarg); break;
            case 'c': n_ctx = atoi(optarg); break;
            case 'r': rounds = atoi(optarg); break;
            case LIST: list = true; break;
            case PAUSE: pause = true; break;
            case VERBOSE: verbose = true; break;
            case 'h': usage(stdout); return 0;
            default: usage(stderr); return 2;
        }
    }
    if (paths.empty() || optind < argc || n_threads < 1 || n_prompt < 1 || n_gen < 0 || rounds < 1) {
        usage(stderr);
        return 2;
    }
    const int needed = rounds * (n_prompt + n_gen);

    if (!verbose) {
        llama_log_set(quiet, nullptr);
    }
#ifdef NODES_LOAD_ALL
    ggml_backend_load_all();
#endif
    llama_backend_init();

    Lister lister;
    std::vector<Session> sessions;
    for (const char * path : paths) {
        Session s{};
        s.model = load(path);
        if (!s.model) {
            fprintf(stderr, "nodes: cannot load the model '%s'\n", path);
            return 1;
        }
        llama_context_params p = llama_context_default_params();
        p.n_ctx           = (uint32_t) (n_ctx < needed ? needed : n_ctx);
        p.n_batch         = p.n_ctx;
        p.n_threads       = n_threads;
        p.n_threads_batch = n_threads;
        if (list) {
            p.cb_eval           = list_node;
            p.cb_eval_user_data = &lister;
        }
        s.ctx = make_context(s.model, p);
        if (!s.ctx) {
            fprintf(stderr, "nodes: cannot make a context of %u tokens for '%s'\n", p.n_ctx, path);
            return 1;
        }
        s.n_vocab = vocab_size(s.model);
        if (n_prompt >= s.n_vocab) {
            fprintf(stderr, "nodes: '%s' has only %d tokens, a prompt of 1..%d needs more\n", path, s.n_vocab, n_prompt);
            return 1;
        }
        sessions.push_back(s);
    }

    if (pause) {
        printf("ready\t%d\n", (int) getpid());
        fflush(stdout);
        while (int c = getchar()) {
            if (c == '\n' || c == EOF) {
                break;
            }
        }
    }

    std::vector<llama_token> prompt;
    for (int i = 1; i <= n_prompt; i++) {
        prompt.push_back(i);
    }
    std::vector<llama_token> last(sessions.size());
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i <= n_gen; i++) {
            for (size_t k = 0; k < sessions.size(); k++) {
                last[k] = decode(sessions[k], (int) k, i == 0 ? prompt : std::vector<llama_token>{ last[k] }, lister);
            }
        }
    }

    for (Session & s : sessions) {
        llama_free(s.ctx);
        unload(s.model);
    }
    llama_backend_free();
    return 0;
}
