/* SPDX-License-Identifier: MIT */
/* runner.c - the process in which an answer runs: takes cases from the judge, has them launched, and sends back what
   came out and what was counted. It knows neither what is right nor what the judge thinks of it. See channel.h. */
#include "channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CUSIM
#include "../../cusim/counts.h"
#endif

static struct channel channel = {.fd = CHANNEL_FD};

static void reply(enum message type, const void *data, size_t bytes)
{
    if (!channel_send(&channel, type, data, bytes))
        _exit(3); /* the judge is gone */
}

static void must(cudaError_t error, const char *what)
{
    struct message_error message = {""};

    if (error == cudaSuccess)
        return;
    snprintf(message.text, sizeof message.text, "%s: %s", what, cudaGetErrorString(error));
    reply(ERROR, &message, sizeof message);
    _exit(1);
}

/* Data of a length that is known. */
static void fetch(void *data, size_t bytes, size_t expected)
{
    if (bytes != expected || !channel_data(&channel, data, bytes))
        _exit(3);
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes + (bytes == 0));
    if (p == NULL)
        must(cudaErrorMemoryAllocation, "in the judge");
    return p;
}

/* ---- what a description (judges/NAME.c) may call ---- */

void judge_count(const char *name, double value)
{
    struct message_count count = {.value = value};

    snprintf(count.name, sizeof count.name, "%s", name);
    reply(COUNT, &count, sizeof count);
}

/* References run in the judge's process alone. */
void judge_recurrence(const size_t *size, double *const *array)
{
    (void)size, (void)array;
}

bool judge_is_first(const size_t *size, size_t i)
{
    (void)size, (void)i;
    return false;
}

double judge_minus(double a, double b)
{
    (void)b;
    return a;
}

/* ---- the arrays of a case ---- */

static size_t size[JUDGE_MAX_SIZES];
static int num_arrays;
static size_t count[JUDGE_MAX_ARRAYS]; /* elements of each array */
static float *array[JUDGE_MAX_ARRAYS]; /* what the answer gets */

/* What outputs hold before: NaN. In host memory a signalling one, which no arithmetic gives, not even with itself. */
static const uint32_t host_poison = 0xFFBFFFFFu, device_poison = 0xFFFFFFFFu;

static bool is_output(int a)
{
    return judge.arrays[a].role == JUDGE_OUTPUTS;
}

/* Whether the arrays are in memory of the host, and the runner fills and reads them itself. */
static bool is_on_host(void)
{
    return judge.on_cpu || judge.on_host;
}

static void *allocate_array(size_t bytes)
{
    void *p = NULL;

#ifdef CUSIM
    if (judge.on_host) {
        p = sim_host_array(bytes);
        must(p != NULL ? cudaSuccess : cudaErrorMemoryAllocation, "in the judge");
        return p;
    }
#endif
    if (is_on_host())
        return allocate(bytes);
    must(cudaMalloc(&p, bytes), "cudaMalloc");
    return p;
}

static void free_array(void *p)
{
#ifdef CUSIM
    if (judge.on_host) {
        sim_free_host_array(p);
        return;
    }
#endif
    if (is_on_host())
        free(p);
    else
        must(cudaFree(p), "cudaFree");
}

static void free_arrays(void)
{
    for (int a = 0; a < num_arrays; a++)
        free_array(array[a]);
    num_arrays = 0;
}

