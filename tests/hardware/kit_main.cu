/* The program: options, the GPU's properties, parts, sessions. */
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_MORE = 3 };

static const char *const usage =
    "usage: hardware-kit --out FILE [options]\n"
    "  --part PART        micro, power, suite or all (default); may be given again\n"
    "  --resume           go on with FILE: what is in it is not measured again\n"
    "  --seconds N        begin nothing new after N seconds (default 420); exit status 3: run again with "
    "--resume\n"
    "  --only TEXT        only figures whose id has TEXT in it, such as micro/chase or suite/saxpy\n"
    "  --size SIZE        of the suite's workloads: small, default or large\n"
    "  --seed N           of their inputs (default 1)\n"
    "  --repeats N        of each launch of the suite (default 15)\n"
    "  --loop-seconds S   length of each power loop (default 4)\n"
    "  --device N         CUDA's number of the GPU (default 0)\n"
    "  --quick            few points and small sizes, which tries the kit and measures nothing\n";

struct options {
    const char *out;
    unsigned parts; /* bits, in the order of part_name */
    bool resume;
    int device;
};

static const struct {
    const char *name;
    void (*run[9])(struct kit *k);
} part[] = {
    {"micro",
     {micro_clock, micro_launch, micro_instructions, micro_shared, micro_atomic, micro_chase, micro_tlb,
      micro_bandwidth, micro_stream}},
    {"power", {power_loops}},
    {"suite", {suite}},
};
#define PARTS (sizeof part / sizeof part[0])

/* ---- items ---- */

[[noreturn]] void kit_stop(struct kit *k, const char *where, const char *text) {
    char message[600], record[1200];
    fprintf(stderr, "hardware-kit: %s%s%s: %s\n", k->item, k->item[0] ? ": " : "", where, text);
    if (k->item[0]) {
        snprintf(message, sizeof message, "%.200s: %.300s", where, text);
        char quoted[700];
        kit_json_string(quoted, sizeof quoted, message);
        snprintf(record, sizeof record, "{\"id\": \"%s\", \"kind\": \"failure\", \"message\": %s}", k->item,
                 quoted);
        kit_result_line(&k->result, k->item, record);
        if (kit_result_write(&k->result)) fprintf(stderr, "hardware-kit: --resume goes on behind it\n");
    } else if (k->added) { /* between two items: neither of them failed */
        kit_result_write(&k->result);
    }
    exit(EXIT_ERROR);
}

void kit_check(struct kit *k, cudaError_t code, const char *call) {
    if (code != cudaSuccess) kit_stop(k, call, cudaGetErrorString(code));
}

bool kit_begin_id(struct kit *k, const char *id) {
    if (kit_result_has(&k->result, id) || (k->only && !strstr(id, k->only))) return false;
    if (k->late || kit_now() - k->start > k->limit) {
        k->late = true;
        return false;
    }
    snprintf(k->item, sizeof k->item, "%s", id);
    return true;
}

bool kit_begin(struct kit *k, const char *part, const char *method, const char *parameters) {
    char id[KIT_ID_MAX];
    kit_result_figure_id(id, part, method, parameters);
    return kit_begin_id(k, id);
}

/* The item is over: an error from here on is not its own. */
static void keep(struct kit *k, bool good) {
    k->item[0] = 0;
    if (good && ++k->added >= 40) {
        good = kit_result_write(&k->result);
        k->added = 0;
    }
    if (good) return;
    fprintf(stderr, "hardware-kit: %s\n", k->result.error);
    exit(EXIT_ERROR);
}

void kit_figure(struct kit *k, const char *part, const char *method, const char *parameters, const char *unit,
                struct kit_value v) {
    printf("%s %s %s: %.6g %s (%.6g .. %.6g)\n", part, method, parameters, v.median, unit, v.low, v.high);
    fflush(stdout);
    keep(k, kit_result_figure(&k->result, part, method, parameters, unit, v));
}

