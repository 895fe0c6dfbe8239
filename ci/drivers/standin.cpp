// standin: a stand-in for a GGML backend whose hardware is not here, loaded into an unmodified engine.
//
// It is a backend plug-in as ggml_backend_load takes it (GGML_BACKEND_PATH names it to the engine), with the GUID and the
// function names of the real backend, and computes matrix products on the processor, correctly and slowly. What a tracer
// sees from outside is the same: whose graph it is, which function computes which node, when, on which thread.
//
//   -DOPENCL  llama.cpp's OpenCL backend: ggml_cl_compute_forward for each node
//   -DRKNN    oh-llama.cpp's RKNN backend: ggml_rk_compute_forward, in it ggml_rk_mul_mat, in it compute_submat_mul once
//             for each of two cores, the second on a thread of its own, in it rknn_matmul_run
//
// STANDIN_SLEEP=NAME makes the node of that name longer by STANDIN_SLEEP_US, 2000 if that is not set. At its end the program prints, fields separated by tabs, for
// each of these functions:
//   called SYMBOL COUNT

#include "ggml-backend.h"
#include "ggml.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/prctl.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define EXPORTED __attribute__((visibility("default"), noipa))

// How an engine sees a backend: tables of functions (ggml-backend-impl.h, version 3 of the interface), here by number.
enum { API_VERSION = 3 };
enum { BACKEND_GET_NAME = 0, BACKEND_FREE = 1, BACKEND_GRAPH_COMPUTE = 12, BACKEND_FUNCTIONS = 16 };
enum {
    DEVICE_GET_NAME, DEVICE_GET_DESCRIPTION, DEVICE_GET_MEMORY, DEVICE_GET_TYPE, DEVICE_GET_PROPS, DEVICE_INIT_BACKEND,
    DEVICE_GET_BUFFER_TYPE, DEVICE_SUPPORTS_OP = 9, DEVICE_SUPPORTS_BUFT = 10, DEVICE_FUNCTIONS = 15
};
enum { REG_GET_NAME, REG_GET_DEVICE_COUNT, REG_GET_DEVICE, REG_FUNCTIONS = 4 };
struct Backend {
    const uint8_t * guid;
    void *          functions[BACKEND_FUNCTIONS];
    void *          device;
    void *          context;
};
struct Device {
    void * functions[DEVICE_FUNCTIONS];
    void * reg;
    void * context;
};
struct Reg {
    int    api_version;
    void * functions[REG_FUNCTIONS];
    void * context;
};

struct Called { // how often a function was called; says so at the end
    const char *      symbol;
    std::atomic<long> count{ 0 };
    explicit Called(const char * s) : symbol(s) {}
    ~Called() { printf("called\t%s\t%ld\n", symbol, count.load()); }
};

static void sleep_if_named(const ggml_tensor * t) {
    static const char * name = getenv("STANDIN_SLEEP");
    if (name && !strcmp(name, t->name)) {
        static const char * set = getenv("STANDIN_SLEEP_US");
        static const long   us  = set ? atol(set) : 2000;
        // To the microsecond: Linux lets a timer be 50 us late unless it is told.
        prctl(PR_SET_TIMERSLACK, 1UL);
        timespec t = { us / 1000000, us % 1000000 * 1000 };
        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
    }
}

// Columns [from, to) of dst = src0 × src1, where columns are rows of src0.
static void multiply(const ggml_tensor * src0, const ggml_tensor * src1, ggml_tensor * dst, int64_t from, int64_t to) {
    const auto         to_float = ggml_get_type_traits(src0->type)->to_float;
    const int64_t      n        = src0->ne[0];
    std::vector<float> row(n);
    for (int64_t i3 = 0; i3 < dst->ne[3]; i3++) {
        for (int64_t i2 = 0; i2 < dst->ne[2]; i2++) {
            const int64_t j2 = i2 / (dst->ne[2] / src0->ne[2]), j3 = i3 / (dst->ne[3] / src0->ne[3]);
            for (int64_t i0 = from; i0 < to; i0++) {
                const char * a = (const char *) src0->data + i0 * src0->nb[1] + j2 * src0->nb[2] + j3 * src0->nb[3];
                if (src0->type == GGML_TYPE_F32) {
                    memcpy(row.data(), a, n * sizeof(float));
                } else {
                    to_float(a, row.data(), n);
                }
                for (int64_t i1 = 0; i1 < dst->ne[1]; i1++) {
                    const float * b = (const float *) ((const char *) src1->data + i1 * src1->nb[1] + i2 * src1->nb[2] + i3 * src1->nb[3]);
                    float sum = 0;
                    for (int64_t k = 0; k < n; k++) {
                        sum += row[k] * b[k];
                    }
                    *(float *) ((char *) dst->data + i0 * dst->nb[0] + i1 * dst->nb[1] + i2 * dst->nb[2] + i3 * dst->nb[3]) = sum;
                }
            }
        }
    }
}

