/* SPDX-License-Identifier: MIT */
/* watch.cpp - records what the threads of a launch do, line by line.

   Lanes of a warp run one after the other, each until it must wait for others. What each has done by then is a list of
   *items*, one for each line it came to. When all lanes have had their turn (a *pass*), their lists are put together
   into *steps* of the warp: what its lanes did on one line at the same time.

       lane 0   20 21 22 24   barrier        steps: 20 (0,1,2)  21 (0,1)  22 (0,1)  24 (0,1,2)
       lane 1   20 21 22 24   barrier
       lane 2   20       24   barrier        the lane that is furthest back in the code goes on
                                             first, with those that stand there, too

   A program compiled by `cusim --watch` calls sim_watch_line at each line: places.pl puts the calls in. Its variables
   are in memory then, and what has changed since the last line is read from there. In any other program a line is seen
   where it accesses memory or waits. */
#include "watch.h"

#include <algorithm>
#include <set>
#include <stdio.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "../machine/block.h"
#include "clock.h"
#include "../machine/fault.h"
#include "../include/cuda_runtime.h"
#include "../machine/mbarrier.h"
#include "../runtime/memory.h"
#include "../machine/named_barriers.h"
#include "observe.h"
#include "../machine/warp.h"
#include "watch_trace.h"
#include "../machine/region.h"
#include "../machine/access.h"
#include "race.h"

using namespace watch;

bool sim_watching;

/* ---- what a lane has done since the last pass ---- */

struct change {
    unsigned variable;
    std::string value;
};

struct item {
    uintptr_t pc, last_pc; /* where it came to first and last */
    struct place place;
    const struct function *function;
    unsigned depth;
    bool continues; /* the line that the lane was on when it waited */
    bool returns;   /* the rest of a line, behind a call */
    std::vector<struct event> events;
    std::vector<struct change> changes;
};

struct frame {
    char *base; /* the CPU's frame pointer in it */
    const struct function *function;
    uintptr_t pc; /* where it came to last, */
    struct place place;
    std::vector<char> known; /* its variables, as they were then */
};

struct lane {
    std::vector<struct frame> frames;
    std::vector<struct item> items;
    uintptr_t pc; /* of its last item, */
    struct place place;
    const struct function *function;
    unsigned depth;
    long last_step;     /* that its last item is in; -1: none */
    enum state waiting; /* as the steps say; READY: it runs */
    std::string meets;  /* the barrier that it came to last */
};

static std::vector<struct lane> lanes[SIM_MAX_RESIDENT];
static std::vector<struct step> steps;
static std::string cut;        /* why the recording ended before the run */
static uint64_t recorded_size; /* about what the steps take as JSON */
static size_t run_of_warp;     /* from this step on all are of the same warp */
static uint64_t num_exchanges;
static struct verdict outcome;

static struct lane *lane_of(const struct block *b, unsigned thread)
{
    std::vector<struct lane> &all = lanes[b->slot];

    if (all.size() < sim_num_threads)
        all.resize(sim_num_threads);
    return &all[thread];
}

static struct lane *running(void)
{
    return lane_of(sim_block, sim_thread_number(sim_current));
}

static void add_step(struct step &&s)
{
    if (!cut.empty())
        return;
    recorded_size += 60;
    if (steps.empty() || s.kind != DID || steps.back().kind != DID || steps.back().block != s.block ||
        steps.back().warp != s.warp)
        run_of_warp = steps.size() + (s.kind != DID);
    steps.push_back(std::move(s));
}

/* ---- values of variables ---- */

/* What variables hold that nobody has written yet, by address: in a float no number, in an int a strange one. */
static const unsigned char nothing[4] = {0xe1, 0xc3, 0xa5, 0xff};

static bool is_nothing(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)at[i] != nothing[(uintptr_t)(at + i) % 4])
            return false;
    return true;
}

static std::string pointer_text(const char *to)
{
    const struct sim_region *const r = sim_maybe_region(to) ? sim_region_near(to) : NULL;
    char text[160];

    if (to == NULL)
        return "\"NULL\"";
    if (r != NULL && to >= r->array && to <= r->array + r->array_size) {
        const struct array *const a = &common->arrays[array_of(r)];
        snprintf(text, sizeof(text), "&%s[%zu]", a->name, (size_t)(to - r->array) / a->element);
    } else
        snprintf(text, sizeof(text), "%p", (const void *)to);
    return quoted(text);
}

static std::string value_text(const struct variable *v, const char *base)
{
    std::string text = v->dims.empty() ? "" : "[";

    for (size_t i = 0; i < v->places.size(); i++) {
        const char *const at = base + v->places[i];
        const char *to;

        text += i > 0 ? "," : "";
        if (!v->is_parameter && is_nothing(at, v->type.size))
            text += "null";
        else if (v->type.kind == 'p') {
            memcpy(&to, at, sizeof(to));
            text += pointer_text(to);
        } else
            text += number(v->type.kind, v->type.size, at);
    }
    return v->dims.empty() ? text : text + "]";
}

/* The CPU's frame base, the address that variables are measured from. */
static char *base_of(const struct frame *f)
{
    return f->base + 16;
}

