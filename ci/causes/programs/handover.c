// handover: the prompt in one thread of the application, tokens in another. Preloaded into an unmodified engine's program.
//
// Servers and phone apps do so. With OpenMP each of these threads gets a separate team, and with OMP_WAIT_POLICY=active the
// team that has nothing to do spins next to the other.
//   LD_PRELOAD=libhandover.so PROGRAM ...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

// llama_batch: the number of tokens, and pointers
struct batch {
    int32_t n_tokens;
    void *  rest[6];
};

static int (*decode)(void *, struct batch);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  told = PTHREAD_COND_INITIALIZER;
static struct {
    void *       context;
    struct batch batch;
    int          result, todo, done;
} prompt;

static void * reads_prompts(void * unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!prompt.todo) {
            pthread_cond_wait(&told, &lock);
        }
        prompt.todo   = 0;
        prompt.result = decode(prompt.context, prompt.batch);
        prompt.done   = 1;
        pthread_cond_broadcast(&told);
    }
    return unused;
}

int llama_decode(void * context, struct batch batch) {
    static pthread_t reader;
    if (!decode) {
        decode = (int (*)(void *, struct batch)) dlsym(RTLD_NEXT, "llama_decode");
        pthread_create(&reader, NULL, reads_prompts, NULL);
    }
    if (batch.n_tokens == 1) {
        return decode(context, batch);
    }
    pthread_mutex_lock(&lock);
    prompt.context = context;
    prompt.batch   = batch;
    prompt.done    = 0;
    prompt.todo    = 1;
    pthread_cond_broadcast(&told);
    while (!prompt.done) {
        pthread_cond_wait(&told, &lock);
    }
    const int result = prompt.result;
    pthread_mutex_unlock(&lock);
    return result;
}
