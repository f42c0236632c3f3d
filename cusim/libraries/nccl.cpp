/* SPDX-License-Identifier: MIT */
/* nccl.cpp - stand-ins for NCCL's functions, for programs of several processes, each of which is one rank. They find
   each other by a file in /dev/shm that is named after the id, and is gone from there as soon as all have come:

       | how many ranks | channel 0 to 0 | 0 to 1 | ... | 1 to 0 | 1 to 1 | ...       a channel: one piece on its way

   Whatever a program asks for becomes messages between two ranks, which go piece by piece, all of them together. It is
   a task of a stream, and late as these are: the messages travel when all ranks wait for their streams.

   Each process locks a byte of the file. The lock is gone when the process is, however it ends, so the others see it;
   for one that is only stopped they wait for CUSIM_NCCL_TIMEOUT seconds. */
#include <algorithm>
#include <atomic>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <math.h>
#include <memory>
#include <stdio.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "../include/nccl.h"
#include "../machine/announce.h"
#include "../machine/fault.h"
#include "../machine/region.h"
#include "../machine/settings.h"
#include "../runtime/host.h"
#include "../runtime/queues.h"
#include "../runtime/stream.h"

static double timeout; /* seconds */

__attribute__((constructor)) static void read_timeout(void)
{
    timeout = (double)sim_number_setting("CUSIM_NCCL_TIMEOUT", 1, 1000000000, 60, "a number of seconds from 1 up");
}

/* ---- what is asked for ---- */

enum what { ALL_GATHER, ALL_REDUCE, REDUCE, REDUCE_SCATTER, BROADCAST, SEND, RECV };
static const char *const names[] = {"ncclAllGather", "ncclAllReduce", "ncclReduce", "ncclReduceScatter",
                                    "ncclBroadcast", "ncclSend",      "ncclRecv"};