/* What of a frame's variables is new goes to an item. */
static void note_changes(struct frame *f, struct item *to)
{
    const unsigned first = common->variables[function_number(f->function)];
    char *const base = base_of(f);
    size_t at = 0;

    for (size_t i = 0; i < f->function->variables.size(); i++) {
        const struct variable *const v = &f->function->variables[i];
        bool changed = false;

        for (const int place : v->places) {
            changed |= memcmp(&f->known[at], base + place, v->type.size) != 0;
            memcpy(&f->known[at], base + place, v->type.size);
            at += v->type.size;
        }
        if (changed)
            to->changes.push_back({first + (unsigned)i, value_text(v, base)});
    }
}

static bool has_changes(const struct frame *f)
{
    const char *const base = base_of(f);
    size_t at = 0;

    for (const struct variable &v : f->function->variables)
        for (const int place : v.places) {
            if (memcmp(&f->known[at], base + place, v.type.size) != 0)
                return true;
            at += v.type.size;
        }
    return false;
}

/* A function begins: its parameters are there, and nothing else. */
static void begin_frame(struct frame *f)
{
    char *const base = base_of(f);

    f->known.clear();
    for (const struct variable &v : f->function->variables)
        for (const int place : v.places)
            for (unsigned i = 0; i < v.type.size; i++) {
                char *const byte = base + place + i;
                if (!v.is_parameter)
                    *byte = (char)nothing[(uintptr_t)byte % 4];
                f->known.push_back(v.is_parameter ? (char)~*byte : *byte);
            }
}

/* ---- items ---- */

static struct item *new_item(struct lane *l, uintptr_t pc, struct place place, const struct function *f, unsigned depth,
                             bool continues)
{
    l->items.push_back({pc, pc, place, f, depth, continues, false, {}, {}});
    l->pc = pc;
    l->place = place;
    l->function = f;
    l->depth = depth;
    return &l->items.back();
}

/* The item to which what happens now belongs. */
static struct item *current_item(struct lane *l)
{
    return l->items.empty() ? new_item(l, l->pc, l->place, l->function, l->depth, true) : &l->items.back();
}

/* The name and type of memory that a kernel gets as an argument: those of its parameter. */
static void name_argument(const struct variable *v, const char *base)
{
    const char *to;

    memcpy(&to, base + v->at, sizeof(to));
    const struct sim_region *const r = sim_maybe_region(to) ? sim_region_near(to) : NULL;
    if (r == NULL || !sim_region_holds(r, to, 1) || sim_is_shared(r))
        return;
    const unsigned before = common->num_arrays;
    const unsigned number = (unsigned)array_of(r);
    struct array *const a = &common->arrays[number];
    if (number < before)
        return;
    if (r->array_name == NULL)
        snprintf(a->name, sizeof(a->name), "%s", v->name.c_str());
    if (v->points_to.kind != 0) {
        snprintf(a->type, sizeof(a->type), "%s", v->points_to.name.c_str());
        a->kind = v->points_to.kind;
        if (a->element != v->points_to.size) {
            a->element = v->points_to.size;
            a->rank = 1;
            a->dims[0] = (unsigned)(a->size / a->element);
        }
    }
}

static void enter(struct lane *l, char *base, const struct function *f)
{
    const unsigned depth = (unsigned)l->frames.size();
    const struct place head = {(int)f->file, f->line};

    l->frames.push_back({base, f, f->low, head, {}});
    begin_frame(&l->frames.back());
    for (const struct variable &v : f->variables)
        if (depth == 0 && v.is_parameter && v.type.kind == 'p' && v.dims.empty())
            name_argument(&v, base_of(&l->frames.back()));
    note_changes(&l->frames.back(), new_item(l, f->low, head, f, depth, false));
}

/* Back in a frame, or in none: the rest of the line that made the call. A lane whose variables it leaves as they were
   has done it, too. */
static void return_to(struct lane *l, size_t count)
{
    if (count < l->frames.size() && count > 0) {
        l->frames.resize(count);
        struct frame *const f = &l->frames.back();
        struct item *const item = new_item(l, f->pc, f->place, f->function, (unsigned)count - 1, false);
        item->returns = true;
        note_changes(f, item);
    }
    l->frames.resize(count);
}

/* The running thread comes to a line of its program. */
extern "C" void sim_watch_come(uintptr_t pc, char *base)
{
    if (!sim_place.in_thread || (size_t)(base - sim_place.stack) >= SIM_STACK || !cut.empty())
        return;
    const struct function *const f = find_function(pc);
    const struct place place = find_place(pc - 1);
    if (f == NULL || !f->watched || place.file < 0)
        return;
    struct lane *const l = running();
    if (l->frames.empty() || l->frames.back().base != base || l->frames.back().function != f) {
        size_t count = l->frames.size();
        const char *caller = base;

        if (!l->frames.empty() && has_changes(&l->frames.back()) && l->frames.back().base > base)
            note_changes(&l->frames.back(), current_item(l)); /* what it did before the call */
        for (; count > 0; caller = *(char *const *)caller) {  /* up the chain of frames */
            size_t i = count;
            while (i > 0 && l->frames[i - 1].base != caller)
                i--;
            if (i > 0 || (size_t)(caller - sim_place.stack) >= SIM_STACK - 8) {
                count = i;
                break;
            }
        }
        if (count > 0 && l->frames[count - 1].base == base && l->frames[count - 1].function != f)
            count--; /* another one was called from there */
        const bool is_known = count > 0 && l->frames[count - 1].base == base;
        return_to(l, count);
        if (!is_known)
            enter(l, base, f);
    } else {
        if (has_changes(&l->frames.back()))
            note_changes(&l->frames.back(), current_item(l));
    }
    struct frame *const top = &l->frames.back();
    const unsigned depth = (unsigned)l->frames.size() - 1;
    top->pc = pc;
    top->place = place;
    if (!l->items.empty()) {
        struct item *const last = &l->items.back();
        if (last->depth == depth && last->function == f && last->place.line == place.line &&
            last->place.file == place.file && pc > last->last_pc) {
            last->last_pc = pc;
            return; /* a later part of the same line */
        }
    } else if (l->place.line == place.line && l->place.file == place.file && l->depth == depth && l->function == f &&
               pc > l->pc && l->last_step >= 0) {
        l->pc = pc;
        return;
    }
    new_item(l, pc, place, f, depth, false);
}