/* Allocates the arrays, and fills the inputs with what the judge sends. */
static void take_arrays(void)
{
    free_arrays();
    for (; judge.arrays[num_arrays].name != NULL; num_arrays++) {
        const int a = num_arrays;
        const size_t product = size[0] * (judge.sizes[1] == NULL ? 1 : size[1]);
        const size_t n = judge.arrays[a].count != NULL ? judge.arrays[a].count(size) : product,
                     bytes = n * sizeof(float);

        count[a] = n;
        array[a] = allocate_array(bytes + (bytes == 0));
        if (!is_output(a)) {
            enum message type;
            size_t sent;
            float *host = is_on_host() ? array[a] : allocate(bytes);
            if (!channel_receive(&channel, &type, &sent) || type != INPUT)
                _exit(3);
            fetch(host, sent, bytes);
            if (!is_on_host()) {
                must(cudaMemcpy(array[a], host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
                free(host);
            }
        } else {
            for (size_t i = 0; is_on_host() && i < n; i++)
                memcpy(&array[a][i], &host_poison, sizeof host_poison);
        }
#ifdef CUSIM
        if (!judge.on_cpu && bytes > 0) { /* the messages say outputs[2][17] */
            const bool rows = judge.sizes[1] != NULL && judge.arrays[a].count == NULL;
            sim_name_array(array[a], bytes, judge.arrays[a].name);
            sim_shape_array(array[a], sizeof(float), rows ? 2 : 1, rows ? size : &n);
        }
#else /* the simulator does that, and knows what nobody has written */
        if (!is_on_host() && is_output(a))
            must(cudaMemset(array[a], 0xFF, bytes), "cudaMemset");
#endif
    }
}

/* Whether the answer has written an output. The simulator knows; elsewhere the bits of before are gone. */
static bool was_written(int a, size_t i, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (judge.on_host && bits == device_poison) /* copied from where nothing was written */
        return false;
    if (bits != (is_on_host() ? host_poison : device_poison))
        return true;
#ifdef CUSIM
    unsigned block, thread;
    return !is_on_host() && sim_last_write(array[a] + i, &block, &thread, NULL, 0);
#else
    (void)a, (void)i;
    return false;
#endif
}

static void send_outputs(void)
{
    for (int a = 0; a < num_arrays; a++) {
        if (!is_output(a))
            continue;
        const size_t bytes = count[a] * sizeof(float);
        float *host = allocate(bytes);
        unsigned char *written = allocate(count[a]);
        if (is_on_host())
            memcpy(host, array[a], bytes);
        else {
#ifdef CUSIM
            sim_tell_unwritten(false); /* which elements those are is told below */
#endif
            must(cudaMemcpy(host, array[a], bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
#ifdef CUSIM
            sim_tell_unwritten(true);
#endif
        }
        for (size_t i = 0; i < count[a]; i++)
            written[i] = was_written(a, i, host[i]);
        reply(OUTPUT, host, bytes);
        reply(WRITTEN, written, count[a]);
        free(host);
        free(written);
    }
}

/* Who wrote an element, where that is known. */
static void send_owner(struct message_owner owner)
{
    owner.is_known = false;
#ifdef CUSIM
    unsigned block = 0, thread = 0;
    if (!is_on_host() && owner.array < (uint64_t)num_arrays && owner.index < count[owner.array])
        owner.is_known =
            sim_last_write(array[owner.array] + owner.index, &block, &thread, owner.place, sizeof owner.place);
    owner.block = block;
    owner.thread = thread;
#endif
    reply(OWNER, &owner, sizeof owner);
}

/* ---- launching, counting and timing ---- */

/* Calls the answer. */
static __attribute__((noinline)) cudaError_t call_answer(void) /* its frame is where the answer's end */
{
#ifdef CUSIM
    sim_protect(judge_private_data, judge_private_bss, __builtin_frame_address(0)); /* from here on it is ours */
#endif
    if (judge.on_cpu) {
        judge_threads_begin();
        for (int a = 0; a < num_arrays; a++)
            judge_threads_watch(array[a], count[a] * sizeof(float));
    }
#ifdef CUSIM
    sim_watch_host(true);
#endif
    const cudaError_t error = judge.launch(size, array);
#ifdef CUSIM
    sim_watch_host(false);
#endif
    return error;
}

/* A whole program says only that something went wrong: which call it was. */
static void say_which_call(void)
{
    struct message_error message = {"The function returned an error, though all its calls went well."};

#ifdef CUSIM
    for (size_t i = 0; i < sim_num_calls(); i++) {
        const struct sim_call_made call = sim_get_call(i);
        if (call.error != cudaSuccess) {
            char place[256];
            sim_locate_made(i, place, sizeof place);
            snprintf(message.text, sizeof message.text,
                     "The function returned an error, though no call was made to fail: %s at %s returned %s (%s).",
                     call.name, place, cudaGetErrorName(call.error), cudaGetErrorString(call.error));
            break;
        }
    }
#endif
    reply(ERROR, &message, sizeof message);
    _exit(1);
}

static void launch(void)
{
#ifdef CUSIM
    sim_watch_calls(judge.on_host, -1);
    sim_end_at_wrong_launch(true); /* it says why, and an error does not */
#endif
    cudaGetLastError(); /* of a launch before */
    const cudaError_t error = call_answer();
    if (error != cudaSuccess && judge.on_host)
        say_which_call();
    must(error, "of the launch");
    if (!judge.on_cpu)
        must(cudaDeviceSynchronize(), "while the kernel ran");
}

static void send_counts(void)
{
    if (judge.on_cpu)
        judge_threads_count();
#ifdef CUSIM
    const struct sim_counts n = sim_get_counts();
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"launches", n.launches},
        {"blocks", n.blocks},
        {"threads", n.threads},
        {"barriers", n.barriers},
        {"warp_barriers", n.warp_barriers},
        {"shuffles", n.shuffles},
        {"votes", n.votes},
        {"atomics", n.atomics},
        {"orders", n.orders},
        {"strong_orders", n.strong_orders},
        {"async_copies", n.async_copies},
        {"bulk_copies", n.bulk_copies},
        {"load_requests", n.loads.requests},
        {"load_bytes", n.loads.bytes},
        {"load_sectors", n.loads.sectors},
        {"load_lines", n.loads.lines},
        {"load_once", n.loads.once},
        {"load_lanes", n.loads.lanes},
        {"store_requests", n.stores.requests},
        {"store_bytes", n.stores.bytes},
        {"store_sectors", n.stores.sectors},
        {"store_lines", n.stores.lines},
        {"store_once", n.stores.once},
        {"shared_requests", n.shared_requests},
        {"shared_bytes", n.shared_bytes},
        {"shared_lanes", n.shared_lanes},
        {"conflicts", n.conflicts},
        {"contention", n.contention},
        {"chain", n.chain},
        {"idle_waits", n.idle_waits},
        {"plain_loads", n.plain_loads},
        {"plain_stores", n.plain_stores},
        {"fills", n.fills},
        {"merges", n.merges},
        {"ahead_bytes", n.ahead_bytes},
        {"block_turns", n.block_turns},
        {"shared_memory", n.shared_memory},
        {"far_steps", n.far_steps},
        {"l2_steps", n.l2_steps},
        {"near_steps", n.near_steps},
        {"copy_steps", n.copy_steps},
        {"shared_steps", n.shared_steps},
        {"exchange_steps", n.exchange_steps},
        {"meeting_steps", n.meeting_steps},
        {"handovers", n.handovers},
        {"handover_work", n.handover_work},
    };
    for (size_t i = 0; !judge.on_cpu && i < sizeof counts / sizeof *counts; i++)
        judge_count(counts[i].name, (double)counts[i].value);
#endif
    if (judge.count != NULL)
        judge.count(size, array);
}

#ifndef CUSIM
static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median time of the answer's launch over that of an addition of as many bytes; the L2 cache is cold before each. */
static void take_time(void)
{
    enum { REPEATS = 25, WARM_UP = 3 };
    const size_t sweep = (size_t)256 << 18; /* floats, 256 MiB */
    float times[2][REPEATS], *added[3], *buffer;
    size_t total = 0;
    cudaEvent_t start, stop;

    for (int a = 0; a < num_arrays; a++)
        total += count[a];
    for (int i = 0; i < 3; i++) {
        must(cudaMalloc((void **)&added[i], total / 3 * sizeof(float) + 16), "cudaMalloc");
        must(cudaMemset(added[i], 0, total / 3 * sizeof(float) + 16), "cudaMemset");
    }
    must(cudaMalloc((void **)&buffer, sweep * sizeof(float)), "cudaMalloc");
    must(cudaMemset(buffer, 0, sweep * sizeof(float)), "cudaMemset");
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
    for (int which = 0; which < 2; which++) {
        for (int r = -WARM_UP; r < REPEATS; r++) {
            must(judge_sweep(sweep, buffer), "of the sweep");
            must(cudaEventRecord(start, NULL), "cudaEventRecord");
            must(which == 0 ? judge.launch(size, array) : judge_add(total / 3, added[0], added[1], added[2]),
                 "of the launch");
            must(cudaEventRecord(stop, NULL), "cudaEventRecord");
            must(cudaEventSynchronize(stop), "while the kernel ran");
            if (r >= 0)
                must(cudaEventElapsedTime(&times[which][r], start, stop), "cudaEventElapsedTime");
        }
        qsort(times[which], REPEATS, sizeof(float), by_size);
    }
    judge_count("time", times[0][REPEATS / 2] / times[1][REPEATS / 2]);
    judge_count("microseconds", 1e3 * times[0][REPEATS / 2]);
}
#else /* which knows no time */
static void take_time(void)
{
    must(cudaErrorNotSupported, "time");
}
#endif

#ifdef CUSIM
/* The first line of what is left behind. */
static void take_first(const char *line, void *context)
{
    char *first = context;

    if (*first == '\0')
        snprintf(first, sizeof((struct message_returned *)NULL)->left, "%s", line);
}

/* Launches, and tells of each call of the runtime that the answer has made; of these number `fails` has failed, counted
   from 1 (0: none). */
static void send_calls(int fails)
{
    struct message_returned returned = {.left = ""};

    sim_forget_left();
    sim_watch_calls(true, fails - 1);
    returned.right = call_answer() == cudaSuccess;
    for (size_t i = 0; i < sim_num_calls(); i++) {
        const struct sim_call_made made = sim_get_call(i);
        struct message_call call = {
            .is_launch = made.is_launch, .can_fail = made.can_fail, .has_failed = made.error != cudaSuccess};
        snprintf(call.name, sizeof call.name, "%s", made.name);
        sim_locate_made(i, call.place, sizeof call.place);
        snprintf(call.error, sizeof call.error, "%s", cudaGetErrorName(made.error));
        reply(CALL, &call, sizeof call);
    }
    sim_watch_calls(false, -1);
    const struct sim_left left = sim_left_behind(false, take_first, returned.left);
    returned.num_left = left.allocations + left.handles;
    reply(RETURNED, &returned, sizeof returned);
}
#else
static void send_calls(int fails)
{
    (void)fails;
    must(cudaErrorNotSupported, "calls");
}
#endif

static void run_case(const struct message_case *asked)
{
    memcpy(size, asked->size, sizeof size);
    take_arrays();
    if (asked->what == TIME_IT) {
        take_time();
    } else if (asked->what == CALL_IT) {
        send_calls((int)asked->fails);
    } else {
        if (asked->what == COUNT_IT && judge.before_count != NULL)
            judge.before_count(size, array);
#ifdef CUSIM
        sim_count_plainly(asked->what == COUNT_IT);
        sim_reset_counts();
#endif
        launch();
        if (asked->what == COUNT_IT)
            send_counts();
    }
    send_outputs();
    reply(DONE, NULL, 0);
}

int main(void)
{
    enum message type;
    size_t bytes;
    struct message_case asked;
    struct message_owner owner;

    setvbuf(stdout, NULL, _IOLBF, 0);
    reply(READY, NULL, 0);
    while (channel_receive(&channel, &type, &bytes)) {
        switch (type) {
        case BEGIN:
            fetch(NULL, bytes, 0);
            if (!judge.on_cpu)
                must(cudaFree(NULL), "of the device"); /* is there one? */
            break;
        case CASE:
            fetch(&asked, bytes, sizeof asked);
            run_case(&asked);
            break;
        case OWNER:
            fetch(&owner, bytes, sizeof owner);
            send_owner(owner);
            break;
        case END:
            fflush(stdout);
            reply(ENDED, NULL, 0);
            _exit(0);
        default:
            _exit(3);
        }
    }
    return 3; /* the judge is gone */
}
