// A QEMU plugin that lets the emulated Cortex-A76 count what QEMU itself does not, so that
// there is an oracle for the whole way of a counter: kernel, perf event, probe, recording.
//
//   0x08 inst_retired          instructions (QEMU has it with -icount only)
//   0x13 mem_access            loads and stores
//   0x24 stall_backend         10 cycles for each access that reaches L3, 60 for each that misses it: invented
//   0x2a l3d_cache_refill      lines brought into L3
//   0x37 ll_cache_miss_rd      the same, by loads
//
// Caches: per CPU L1D 64 KiB of 4 ways and L2 512 KiB of 8 ways, one L3 of 3 MiB and 12 ways for all;
// 64-byte lines, least recently used out first, by virtual address, inclusive of nothing. Not an A76's
// timing, but counts that can be computed by hand.
//
// QEMU has no interface for this: the plugin finds its table of events (`pm_events` in
// target/arm/helper.c) by its contents before the CPUs are made, and rewrites it. QEMU 7.2 and 10.0.

#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// The part of qemu-plugin.h that is used; its types are opaque here.
typedef uint64_t PluginId;
typedef uint32_t MemInfo;
struct Block;
struct Insn;
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };
void         qemu_plugin_register_vcpu_tb_trans_cb(PluginId, void (*)(PluginId, struct Block *));
size_t       qemu_plugin_tb_n_insns(const struct Block *);
struct Insn *qemu_plugin_tb_get_insn(const struct Block *, size_t);
void         qemu_plugin_register_vcpu_tb_exec_cb(struct Block *, void (*)(unsigned, void *), int, void *);
void         qemu_plugin_register_vcpu_mem_cb(struct Insn *, void (*)(unsigned, MemInfo, uint64_t, void *), int, int, void *);
bool         qemu_plugin_mem_is_store(MemInfo);
unsigned     qemu_plugin_mem_size_shift(MemInfo);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { MAX_CPUS = 16, LINE_BITS = 6 };

static struct Counts {
    uint64_t instructions, accesses, l3_accesses, l3_refills, l3_read_misses;
    char     own_cache_line[24];
} counts[MAX_CPUS] __attribute__((aligned(64)));

// --- the cache model ---

enum { L1_SETS = 256, L1_WAYS = 4, L2_SETS = 1024, L2_WAYS = 8, L3_SETS = 4096, L3_WAYS = 12 };
static uint64_t l1[MAX_CPUS][L1_SETS][L1_WAYS], l2[MAX_CPUS][L2_SETS][L2_WAYS], l3[L3_SETS][L3_WAYS];

// Is the line in the set? It is the most recently used one afterwards, in either case.
static bool look_up(uint64_t * set, int ways, uint64_t line) {
    int  at  = 0;
    while (at < ways - 1 && set[at] != line) {
        at++;
    }
    const bool hit = set[at] == line;
    memmove(set + 1, set, (size_t) at * sizeof *set);
    set[0] = line;
    return hit;
}

static void on_access(unsigned cpu, MemInfo info, uint64_t address, void * unused) {
    (void) unused;
    struct Counts * c = &counts[cpu % MAX_CPUS];
    c->accesses++;
    const uint64_t last = (address + (1u << qemu_plugin_mem_size_shift(info)) - 1) >> LINE_BITS;
    for (uint64_t line = address >> LINE_BITS; line <= last; line++) {
        if (look_up(l1[cpu % MAX_CPUS][line % L1_SETS], L1_WAYS, line) || look_up(l2[cpu % MAX_CPUS][line % L2_SETS], L2_WAYS, line)) {
            continue;
        }
        c->l3_accesses++;
        if (look_up(l3[line % L3_SETS], L3_WAYS, line)) { // CPUs race for it: a line may be counted once more
            continue;
        }
        c->l3_refills++;
        c->l3_read_misses += !qemu_plugin_mem_is_store(info);
    }
}

// --- which CPU asks ---

// QEMU reads a counter with the CPU's state as argument, in the thread of that CPU or, for
// another's, by that state alone.
static __thread int this_cpu = -1;
static void *       states[MAX_CPUS];