/* The item of something that happens at this place in the code. A call into the simulator, and what is left to do on a
   line when a function has returned, come without a word. */
static struct item *item_at(struct lane *l, const void *at, struct place place)
{
    const uintptr_t pc = (uintptr_t)at;
    const struct function *const f = find_function(pc);
    unsigned depth = 0;

    if (!l->frames.empty()) {
        size_t count = l->frames.size();
        while (count > 0 && l->frames[count - 1].function != f)
            count--;
        if (count == 0) /* in a function of the simulator's headers */
            return current_item(l);
        if (count < l->frames.size())
            return_to(l, count);
        depth = (unsigned)count - 1;
    }
    if (place.file < 0)
        return current_item(l);
    const uintptr_t last = l->items.empty() ? l->pc : l->items.back().last_pc;
    if (l->place.line == place.line && l->place.file == place.file && l->depth == depth &&
        (!l->frames.empty() || last < pc)) {
        struct item *const item = current_item(l);
        item->last_pc = pc;
        return item;
    }
    return new_item(l, pc, place, f, depth, false);
}

static struct item *item_of_call(struct lane *l, const char *file, int line)
{
    const struct place place = place_of(file, (unsigned)line);
    const struct function *const f = l->frames.empty() ? NULL : l->frames.back().function;

    return item_at(l, (const void *)find_address(place, f), place);
}

/* ---- events ---- */

/* A store is seen before it is done: its values are read at the next call. */
static struct {
    struct lane *lane;
    size_t item, event;
    const char *at;
    char kind;
    unsigned size, count;
} open_store;

static std::string values_of(char kind, unsigned size, unsigned count, const char *at)
{
    std::string text;

    for (unsigned i = 0; i < count; i++)
        text += (i > 0 ? "," : "") + number(kind, size, at + (size_t)i * size);
    return text;
}

static void close_store(void)
{
    if (open_store.lane == NULL)
        return;
    open_store.lane->items[open_store.item].events[open_store.event].each =
        values_of(open_store.kind, open_store.size, open_store.count, open_store.at);
    open_store.lane = NULL;
}

static struct event *add_event(struct item *to, const char *kind, uint64_t joins, std::string rest)
{
    to->events.push_back({kind, joins, 0, rest, "", false, "", "", NULL, -1, 1, -1, false});
    return &to->events.back();
}

static void forget_open_store(void)
{
    if (open_store.lane != NULL) {
        std::string nulls = "null";
        for (unsigned i = 1; i < open_store.count; i++)
            nulls += ",null";
        open_store.lane->items[open_store.item].events[open_store.event].each = nulls;
    }
    open_store.lane = NULL;
}

/* Number of the block, if it is not the running one, as a member. */
static std::string owner_text(const struct sim_region *r)
{
    if (!sim_is_shared(r) || r->block == sim_block->number)
        return "";
    for (const struct block *b : sim_slots)
        if (b != NULL && b->number == r->block)
            return ",\"b\":" + decimal(sim_grid_number(b));
    return "";
}

void sim_watch_access(const struct sim_region *r, const char *at, size_t size, unsigned how, const void *pc,
                      unsigned request)
{
    static const char *const kinds[2][3] = {{"load", "store", "atomic"},
                                            {"shared_load", "shared_store", "shared_atomic"}};

    close_store();
    if (!cut.empty())
        return;
    struct lane *const l = running();
    struct item *const item = item_at(l, pc, find_place((uintptr_t)pc - 1));
    const int number = array_of(r);
    struct array *const a = &common->arrays[number];
    const unsigned count = size >= a->element && size % a->element == 0 ? (unsigned)(size / a->element) : 1;
    const char kind = size < a->element ? 'u' : a->kind;
    const unsigned width = size < a->element ? (unsigned)size : a->element;
    char rest[200];

    a->written |= how & SIM_WRITES;
    snprintf(rest, sizeof(rest), ",\"a\":%d%s%s", number, count > 1 ? (",\"n\":" + decimal(count)).c_str() : "",
             owner_text(r).c_str());
    struct event *const e =
        add_event(item, kinds[sim_is_shared(r)][how & SIM_ATOMIC ? 2 : (how & SIM_WRITES) != 0], request, rest);
    e->array = number;
    e->count = count;
    e->request = (int)request;
    e->list_name = "i";
    e->list = decimal((uint64_t)(at - r->array) / a->element);
    if (how & SIM_WRITES)
        open_store = {l, l->items.size() - 1, item->events.size() - 1, at, kind, width, count};
    else
        e->each = values_of(kind, width, count, at);
}