void kit_record(struct kit *k, const char *id, const char *json) {
    keep(k, kit_result_line(&k->result, id, json));
}

/* ---- the GPU ---- */

static bool take_device(int device) {
    cudaError_t code = cudaSetDevice(device);
    if (code == cudaSuccess) return true;
    fprintf(stderr,
            "hardware-kit: no NVIDIA GPU %d here, or no driver of CUDA %d or later: %s\n"
            "hardware-kit: nvidia-smi shows the GPUs and the driver's version\n",
            device, CUDART_VERSION / 1000, cudaGetErrorString(code));
    return false;
}

static int attribute(struct kit *k, enum cudaDeviceAttr a, int device) {
    int v = 0;
    return cudaDeviceGetAttribute(&v, a, device) == cudaSuccess ? v : 0;
}

static void describe(struct kit *k, int device, char *out, size_t n) {
    struct cudaDeviceProp p;
    int driver = 0, runtime = 0;
    char name[300], version[120], driver_name[96];
    CHECK(k, cudaGetDeviceProperties(&p, device));
    CHECK(k, cudaDriverGetVersion(&driver));
    CHECK(k, cudaRuntimeGetVersion(&runtime));
    k->sms = p.multiProcessorCount;
    k->major = p.major;
    k->minor = p.minor;
    k->l2_bytes = (size_t)p.l2CacheSize;
    k->memory_bytes = p.totalGlobalMem;
    k->shared_per_cta = p.sharedMemPerBlockOptin;
    k->threads_per_sm = p.maxThreadsPerMultiProcessor;
    kit_nvml_driver(k->nvml, driver_name);
    kit_json_string(name, sizeof name, p.name);
    kit_json_string(version, sizeof version, driver_name);
    snprintf(out, n,
             "{\"name\": %s, \"compute_capability\": \"%d.%d\", \"sms\": %d, \"l2_bytes\": %zu, "
             "\"memory_bytes\": %zu, "
             "\"shared_per_sm_bytes\": %zu, \"shared_per_cta_bytes\": %zu, \"sm_clock_khz\": %d, "
             "\"memory_clock_khz\": %d, "
             "\"memory_bus_bits\": %d, \"power_limit_w\": %.6g, \"driver\": %s, \"cuda_driver\": %d, "
             "\"cuda_runtime\": %d}",
             name, p.major, p.minor, p.multiProcessorCount, k->l2_bytes, k->memory_bytes,
             (size_t)p.sharedMemPerMultiprocessor, k->shared_per_cta,
             attribute(k, cudaDevAttrClockRate, device), attribute(k, cudaDevAttrMemoryClockRate, device),
             attribute(k, cudaDevAttrGlobalMemoryBusWidth, device), kit_nvml_limit(k->nvml), version, driver,
             runtime);
}

static void open_nvml(struct kit *k, int device) {
    char bus[32];
    const char *why;
    CHECK(k, cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    k->nvml = kit_nvml_open(bus, &why);
    if (!k->nvml) fprintf(stderr, "hardware-kit: %s: no power, clocks or temperatures\n", why);
}

/* ---- sessions ---- */

/* One record for each run of the kit: when, how long, clocks and throttling at both ends. */
static void session(struct kit *k, const struct kit_nvml_sample *before) {
    char id[64], text[1024], when[64];
    struct kit_nvml_sample after = kit_nvml_read(k->nvml);
    time_t now = time(NULL);
    struct tm utc;
    unsigned number = 1;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    do snprintf(id, sizeof id, "session/%u", number++);
    while (kit_result_has(&k->result, id));
    snprintf(text, sizeof text,
             "{\"id\": \"%s\", \"kind\": \"session\", \"ended\": \"%s\", \"seconds\": %.3f, \"quick\": %s, "
             "\"sm_mhz\": [%u, %u], "
             "\"memory_mhz\": [%u, %u], \"temperature_c\": [%u, %u], \"throttle_reasons\": [%llu, %llu], "
             "\"energy_counter\": %s}",
             id, when, kit_now() - k->start, k->quick ? "true" : "false", before->sm_mhz, after.sm_mhz,
             before->memory_mhz, after.memory_mhz, before->temperature_c, after.temperature_c,
             (u64)before->throttle, (u64)after.throttle, after.has_energy ? "true" : "false");
    kit_record(k, id, text);
}

/* ---- options ---- */

static bool number(const char *text, double min, double max, double *out) {
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= min && v <= max)) return false;
    *out = v;
    return true;
}