static int cpu_of(void * state) {
    if (this_cpu >= 0) {
        states[this_cpu] = state;
        return this_cpu;
    }
    for (int i = 0; i < MAX_CPUS; i++) {
        if (states[i] == state) {
            return i;
        }
    }
    return -1;
}

static void on_block(unsigned cpu, void * n_instructions) {
    this_cpu = (int) (cpu % MAX_CPUS);
    counts[this_cpu].instructions += (uintptr_t) n_instructions;
}

static void on_translation(PluginId id, struct Block * block) {
    (void) id;
    const size_t n = qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, NO_REGISTERS, (void *) n);
    for (size_t i = 0; i < n; i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access, NO_REGISTERS, LOADS_AND_STORES, NULL);
    }
}

// --- QEMU's table of events ---

struct Event {
    uint16_t number;
    bool (*supported)(void *);
    uint64_t (*count)(void *);
    int64_t (*ns_per_count)(uint64_t);
};

static bool    always(void * state) { (void) state; return true; }
static int64_t no_overflow_timer(uint64_t count) { (void) count; return -1; }

#define COUNT(NAME, VALUE)                         \
    static uint64_t NAME(void * state) {           \
        const int             cpu = cpu_of(state); \
        const struct Counts * c   = &counts[cpu < 0 ? 0 : cpu]; \
        return cpu < 0 ? 0 : (VALUE);              \
    }
COUNT(instructions, c->instructions)
COUNT(accesses, c->accesses)
COUNT(refills, c->l3_refills)
COUNT(read_misses, c->l3_read_misses)
COUNT(stalls, c->l3_refills * 60 + (c->l3_accesses - c->l3_refills) * 10)

enum { N_EVENTS = 6 };
static const uint16_t qemus[N_EVENTS] = { 0x00, 0x08, 0x11, 0x23, 0x24, 0x3c };

static bool is_table(const struct Event * t) {
    for (int i = 0; i < N_EVENTS; i++) {
        if (t[i].number != qemus[i] || !t[i].supported || !t[i].count || !t[i].ns_per_count) {
            return false;
        }
    }
    return true;
}

// Cycles (0x11) and stall_frontend (0x23) stay QEMU's.
static void rewrite(struct Event * t) {
    mprotect((void *) ((uintptr_t) t & ~4095ul), 8192, PROT_READ | PROT_WRITE);
    t[0] = (struct Event) { 0x2a, always, refills, no_overflow_timer };
    t[1] = (struct Event) { 0x08, always, instructions, no_overflow_timer };
    t[3] = (struct Event) { 0x13, always, accesses, no_overflow_timer };
    t[4] = (struct Event) { 0x24, always, stalls, no_overflow_timer };
    t[5] = (struct Event) { 0x37, always, read_misses, no_overflow_timer };
}

static int search(struct dl_phdr_info * object, size_t size, void * found) {
    (void) size;
    const char * name = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;
    if (object->dlpi_name && *object->dlpi_name && (!name || strncmp(name, "/qemu-system", 12))) {
        return 0;
    }
    for (int p = 0; p < object->dlpi_phnum; p++) {
        const ElfW(Phdr) * h = &object->dlpi_phdr[p];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_W)) {
            continue;
        }
        const uintptr_t start = (object->dlpi_addr + h->p_vaddr + 7) & ~7ul;
        const uintptr_t end   = object->dlpi_addr + h->p_vaddr + h->p_memsz;
        for (uintptr_t at = start; at + N_EVENTS * sizeof(struct Event) <= end; at += 8) {
            if (is_table((struct Event *) at)) {
                rewrite((struct Event *) at);
                *(bool *) found = true;
                return 1;
            }
        }
    }
    return 0;
}

__attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void * info, int argc, char ** argv) {
    (void) info, (void) argc, (void) argv;
    bool found = false;
    dl_iterate_phdr(search, &found);
    if (!found) {
        fprintf(stderr, "pmu-plugin: the table of events was not found in this QEMU\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