struct cost {
    uint64_t sectors, lines, conflicts;
    long step; /* that has it; -1: none yet */
};
static std::vector<struct cost> costs; /* of the requests of this pass */

void sim_watch_cost(unsigned request, uint64_t sectors, uint64_t lines, uint64_t conflicts)
{
    if (costs.size() <= request)
        costs.resize(request + 1);
    costs[request] = {sectors, lines, conflicts, -1};
}

static const char *const exchange_kinds[] = {"warp_barrier", "shuffle", "vote"};
static std::set<uint64_t> told_exchanges; /* a step has them */

void sim_watch_exchange(struct thread *warp, int kind, unsigned mask)
{
    const bool is_barrier = kind == SIM_SYNCWARP, is_shuffle = kind >= SIM_SHFL && kind <= SIM_SHFL_XOR;
    const char *const what = exchange_kinds[is_barrier ? 0 : is_shuffle ? 1 : 2];
    const uint64_t serial = ++num_exchanges;

    close_store();
    if (!cut.empty() || kind == SIM_MATRIX)
        return;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        struct lane *const l = lane_of(sim_block, sim_thread_number(&warp[i]));
        struct event *const e = add_event(current_item(l), what, serial, "");

        if (is_shuffle) {
            const char type = (char)(warp[i].lane >> 8 & 0xff);
            const unsigned size = warp[i].lane >> 16;
            e->list_name = "from";
            e->list = decimal(sim_source_lane(&warp[i], i));
            e->each = number(type != 0 ? type : 'u', size != 0 ? size : 8, &warp[i].value);
        } else if (!is_barrier && kind != SIM_PRODUCT)
            e->each = decimal(warp[i].value);
    }
}

/* A list of its elements: those of a, of b, and the sums. What ldmatrix loads are 16 bits of whatever type. */
void sim_watch_fragments(const char *what, const void *a, const void *b, const float *c)
{
    close_store();
    if (!cut.empty())
        return;
    const bool is_load = b == NULL, is_tf32 = strcmp(what, "mma_tf32") == 0;
    const char kind = is_load ? 'u' : is_tf32 ? 'f' : strcmp(what, "mma_bf16") == 0 ? 'B' : 'h';
    const unsigned size = is_tf32 ? 4 : 2, count = 16 / size;
    struct item *const item = current_item(running());
    struct event *const e = add_event(item, "fragments", item->events.size(), ",\"of\":" + quoted(what));

    e->each = values_of(kind, size, count, (const char *)a);
    if (!is_load)
        e->each +=
            "," + values_of(kind, size, count / 2, (const char *)b) + "," + values_of('f', 4, 4, (const char *)c);
}

static std::string place_text(struct place p)
{
    return p.file < 0 ? "null" : "[" + decimal(source_number((unsigned)p.file)) + "," + decimal(p.line) + "]";
}

void sim_watch_barrier(const char *what, uint64_t owner, uint64_t number, const char *file, int line)
{
    close_store();
    if (!cut.empty())
        return;
    const struct place place = place_of(file, (unsigned)line);
    struct lane *const l = running();
    struct item *const item = item_of_call(l, file, line);

    l->meets = std::string(what) + " " + decimal(owner) + "." + decimal(number);
    add_event(item, "barrier", number, ",\"at\":" + quoted(l->meets.c_str()) + ",\"place\":" + place_text(place));
}

void sim_watch_call(const char *file, int line)
{
    close_store();
    if (cut.empty())
        item_of_call(running(), file, line);
}

void sim_watch_leaves(uint64_t most)
{
    static bool has_left;

    if (!has_left)
        recorded_size = 0; /* the page has the steps until here already */
    has_left = true;
    sim_watch_most = most;
}

void sim_watch_fence(void)
{
    close_store();
    if (cut.empty())
        add_event(current_item(running()), "fence", 0, "");
}

void sim_watch_print(const char *text)
{
    close_store();
    if (!cut.empty())
        return;
    struct item *const item = current_item(running());
    add_event(item, "print", item->events.size(), "")->each = quoted(text);
}

/* ---- copies ---- */

static std::vector<std::pair<const void *, unsigned>> on_their_way; /* destinations, and numbers */
static unsigned num_copies;

static std::string end_text(const char *at)
{
    const struct sim_region *const r = sim_region_near(at);

    if (r == NULL)
        return "null";
    const int number = array_of(r);
    return "[" + decimal((uint64_t)number) + "," + decimal((uint64_t)(at - r->array) / common->arrays[number].element) +
           "]";
}

/* The event of a copy that sets out, or NULL where what happens is left out. */
static struct event *add_copy(const char *how, const void *to, const void *from, size_t size)
{
    close_store();
    if (!cut.empty())
        return NULL;
    const struct sim_region *const r = sim_region_near(to);
    const unsigned element = common->arrays[array_of(r)].element;
    const unsigned id = ++num_copies;