#ifdef OPENCL
static const char *  NAME     = "GPUOpenCL";
static const uint8_t GUID[16] = { 0xde, 0xe0, 0x70, 0xa2, 0x73, 0x4e, 0x4d, 0xbc, 0xb0, 0xc7, 0x4f, 0xd4, 0x6d, 0x4e, 0x90, 0xfe };
static Called        forward("_Z23ggml_cl_compute_forwardP12ggml_backendP11ggml_tensor");

EXPORTED bool ggml_cl_compute_forward(ggml_backend_t, struct ggml_tensor * tensor) {
    forward.count++;
    sleep_if_named(tensor);
    multiply(tensor->src[0], tensor->src[1], tensor, 0, tensor->ne[0]);
    return true;
}
#define COMPUTE_FORWARD ggml_cl_compute_forward
#endif

#ifdef RKNN
static const char *  NAME     = "RKNN";
static const uint8_t GUID[16] = { 0xc9, 0xbd, 0xb7, 0x02, 0x49, 0x36, 0x42, 0x12, 0xaf, 0x35, 0xa2, 0x87, 0xd8, 0xc9, 0x29, 0x20 };
static Called        forward("_Z23ggml_rk_compute_forwardP12ggml_backendP11ggml_tensor");
static Called        product("ggml_rk_mul_mat");
static Called        part("compute_submat_mul");
static Called        run("rknn_matmul_run");

struct Matmul { // what the real library keeps behind its handle
    const ggml_tensor *src0, *src1;
    ggml_tensor *      dst;
    int64_t            from, to;
};

extern "C" EXPORTED int rknn_matmul_run(uint64_t ctx) {
    run.count++;
    const Matmul * m = (const Matmul *) ctx;
    multiply(m->src0, m->src1, m->dst, m->from, m->to);
    return 0;
}

extern "C" EXPORTED void compute_submat_mul(int, ggml_tensor * src_i, ggml_tensor * src_w, ggml_tensor * dst, void *, void *, void *,
                                            int64_t col_start, int64_t col_end, int, int, void *) {
    part.count++;
    Matmul m{ src_w, src_i, dst, col_start, col_end };
    rknn_matmul_run((uint64_t) &m);
}

class Core { // a thread that runs one job after the other
  public:
    Core() : thread_([this] { loop(); }) { thread_.detach(); }
    void begin(std::function<void()> job) {
        std::lock_guard<std::mutex> lock(mutex_);
        job_ = std::move(job);
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !job_; });
    }

  private:
    void loop() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return (bool) job_; });
            job_();
            job_ = nullptr;
            changed_.notify_all();
        }
    }
    std::mutex              mutex_;
    std::condition_variable changed_;
    std::function<void()>   job_;
    std::thread             thread_;
};

extern "C" EXPORTED void ggml_rk_mul_mat(int * mask, ggml_backend_t, ggml_tensor * src_w, ggml_tensor * src_i, ggml_tensor * dst, int type) {
    product.count++;
    static Core * core = new Core; // outlives the program's end
    const int64_t half = dst->ne[0] / 2;
    core->begin([=] { compute_submat_mul(*mask, src_i, src_w, dst, nullptr, nullptr, nullptr, half, dst->ne[0], 1, type, nullptr); });
    compute_submat_mul(*mask, src_i, src_w, dst, nullptr, nullptr, nullptr, 0, half, 0, type, nullptr);
    core->wait();
}