static const struct {
    const char *name;
    size_t size;
} types[ncclNumTypes] = {{"ncclInt8", 1},    {"ncclUint8", 1},    {"ncclInt32", 4},      {"ncclUint32", 4},
                         {"ncclInt64", 8},   {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
                         {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};
static const char *const ops[ncclNumOps] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};

/* What both ends of a message must agree on; what is not asked for is 0. (Types that containers hold are this file's
   alone: a program may have others of the same names.) */
namespace
{
struct request {
    enum what what; /* of ncclRecv: SEND */
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
};
} // namespace

static bool reduces(enum what what)
{
    return what == ALL_REDUCE || what == REDUCE || what == REDUCE_SCATTER;
}

static bool has_root(enum what what)
{
    return what == REDUCE || what == BROADCAST;
}

static bool is_same(const struct request &a, const struct request &b)
{
    return a.what == b.what && a.count == b.count && a.type == b.type && a.op == b.op && a.root == b.root;
}

/* "ncclReduce of 8 ncclFloat32 by ncclSum, root 0" */
static std::string described(const struct request &r, const char *name)
{
    return std::string(name) + " of " + std::to_string(r.count) + " " + types[r.type].name +
           (reduces(r.what) ? std::string(" by ") + ops[r.op] : "") +
           (has_root(r.what) ? ", root " + std::to_string(r.root) : "");
}

/* ---- what the processes share ---- */

namespace
{
struct channel {
    std::atomic<uint32_t> is_full; /* the sender sets it, the receiver clears it */
    uint32_t bytes;
    struct request request;
    char piece[16384];
};
struct board {
    std::atomic<int> ranks; /* as the first one was told */
    std::atomic<int> came;
    struct channel channels[];
};
} // namespace

struct ncclComm {
    std::string path;
    int file, ranks, rank, device;
    size_t size; /* of the board */
    struct board *board;
    std::vector<const void *> busy[2]; /* the message that comes from each rank, [1] goes to it; NULL: none */
    bool is_gone;
};

/* Those that live. What a stream has still to do for one keeps it. */
static std::map<ncclComm_t, std::shared_ptr<ncclComm>> &comms = *new std::map<ncclComm_t, std::shared_ptr<ncclComm>>();

static thread_local std::string why; /* ncclGetLastError */

static ncclResult_t wrong(ncclResult_t result, const std::string &text)
{
    why = text;
    return result;
}

static struct flock byte_of(int rank)
{
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = rank;
    lock.l_len = 1;
    return lock;
}

/* Whether the process of another rank has the communicator: it has come, and has not ended. */
static bool is_there(const ncclComm *comm, int rank)
{
    struct flock lock = byte_of(rank);
    return rank == comm->rank || (fcntl(comm->file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waiting for other processes, which may need this core. */
namespace
{
struct patience {
    double since = now();
    unsigned turns = 0;

    void got_further(void)
    {
        since = now();
        turns = 0;
    }
    void pause(void)
    {
        usleep(turns++ < 100 ? 20 : 500);
    }
    /* Each rank a little later than the one before it, so that the first one has ended the job before the next one
       would say the same. */
    bool is_over(double seconds, int rank) const
    {
        return turns > 100 && turns % 50 == 0 && now() - since > seconds + 0.2 * rank;
    }
};
} // namespace

/* ---- communicators ---- */

ncclResult_t ncclGetVersion(int *version)
{
    if (version == NULL)
        return wrong(ncclInvalidArgument, "version is a null pointer");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[ncclNumResults] = {"no error",
                                                      "unhandled cuda error",
                                                      "unhandled system error",
                                                      "internal error",
                                                      "invalid argument",
                                                      "invalid usage",
                                                      "remote process exited or there was a network error",
                                                      "NCCL operation in progress"};
    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t)
{
    return why.c_str();
}

static const char folder[] = "/dev/shm", prefix[] = "cusim-nccl-";

/* To close a file once more would give up this process's locks in it, which it does not see either. */
static bool is_own(const std::string &path)
{
    for (const auto &own : comms)
        if (own.second->path == path)
            return true;
    return false;
}

/* Files of ranks that were killed while they waited for others: a minute old, and nobody has locked a byte. */
static void remove_what_is_left(void)
{
    const sim_lock_guard guard;
    DIR *const all = opendir(folder);
    struct dirent *entry;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        const std::string path = std::string(folder) + "/" + entry->d_name;
        struct stat about;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || stat(path.c_str(), &about) != 0 ||
            about.st_uid != getuid() || time(NULL) - about.st_mtime < 60 || is_own(path))
            continue;
        const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        struct flock lock = byte_of(0);
        lock.l_len = 0; /* all of them */
        if (file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK)
            unlink(path.c_str());
        close(file);
    }
    if (all != NULL)
        closedir(all);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    unsigned char bytes[16];

    if (id == NULL)
        return wrong(ncclInvalidArgument, "the id is a null pointer");
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return wrong(ncclSystemError, "the system has no random numbers for an id");
    remove_what_is_left();
    memset(id, 0, sizeof(*id));
    int at = snprintf(id->internal, sizeof(id->internal), "%s", prefix);
    for (unsigned char byte : bytes)
        at += snprintf(id->internal + at, sizeof(id->internal) - (size_t)at, "%02x", byte);
    return ncclSuccess;
}

static bool is_made(const ncclUniqueId &id)
{
    const size_t length = strlen(prefix), digits = strspn(id.internal + length, "0123456789abcdef");
    return strncmp(id.internal, prefix, length) == 0 && digits == 32 && id.internal[length + digits] == '\0';
}

/* The first rank that has not come yet. */
static int missing(const ncclComm *comm)
{
    int rank = 0;
    while (rank < comm->ranks - 1 && is_there(comm, rank))
        rank++;
    return rank;
}

/* The board, when all ranks have come. `at`: who has called. */
static ncclResult_t join(ncclComm *comm, const void *at)
{
    struct flock lock = byte_of(comm->rank);

    comm->size = sizeof(struct board) + sizeof(struct channel) * (size_t)comm->ranks * (size_t)comm->ranks;
    comm->file = open(comm->path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (comm->file < 0 || ftruncate(comm->file, (off_t)comm->size) != 0)
        return wrong(ncclSystemError, comm->path + " cannot be made");
    if (fcntl(comm->file, F_SETLK, &lock) != 0)
        sim_fault_at(at, "two processes are rank %d of one communicator. Give each another rank", comm->rank);
    void *const map = mmap(NULL, comm->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, comm->file, 0);
    if (map == MAP_FAILED)
        return wrong(ncclSystemError, comm->path + " cannot be mapped");
    comm->board = (struct board *)map;

    int told = 0;
    if (!comm->board->ranks.compare_exchange_strong(told, comm->ranks) && told != comm->ranks)
        sim_fault_at(at,
                     "this rank, %d, is one of %d, and others of the same communicator are %d. Give all the same "
                     "number of ranks",
                     comm->rank, comm->ranks, told);
    if (++comm->board->came == comm->ranks)
        unlink(comm->path.c_str());
    for (struct patience patience; comm->board->came < comm->ranks; patience.pause())
        if (patience.is_over(timeout, comm->rank)) {
            unlink(comm->path.c_str());
            sim_fault_at(at,
                         "rank %d of %d has not called ncclCommInitRank for %.0f seconds. All ranks have to, with "
                         "the id that one of them has made (CUSIM_NCCL_TIMEOUT sets the seconds)",
                         missing(comm), comm->ranks, timeout);
        }
    return ncclSuccess;
}

/* Without the lock while others are waited for: they may be threads of this process, which are told that they must
   not. */
static ncclResult_t init(ncclComm_t *comm, int ranks, const ncclUniqueId &id, int rank, const void *at)
{
    const std::shared_ptr<ncclComm> own(new ncclComm());

    if (comm == NULL || ranks < 1 || rank < 0 || rank >= ranks)
        return wrong(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                                              " is none, or the communicator is a null pointer");
    if (!is_made(id))
        sim_fault_at(at, "this is no id that ncclGetUniqueId has made. One rank makes it, and sends it to all");
    own->path = std::string(folder) + "/" + id.internal;
    own->ranks = ranks;
    own->rank = rank;
    own->device = sim_device;
    own->busy[0].resize((size_t)ranks);
    own->busy[1].resize((size_t)ranks);
    {
        const sim_lock_guard guard;
        if (is_own(own->path))
            sim_fault_at(at, "this process is a rank of that communicator already. The simulator's stand-in for "
                             "NCCL wants a process for each rank: start the program several times");
        comms[own.get()] = own;
    }
    const ncclResult_t result = join(own.get(), at);
    const sim_lock_guard guard;
    if (result != ncclSuccess)
        comms.erase(own.get());
    else
        *comm = own.get();
    return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    return init(comm, ranks, id, rank, __builtin_return_address(0));
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *)
{
    return init(comm, ranks, id, rank, __builtin_return_address(0));
}

static bool lives(const ncclComm *comm)
{
    return comms.count((ncclComm_t)comm) > 0;
}

static ncclResult_t not_living(void)
{
    return wrong(ncclInvalidArgument, "there is no such communicator, or it was destroyed");
}

/* The last one that was queued in this process: they are done in the order in which they were asked for. */
static struct {
    cudaStream_t stream;
    uint64_t number;
} last;

static void finish(cudaStream_t stream, uint64_t number)
{
    CUstream_st *const queue = number > 0 ? sim_queue_of(stream) : NULL;
    if (queue != NULL)
        sim_run_up_to(queue, number);
}

static void let_go(ncclComm_t comm)
{
    comm->is_gone = true;
    munmap(comm->board, comm->size);
    close(comm->file);
    comms.erase(comm);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    const sim_guard guard;
    if (!lives(comm))
        return not_living();
    finish(last.stream, last.number);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    const sim_guard guard;
    if (!lives(comm))
        return not_living();
    finish(last.stream, last.number);
    let_go(comm);
    return ncclSuccess;
}

/* What is queued for it is not done any more. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    const sim_guard guard;
    if (!lives(comm))
        return not_living();
    let_go(comm);
    return ncclSuccess;
}

template <class T>
static ncclResult_t answer(const ncclComm *comm, T *to, T value)
{
    if (!lives(comm))
        return not_living();
    if (to == NULL)
        return wrong(ncclInvalidArgument, "the answer's place is a null pointer");
    *to = value;
    return ncclSuccess;
}

/* What goes wrong here ends the program with a sentence. */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    const sim_guard guard;
    return answer(comm, error, ncclSuccess);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *ranks)
{
    const sim_guard guard;
    return answer(comm, ranks, lives(comm) ? comm->ranks : 0);
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    const sim_guard guard;
    return answer(comm, device, lives(comm) ? comm->device : 0);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    const sim_guard guard;
    return answer(comm, rank, lives(comm) ? comm->rank : 0);
}

ncclResult_t ncclMemAlloc(void **pointer, size_t size)
{
    const sim_guard guard;
    return cudaMalloc(pointer, size) == cudaSuccess ? ncclSuccess
                                                    : wrong(ncclUnhandledCudaError, "cudaMalloc returns an error");
}

ncclResult_t ncclMemFree(void *pointer)
{
    const sim_guard guard;
    return cudaFree(pointer) == cudaSuccess ? ncclSuccess : wrong(ncclUnhandledCudaError, "cudaFree returns an error");
}

/* ---- messages ---- */

namespace
{
struct operation {
    struct request request;
    bool receives; /* of SEND: it is an ncclRecv */
    std::shared_ptr<ncclComm> comm;
    const char *from; /* NULL: this rank reads nothing, or writes nothing */
    char *to;
    size_t read, written; /* bytes */
    int peer;
    cudaStream_t stream;
};
} // namespace

static const char *name_of(const struct operation &o)
{
    return names[o.receives ? RECV : o.request.what];
}

/* From this rank to another one, or the other way; both may be the same. */
namespace
{
struct message {
    const struct operation *of;
    bool goes;
    int peer;
    std::vector<char> bytes;
    size_t done;
    bool has_begun, is_done;
};
} // namespace

[[noreturn]] static void differ(const struct message &m, const struct request &theirs)
{
    const ncclComm *const comm = m.of->comm.get();
    usleep(200000u * (unsigned)std::min(comm->rank, 20)); /* others see it, too, and one sentence is enough */
    sim_fault_at(sim_task_at(),
                 "rank %d has called %s, and this rank, %d, %s. All have to ask for the same, in the "
                 "same order",
                 m.peer, described(theirs, names[theirs.what]).c_str(), comm->rank,
                 described(m.of->request, name_of(*m.of)).c_str());
}

/* Moves a piece, if one can be moved: whether it was. */
static bool go_on(struct message *m)
{
    ncclComm *const comm = m->of->comm.get();
    const int from = m->goes ? comm->rank : m->peer, to = m->goes ? m->peer : comm->rank;
    struct channel *const channel = &comm->board->channels[(size_t)from * (size_t)comm->ranks + (size_t)to];
    const void *&busy = comm->busy[m->goes][(size_t)m->peer];

    if (m->is_done || (busy != NULL && busy != m) || channel->is_full.load(std::memory_order_acquire) == m->goes)
        return false;
    busy = m;
    if (!m->goes && !is_same(channel->request, m->of->request))
        differ(*m, channel->request);
    m->is_done = m->goes && m->has_begun && m->done == m->bytes.size(); /* the last piece was taken */
    if (m->goes && !m->is_done) {
        channel->request = m->of->request;
        channel->bytes = (uint32_t)std::min(sizeof(channel->piece), m->bytes.size() - m->done);
        memcpy(channel->piece, m->bytes.data() + m->done, channel->bytes);
        m->done += channel->bytes;
        m->has_begun = true;
        channel->is_full.store(1, std::memory_order_release);
    } else if (!m->goes) {
        memcpy(m->bytes.data() + m->done, channel->piece, channel->bytes);
        m->done += channel->bytes;
        m->is_done = m->done == m->bytes.size();
        channel->is_full.store(0, std::memory_order_release);
    }
    if (m->is_done)
        busy = NULL;
    return true;
}

/* Ends, if whoever the first message waits for has ended, or has not come for too long. */
static void complain(const std::vector<struct message> &messages, const struct patience &patience)
{
    for (const struct message &m : messages) {
        const ncclComm *const comm = m.of->comm.get();
        if (m.is_done)
            continue;
        if (!is_there(comm, m.peer) && patience.is_over(1, comm->rank))
            sim_fault_at(sim_task_at(),
                         "rank %d has ended, and this %s waits for it. All ranks have to call it, and "
                         "to wait for its stream before they end",
                         m.peer, name_of(*m.of));
        if (patience.is_over(timeout, comm->rank))
            sim_fault_at(sim_task_at(),
                         "rank %d has not come to this %s for %.0f seconds. It was stopped, waits for "
                         "something else, or does not wait for the stream in which it has called it "
                         "(CUSIM_NCCL_TIMEOUT sets the seconds)",
                         m.peer, name_of(*m.of), timeout);
    }
}

static void deliver(std::vector<struct message> *messages)
{
    struct patience patience;
    for (bool all_done = false; !all_done;) {
        bool moved = false;
        all_done = true;
        for (struct message &m : *messages) {
            while (go_on(&m))
                moved = true;
            all_done = all_done && m.is_done;
        }
        if (moved)
            patience.got_further();
        else if (!all_done) {
            patience.pause();
            complain(*messages, patience);
        }
    }
}

/* ---- sums and maxima ---- */

template <class T>
static T joined(T a, T b, ncclRedOp_t op)
{
    return op == ncclProd ? (T)(a * b) : op == ncclMax ? (a < b ? b : a) : op == ncclMin ? (b < a ? b : a) : (T)(a + b);
}

static __half joined(__half a, __half b, ncclRedOp_t op)
{
    return __float2half_rn(joined(__half2float(a), __half2float(b), op));
}

static __nv_bfloat16 joined(__nv_bfloat16 a, __nv_bfloat16 b, ncclRedOp_t op)
{
    return __float2bfloat16_rn(joined(__bfloat162float(a), __bfloat162float(b), op));
}

template <class T>
static T part_of(T sum, int ranks)
{
    return (T)(sum / (T)ranks);
}

static __half part_of(__half sum, int ranks)
{
    return __float2half_rn(__half2float(sum) / (float)ranks);
}

static __nv_bfloat16 part_of(__nv_bfloat16 sum, int ranks)
{
    return __float2bfloat16_rn(__bfloat162float(sum) / (float)ranks);
}

/* What all ranks sent, in their order, so that each gets the same bits: the first takes the result. */
template <class T>
static void reduce(const std::vector<struct message *> &all, const struct request &r)
{
    T *const to = (T *)all[0]->bytes.data();
    for (size_t rank = 1; rank < all.size(); rank++)
        for (size_t i = 0; i < r.count; i++)
            to[i] = joined(to[i], ((const T *)all[rank]->bytes.data())[i], r.op);
    for (size_t i = 0; i < r.count && r.op == ncclAvg; i++)
        to[i] = part_of(to[i], (int)all.size());
}

static void reduce_of_type(const std::vector<struct message *> &all, const struct request &r)
{
    switch (r.type) {
    case ncclInt8:
        return reduce<int8_t>(all, r);
    case ncclUint8:
        return reduce<uint8_t>(all, r);
    case ncclInt32:
        return reduce<int32_t>(all, r);
    case ncclUint32:
        return reduce<uint32_t>(all, r);
    case ncclInt64:
        return reduce<int64_t>(all, r);
    case ncclUint64:
        return reduce<uint64_t>(all, r);
    case ncclFloat16:
        return reduce<__half>(all, r);
    case ncclFloat64:
        return reduce<double>(all, r);
    case ncclBfloat16:
        return reduce<__nv_bfloat16>(all, r);
    default:
        return reduce<float>(all, r);
    }
}

/* ---- operations ---- */

/* Memory of the communicator's device, or pinned, which holds so many bytes. */
static void must_hold(const struct operation &o, const char *pointer, size_t bytes, const char *which, const void *at)
{
    const struct sim_region *const r = sim_region_near(pointer);
    char what[700];

    if (bytes == 0)
        return;
    if (pointer == NULL || r == NULL || r->pageable || sim_is_shared(r))
        sim_fault_at(at, "%s of %s is %s. Give it what cudaMalloc has given", which, name_of(o),
                     pointer == NULL ? "a null pointer" : "no memory of the device");
    const size_t offset = (size_t)(pointer - r->start);
    const bool is_others = !r->host && r->device != o.comm->device;
    if (!r->freed && !is_others && offset <= r->size && bytes <= r->size - offset)
        return;
    sim_region_describe(pointer, 0, what, sizeof(what));
    if (r->freed)
        sim_fault_at(at, "%s of %s is %s. Wait for the stream before you free it", which, name_of(o), what);
    if (is_others)
        sim_fault_at(at,
                     "%s of %s is memory of device %d, and the communicator was made on device %d. Call "
                     "cudaSetDevice before cudaMalloc and ncclCommInitRank",
                     which, name_of(o), r->device, o.comm->device);
    sim_fault_at(at,
                 "%s of %s is %s, and the %zu bytes that are %s there are too many. The count is in elements: "
                 "compare it with what was allocated",
                 which, name_of(o), what, bytes, pointer == o.to ? "written" : "read");
}

static void must_hold_both(const struct operation &o, const void *at)
{
    must_hold(o, o.from, o.read, "what is sent", at);
    must_hold(o, o.to, o.written, "the destination", at);
}

static void touch(const void *pointer, size_t bytes, bool writes)
{
    struct sim_region *const region = bytes > 0 ? sim_region_near(pointer) : NULL;
    if (region != NULL)
        sim_tell.touched(region, pointer, bytes, writes);
}

/* What this rank sends for it and gets, in the order of the ranks. */
static void add_messages(const struct operation &o, std::vector<struct message> *messages)
{
    const struct request &r = o.request;
    const size_t bytes = r.count * types[r.type].size;
    const int self = o.comm->rank;

    touch(o.from, o.read, false);
    for (int rank = 0; rank < o.comm->ranks; rank++) {
        const bool to_it = r.what == SEND        ? !o.receives && rank == o.peer
                           : r.what == REDUCE    ? rank == r.root
                           : r.what == BROADCAST ? self == r.root
                                                 : true;
        const bool from_it = r.what == SEND        ? o.receives && rank == o.peer
                             : r.what == REDUCE    ? self == r.root
                             : r.what == BROADCAST ? rank == r.root
                                                   : true;
        if (to_it) {
            const char *const from = o.from + (r.what == REDUCE_SCATTER ? (size_t)rank * bytes : 0);
            messages->push_back({&o, true, rank, {}, 0, false, false});
            if (bytes > 0)
                messages->back().bytes.assign(from, from + bytes);
        }
        if (from_it)
            messages->push_back({&o, false, rank, std::vector<char>(bytes), 0, false, false});
    }
}

static void write_result(const struct operation &o, std::vector<struct message> *messages)
{
    std::vector<struct message *> came;
    for (struct message &m : *messages)
        if (m.of == &o && !m.goes)
            came.push_back(&m);
    if (reduces(o.request.what) && !came.empty()) {
        reduce_of_type(came, o.request);
        came.erase(came.begin() + 1, came.end());
    }
    touch(o.to, o.written, true);
    char *to = o.to;
    for (const struct message *m : came) {
        if (!m->bytes.empty())
            memcpy(to, m->bytes.data(), m->bytes.size());
        to += m->bytes.size();
    }
    struct sim_region *const region = o.written > 0 ? sim_region_near(o.to) : NULL;
    if (region != NULL)
        sim_tell.written(region, o.to, o.written);
}

static void run(const std::vector<struct operation> &operations)
{
    std::vector<struct message> messages;
    for (const struct operation &o : operations)
        if (!o.comm->is_gone) {
            must_hold_both(o, sim_task_at());
            add_messages(o, &messages);
        }
    deliver(&messages);
    for (const struct operation &o : operations)
        if (!o.comm->is_gone)
            write_result(o, &messages);
}

static void queue(const std::vector<struct operation> &operations)
{
    const cudaStream_t stream = operations[0].stream;
    const bool is_captured = sim_is_captured(stream);
    for (const struct operation &o : operations)
        if (o.stream != stream)
            sim_fault_at(sim_call.at, "this group has operations in several streams. The simulator's stand-in for NCCL "
                                      "takes those of one stream in a group");
    const auto before = last;
    const sim_task_ref task = sim_do_late(stream, [operations, before, is_captured] {
        if (!is_captured)
            finish(before.stream, before.number);
        run(operations);
    });
    if (is_captured)
        return;
    last = {stream, sim_last_number};
    for (const struct operation &o : operations) {
        if (o.read > 0)
            sim_on_its_way(task, o.from, o.read, o.read, 1, false);
        if (o.written > 0)
            sim_on_its_way(task, o.to, o.written, o.written, 1, true);
    }
}

static thread_local unsigned depth; /* of groups */
static thread_local std::vector<struct operation> group;

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    const sim_guard guard;
    if (depth == 0)
        return wrong(ncclInvalidUsage, "there is no ncclGroupStart to this ncclGroupEnd");
    if (--depth == 0 && !group.empty()) {
        const std::vector<struct operation> operations = std::move(group);
        group.clear();
        queue(operations);
    }
    return ncclSuccess;
}

/* `reads`, `writes`: pieces of `count` elements, as many as this rank reads and writes. */
static ncclResult_t ask(const struct request &request, bool receives, ncclComm_t comm, const void *from, size_t reads,
                        void *to, size_t writes, int peer, cudaStream_t stream)
{
    if (!lives(comm))
        return not_living();
    if ((unsigned)request.type >= ncclNumTypes)
        return wrong(ncclInvalidArgument, "there is no such type of elements");
    if (reduces(request.what) && (unsigned)request.op >= ncclNumOps)
        return wrong(ncclInvalidArgument, "there is no such operation to reduce by");
    if (peer < 0 || peer >= comm->ranks || request.root < 0 || request.root >= comm->ranks)
        return wrong(ncclInvalidArgument, "the communicator has no such rank");
    if (!sim_is_stream(stream))
        sim_fault_at(sim_call.at, "the stream of %s is none, or was destroyed", names[receives ? RECV : request.what]);
    if (reduces(request.what) && (request.type == ncclFloat8e4m3 || request.type == ncclFloat8e5m2))
        sim_fault_at(sim_call.at,
                     "%s of 8-bit floats has no stand-in in the simulator. Use another type, or run this "
                     "on a GPU",
                     names[request.what]);
    const size_t bytes = request.count * types[request.type].size;
    const struct operation o = {request,        receives, comms[comm], (const char *)from, (char *)to, reads * bytes,
                                writes * bytes, peer,     stream};
    must_hold_both(o, sim_call.at);
    if (depth > 0)
        group.push_back(o);
    else
        queue({o});
    return ncclSuccess;
}

static size_t ranks_of(const ncclComm *comm)
{
    return lives(comm) ? (size_t)comm->ranks : 0;
}

static bool is_rank(const ncclComm *comm, int rank)
{
    return lives(comm) && comm->rank == rank;
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    const sim_guard guard;
    return ask({ALL_GATHER, count, type, ncclSum, 0}, false, comm, from, 1, to, ranks_of(comm), 0, stream);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream)
{
    const sim_guard guard;
    return ask({ALL_REDUCE, count, type, op, 0}, false, comm, from, 1, to, 1, 0, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    const sim_guard guard;
    return ask({REDUCE, count, type, op, root}, false, comm, from, 1, to, is_rank(comm, root), 0, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream)
{
    const sim_guard guard;
    return ask({REDUCE_SCATTER, count, type, op, 0}, false, comm, from, ranks_of(comm), to, 1, 0, stream);
}

static ncclResult_t broadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                              cudaStream_t stream)
{
    return ask({BROADCAST, count, type, ncclSum, root}, false, comm, from, is_rank(comm, root), to, 1, 0, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream)
{
    const sim_guard guard;
    return broadcast(from, to, count, type, root, comm, stream);
}

ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)
{
    const sim_guard guard;
    return broadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    const sim_guard guard;
    return ask({SEND, count, type, ncclSum, 0}, false, comm, from, 1, NULL, 0, peer, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    const sim_guard guard;
    return ask({SEND, count, type, ncclSum, 0}, true, comm, NULL, 0, to, 1, peer, stream);
}