    on_their_way.push_back({to, id});
    return add_event(current_item(running()), "copy", id,
                     ",\"id\":" + decimal(id) + ",\"how\":" + quoted(how) +
                         ",\"from\":" + (from != NULL ? end_text((const char *)from) : "null") +
                         ",\"to\":" + end_text((const char *)to) + ",\"n\":" + decimal(size / element) +
                         ",\"bytes\":" + decimal(size) + owner_text(r));
}

void sim_watch_copy(const char *how, const void *to, const void *from, size_t size, int request, int shared_request)
{
    struct event *e = add_copy(how, to, from, size);

    if (e == NULL)
        return;
    e->request = request;
    if (shared_request >= 0) { /* its stores to shared memory are a request of their own */
        const struct sim_region *const r = sim_region_near(to);
        e = add_event(current_item(running()), "copy_store", (uint64_t)shared_request,
                      ",\"a\":" + decimal((uint64_t)array_of(r)) + owner_text(r));
        e->request = shared_request;
    }
}

void sim_watch_tma(const struct sim_piece *p, bool stores, bool is_part, uint64_t sectors, uint64_t lines)
{
    struct event *const e = add_copy("tma", stores ? p->global : p->shared, stores ? p->shared : p->global, p->bytes);

    if (e == NULL)
        return;
    e->request = -1;
    e->is_part = is_part;
    if (sectors > 0)
        e->cost = ",\"sectors\":" + decimal(sectors) + ",\"lines\":" + decimal(lines);
}

void sim_watch_arrive(const void *to, size_t size)
{
    close_store();
    if (!cut.empty())
        return;
    unsigned id = 0;
    for (size_t i = 0; i < on_their_way.size() && id == 0; i++)
        if (on_their_way[i].first == to) {
            id = on_their_way[i].second;
            on_their_way.erase(on_their_way.begin() + (long)i);
        }
    const struct sim_region *const r = sim_region_near(to);
    const struct array *const a = &common->arrays[array_of(r)];
    add_event(current_item(running()), "arrive", id, ",\"id\":" + decimal(id) + owner_text(r))->each =
        values_of(a->kind, a->element, (unsigned)(size / a->element), (const char *)to);
}

static std::string barrier_text(const void *barrier)
{
    const struct sim_region *const r = sim_region_near(barrier);

    return ",\"a\":" + decimal((uint64_t)array_of(r)) +
           ",\"i\":" + decimal((uint64_t)((const char *)barrier - r->array) / common->arrays[array_of(r)].element) +
           owner_text(r);
}

void sim_watch_wait(const char *on, const void *barrier, unsigned parity, size_t left)
{
    close_store();
    if (!cut.empty())
        return;
    std::string rest = ",\"on\":" + quoted(on);
    if (barrier != NULL)
        rest += barrier_text(barrier) + ",\"parity\":" + decimal(parity);
    else
        rest += ",\"left\":" + decimal(left);
    add_event(current_item(running()), "wait", (uint64_t)(uintptr_t)barrier + left, rest);
}

void sim_watch_phase(const void *barrier, unsigned phase, unsigned pending)
{
    close_store();
    if (!cut.empty())
        return;
    struct item *const item = current_item(running());
    add_event(item, "phase", item->events.size(),
              barrier_text(barrier) + ",\"phase\":" + decimal(phase) + ",\"parity\":" + decimal(phase % 2) +
                  ",\"pending\":" + decimal(pending));
}

/* ---- from items to steps ---- */

void sim_watch_turn(unsigned)
{
    close_store();
}

/* What the item of one lane did becomes part of a step. */
static void join_step(size_t at, unsigned lane, struct item *item)
{
    struct step *const s = &steps[at];

    for (struct event &e : item->events) {
        struct event *to = NULL;

        e.lanes = 1u << lane;
        for (struct event &other : s->events)
            if (other.kind == e.kind && other.joins == e.joins && !(other.lanes >> lane & 1) && other.rest == e.rest)
                to = &other;
        if (to == NULL) {
            if (e.request >= 0 && (size_t)e.request < costs.size()) {
                struct cost *const c = &costs[(size_t)e.request];
                const bool shared = e.kind[0] == 's' && e.kind[1] == 'h';

                e.is_part = c->step >= 0;
                if (!e.is_part && (shared || strcmp(e.kind, "copy_store") == 0))
                    e.cost = ",\"conflicts\":" + decimal(c->conflicts);
                else if (!e.is_part)
                    e.cost = ",\"sectors\":" + decimal(c->sectors) + ",\"lines\":" + decimal(c->lines);
                c->step = (long)at;
            }
            if (e.kind == exchange_kinds[0] || e.kind == exchange_kinds[1] || e.kind == exchange_kinds[2])
                e.is_part = !told_exchanges.insert(e.joins).second;
            e.has_values = !e.each.empty();
            recorded_size += 30 + (e.lanes != s->lanes ? 90 : 0) + e.rest.size() + e.list.size() + e.each.size();
            s->events.push_back(std::move(e));
        } else {
            recorded_size += 2 + e.list.size() + e.each.size();
            to->lanes |= e.lanes;
            to->list += "," + e.list;
            to->each += (to->has_values ? "," : "") + e.each;
        }
    }
    for (struct change &c : item->changes) {
        std::map<unsigned, std::string> &all = s->values[c.variable];
        recorded_size += all.empty() || all.begin()->second != c.value ? 4 + c.value.size() : 0;
        all[lane] = std::move(c.value);
    }
}

