/* SPDX-License-Identifier: MIT */
/* watch_page.cpp - records the runs of a launch, each in a process of its own, and writes the page that plays them.

       CUSIM_WATCH=page.html     the page; a name that ends in .json: what the page plays, alone
       CUSIM_WATCH_KERNEL=NAME   the first launch of that kernel; NAME:2 the second, :2 of any. Without it, the first
                                 launch, or, where kernels were compiled by cusim --watch, of those
       CUSIM_WATCH_RUNS=first    only as it is written: not in other orders, and with all barriers
                       =none     only notes the launches: a line each, with the number of threads
       CUSIM_WATCH_OVER=A,B      steps over functions of the files A and B: a call of one is part of the line that calls
       CUSIM_WATCH_SAYS=LINES    for programs that have a page made, a line each:
           title: TEXT           the page's name, and
           command: TEXT         what one types to get it
           counted: 1            only launches behind a call of sim_reset_counts
           from: FOLDER          where the sources are, if they are named from another folder than the working one
           verdict: TEXT         what a judge says of the results, and the element that it names:
           element: outputs[0][5]

   The process that launches forks a child for each run and waits for it. Then it runs the launch itself, as ever. */
#include "watch.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <map>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "../machine/block.h"
#include "../machine/fault.h"
#include "../runtime/host.h"
#include "../include/cuda_bf16.h"
#include "../include/cuda_fp16.h"
#include "../include/cuda_runtime.h"
#include "../runtime/memory.h"
#include "observe.h"
#include "../machine/order.h"
#include "watch_trace.h"
#include "../machine/settings.h"
#include "../machine/region.h"
#include "../machine/locate.h"
#include "../machine/announce.h"