EXPORTED bool ggml_rk_compute_forward(ggml_backend_t backend, struct ggml_tensor * tensor) {
    forward.count++;
    sleep_if_named(tensor);
    int mask = 3;
    ggml_rk_mul_mat(&mask, backend, tensor->src[0], tensor->src[1], tensor, 1);
    return true;
}
#define COMPUTE_FORWARD ggml_rk_compute_forward
#endif

static bool describes_memory(const ggml_tensor * t) {
    return t->op == GGML_OP_NONE || t->op == GGML_OP_VIEW || t->op == GGML_OP_RESHAPE || t->op == GGML_OP_PERMUTE || t->op == GGML_OP_TRANSPOSE;
}

static bool supports_op(void *, const ggml_tensor * op) {
    if (describes_memory(op)) {
        return true;
    }
    // Products of weights, as far as rows lie in one piece.
    return op->op == GGML_OP_MUL_MAT && strstr(op->src[0]->name, ".weight") && op->src[1]->type == GGML_TYPE_F32 &&
           op->src[1]->nb[0] == sizeof(float) && (op->src[0]->type == GGML_TYPE_F32 || ggml_get_type_traits(op->src[0]->type)->to_float);
}

static ggml_status graph_compute(ggml_backend_t backend, ggml_cgraph * graph) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        ggml_tensor * node = ggml_graph_node(graph, i);
        if (!describes_memory(node) && !COMPUTE_FORWARD(backend, node)) {
            return GGML_STATUS_FAILED;
        }
    }
    return GGML_STATUS_SUCCESS;
}

static Reg    reg;
static Device device;

static const char * name(void *) { return NAME; }
static void         free_backend(Backend * b) { delete b; }
static void memory(void *, size_t * free, size_t * total) { *free = *total = 0; }
static enum ggml_backend_dev_type type(void *) { return GGML_BACKEND_DEVICE_TYPE_ACCEL; }
static void props(void *, ggml_backend_dev_props * p) {
    *p             = {};
    p->name        = NAME;
    p->description = "stand-in on the processor";
    p->type        = GGML_BACKEND_DEVICE_TYPE_ACCEL;
}
static ggml_backend_buffer_type_t buffer_type(void *) { return ggml_backend_cpu_buffer_type(); }
static bool   supports_buft(void *, ggml_backend_buffer_type_t buft) { return ggml_backend_buft_is_host(buft); }
static size_t device_count(void *) { return 1; }
static void * get_device(void *, size_t) { return &device; }
static Backend * init_backend(void *, const char *) {
    Backend * b                           = new Backend{};
    b->guid                               = GUID;
    b->functions[BACKEND_GET_NAME]        = (void *) name;
    b->functions[BACKEND_FREE]            = (void *) free_backend;
    b->functions[BACKEND_GRAPH_COMPUTE]   = (void *) graph_compute;
    b->device                             = &device;
    return b;
}

extern "C" EXPORTED ggml_backend_reg_t ggml_backend_init() {
    device.functions[DEVICE_GET_NAME]        = (void *) name;
    device.functions[DEVICE_GET_DESCRIPTION] = (void *) name;
    device.functions[DEVICE_GET_MEMORY]      = (void *) memory;
    device.functions[DEVICE_GET_TYPE]        = (void *) type;
    device.functions[DEVICE_GET_PROPS]       = (void *) props;
    device.functions[DEVICE_INIT_BACKEND]    = (void *) init_backend;
    device.functions[DEVICE_GET_BUFFER_TYPE] = (void *) buffer_type;
    device.functions[DEVICE_SUPPORTS_OP]     = (void *) supports_op;
    device.functions[DEVICE_SUPPORTS_BUFT]   = (void *) supports_buft;
    device.reg                               = &reg;
    reg.api_version                          = API_VERSION;
    reg.functions[REG_GET_NAME]              = (void *) name;
    reg.functions[REG_GET_DEVICE_COUNT]      = (void *) device_count;
    reg.functions[REG_GET_DEVICE]            = (void *) get_device;
    return (ggml_backend_reg_t) &reg;
}