static void cut_if_large(void)
{
    if (!cut.empty() || recorded_size < sim_watch_most)
        return;
    cut = "The recording ends here, after " + decimal(steps.size()) +
          " steps, so that the page stays small. A smaller launch is played to its end: fewer threads, blocks or "
          "elements.";
}

static uint32_t lanes_of_warp(unsigned warp)
{
    const unsigned rest = sim_num_threads - warp * SIM_WARP;
    return rest < SIM_WARP ? (1u << rest) - 1 : ~0u;
}

/* Whether an event of that lane is an access to that element. */
static bool touches(const struct event *e, unsigned lane, int array, uint64_t index)
{
    const char *at = e->list.c_str();

    if (e->array != array || (e->lanes != 0 && !(e->lanes >> lane & 1)))
        return false;
    for (uint32_t before = e->lanes & ((1u << lane) - 1); before != 0; before &= before - 1)
        at = strchr(at, ',') + 1;
    const uint64_t first = strtoull(at, NULL, 10);
    return index >= first && index < first + e->count;
}

/* Whether a lane does with that item what another one does with `key`. */
static bool is_key(const struct item *item, const struct item *key)
{
    return item->pc == key->pc && item->depth == key->depth && item->continues == key->continues &&
           item->returns == key->returns;
}

static bool is_empty(const struct item *item)
{
    return item->events.empty() && item->changes.empty();
}

/* Puts together what the lanes of a warp have done. Up to the last item of lane `until`, if that is one; and before
   that comes the access of lane `before` to an element, if it has run ahead of the others. */
static void merge(unsigned warp, int until, int before = -1, int array = -1, uint64_t index = 0)
{
    struct lane *const first = lane_of(sim_block, warp * SIM_WARP);
    const unsigned rest = sim_num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    size_t next[SIM_WARP] = {0}, ahead = 0; /* items of lane `before` that come first */

    for (size_t i = 0; before >= 0 && i < first[before].items.size(); i++)
        for (const struct event &e : first[before].items[i].events)
            if (touches(&e, (unsigned)before, array, index))
                ahead = i + 1;

    for (;;) {
        const struct item *back = NULL; /* the one that is furthest back */

        if (until >= 0 && next[until] == first[until].items.size())
            break;
        for (unsigned i = 0; i < count; i++) {
            if (next[i] == first[i].items.size())
                continue;
            struct item *const item = &first[i].items[next[i]];
            if ((int)i == until && next[i] + 1 == first[i].items.size() && ahead > 0 && next[before] < ahead)
                continue;                            /* held back */
            if (item->continues && is_empty(item)) { /* nothing came of it */
                next[i]++;
                i--;
                continue;
            }
            if (back == NULL || (item->continues && !back->continues) ||
                (item->continues == back->continues &&
                 (item->depth > back->depth || (item->depth == back->depth && item->pc < back->pc))))
                back = item;
        }
        if (back == NULL)
            break;
        const struct item key = {back->pc,      0,  back->place, back->function, back->depth, back->continues,
                                 back->returns, {}, {}};
        bool nothing = key.returns; /* came of it in any lane: no step */
        for (unsigned i = 0; i < count && nothing; i++)
            nothing = next[i] == first[i].items.size() || !is_key(&first[i].items[next[i]], &key) ||
                      is_empty(&first[i].items[next[i]]);
        long step = -1, earlier = -1;
        for (unsigned i = 0; i < count; i++) {
            if (next[i] == first[i].items.size())
                continue;
            struct item *const item = &first[i].items[next[i]];
            if ((int)i == until && next[i] + 1 == first[i].items.size() && ahead > 0 && next[before] < ahead)
                continue;
            if (!is_key(item, &key))
                continue;
            next[i]++;
            if (nothing)
                continue;
            if (item->continues && first[i].last_step >= (long)run_of_warp && first[i].waiting == READY &&
                (earlier < 0 || earlier == first[i].last_step)) {
                earlier = first[i].last_step;
                join_step((size_t)first[i].last_step, i, item);
                continue;
            }
            if (step < 0) {
                step = (long)steps.size();
                add_step({DID,
                          sim_grid_number(sim_block),
                          warp,
                          key.depth,
                          0,
                          lanes_of_warp(warp),
                          key.place,
                          key.function,
                          {},
                          {},
                          ""});
                if (!cut.empty())
                    break;
            }
            steps[(size_t)step].lanes |= 1u << i;
            join_step((size_t)step, i, item);
            first[i].last_step = step;
        }
        cut_if_large();
        if (!cut.empty())
            break;
    }
    for (unsigned i = 0; i < count; i++)
        first[i].items.clear();
    costs.clear();
}

static const char *wait_name(const struct thread *t)
{
    return t->state == AT_BARRIER         ? "__syncthreads"
           : t->state == AT_WARP          ? (t->kind == SIM_SYNCWARP ? "__syncwarp" : "shuffle")
           : t->state == AT_MBARRIER      ? "mbarrier"
           : t->state == AT_NAMED_BARRIER ? "named"
           : t->state == AT_CLUSTER       ? "cluster"
           : t->state == AT_GRID          ? "grid"
           : t->state == YIELDED          ? "poll"
                                          : "shuffle";
}