static bool take_part(struct options *o, const char *name) {
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(name, part[i].name) == 0) o->parts |= 1u << i;
    if (strcmp(name, "all") == 0) o->parts = (1u << PARTS) - 1;
    return o->parts != 0;
}

static bool take_flag(struct kit *k, struct options *o, const char *name) {
    if (strcmp(name, "--resume") == 0) return o->resume = true;
    if (strcmp(name, "--quick") == 0) return k->quick = true;
    return false;
}

static bool take_value(struct kit *k, struct options *o, const char *name, const char *v) {
    double x = 0;
    if (strcmp(name, "--out") == 0) return (o->out = v) && *v;
    if (strcmp(name, "--part") == 0) return take_part(o, v);
    if (strcmp(name, "--only") == 0) return (k->only = v) != nullptr;
    if (strcmp(name, "--size") == 0) {
        k->size = v;
        return strcmp(v, "small") == 0 || strcmp(v, "default") == 0 || strcmp(v, "large") == 0;
    }
    if (strcmp(name, "--seconds") == 0) return number(v, 1, 1e6, &k->limit);
    if (strcmp(name, "--loop-seconds") == 0) return number(v, 0.1, 600, &k->power_seconds);
    if (strcmp(name, "--seed") == 0 && number(v, 0, 9e15, &x)) return k->seed = (u64)x, true;
    if (strcmp(name, "--repeats") == 0 && number(v, 1, 10000, &x)) return k->repeats = (unsigned)x, true;
    if (strcmp(name, "--device") == 0 && number(v, 0, 255, &x)) return o->device = (int)x, true;
    return false;
}

static bool parse(struct kit *k, struct options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (take_flag(k, o, argv[i])) continue;
        if (i + 1 >= argc || !take_value(k, o, argv[i], argv[i + 1])) {
            fprintf(stderr, "hardware-kit: %s: not understood\n%s", argv[i], usage);
            return false;
        }
        i++;
    }
    if (!o->parts) o->parts = (1u << PARTS) - 1;
    if (!o->out) fprintf(stderr, "hardware-kit: --out is missing\n%s", usage);
    return o->out != nullptr;
}

int main(int argc, char **argv) {
    struct kit k = {};
    struct options o = {};
    char gpu[2048];
    k.limit = 420;
    k.size = "default";
    k.seed = 1;
    k.repeats = 15;
    k.power_seconds = 4;
    if (!parse(&k, &o, argc, argv)) return EXIT_USAGE;
    k.start = kit_now();
    if (!take_device(o.device)) return EXIT_ERROR;
    open_nvml(&k, o.device);
    describe(&k, o.device, gpu, sizeof gpu);
    if (!kit_result_open(&k.result, o.out, gpu, o.resume)) {
        fprintf(stderr, "hardware-kit: %s\n", k.result.error);
        return EXIT_ERROR;
    }
    struct kit_nvml_sample before = kit_nvml_read(k.nvml);
    for (size_t i = 0; i < PARTS; i++)
        for (auto run : part[i].run)
            if (run && (o.parts & 1u << i)) run(&k);
    kit_time_end(&k);
    session(&k, &before);
    keep(&k, kit_result_write(&k.result));
    bool late = k.late;
    kit_result_free(&k.result);
    kit_nvml_close(k.nvml);
    if (late) fprintf(stderr, "hardware-kit: time is up and more is to be measured; run again with --resume\n");
    return late ? EXIT_MORE : 0;
}