namespace watch
{

struct program program;
struct common *common;

/* ---- numbers and texts in JSON ---- */

/* Bytes of the character of UTF-8 that begins there; 0: none does. */
static size_t character(const char *c)
{
    const unsigned char first = (unsigned char)*c;
    const size_t size = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;

    for (size_t i = 1; i < size; i++)
        if (((unsigned char)c[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

std::string quoted(const char *text)
{
    std::string out = "\"";
    char code[8];

    for (const char *c = text; *c != '\0'; c++)
        if (const size_t size = character(c); size != 1) {
            out += size == 0 ? "\\ufffd" : std::string(c, size);
            c += size > 1 ? size - 1 : 0;
        } else if (*c == '"' || *c == '\\')
            out += std::string("\\") + *c;
        else if (*c == '/' && c > text && c[-1] == '<') /* nothing may end the page's script */
            out += "\\/";
        else if (*c == '!' && c > text && c[-1] == '<')
            out += "\\u0021";
        else if ((unsigned char)*c < 32) {
            snprintf(code, sizeof(code), "\\u%04x", *c);
            out += code;
        } else
            out += *c;
    return out + "\"";
}

std::string decimal(uint64_t n)
{
    return std::to_string(n);
}

static std::string real(double x, bool is_float)
{
    char text[64];

    if (x != x)
        return "\"nan\"";
    if (x - x != 0)
        return x > 0 ? "\"inf\"" : "\"-inf\"";
    for (int digits = 6; digits <= 17; digits++) { /* the shortest that reads back the same */
        snprintf(text, sizeof(text), "%.*g", digits, x);
        if (is_float ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
            break;
    }
    return text;
}

std::string number(char kind, unsigned size, const void *at)
{
    uint64_t bits = 0;

    memcpy(&bits, at, size);
    if (kind == 'f' && size == 4) {
        float x;
        memcpy(&x, at, sizeof(x));
        return real(x, true);
    }
    if (kind == 'f') {
        double x;
        memcpy(&x, at, sizeof(x));
        return real(x, false);
    }
    if (kind == 'h' || kind == 'B') {
        __half h;
        __nv_bfloat16 b;
        memcpy(kind == 'h' ? (void *)&h : (void *)&b, at, 2);
        return real(kind == 'h' ? __half2float(h) : __bfloat162float(b), true);
    }
    if (kind == 'i' || (kind == 'c' && size == 1)) {
        const int64_t n = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
        const std::string text = std::to_string((long long)n);
        return n > (int64_t)1 << 53 || n < -((int64_t)1 << 53) ? "\"" + text + "\"" : text;
    }
    const std::string text = decimal(bits);
    return bits > (uint64_t)1 << 53 ? "\"" + text + "\"" : text;
}

/* ---- what is known of the program ---- */

const struct function *find_function(uintptr_t pc)
{
    const auto after = std::upper_bound(program.functions.begin(), program.functions.end(), pc,
                                        [](uintptr_t at, const struct function &f) { return at < f.low; });

    if (after == program.functions.begin() || pc > (after - 1)->high)
        return NULL;
    return &*(after - 1);
}

bool is_own(unsigned file)
{
    const std::string &name = program.files[file];

    return name.compare(0, 5, "/usr/") != 0 && !sim_is_own(name.c_str());
}

struct place find_place(uintptr_t pc)
{
    auto row = std::upper_bound(program.rows.begin(), program.rows.end(), pc,
                                [](uintptr_t at, const struct row &r) { return at < r.address; });

    if (row == program.rows.begin() || (row - 1)->file < 0 || !is_own((unsigned)(row - 1)->file))
        return {-1, 0};
    return {(row - 1)->file, (row - 1)->line};
}

/* Of a line without code of its own, as one with a call that is inlined: before the next one that has some. */
uintptr_t find_address(struct place place, const struct function *in)
{
    static std::map<std::pair<std::pair<int, unsigned>, const struct function *>, uintptr_t> known;
    uintptr_t *const found = &known[{{place.file, place.line}, in}];
    unsigned line = ~0u;

    if (*found != 0)
        return *found;
    for (const struct row &r : program.rows)
        if (r.file == place.file && r.line >= place.line && r.line < line &&
            (in == NULL || (r.address >= in->low && r.address < in->high))) {
            line = r.line;
            *found = r.address - (line > place.line);
        }
    return *found;
}

/* A path as messages spell it, a/../b/c.cuh, without what leads back. */
static std::string plain_path(std::string path)
{
    size_t up;

    while (path.compare(0, 2, "./") == 0)
        path.erase(0, 2);
    while ((up = path.find("/../")) != std::string::npos) {
        const size_t from = up == 0 ? std::string::npos : path.rfind('/', up - 1);
        const size_t begin = from == std::string::npos ? 0 : from + 1;
        if (path.compare(begin, 2, "..") == 0)
            break;
        path.erase(begin, up + 4 - begin);
    }
    return path;
}

struct place place_of(const char *file, unsigned line)
{
    std::string wanted = file == NULL ? "" : plain_path(file);
    size_t best = 0;
    int found = -1;

    while (wanted.compare(0, 3, "../") == 0)
        wanted.erase(0, 3);
    for (size_t i = 0; i < program.files.size() && wanted != ""; i++) { /* the one that ends alike */
        const std::string &name = program.files[i];
        const std::string &longer = name.size() > wanted.size() ? name : wanted;
        const std::string &shorter = name.size() > wanted.size() ? wanted : name;
        const size_t rest = longer.size() - shorter.size();
        if (is_own((unsigned)i) && longer.compare(rest, std::string::npos, shorter) == 0 &&
            (rest == 0 || longer[rest - 1] == '/') && shorter.size() > best) {
            best = shorter.size();
            found = (int)i;
        }
    }
    return {found, line};
}

/* The fields of a line of the table, which tabs separate. */
static std::vector<std::string> split(const std::string &line, char at)
{
    std::vector<std::string> fields(1);

    for (const char c : line)
        if (c == at)
            fields.push_back("");
        else
            fields.back() += c;
    return fields;
}

static void read_variable(const std::vector<std::string> &f, uintptr_t offset)
{
    struct variable v = {f[1],
                         {f[2], f[3][0], (unsigned)atoi(f[4].c_str())},
                         {"", 0, 0},
                         atoi(f[5].c_str()),
                         f[6] == "1",
                         (unsigned)atoi(f[7].c_str()),
                         strtoull(f[8].c_str(), NULL, 10) + offset,
                         strtoull(f[9].c_str(), NULL, 10) + offset,
                         {},
                         {},
                         {}};

    if (f[10] != "")
        for (const std::string &dim : split(f[10], ',')) {
            v.dims.push_back((unsigned)atoi(dim.c_str()));
            v.steps.push_back((unsigned)atoi(dim.c_str() + dim.find(':') + 1));
        }
    v.places.push_back(v.at);
    for (size_t d = 0; d < v.dims.size(); d++) {
        std::vector<int> all;
        for (const int place : v.places)
            for (unsigned i = 0; i < v.dims[d]; i++)
                all.push_back(place + (int)(i * v.steps[d]));
        v.places = all;
    }
    if (f[11] != "") {
        const std::vector<std::string> to = split(f[11], ':');
        const size_t n = to.size();
        if (n >= 3)
            v.points_to = {to[n - 3], to[n - 2][0], (unsigned)atoi(to[n - 1].c_str())};
    }
    program.functions.back().variables.push_back(v);
}

/* What CUSIM_WATCH_SAYS says of something, as lines "name: value"; NULL if it says nothing. */
static const char *page_says(const char *name)
{
    static std::map<std::string, std::string> all;
    const char *const text = sim_setting("CUSIM_WATCH_SAYS");

    if (all.empty() && text != NULL)
        for (const std::string &line : split(text, '\n'))
            if (const size_t at = line.find(": "); at != std::string::npos)
                all[line.substr(0, at)] = line.substr(at + 2);
    const auto found = all.find(name);
    return found != all.end() ? found->second.c_str() : NULL;
}

static std::string home; /* where the scripts are, with a / behind it */

static bool find_home(void)
{
    static const char script[] = "compile/variables.pl";
    char path[4096];

    if (!sim_find_own(script, path, sizeof(path)))
        return false;
    home.assign(path, strlen(path) - strlen(script));
    return true;
}

/* Whether a file is one of those whose functions are stepped over. */
static bool is_over(const std::string &path)
{
    const char *const over = sim_setting("CUSIM_WATCH_OVER");

    for (const std::string &name : split(over != NULL ? over : "", ','))
        if (!name.empty() && path.substr(path.rfind('/') + 1) == name)
            return true;
    return false;
}

static void read_program(void)
{
    char path[4096], *line = NULL;
    uintptr_t offset;
    size_t room = 0;

    if (!find_home() || !sim_find_program(path, sizeof(path), &offset))
        sim_say("CUSIM_WATCH: cusim's folder is not where it was when this program was built. Link the program again");
    const std::string command = "perl '" + home + "compile/variables.pl' '" + path + "'";
    FILE *const table = popen(command.c_str(), "r");
    while (table != NULL && getline(&line, &room, table) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const std::vector<std::string> f = split(line, '\t');
        if (f[0] == "file") {
            program.files.push_back(plain_path(f[2]));
        } else if (f[0] == "function") {
            program.functions.push_back({strtoull(f[1].c_str(), NULL, 10) + offset,
                                         strtoull(f[2].c_str(), NULL, 10) + offset,
                                         (unsigned)atoi(f[3].c_str()),
                                         (unsigned)atoi(f[4].c_str()),
                                         f[5] == "1",
                                         f[6],
                                         {}});
            program.watched |= f[5] == "1";
        } else if (f[0] == "variable") {
            read_variable(f, offset);
        } else if (f[0] == "row") {
            program.rows.push_back(
                {strtoull(f[1].c_str(), NULL, 10) + offset, atoi(f[2].c_str()), (unsigned)atoi(f[3].c_str())});
        }
    }
    free(line);
    if (table == NULL || pclose(table) != 0 || program.rows.empty())
        sim_say("CUSIM_WATCH: the program's lines cannot be read. Are perl and objdump (binutils) there?");
    for (struct function &f : program.functions)
        f.watched = f.watched && !(f.file < program.files.size() && is_over(program.files[f.file]));
    std::sort(program.functions.begin(), program.functions.end(),
              [](const struct function &a, const struct function &b) { return a.low < b.low; });
    std::stable_sort(program.rows.begin(), program.rows.end(), [](const struct row &a, const struct row &b) {
        return a.address != b.address ? a.address < b.address : a.file < 0 && b.file >= 0;
    });
}

/* ---- numbers that all runs share ---- */

unsigned source_number(unsigned file)
{
    unsigned i = 0;

    while (i < common->num_sources && common->sources[i] != file)
        i++;
    if (i == common->num_sources && i < sizeof(common->sources) / sizeof(*common->sources))
        common->sources[common->num_sources++] = file;
    return i;
}

unsigned function_number(const struct function *f)
{
    const unsigned wanted = (unsigned)(f - &program.functions[0]);
    unsigned i = 0;

    while (i < common->num_functions && common->functions[i] != wanted)
        i++;
    if (i < common->num_functions || i == sizeof(common->functions) / sizeof(*common->functions))
        return i;
    source_number(f->file);
    common->functions[common->num_functions++] = wanted;
    common->variables[i] = common->num_variables;
    common->num_variables += (unsigned)f->variables.size();
    return i;
}

static void describe_array(struct array *a, const struct sim_region *r)
{
    const struct sim_shape *const s = &r->shape;
    char name[sizeof(a->name)];

    a->shared = sim_is_shared(r);
    a->memory = a->shared ? NULL : r->array;
    a->size = r->array_size;
    sim_region_name(r, name, sizeof(name));
    snprintf(a->name, sizeof(a->name), "%s", a->shared ? r->name : r->array_name != NULL ? r->array_name : name);
    a->element = s->member != 0                                ? (unsigned)s->member
                 : s->is_class || s->is_raw || s->element == 0 ? 4
                                                               : (unsigned)s->element;
    a->kind = s->kind != 0 ? s->kind : a->element == 4 || a->element == 8 ? 'f' : 'u';
    if (a->size % a->element != 0)
        a->element = 1, a->kind = 'u';
    snprintf(a->type, sizeof(a->type), "%s",
             a->kind == 'f' && a->element == 4   ? "float"
             : a->kind == 'f'                    ? "double"
             : a->kind == 'h'                    ? "half"
             : a->kind == 'B'                    ? "bfloat16"
             : a->kind == 'i' && a->element == 8 ? "long long"
             : a->kind == 'i'                    ? "int"
             : a->element == 8                   ? "unsigned long long"
             : a->element == 1                   ? "unsigned char"
                                                 : "unsigned");
    size_t inner = 1;
    for (unsigned d = 1; d < s->rank; d++)
        inner *= s->dims[d];
    const size_t whole = s->element != 0 ? s->element : a->element; /* an element as it is declared */
    if (s->rank == 0 || inner == 0 || a->size % (inner * whole) != 0) {
        a->rank = 1;
        a->dims[0] = (unsigned)(a->size / a->element);
    } else {
        a->rank = s->rank;
        a->dims[0] = (unsigned)(a->size / (inner * whole));
        for (unsigned d = 1; d < s->rank; d++)
            a->dims[d] = (unsigned)s->dims[d];
        if (whole > a->element)
            a->dims[a->rank++] = (unsigned)(whole / a->element);
    }
    a->fields = (size_t)a->dims[a->rank - 1] * a->element == s->element ? s->fields : NULL;
    a->start = a->shared ? 0 : (unsigned)((uintptr_t)r->array % 128);
    if (a->shared)
        for (const struct array *b = common->arrays; b < a; b++) /* each begins at bank 0, as the simulator counts */
            if (b->shared)
                a->start = std::max(a->start, (unsigned)sim_round_up(b->start + b->size, 128));
}

int array_of(const struct sim_region *r)
{
    const void *const key = !sim_is_shared(r)     ? (const void *)r->array
                            : r->variable != NULL ? r->variable
                                                  : (const void *)r->file;
    unsigned i = 0;

    while (i < common->num_arrays && common->arrays[i].key != key)
        i++;
    if (i < common->num_arrays)
        return (int)i;
    if (i == sizeof(common->arrays) / sizeof(*common->arrays))
        sim_say("CUSIM_WATCH: more than 256 arrays. Record a kernel that uses fewer");
    common->arrays[i].key = key;
    common->num_arrays++;
    describe_array(&common->arrays[i], r);
    return (int)i;
}

/* ---- a run as text ---- */

static std::string place_text(struct place p)
{
    return p.file < 0 ? "null" : "[" + decimal(source_number((unsigned)p.file)) + "," + decimal(p.line) + "]";
}

/* The members of a struct as elements of the last dimension: name, first, number. */
static std::string fields_text(const struct array *a)
{
    std::string text;

    for (const struct sim_field *f = a->fields; f != NULL && f->name != NULL; f++)
        if (f->element == a->element && f->offset % a->element == 0)
            text += (text.empty() ? "[" : ",[") + quoted(f->name) + "," + decimal(f->offset / a->element) + "," +
                    decimal(f->size / a->element) + "]";
    return text.empty() ? "" : ",\"fields\":[" + text + "]";
}

static std::string lanes_text(uint32_t lanes)
{
    std::string text;

    for (unsigned i = 0; i < SIM_WARP; i++)
        if (lanes >> i & 1)
            text += (text.empty() ? "[" : ",") + decimal(i);
    return text + "]";
}

static std::string event_text(const struct event *e, const struct step *s)
{
    std::string text = std::string("{\"k\":\"") + e->kind + "\"" + e->rest + e->cost;

    if (e->lanes != s->lanes)
        text += ",\"m\":" + lanes_text(e->lanes);
    if (e->list_name != NULL)
        text += std::string(",\"") + e->list_name + "\":[" + e->list + "]";
    if (e->has_values)
        text += ",\"x\":[" + e->each + "]";
    if (e->is_part)
        text += ",\"part\":true";
    return text + "}";
}

static std::string values_text(const struct step *s)
{
    std::string text;

    for (const auto &v : s->values) {
        text += (text.empty() ? "{\"" : ",\"") + decimal(v.first) + "\":[";
        bool same = v.second.size() == (size_t)__builtin_popcount(s->lanes); /* then one entry is enough */
        for (const auto &value : v.second)
            same &= value.second == v.second.begin()->second;
        for (unsigned i = 0, any = 0; i < SIM_WARP && !(same && any > 0); i++)
            if (s->lanes >> i & 1) {
                const auto value = v.second.find(i);
                text += (any++ > 0 ? "," : "") + (value == v.second.end() ? "\"=\"" : value->second);
            }
        text += "]";
    }
    return text + "}";
}

static std::string step_text(const struct step *s)
{
    static const char *const names[] = {"", "wait", "go", "done", "begin", "end"};
    std::string text = "{\"b\":" + decimal(s->block);

    if (s->kind == BLOCK_BEGINS || s->kind == BLOCK_ENDS)
        return text + ",\"s\":\"" + names[s->kind] + "\"}";
    text += ",\"w\":" + decimal(s->warp);
    if (s->lanes != s->all)
        text += ",\"m\":" + lanes_text(s->lanes);
    if (s->kind != DID)
        text += std::string(",\"s\":\"") + names[s->kind] + "\"" + s->rest;
    if (s->place.file >= 0)
        text += ",\"p\":" + place_text(s->place);
    if (s->depth > 0)
        text += ",\"d\":" + decimal(s->depth);
    if (s->kind == DID && s->function != NULL && function_number(s->function) != 0)
        text += ",\"f\":" + decimal(function_number(s->function));
    for (size_t i = 0; i < s->events.size(); i++)
        text += (i == 0 ? ",\"e\":[" : ",") + event_text(&s->events[i], s);
    text += s->events.empty() ? "" : "]";
    if (!s->values.empty())
        text += ",\"v\":" + values_text(s);
    return text + "}";
}

static std::string verdict_text(const struct verdict *v)
{
    std::string text = std::string("{\"ok\":") + (v->ok ? "true" : "false") + ",\"text\":" + quoted(v->text.c_str());

    text += ",\"step\":" + (v->step < 0 ? "null" : decimal((uint64_t)v->step)) + ",\"place\":" + place_text(v->place);
    if (v->has_thread)
        text += ",\"block\":" + decimal(v->block) + ",\"thread\":" + decimal(v->thread);
    if (v->has_other)
        text += ",\"other\":{\"step\":" + (v->other_step < 0 ? "null" : decimal((uint64_t)v->other_step)) +
                ",\"place\":" + place_text(v->other_place) + ",\"block\":" + decimal(v->other_block) +
                ",\"thread\":" + decimal(v->other_thread) + "}";
    else
        text += ",\"other\":null";
    if (v->array >= 0)
        text += ",\"array\":" + decimal((uint64_t)v->array) + ",\"index\":" + decimal(v->index);
    return text + "}";
}

static std::string traffic_text(const struct sim_traffic *t)
{
    return "{\"requests\":" + decimal(t->requests) + ",\"bytes\":" + decimal(t->bytes) +
           ",\"sectors\":" + decimal(t->sectors) + ",\"lines\":" + decimal(t->lines) +
           ",\"lanes\":" + decimal(t->lanes) + "}";
}

static std::string counts_text(const struct sim_counts *c)
{
    const struct {
        const char *name;
        uint64_t n;
    } all[] = {{"blocks", c->blocks},
               {"threads", c->threads},
               {"barriers", c->barriers},
               {"warp_barriers", c->warp_barriers},
               {"shuffles", c->shuffles},
               {"votes", c->votes},
               {"atomics", c->atomics},
               {"async_copies", c->async_copies},
               {"bulk_copies", c->bulk_copies},
               {"shared_requests", c->shared_requests},
               {"shared_bytes", c->shared_bytes},
               {"conflicts", c->conflicts}};
    std::string text = "{";

    for (const auto &count : all)
        text += std::string("\"") + count.name + "\":" + decimal(count.n) + ",";
    return text + "\"loads\":" + traffic_text(&c->loads) + ",\"stores\":" + traffic_text(&c->stores) + "}";
}

static const size_t most_values = 1 << 16; /* of an array that is written out */

static std::string array_values(const struct array *a)
{
    std::string text = "[";

    for (size_t i = 0; i < a->size / a->element; i++)
        text += (i > 0 ? "," : "") + number(a->kind, a->element, a->memory + i * a->element);
    return text + "]";
}

/* ---- the runs ---- */

static struct run {
    const char *order;
    struct barrier without; /* a place without a file: none */
    bool is_first;          /* as it is written */
} run;                      /* that this process records */

static FILE *to_parent;

/* Bytes, so that a page stays below 3 MB: of the first run, of all, and at least of each. Of a run that leaves out a
   barrier it is what comes after that which counts. */
static const uint64_t first_most = 2000000, all_most = 2700000, least = 50000;
static uint64_t most_after;

} // namespace watch

using namespace watch;

/* A judge says that a result is wrong, and which: the step that wrote it last is where the run stands still. */
static void blame_element(const std::vector<struct step> &steps, struct verdict *v, const char *judged)
{
    const char *const element = page_says("element");
    const size_t length = element != NULL ? strcspn(element, "[") : 0;

    v->ok = false;
    v->text = judged;
    for (unsigned i = 0; i < common->num_arrays && length > 0 && v->array < 0; i++)
        if (strncmp(common->arrays[i].name, element, length) == 0 && common->arrays[i].name[length] == '\0')
            v->array = (int)i;
    if (v->array < 0)
        return;
    const struct array *const a = &common->arrays[v->array];
    unsigned d = 0;
    for (const char *c = element + length; *c == '[' && d < a->rank; c = strchr(c, ']') + 1, d++)
        v->index = v->index * a->dims[d] + strtoull(c + 1, NULL, 10);
    for (size_t i = steps.size(); i-- > 0 && v->step < 0;)
        for (const struct event &e : steps[i].events) {
            if ((strcmp(e.kind, "store") != 0 && strcmp(e.kind, "atomic") != 0) || e.array != v->array)
                continue;
            const std::vector<std::string> first = split(e.list, ',');
            uint32_t rest = e.lanes;
            for (const std::string &at : first) {
                const uint64_t from = strtoull(at.c_str(), NULL, 10);
                if (v->index >= from && v->index < from + e.count) {
                    v->step = (long)i;
                    v->place = steps[i].place;
                    v->block = steps[i].block;
                    v->thread = steps[i].warp * SIM_WARP + (unsigned)__builtin_ctz(rest);
                    v->has_thread = true;
                }
                rest &= rest - 1;
            }
        }
}

void watch_write_run(std::vector<struct step> &steps, const std::string &cut, const struct verdict &verdict,
                     const struct sim_counts *counts)
{
    const bool leaves_out = run.without.place.file >= 0;
    struct verdict said = verdict;
    const char *const judged = page_says("verdict");
    std::string name = run.is_first                        ? "as it is written"
                       : strcmp(run.order, "forward") == 0 ? "in the usual order: the first block, warp and lane first"
                       : strcmp(run.order, "reverse") == 0 ? "in reverse order: the last block, warp and lane first"
                                                           : "in a random order";
    if (leaves_out)
        name = "without " + std::string(run.without.name) + " of line " + decimal(run.without.place.line);
    else if (run.is_first && strcmp(run.order, "forward") != 0)
        name += std::string(", in ") + (strcmp(run.order, "reverse") == 0 ? "reverse" : "a random") + " order";
    if (said.ok && run.is_first && judged != NULL)
        blame_element(steps, &said, judged);
    else if (said.ok && !run.is_first)
        said.text = judged != NULL ? "The simulator finds no mistake in this run. Its results were not judged."
                    : cut.empty()  ? "No mistake was found in this run."
                                   : "No mistake was found in this run, neither in what is recorded nor after it.";
    fprintf(to_parent, "{\"name\":%s,\"without\":%s,\"order\":\"%s\",\n\"steps\":[", quoted(name.c_str()).c_str(),
            leaves_out ? place_text(run.without.place).c_str() : "null", run.order);
    for (size_t i = 0; i < steps.size(); i++)
        fprintf(to_parent, "%s\n%s", i > 0 ? "," : "", step_text(&steps[i]).c_str());
    fprintf(to_parent, "],\n\"verdict\":%s,\n\"counts\":%s,\n\"results\":{", verdict_text(&said).c_str(),
            counts != NULL ? counts_text(counts).c_str() : "null");
    bool any = false;
    for (unsigned i = 0; i < common->num_arrays; i++) {
        const struct array *const a = &common->arrays[i];
        if (a->written && !a->shared && a->size / a->element <= most_values) {
            fprintf(to_parent, "%s\"%u\":%s", any ? "," : "", i, array_values(a).c_str());
            any = true;
        }
    }
    fprintf(to_parent, "},\n\"cut\":%s}", cut.empty() ? "null" : quoted(cut.c_str()).c_str());
    fflush(to_parent);
}

bool sim_watch_leaves_out(const char *what, const char *file, int line)
{
    const struct place place = place_of(file, (unsigned)line);
    const unsigned most = sizeof(common->barriers) / sizeof(*common->barriers);
    unsigned i = 0;

    while (i < common->num_barriers &&
           (common->barriers[i].place.file != place.file || common->barriers[i].place.line != place.line))
        i++;
    if (place.file >= 0 && i == common->num_barriers && i < most) {
        snprintf(common->barriers[i].name, sizeof(common->barriers[i].name), "%s", what);
        common->barriers[i].place = place;
        common->num_barriers++;
    }
    if (run.without.place.file < 0 || run.without.place.file != place.file || run.without.place.line != place.line)
        return false;
    sim_watch_leaves(most_after);
    return true;
}

/* A run, without the steps with which the first one begins, too: their number in place of them. A step is a line, with
   a comma, or the end of the list, behind it. */
static std::string without_same(const std::string &run, const std::string &first)
{
    const char *const list = "\"steps\":[\n";
    const size_t begin = run.find(list), begin_first = first.find(list);
    size_t at = begin + strlen(list), number = 0;

    if (begin == std::string::npos || begin_first == std::string::npos)
        return run;
    for (size_t at_first = begin_first + strlen(list);;) {
        const size_t length = run.find(",\n", at) - at;
        if (run[at + length - 1] != '}' || first.compare(at_first, length + 2, run, at, length + 2) != 0)
            break;
        at += length + 2;
        at_first += length + 2;
        number++;
    }
    return run.substr(0, begin) + "\"same\":" + decimal(number) + ",\n\"steps\":[\n" + run.substr(at);
}

uint64_t sim_watch_most; /* bytes that the steps of a run may take */

/* Records one run in a child, in at most so many bytes. Returns false in the child. */
static bool record(const struct run *r, uint64_t most, std::vector<std::string> *runs)
{
    FILE *const file = tmpfile();

    fflush(NULL);
    for (unsigned i = 0; i < common->num_arrays; i++)
        common->arrays[i].written = false;
    const pid_t child = file != NULL ? fork() : -1;
    if (child < 0)
        sim_say("CUSIM_WATCH: no process or file for a run. Free some memory");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sim_tell.process_begins();
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        run = *r;
        sim_watch_most = run.without.place.file >= 0 ? first_most : most;
        most_after = most;
        to_parent = file;
        sim_schedule = strcmp(r->order, "forward") == 0   ? SIM_FORWARD
                       : strcmp(r->order, "reverse") == 0 ? SIM_REVERSE
                                                          : SIM_RANDOM;
        sim_watching = true;
        sim_subscribe_recorder();
        return false;
    }
    waitpid(child, NULL, 0);
    std::string text;
    char piece[65536];
    rewind(file);
    for (size_t got; (got = fread(piece, 1, sizeof(piece), file)) > 0;)
        text.append(piece, got);
    fclose(file);
    if (!text.empty())
        runs->push_back(runs->empty() ? text : without_same(text, runs->front()));
    return true;
}

/* ---- the page ---- */

static std::string read_text(const std::string &path)
{
    std::string text;
    char piece[65536];
    FILE *const file = fopen(path.c_str(), "r");

    for (size_t got; file != NULL && (got = fread(piece, 1, sizeof(piece), file)) > 0;)
        text.append(piece, got);
    if (file != NULL)
        fclose(file);
    return text;
}

static std::string source_text(const std::string &name)
{
    std::string text = "{\"name\":" + quoted(name.c_str()) + ",\"first\":1,\"text\":[";
    const char *const from = page_says("from");
    const std::string all = read_text(from != NULL && name[0] != '/' ? std::string(from) + "/" + name : name);
    std::vector<std::string> lines = split(all, '\n');

    if (!lines.empty() && lines.back() == "")
        lines.pop_back();
    for (size_t i = 0; i < lines.size(); i++)
        text += (i > 0 ? "," : "") + quoted(lines[i].c_str());
    return text + "]}";
}

/* The last line of a piece of code, which begins on line `first`. */
static unsigned last_line(unsigned file, unsigned first, uintptr_t from, uintptr_t to)
{
    unsigned last = first;

    for (const struct row &r : program.rows)
        if (r.address >= from && r.address < to && r.file == (int)file)
            last = std::max(last, r.line);
    return last;
}

static std::string dims_text(const unsigned *dims, size_t rank)
{
    std::string text = "[";

    for (size_t i = 0; i < rank; i++)
        text += (i > 0 ? "," : "") + decimal(dims[i]);
    return text + "]";
}

static std::string trace_text(const char *kernel, const std::vector<std::string> &runs)
{
    const dim3 g = gridDim, b = blockDim, c = sim_launched->cluster;
    const char *const title = page_says("title"), *const command = page_says("command");
    char sizes[300];
    std::string text = "{\"format\":\"cusim-watch 1\",\n\"title\":" + quoted(title != NULL ? title : kernel);

    text += ",\"command\":" + quoted(command != NULL ? command : "");
    snprintf(sizes, sizeof(sizes), ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"cluster\":[%u,%u,%u]", g.x, g.y, g.z,
             b.x, b.y, b.z, c.x, c.y, c.z);
    text += ",\n\"kernel\":" + quoted(kernel) + sizes + ",\"chip\":\"simulator\"";
    text += program.watched ? ",\"watched\":true" : ",\"watched\":false";
    std::string functions, variables, sources, arrays, barriers, initial;
    for (unsigned i = 0; i < common->num_functions; i++) {
        const struct function *const f = &program.functions[common->functions[i]];
        const unsigned last = last_line(f->file, f->line, f->low, f->high);
        functions += std::string(i > 0 ? "," : "") + "\n{\"name\":" + quoted(f->name.c_str()) +
                     ",\"source\":" + decimal(source_number(f->file)) + ",\"first\":" + decimal(f->line) +
                     ",\"last\":" + decimal(last) + "}";
        for (const struct variable &v : f->variables)
            variables += std::string(variables.empty() ? "" : ",") + "\n{\"name\":" + quoted(v.name.c_str()) +
                         ",\"type\":" + quoted(v.type.name.c_str()) +
                         ",\"dims\":" + dims_text(v.dims.data(), v.dims.size()) + ",\"function\":" + decimal(i) +
                         ",\"lines\":[" + decimal(v.line) + "," + decimal(last_line(f->file, v.line, v.from, v.to)) +
                         "]}";
    }
    for (unsigned i = 0; i < common->num_sources; i++)
        sources += std::string(i > 0 ? "," : "") + "\n" + source_text(program.files[common->sources[i]]);
    for (unsigned i = 0; i < common->num_arrays; i++) {
        const struct array *const a = &common->arrays[i];
        arrays += std::string(i > 0 ? "," : "") + "\n{\"name\":" + quoted(a->name) + ",\"space\":\"" +
                  (a->shared ? "shared" : "global") + "\",\"type\":" + quoted(a->type) +
                  ",\"element\":" + decimal(a->element) + ",\"dims\":" + dims_text(a->dims, a->rank) +
                  ",\"start\":" + decimal(a->start) + fields_text(a) + "}";
        if (!a->shared && a->size / a->element <= most_values)
            initial += std::string(initial.empty() ? "" : ",") + "\n\"" + decimal(i) + "\":" + array_values(a);
    }
    for (unsigned i = 0; i < common->num_barriers; i++)
        barriers += std::string(i > 0 ? "," : "") + "{\"place\":" + place_text(common->barriers[i].place) +
                    ",\"text\":" + quoted((std::string(common->barriers[i].name) + "()").c_str()) + "}";
    text += ",\n\"sources\":[" + sources + "],\n\"functions\":[" + functions + "],\n\"arrays\":[" + arrays +
            "],\n\"variables\":[" + variables + "],\n\"barriers\":[" + barriers + "],\n\"initial\":{" + initial +
            "},\n\"runs\":[";
    for (size_t i = 0; i < runs.size(); i++)
        text += (i > 0 ? ",\n" : "\n") + runs[i];
    return text + "]}\n";
}

/* Puts a text where its name stands. */
static void put(std::string *page, const char *name, const std::string &text)
{
    const size_t at = page->find(name);

    if (at != std::string::npos)
        page->replace(at, strlen(name), text);
}

static std::string escaped(const std::string &text)
{
    std::string out;

    for (const char c : text)
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return out;
}

static const char *wanted; /* CUSIM_WATCH, until it is written */

static void write_page(const std::string &trace, const char *title)
{
    const size_t length = strlen(wanted);
    std::string page = trace;

    if (length < 5 || strcmp(wanted + length - 5, ".json") != 0) {
        const std::string player = home + "player/";
        page = read_text(player + "player.html");
        if (page == "")
            sim_say(
                "CUSIM_WATCH: the player, player/player.html, is not where the simulator is. A name that ends in .json "
                "gets the trace alone");
        put(&page, "@TITLE@", escaped(title));
        put(&page, "@STYLE@", read_text(player + "player.css"));
        put(&page, "@SCRIPT@", read_text(player + "player.js"));
        put(&page, "@TRACE@", trace);
    }
    FILE *const file = fopen(wanted, "w");
    if (file == NULL || fwrite(page.data(), 1, page.size(), file) != page.size() || fclose(file) != 0) {
        fprintf(stderr, "simulator: cannot write %s: %s\n", wanted, strerror(errno));
        _exit(2);
    }
}

__attribute__((constructor)) static void read_wish(void)
{
    wanted = sim_setting("CUSIM_WATCH");
    if (wanted != NULL && *wanted == '\0')
        wanted = NULL;
}

static bool counted; /* the program has begun to count (sim_reset_counts) */

void sim_watch_counted(void)
{
    counted = true;
}

/* Whether this launch is the one. */
static bool is_wanted(const char *kernel, bool watched)
{
    static unsigned long seen;
    const char *const name = sim_setting("CUSIM_WATCH_KERNEL");
    char *end = NULL;

    if (page_says("counted") != NULL && !counted)
        return false;
    if (name == NULL || *name == '\0')
        return !program.watched || watched;
    const char *const colon = strrchr(name, ':');
    const bool has_number =
        colon != NULL && (colon == name || colon[-1] != ':') && strtoul(colon + 1, &end, 10) > 0 && *end == '\0';
    const size_t length = has_number ? (size_t)(colon - name) : strlen(name);
    if (length == 0 ? program.watched && !watched
                    : strncmp(kernel, name, length) != 0 || (kernel[length] != '\0' && kernel[length] != '<'))
        return false;
    return ++seen == (has_number ? strtoul(colon + 1, NULL, 10) : 1);
}

void sim_watch_launch(const void *kernel, const char *name)
{
    if (wanted == NULL || sim_watching)
        return;
    if (program.rows.empty())
        read_program();
    const struct function *const f = find_function((uintptr_t)kernel);
    if (f != NULL)
        name = f->name.c_str();
    if (!is_wanted(name, f != NULL && f->watched))
        return;
    const char *const wanted_runs = sim_setting("CUSIM_WATCH_RUNS") != NULL ? sim_setting("CUSIM_WATCH_RUNS") : "";
    if (strcmp(wanted_runs, "none") == 0) {
        if (FILE *const file = fopen(wanted, "a")) {
            fprintf(file, "%llu\n", (unsigned long long)gridDim.x * gridDim.y * gridDim.z * sim_num_threads);
            fclose(file);
        }
        return;
    }
    if (!sim_watches)
        sim_say("CUSIM_WATCH needs all checks. Leave out CUSIM_CHECKS");
    common = (struct common *)mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED)
        sim_say("CUSIM_WATCH: no memory for what all runs share. Free some memory");
    if (f != NULL)
        function_number(f); /* the kernel's is 0 */
    const struct barrier none = {"", {-1, 0}};
    std::vector<std::string> runs;
    const bool first_alone = strcmp(wanted_runs, "first") == 0;
    const char *const orders[] = {"forward", "reverse", "random"}; /* as they are numbered */
    const char *const own = orders[sim_schedule];
    std::vector<struct run> all = {{own, none, true}};
    for (const char *order : orders)
        if (order != own)
            all.push_back({order, none, false});
    if (first_alone)
        all.resize(1);
    for (size_t i = 0; i < all.size(); i++) {
        if (!record(&all[i], i == 0 ? first_most : std::max(least, (all_most - runs[0].size()) / (all.size() - 1)),
                    &runs))
            return;
        if (runs.empty())
            sim_say("CUSIM_WATCH: the run could not be recorded. Free some memory");
        for (unsigned b = 0; i == 0 && !first_alone && b < common->num_barriers; b++)
            all.push_back({own, common->barriers[b], false});
    }
    write_page(trace_text(name, runs), name);
    if (!program.watched)
        fprintf(stderr,
                "simulator: %s has no variables, and only lines that access memory or wait: "
#if defined(__x86_64__)
                "compile with cusim --watch to have all.\n",
#else
                "the others are to be had on an x86-64.\n",
#endif
                wanted);
    wanted = NULL;
}