/* What those who wait share: the same text for all who go on together. */
static std::string wait_key(const struct thread *t, const struct lane *l)
{
    if (t->state == AT_MBARRIER)
        return "mbarrier " + decimal(sim_grid_number(sim_block)) + "." +
               decimal((uint64_t)(t->barrier - sim_block->mbarriers)) + "." + decimal(t->barrier->phase);
    return t->state == AT_WARP || t->state == AT_GATHER || t->state == YIELDED ? wait_name(t) : l->meets;
}

/* A step in which lanes of a warp begin to wait, go on, or have ended. */
static void state_step(enum step_kind kind, unsigned warp, uint32_t lanes, struct place place, std::string rest)
{
    add_step({kind, sim_grid_number(sim_block), warp, 0, lanes, lanes_of_warp(warp), place, NULL, {}, {}, rest});
}

static void note_states(unsigned warp)
{
    struct lane *const first = lane_of(sim_block, warp * SIM_WARP);
    const struct thread *const threads = &sim_block->threads[warp * SIM_WARP];
    const unsigned rest = sim_num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    uint32_t go = 0;
    uint32_t seen = 0;

    for (unsigned i = 0; i < count; i++)
        if (first[i].waiting != READY && threads[i].state != first[i].waiting &&
            !(first[i].waiting == YIELDED && threads[i].state == READY)) {
            go |= 1u << i;
            first[i].waiting = READY;
        }
    if (go != 0)
        state_step(GOES, warp, go, {-1, 0}, "");
    for (unsigned i = 0; i < count; i++) {
        const enum state state = threads[i].state;
        uint32_t together = 0;

        if (seen >> i & 1 || state == READY || state == first[i].waiting)
            continue;
        const std::string key = state == DONE ? "" : wait_key(&threads[i], &first[i]);
        for (unsigned j = i; j < count; j++)
            if (threads[j].state == state && first[j].waiting != state && first[j].place.line == first[i].place.line &&
                (state == DONE || wait_key(&threads[j], &first[j]) == key)) {
                together |= 1u << j;
                first[j].waiting = state;
            }
        seen |= together;
        if (state == DONE)
            state_step(ENDED, warp, together, {-1, 0}, "");
        else
            state_step(WAITS, warp, together, first[i].place,
                       ",\"on\":" + quoted(wait_name(&threads[i])) + ",\"at\":" + quoted(key.c_str()));
    }
}

void sim_watch_states(void)
{
    for (unsigned warp = 0; warp * SIM_WARP < sim_num_threads; warp++)
        note_states(warp);
}

void sim_watch_pass(unsigned warp)
{
    close_store();
    merge(warp, -1);
    note_states(warp);
}

void sim_watch_block(const struct block *b, bool begins)
{
    close_store();
    if (begins) {
        lanes[b->slot].clear();
        for (unsigned i = 0; i < sim_num_threads; i++) {
            struct lane *const l = lane_of(b, i);
            l->last_step = -1;
            l->waiting = READY;
            l->place = {-1, 0};
        }
    }
    add_step({begins ? BLOCK_BEGINS : BLOCK_ENDS, sim_grid_number(b), 0, 0, 0, 0, {-1, 0}, NULL, {}, {}, ""});
}

/* ---- the end of a run ---- */

static struct {
    const void *pc;
    unsigned thread;
    uint64_t block;
    const char *at;
} other;

void sim_watch_other(const void *pc, unsigned thread, uint32_t block, const void *at)
{
    const uint3 b = sim_index_of(block);

    other = {pc, thread, b.x + (uint64_t)gridDim.x * (b.y + (uint64_t)gridDim.y * b.z), (const char *)at};
}

/* The last step before `before` in which that thread took part and accessed that element; array -1: took part. */
static long last_step_of(uint64_t block, unsigned thread, int array, uint64_t index, long before)
{
    for (long i = before - 1; i >= 0; i--) {
        const struct step *const s = &steps[(size_t)i];
        bool found = array < 0;

        if (s->kind != DID || s->block != block || s->warp != thread / SIM_WARP || !(s->lanes >> thread % SIM_WARP & 1))
            continue;
        for (const struct event &e : s->events)
            found |= touches(&e, thread % SIM_WARP, array, index);
        if (found)
            return i;
    }
    return -1;
}

void watch_write_run(std::vector<struct step> &steps, const std::string &cut, const struct verdict &verdict,
                     const struct sim_counts *counts);

static void finish(const struct sim_counts *counts)
{
    watch_write_run(steps, cut, outcome, counts);
    _exit(0);
}

void sim_watch_fault(const char *message, const char *where)
{
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);

    sim_watching = false;
    forget_open_store();
    outcome = {false, message, -1, -1, {-1, 0}, {-1, 0}, 0, 0, 0, 0, false, false, -1, 0};
    outcome.text += ".";
    for (size_t at; (at = outcome.text.find(" ./")) != std::string::npos;)
        outcome.text.erase(at + 1, 2);
    if (outcome.text.compare(0, 2, "./") == 0)
        outcome.text.erase(0, 2);
    char path[1024];
    snprintf(path, sizeof(path), "%s", where);
    if (char *const colon = strrchr(path, ':')) {
        *colon = '\0';
        outcome.place = place_of(path, (unsigned)atoi(colon + 1));
    }
    const struct sim_region *const r = other.pc != NULL ? sim_region_near(other.at) : NULL;
    if (r != NULL) {
        outcome.array = array_of(r);
        outcome.index = (uint64_t)(other.at - r->array) / common->arrays[outcome.array].element;
    }
    if (sim_block != NULL) {
        outcome.block = sim_grid_number(sim_block);
        outcome.thread = thread;
        outcome.has_thread = sim_place.in_thread;
        if (sim_place.in_thread && cut.empty()) {
            const bool same_warp = r != NULL && other.block == outcome.block &&
                                   other.thread / SIM_WARP == thread / SIM_WARP && other.thread != thread;
            const struct lane *const l = lane_of(sim_block, thread);
            merge(thread / SIM_WARP, l->items.empty() ? -1 : (int)(thread % SIM_WARP),
                  same_warp ? (int)(other.thread % SIM_WARP) : -1, outcome.array, outcome.index);
            outcome.step = last_step_of(outcome.block, thread, -1, 0, (long)steps.size());
        }
    }
    if (other.pc != NULL) {
        outcome.has_other = true;
        outcome.other_place = find_place((uintptr_t)other.pc - 1);
        outcome.other_block = other.block;
        outcome.other_thread = other.thread;
        outcome.other_step = last_step_of(other.block, other.thread, outcome.array, outcome.index,
                                          outcome.step >= 0 ? outcome.step : (long)steps.size());
    }
    finish(NULL);
}

void sim_watch_launch_end(const struct sim_counts *counts)
{
    sim_watching = false;
    outcome = {true, "", -1, -1, {-1, 0}, {-1, 0}, 0, 0, 0, 0, false, false, -1, 0};
    finish(counts);
    __builtin_unreachable();
}

/* ---- the call at each line: it leaves all registers as they are ---- */

#if defined(__x86_64__)
asm(R"(
    .text
    .globl sim_watch_line
    .type sim_watch_line, @function
sim_watch_line:
    pushfq
    pushq %rax
    movq sim_watching@GOTPCREL(%rip), %rax
    cmpb $0, (%rax)
    jne 1f
    popq %rax
    popfq
    ret
1:  pushq %rbx
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    movq 88(%rsp), %rdi
    movq %rbp, %rsi
    movq %rsp, %rbx
    subq $512, %rsp
    andq $-16, %rsp
    fxsave (%rsp)
    cld
    call sim_watch_come@PLT
    fxrstor (%rsp)
    movq %rbx, %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbx
    popq %rax
    popfq
    ret
    .size sim_watch_line, .-sim_watch_line
)");
#endif

/* ---- who tells it ---- */

/* In a process that records: behind the other observers (subscribe.cpp). */
void sim_subscribe_recorder(void)
{
    struct sim_announcements *const t = &sim_tell;

    sim_race_tells = sim_watch_other;
    t->launch_ends.add([](struct sim_counts *counts) {
        if (sim_watching)
            sim_watch_launch_end(counts);
    });
    t->block_begins.add([](struct block *b) {
        if (sim_watching)
            sim_watch_block(b, true);
    });
    t->block_ends.add([](struct block *b) {
        if (sim_watching)
            sim_watch_block(b, false);
    });
    t->pass.add([](unsigned warp) {
        if (sim_watching)
            sim_watch_pass(warp);
    });
    t->barrier_reached.add([](const char *what, uint64_t owner, uint64_t number, const char *file, int line) {
        if (sim_watching)
            sim_watch_barrier(what, owner, number, file, line);
    });
    t->barrier_passed.add([] {
        if (sim_watching)
            sim_watch_states();
    });
    t->fence.add([](unsigned) {
        if (sim_watching)
            sim_watch_fence();
    });
    t->warp_call.add([](const char *file, int line) {
        if (sim_watching)
            sim_watch_call(file, line);
    });
    t->warp_met.add([](struct thread *lanes, int kind, unsigned mask) {
        if (sim_watching)
            sim_watch_exchange(lanes, kind, mask);
    });
    t->waits_on.add([](const char *on, const void *barrier, unsigned parity, size_t left) {
        if (sim_watching)
            sim_watch_wait(on, barrier, parity, left);
    });
    t->phase_begins.add([](const void *barrier, unsigned phase, unsigned pending) {
        if (sim_watching)
            sim_watch_phase(barrier, phase, pending);
    });
    t->word_sent.add([](const void *word, size_t size) {
        if (sim_watching)
            sim_watch_copy("cluster_send", word, NULL, size, -1, -1);
    });
    t->copy_arrived.add([](const void *to, size_t size, const void *, int) {
        if (sim_watching)
            sim_watch_arrive(to, size);
    });
    t->stored.add([](const struct sim_piece *pieces, size_t count) {
        for (size_t i = 0; sim_watching && i < count; i++)
            sim_watch_arrive(pieces[i].global, pieces[i].bytes);
    });
    t->fragments.add([](const char *what, const void *a, const void *b, const float *c) {
        if (sim_watching)
            sim_watch_fragments(what, a, b, c);
    });
    t->printed.add([](const char *text) {
        if (sim_watching)
            sim_watch_print(text);
    });
    t->leaves_out.add([](const char *what, const char *file, int line, bool *is_left_out) {
        *is_left_out = sim_watching && sim_watch_leaves_out(what, file, line);
    });
}
