// SPDX-License-Identifier: MIT
// player.js - plays the recording of a kernel that the page holds (docs/watch.md explains the format).
//
//   1. the trace, and names for what is in it
//   2. the state after a step: threads, variables, memory. Going back undoes steps
//   3. what is known of a run before it is played: what it touches, where its barriers are
//   4. a step as an English sentence
//   5. pictures: lists of shapes, which a page shows and a still writes as SVG
//   6. the page: source, counts, time line, keys, links
//
// What comes from the trace is only ever shown as text, never taken for HTML.
'use strict';

/* ---- 1. the trace ---- */

const trace = JSON.parse(document.getElementById('trace').textContent);
const lanesOfWarp = 32;
const volume = dims => dims.reduce((all, n) => all * n, 1);
const numBlocks = volume(trace.grid), numThreads = volume(trace.block);
const numWarps = Math.ceil(numThreads / lanesOfWarp);
const clusterSize = volume(trace.cluster ?? [1]);
const {arrays, variables = [], functions = [], sources = [], runs} = trace;

const isShared = array => arrays[array].space === 'shared';
const lanesIn = warp => Math.min(lanesOfWarp, numThreads - warp * lanesOfWarp);
const everyLane = Array.from({length: numWarps}, (_, warp) => Array.from({length: lanesIn(warp)}, (_, lane) => lane));
const lanesOf = step => step.m ?? everyLane[step.w] ?? [];
// Of a run that begins as the first one does, the recorder writes the rest.
for (const run of runs)
    run.steps = runs[0].steps.slice(0, run.same ?? 0).concat(run.steps);
// Of a list in which all lanes have the same, the recorder writes one entry.
for (const step of runs.flatMap(run => run.steps)) {
    const count = lanesOf(step).length;
    for (const [number, values] of Object.entries(step.v ?? {})) {
        if (values.length === 1 && count > 1)
            step.v[number] = Array(count).fill(values[0]);
    }
}
const threadOf = (step, lane) => step.b * numThreads + step.w * lanesOfWarp + lane;
const eventsOf = step => step.e ?? [];
const lineText = place => sources[place[0]]?.text[place[1] - (sources[place[0]].first ?? 1)] ?? '';
const several = new Set(runs.flatMap(run => run.steps).flatMap(step => step.p ? [step.p[0]] : [])).size > 1;
const fileName = place => several ? ` of ${sources[place[0]].name.replace(/.*\//, '')}` : '';
const lineName = place => `line ${place?.[1]}${place ? fileName(place) : ''}`; // of several files it says which
const lineThere = place => place && place[0] === run.steps[at].p?.[0] ? `line ${place[1]}` : lineName(place); // where this step's file is known
const colour = warp => `c${warp % 6}`;
const plural = (n, one, many = one + 's') => `${n} ${n === 1 ? one : many}`;
const isRequest = event => /^(shared_)?(load|store|atomic)$/.test(event.k);
const isWrite = event => /store$|atomic$/.test(event.k);

// A block's number as the kernel writes it, if the grid has more than one dimension.
function blockName(block) {
    const [x, y = 1, z = 1] = trace.grid;
    return y * z === 1 ? `${block}` : `(${block % x},${Math.floor(block / x) % y},${Math.floor(block / x / y)})`;
}

// An element's name, such as tile[3][17]; of a two-dimensional array with a single row too. Of a struct's members the last
// dimension counts the elements: totals[1].sum[3].
function elementName(array, index) {
    const dims = [...arrays[array].dims].reverse(), at = index % dims[0];
    const [field, first, n] = arrays[array].fields?.find(([, first, n]) => first <= at && at < first + n) ?? [];
    let rest = index, name = '';
    if (field) {
        rest = Math.floor(index / dims.shift());
        name = `.${field}${n > 1 ? `[${at - first}]` : ''}`;
    }
    for (const dim of dims) {
        name = `[${rest % dim}]` + name;
        rest = Math.floor(rest / dim);
    }
    return arrays[array].name + name;
}

// An integer beyond 2^53 is more likely a pattern of bits than a number.
const hex = value => /^\d+$/.test(value) ? `0x${BigInt(value).toString(16)}` : undefined;

// A value in a few significant digits, and as it is.
function short(value, digits = 4) {
    if (value === null || value === undefined)
        return '\u00b7';
    if (typeof value === 'string') {
        const text = {nan: 'NaN', inf: '\u221e', '-inf': '\u2212\u221e'}[value] ?? hex(value)
            ?? (/^&.{7}/s.test(value) ? value.replace(/^&[^[]*(?=\[)/, '') : value); // of a pointer the index matters most
        return text.length > 7 ? text.slice(0, 6) + '\u2026' : text;
    }
    if (typeof value !== 'number')
        return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e5)
        return Object.is(value, -0) ? '-0' : String(value);
    return value.toPrecision(digits).replace(/(\.\d*?)0+(e|$)/, '$1$2').replace(/\.(e|$)/, '$1').replace('e+', 'e');
}
const whole = value => value === null || value === undefined ? 'never written'
    : typeof value === 'string'                              ? value + (hex(value) ? ` (${hex(value)})` : '')
    : Object.is(value, -0)                                   ? '-0'
                                                             : String(value);

/* ---- 2. the state after a step ---- */

let runNumber = 0, run = runs[0], facts = null;
let at = -1; // the number of the last step that has been played
let state = null;
let undo = []; // for each step that has been played: object, key and value before, one after the other

function cellsOf(array, block) {
    return state.cells[isShared(array) ? `${array} ${block}` : array];
}

function freshState() {
    const cells = {}, threads = numBlocks * numThreads;
    const fresh = n => ({
        x: Array(n).fill(null),
        who: Array(n).fill(null),
        step: Array(n).fill(null),
        reader: Array(n).fill(null),
        readAt: Array(n).fill(null)
    });
    arrays.forEach((array, number) => {
        const size = volume(array.dims);
        if (array.space === 'shared')
            for (let block = 0; block < numBlocks; block++)
                cells[`${number} ${block}`] = fresh(size);
        else {
            cells[number] = fresh(size);
            (trace.initial?.[number] ?? []).forEach((value, i) => cells[number].x[i] = value);
        }
    });
    return {
        cells,
        lanes: Array(threads).fill('absent'), // absent, runs, waits, done
        waits: Array(threads).fill(null),     // the step that says what for
        places: Array(threads).fill(null),
        values: Array.from({length: threads}, () => ({})), // by the variable's number
        frames: Array(numBlocks * numWarps).fill(null),    // the functions a warp is in, the kernel first
        ran: [0, 0],                                       // the block and the warp of the last step that had one
        copies: {},
        phases: {},
        landed: {},
        output: [],
        last: Array(arrays.length).fill(0), // the 128-byte row that was used last
        counts: Object.fromEntries(counters.map(name => [name, 0])),
    };
}

// What a step adds to the counts, by name. A barrier counts when the first threads come to it.
const counters = [
    'barriers', 'shuffles', 'load requests', 'load sectors', 'bytes wanted', 'store requests', 'store sectors',
    'bytes stored', 'shared requests', 'conflicts', 'copies'
];
function countsOf(step, met) {
    const counts = {}, add = (name, n) => n && (counts[name] = (counts[name] ?? 0) + n);
    for (const event of eventsOf(step)) {
        const requests = event.part ? 0 : 1; // the rest of a request that an earlier step began
        const shared = event.k.startsWith('shared') || event.k === 'copy_store', kind = event.k === 'load' ? 'load' : 'store';
        if (event.k === 'barrier' && !met.has(event.at)) {
            met.add(event.at);
            add('barriers', 1);
        } else if (event.k === 'shuffle') {
            add('shuffles', requests);
        } else if (event.k === 'copy') {
            const kind = isShared(event.to[0]) ? 'load' : 'store';
            add('copies', {cluster_send: 0, tma: requests}[event.how] ?? 1); // of a box, a piece may be part of one
            add(`${kind} requests`, event.sectors === undefined ? 0 : requests);
            add(`${kind} sectors`, event.sectors);
            add('bytes wanted', !event.from || (kind === 'load' && isShared(event.from[0])) ? 0 : event.bytes);
        } else if (shared) {
            add('shared requests', requests);
            add('conflicts', event.conflicts);
        } else if (isRequest(event)) {
            add(`${kind} requests`, requests);
            add(`${kind} sectors`, event.sectors);
            add(kind === 'load' ? 'bytes wanted' : 'bytes stored', event.i.length * (event.n ?? 1) * arrays[event.a].element);
        }
    }
    return counts;
}

function play(step, number) {
    const log = [];
    const set = (object, key, value) => {
        log.push(object, key, object[key]);
        object[key] = value;
    };
    const setLanes = (word, wait) => {
        for (const lane of lanesOf(step)) {
            const thread = threadOf(step, lane);
            set(state.lanes, thread, word);
            set(state.waits, thread, wait);
            if (step.p)
                set(state.places, thread, step.p);
        }
    };
    const write = (array, block, index, value, who) => {
        const cells = cellsOf(array, block);
        set(cells.x, index, value);
        set(cells.who, index, who);
        set(cells.step, index, number);
    };

    if (step.b !== undefined)
        set(state, 'ran', [step.b, step.w ?? (step.b === state.ran[0] ? state.ran[1] : 0)]);
    if (step.s === 'begin' || step.s === 'end') {
        for (let thread = step.b * numThreads; thread < (step.b + 1) * numThreads; thread++) {
            set(state.lanes, thread, step.s === 'begin' ? 'runs' : 'done');
            set(state.waits, thread, null);
        }
    } else if (step.s) {
        setLanes({wait: 'waits', go: 'runs', done: 'done'}[step.s], step.s === 'wait' ? step : null);
        const warp = step.b * numWarps + step.w, frames = state.frames[warp];
        if (step.p && frames)
            set(state.frames, warp, [...frames.slice(0, -1), {...frames[frames.length - 1], place: step.p}]);
    } else if (step.w !== undefined) {
        const {source, first} = functions[step.f ?? 0] ?? {}, [file, line] = step.p ?? [];
        if (file === source && line === first) // a function begins: what its variables were in an earlier call is gone
            for (const thread of lanesOf(step).map(lane => threadOf(step, lane)))
                if (state.places[thread]?.[0] !== file || state.places[thread][1] !== line)
                    for (const variable of Object.keys(state.values[thread]))
                        if ((variables[variable].function ?? 0) === (step.f ?? 0))
                            set(state.values[thread], variable, undefined);
        setLanes('runs', null);
        if (step.p) {
            const warp = step.b * numWarps + step.w, depth = step.d ?? 0;
            const frames = (state.frames[warp] ?? []).slice(0, depth);
            frames[depth] = {function: step.f ?? 0, place: step.p};
            set(state.frames, warp, frames);
        }
    }

    for (const event of eventsOf(step)) {
        const lanes = event.m ?? lanesOf(step), n = event.n ?? 1;
        const each = action => (event.i ?? []).forEach((first, j) => {
            for (let k = 0; k < n; k++)
                action(first + k, event.x?.[j * n + k], threadOf(step, lanes[j]));
        });
        if (isRequest(event)) {
            const block = event.b ?? step.b, cells = cellsOf(event.a, block);
            each((index, value, thread) => {
                if (isWrite(event)) {
                    if (value !== null) // else it did not happen: the access at which a run stops
                        write(event.a, block, index, value, thread);
                } else {
                    set(cells.reader, index, thread);
                    set(cells.readAt, index, number);
                }
            });
            set(state.last, event.a,
                Math.floor(((arrays[event.a].start ?? 0) + event.i[0] * arrays[event.a].element) / 128));
        } else if (event.k === 'copy') {
            set(state.copies, event.id, {...event, block: step.b, step: number, thread: threadOf(step, lanes[0] ?? 0)});
        } else if (event.k === 'arrive') {
            const copy = state.copies[event.id];
            if (copy) {
                for (let k = 0; k < copy.n; k++)
                    write(copy.to[0], copy.to[2] ?? copy.block, copy.to[1] + k, event.x?.[k] ?? null, copy.thread);
                set(state.landed, stageKey(copy), number);
                set(state.copies, event.id, undefined);
            }
        } else if (event.k === 'phase') {
            set(state.phases, `${event.a} ${event.b ?? step.b} ${event.i}`,
                {parity: event.parity, pending: event.pending});
        } else if (event.k === 'print') {
            set(state, 'output', [...state.output, ...event.x]);
        }
    }

    for (const [name, n] of Object.entries(facts.counts[number]))
        set(state.counts, name, state.counts[name] + n);
    for (const [variable, values] of Object.entries(step.v ?? {}))
        lanesOf(step).forEach((lane, j) => {
            if (values[j] !== '=')
                set(state.values[threadOf(step, lane)], variable, values[j]);
        });
    return log;
}

function goTo(number) {
    number = Math.max(0, Math.min(run.steps.length - 1, number));
    while (at < number) {
        at++;
        undo.push(play(run.steps[at], at));
    }
    for (; at > number; at--) {
        const log = undo.pop();
        for (let i = log.length - 3; i >= 0; i -= 3)
            log[i][log[i + 1]] = log[i + 2];
    }
}

// What an object had before a step; before the step that was played last, a variable's value.
function valueBefore(number, object, key) {
    const log = undo[number];
    for (let i = 0; i < log.length; i += 3)
        if (log[i] === object && log[i + 1] === key)
            return log[i + 2];
    return object[key];
}
const before = (thread, variable) => valueBefore(at, state.values[thread], variable);

/* ---- 3. what is known of a run before it is played ---- */

const sourcesOfWait = {
    __syncthreads: '__syncthreads()',
    __syncwarp: '__syncwarp()',
    shuffle: 'a shuffle of the warp',
    mbarrier: 'an mbarrier',
    named: 'a named barrier',
    cluster: 'the barrier of the cluster',
    copies: 'its copies',
    poll: 'a value that another block writes',
    grid: 'the barrier of the grid'
};
const barrierOf = place =>
    place && (trace.barriers ?? []).find(one => one.place[0] === place[0] && one.place[1] === place[1]);
function waitName(step, met = facts.met) {
    const place = met.get(step.at) ?? step.p, name = sourcesOfWait[step.on] ?? step.on ?? 'something';
    return place ? `${barrierOf(place)?.text ?? name} in ${lineName(place)}` : name;
}

// How the lanes of a request to shared memory queue at the 32 banks: boxes {lane, bank, turn, others}, and the number
// of turns. 8 bytes a lane are served in two halves of the warp, 16 in four quarters; lanes that want the same word
// share a turn.
function queue(event, lanes) {
    const {start = 0, element} = arrays[event.a], bytes = (event.n ?? 1) * element;
    const words = Math.max(1, Math.floor(bytes / 4)), parts = words > 2 ? 4 : words;
    const boxes = [];
    let turns = 0;
    for (let part = 0; part < parts; part++) {
        const banks = new Map();
        event.i.forEach((first, j) => {
            if (Math.floor(lanes[j] * parts / lanesOfWarp) !== part)
                return;
            for (let word = 0; word < words; word++) {
                const address = Math.floor((start + first * element) / 4) + word, bank = address % 32;
                const waiting = banks.get(bank) ?? new Map();
                banks.set(bank, waiting.set(address, [...(waiting.get(address) ?? []), lanes[j]]));
            }
        });
        let most = 0;
        for (const [bank, waiting] of banks) {
            [...waiting.values()].forEach(
                (served, n) => boxes.push({bank, turn: turns + n, lane: served[0], others: served.length - 1}));
            most = Math.max(most, waiting.size);
        }
        turns += most;
    }
    return {boxes, turns};
}

// The stage of a ring of stages that a copy goes to: its destination's first dimension, or a share of it for each
// mbarrier.
const rings = new Map(); // array -> number of stages
function stageKey(copy) {
    const stages = rings.get(copy.to[0]) ?? 1;
    return `${copy.to[0]} ${copy.to[2] ?? copy.block} ${Math.floor(copy.to[1] * stages / volume(arrays[copy.to[0]].dims))}`;
}

const touched = arrays.map(() => new Set()); // 128-byte rows that any run touches
const phased = new Set();                    // arrays of mbarriers
function touch(array, first, n) {
    const {start = 0, element} = arrays[array];
    for (let row = Math.floor((start + first * element) / 128);
         row <= Math.floor((start + (first + n) * element - 1) / 128); row++)
        touched[array].add(row);
}
for (const one of runs)
    for (const step of one.steps)
        for (const event of eventsOf(step)) {
            if (isRequest(event))
                for (const first of event.i)
                    touch(event.a, first, event.n ?? 1);
            else if (event.k === 'copy')
                for (const [array, first] of [event.from, event.to].filter(end => end))
                    touch(array, first, event.n);
            else if (event.k === 'phase')
                phased.add(event.a);
        }

// How many stages an array has that copies go to: its first dimension; or, if it has but one, as a variable says that is
// named so, or as many as there are mbarriers.
const stagesSaid = variables.flatMap(({name}, number) => /^(num_)?stages$/.test(name)
    ? runs[0].steps.flatMap(step => step.v?.[number] ?? []).filter(value => Number.isInteger(value)).slice(0, 1) : []);
for (const one of runs)
    for (const step of one.steps)
        for (const event of eventsOf(step))
            if (event.k === 'copy' && isShared(event.to[0]) && !rings.has(event.to[0])) {
                const {dims} = arrays[event.to[0]], size = volume(dims);
                const said = stagesSaid.concat([...phased].map(array => volume(arrays[array].dims)));
                const some = dims.length > 1 ? dims[0] : said.find(n => n > 1 && size % n === 0) ?? 1;
                rings.set(event.to[0], some <= 16 ? some : 1);
            }

function factsOf(one) {
    const found = {
        barriers: [],
        requests: [],
        exchanges: [],
        fragments: [],
        flight: [],
        most: 0,
        turns: 0,
        copies: false,
        letters: new Map(),
        met: new Map(), // where the barriers are, by what those who wait for one have as `at`
        same: variables.map(() => true),
        segments: new Map(),
        counts: [],
        all: {}
    };
    const flying = new Map(), met = new Set();
    let bytes = 0;
    one.steps.forEach((step, number) => {
        let request = false, barrier = false, exchange = false;
        for (const event of eventsOf(step)) {
            request ||= isRequest(event) || event.k === 'copy';
            barrier ||= event.k === 'barrier';
            if (event.k === 'barrier' && event.place)
                found.met.set(event.at, event.place);
            exchange ||= event.k === 'shuffle';
            if (event.k.startsWith('shared_'))
                found.turns = Math.max(found.turns, queue(event, event.m ?? lanesOf(step)).turns);
            if (event.k === 'copy') {
                found.copies = true;
                flying.set(event.id, event.bytes);
                bytes += event.bytes;
            } else if (event.k === 'arrive') {
                bytes -= flying.get(event.id) ?? 0;
                flying.delete(event.id);
            }
        }
        found.flight.push(bytes);
        found.counts.push(countsOf(step, met));
        for (const [name, n] of Object.entries(found.counts[number]))
            found.all[name] = (found.all[name] ?? 0) + n;
        found.most = Math.max(found.most, bytes);
        if (request)
            found.requests.push(number);
        if (barrier)
            found.barriers.push(number);
        if (exchange)
            found.exchanges.push(number);
        if (fragmentsOf(step))
            found.fragments.push(number);
        if (step.s === 'wait' && !found.letters.has(waitName(step, found.met)))
            found.letters.set(waitName(step, found.met), String.fromCharCode(65 + found.letters.size % 26));
        for (const [variable, values] of Object.entries(step.v ?? {}))
            if (values.length < (everyLane[step.w]?.length ?? 0)
                || values.some(value => value === '=' || Array.isArray(value) || value !== values[0]))
                found.same[variable] = false;
        if (step.w !== undefined && !step.s) {
            const warp = step.b * numWarps + step.w, list = found.segments.get(warp) ?? [];
            found.segments.set(warp, list);
            if (list.length && list[list.length - 1][1] === number - 1)
                list[list.length - 1][1] = number;
            else
                list.push([number, number]);
        }
    });
    return found;
}

/* ---- 4. a step as an English sentence ---- */

const listed = parts =>
    parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;

// 'all 32 lanes', 'lanes 0 to 15', 'every 2nd lane from 0 to 30', 'lanes 0 to 3 and 8'
function laneNames(lanes, warp) {
    if (lanes.length === 1)
        return `lane ${lanes[0]}`;
    if (lanes.length > 1 && lanes.length === everyLane[warp]?.length)
        return `all ${lanes.length} lanes`;
    const stride = lanes[1] - lanes[0];
    if (lanes.length > 2 && stride > 1 && lanes.every((lane, n) => lane === lanes[0] + n * stride))
        return `every ${ordinal(stride)} lane from ${lanes[0]} to ${lanes[lanes.length - 1]}`;
    const ranges = [];
    for (const lane of lanes)
        if (ranges.length && ranges[ranges.length - 1][1] === lane - 1)
            ranges[ranges.length - 1][1] = lane;
        else
            ranges.push([lane, lane]);
    return 'lanes ' + listed(ranges.flatMap(([a, b]) => a === b ? [a] : b === a + 1 ? [a, b] : [`${a} to ${b}`]));
}
function ordinal(n) {
    return n + (n % 100 > 10 && n % 100 < 14 ? 'th' : {1: 'st', 2: 'nd', 3: 'rd'}[n % 10] ?? 'th');
}

// Which elements: 'sums[0] to sums[31]', 'every 4th element from x[0] to x[124]'
function elementNames(array, first, n) {
    const name = index => elementName(array, index), last = first[first.length - 1];
    const stride = first.length > 1 ? first[1] - first[0] : n;
    if (first.every(index => index === first[0]))
        return n === 1 ? name(first[0]) : `${name(first[0])} to ${name(first[0] + n - 1)}`;
    if (!first.every((index, j) => index === first[0] + j * stride))
        return `${plural(new Set(first).size * n, 'element')} between ${name(Math.min(...first))} and ${name(Math.max(...first) + n - 1)}`;
    if (stride === n)
        return `${name(first[0])} to ${name(last + n - 1)}`;
    if (stride === -n)
        return `${name(first[0] + n - 1)} down to ${name(last)}`;
    return n === 1 && stride > 0
        ? `every ${ordinal(stride)} element from ${name(first[0])} to ${name(last)}`
        : `${n > 1 ? `${n} elements each, ` : ''}${stride > 0 ? `${stride} apart` : 'backwards'}, from ${name(first[0])} to ${name(last)}`;
}

// What copies read: elements, or where there are none, what is sent, or the zeros outside of an array.
function sourceNames(copies) {
    const read = copies.filter(copy => copy.from);
    return read.length ? elementNames(read[0].from[0], read.map(copy => copy.from[1]), read[0].n)
        : copies[0].how === 'cluster_send' ? 'what is sent' : 'zeros';
}

// Values by lane: '4 in all lanes', '4 in lane 0, 8 in lanes 1 to 31', '1 (lane 0), 2 (lane 1) ... 32 (lane 31)'
function valueNames(lanes, values, warp) {
    const groups = new Map();
    lanes.forEach((lane, j) => groups.set(short(values[j]), [...(groups.get(short(values[j])) ?? []), lane]));
    if (lanes.length === 1)
        return short(values[0]);
    if (groups.size === 1
        || groups.size <= 3 && [...groups.values()].every(some => some[some.length - 1] - some[0] === some.length - 1))
        return listed([...groups].map(([value, some]) => `${value} in ${laneNames(some, warp)}`));
    const last = lanes.length - 1, lead = values.findIndex(value => short(value) !== short(values[0]));
    return `${short(values[0])} in ${laneNames(lanes.slice(0, lead), warp)}, ${short(values[lead])} in lane ${lanes[lead]}`
        + (last > lead + 1 ? ' \u2026 ' : last > lead ? ', ' : '')
        + (last > lead ? `${short(values[last])} in lane ${lanes[last]}` : '');
}

// Who has written what is read now: 'thread 5 in line 49', 'the threads 0 to 31 in line 49'
function writerNames(array, block, first, n) {
    const cells = cellsOf(array, block), writers = new Set(), lines = new Set();
    let never = 0, copied = true;
    for (const index of first)
        for (let k = 0; k < n; k++)
            if (cells.who[index + k] === null)
                never++;
            else {
                writers.add(Math.floor((cells.who[index + k] % numThreads) / lanesOfWarp));
                const copy = copyInto(cells.step[index + k], array, block, index + k);
                copied &&= Boolean(copy);
                lines.add(lineThere(run.steps[copy ? copy.step : cells.step[index + k]].p));
            }
    if (!isShared(array) && !writers.size)
        return '';
    if (never === first.length * n)
        return 'nobody has ever written there';
    const by = `${writers.size > 1 ? 'warps' : 'warp'} ${listed([...writers].sort((a, b) => a - b))}`;
    const what = first.length * n > 1 ? 'them' : 'it', line = lines.size === 1 ? [...lines][0] : '';
    return (copied ? `copies${line && ` of ${line}`} brought ${what}` : `${by} wrote ${what}${line && ` in ${line}`}`)
        + (never ? `, and ${plural(never, 'of them was', 'of them were')} never written` : '');
}

function requestSentence(event, step, lanes) {
    const shared = event.k.startsWith('shared'), n = event.n ?? 1, block = event.b ?? step.b;
    const verb = {
        load: ['load', 'loads'],
        store: ['store to', 'stores to'],
        atomic: ['change, one after the other,', 'changes, atomically,'],
        shared_load: ['read', 'reads'],
        shared_store: ['write', 'writes'],
        shared_atomic: ['change, one after the other,', 'changes, atomically,']
    }[event.k][lanes.length > 1 ? 0 : 1];
    let text = `${laneNames(lanes, step.w)} ${verb} ${elementNames(event.a, event.i, n)}`;
    if (lanes.length > 1 && event.i.every(index => index === event.i[0]))
        text += ', all the same' + (n > 1 ? ` ${n}` : ' one');
    if (shared && block !== step.b)
        text += ` of block ${blockName(block)}`;
    const chosen = lanes.indexOf(view.lane);
    if (chosen >= 0 && lanes.length > 1)
        text += ` (lane ${view.lane}: ${elementName(event.a, event.i[chosen])})`;
    if (shared) {
        const {boxes, turns} = queue(event, lanes);
        text += ` in shared memory`;
        const by = event.k === 'shared_store' ? '' : writerNames(event.a, block, event.i, n);
        text += by ? `; ${by}.` : '.';
        if (!event.conflicts && turns === 1 && lanes.length > 1 && n === 1 && arrays[event.a].element === 4)
            text += new Set(event.i).size === 1 ? ' All want the same word: one turn.'
                : ` ${lanes.length} lanes, ${new Set(boxes.map(({bank}) => bank)).size} different banks: one turn.`;
        if (event.conflicts)
            text +=
                ' Bank conflicts: lanes want different words of the same bank and queue, so this takes '
                + `${plural(turns, 'turn')} instead of ${turns - event.conflicts}.`;
    } else {
        const bytes = lanes.length * n * arrays[event.a].element, moved = (event.sectors ?? 0) * 32;
        text += ` in global memory`;
        const by = event.k === 'load' ? writerNames(event.a, block, event.i, n) : '';
        text += by ? `; ${by}.` : '.';
        if (event.sectors)
            text +=
                ` One request, ${plural(event.sectors, 'sector')}: ${moved} bytes move for ${bytes} that are `
                + `${event.k === 'load' ? 'wanted' : 'written'}.`;
    }
    return text;
}

function shuffleSentence(event, step, lanes) {
    const from = event.from,
          others = lanes.map((lane, j) => [lane, from[j]]).filter(([lane, source]) => lane !== source);
    if (!others.length)
        return `${laneNames(lanes, step.w)} shuffle, and each keeps its own value.`;
    const distance = others[0][0] - others[0][1], mask = others[0][0] ^ others[0][1];
    const own = lanes.length - others.length, movers = others.map(([lane]) => lane);
    const [lane, source] = others.find(([one]) => one === view.lane) ?? others[others.length - 1];
    let text;
    if (lanes.every((_, j) => from[j] === from[0]))
        text = `${laneNames(lanes, step.w)} get the value of lane ${from[0]}`;
    else if (others.every(([one, other]) => one - other === distance))
        text = `${laneNames(movers, step.w)} ${movers.length > 1 ? 'get' : 'gets'} the value of the lane `
            + `${Math.abs(distance)} ${distance > 0 ? 'before' : 'after'} ${movers.length > 1 ? 'them' : 'it'}`;
    else if (others.every(([one, other]) => (one ^ other) === mask))
        text = `lanes swap values in pairs, each with the lane whose number differs by ${mask}`;
    else
        text = `${laneNames(movers, step.w)} get values of other lanes`;
    text += `, from register to register: lane ${lane} gets ${short(event.x?.[lanes.indexOf(lane)])} from lane ${source}.`;
    const keepers = laneNames(lanes.filter((one, j) => from[j] === one), step.w);
    return own ? `${text} ${keepers[0].toUpperCase()}${keepers.slice(1)} ${own === 1 ? 'keeps its' : 'keep their'} own.` : text;
}

// What lanes hold of matrices, if a step loads or multiplies some: the simulator does it by shuffles, which then go without saying.
const fragmentsOf = step => eventsOf(step).filter(event => event.k === 'fragments').pop();

function fragmentSentence(event) {
    const [, of] = event.of.match(/^mma_(.*)/) ?? [];
    return of ? `the tensor cores multiply a, 16 \u00d7 ${of === 'tf32' ? 8 : 16}, by b, ${of === 'tf32' ? 8 : 16} \u00d7 8, in ${of}, and add the `
            + 'product to c. The lanes hold all three together, as drawn under Fragments.'
        : `the warp ${event.of.startsWith('st') ? 'stores' : 'loads'} four matrices of 8 \u00d7 8 elements of 16 bits. Each lane names a row, and `
            + `${event.of.startsWith('st') ? 'has' : 'gets'} two elements of each matrix, `
            + `${event.of === 'ldmatrix4' ? 'neighbours in a row' : 'one below the other'}, as drawn under Fragments.`;
}

function eventSentence(event, step) {
    const lanes = event.m ?? lanesOf(step);
    if (isRequest(event))
        return requestSentence(event, step, lanes);
    const who = laneNames(lanes, step.w), one = lanes.length === 1;
    switch (event.k) {
    case 'fragments':
        return event === fragmentsOf(step) ? fragmentSentence(event) : '';
    case 'shuffle':
        return fragmentsOf(step) ? '' : shuffleSentence(event, step, lanes);
    case 'vote':
        return `${who} ${one ? 'votes' : 'vote'}, and ${one ? '' : 'each '}learns the result: ${valueNames(lanes, event.x ?? [], step.w)}.`;
    case 'barrier':
        return `${who} ${one ? 'comes' : 'come'} to ${barrierOf(event.place ?? step.p)?.text ?? 'a barrier'}`
            + `${event.place && event.place[1] !== step.p?.[1] ? ` in ${lineThere(event.place)}` : ''}: nobody goes `
            + 'on before all have come, and what was written before it can be read after it.';
    case 'copy_store':
        return '';
    case 'warp_barrier':
        return `${who} ${one ? 'comes' : 'come'} to a barrier of the warp: what a lane wrote before it the others can read after it.`;
    case 'fence':
        return `${who} ${one ? 'passes' : 'pass'} a fence: what was written before it is seen by others before what is written after it.`;
    case 'copy':
        return `${one ? who : 'the warp'} starts a copy (${event.how}) of `
            + `${sourceNames([event])} to ${elementNames(event.to[0], [event.to[1]], event.n)}. `
            + underWay(event.bytes);
    case 'arrive': {
        const copy = copyOf(event.id);
        return copy
            ? `A copy arrives: ${elementNames(copy.to[0], [copy.to[1]], copy.n)} ${copy.n > 1 ? 'hold' : 'holds'} what `
                + `${lineThere(run.steps[copy.step].p)} asked for.`
            : 'A copy arrives.';
    }
    case 'phase': {
        const left = event.pending ? `${plural(event.pending, 'arrival')} and the bytes that it is told of` : 'what it is told of';
        return event.phase ? `With that the phase of the mbarrier ${elementName(event.a, event.i)} is over: its parity is now ${event.parity}.`
            : `The mbarrier ${elementName(event.a, event.i)} begins with parity ${event.parity}, and waits for ${left}.`;
    }
    case 'wait':
        return event.on === 'copies'
            ? `${who} ${one ? 'waits' : 'wait'} until ${event.left ? `at most ${plural(event.left, 'group')} of copies ${event.left === 1 ? 'is' : 'are'} still under way`
            : 'all copies that it has started have arrived'.replace('it has', one ? 'it has' : 'they have')}.`
            : `${who} ${one ? 'waits' : 'wait'} until ${event.a === undefined ? 'the mbarrier' : elementName(event.a, event.i)} has left the phase of parity ${event.parity}.`;
    case 'print':
        return `${who} ${one ? 'prints' : 'print'}: ${event.x.slice(0, 3).join(' ').trim()}${event.x.length > 3 ? ' \u2026' : ''}`;
    default:
        return `${who}: ${event.k}.`;
    }
}

function underWay(bytes) {
    const all = facts.flight[at] === bytes ? '' : `, so that ${facts.flight[at]} are on their way`;
    return `The threads do not wait for ${bytes > 1 ? `these ${bytes} bytes` : 'this byte'}${all}.`;
}

const copies = new Map(); // of this run, by id: the copy, and the step that started it
function copyOf(id) {
    if (!copies.size)
        run.steps.forEach((step, number) => eventsOf(step).forEach(event => {
            if (event.k === 'copy')
                copies.set(event.id, {...event, step: number, block: step.b});
        }));
    return copies.get(id);
}

// Whether an event is the arrival of a copy that brings an element; and the copy that brought it in that step.
function holds(event, array, block, index) {
    const copy = event.k === 'arrive' ? copyOf(event.id) : null;
    return copy && copy.to[0] === array && (block === null || (copy.to[2] ?? copy.block) === block)
        && copy.to[1] <= index && index < copy.to[1] + copy.n;
}
function copyInto(number, array, block, index) {
    const event = eventsOf(run.steps[number]).find(one => holds(one, array, isShared(array) ? block : null, index));
    return event ? copyOf(event.id) : null;
}

// Many events of the same kind in one step, such as 32 copies of a lane each, are told as one; copies that arrive, as one
// for each step in which they set out.
function eventSentences(step) {
    const told = new Map();
    eventsOf(step).forEach((event, number) => {
        const {k, on, a, i, parity} = event;
        const key = k === 'copy' ? k : k === 'arrive' ? `${k} ${copyOf(event.id)?.step}` : k === 'wait' ? [k, on, a, i, parity].join(' ') : number;
        told.set(key, [...(told.get(key) ?? []), event]);
    });
    return [...told.values()]
        .map(list => {
            if (list[0].k === 'wait' && list.length > 1)
                return eventSentence({...list[0], m: list.flatMap(event => event.m ?? lanesOf(step)).sort((a, b) => a - b)}, step);
            const all = list.map(event => event.k === 'copy' ? event : copyOf(event.id)).filter(copy => copy);
            if (list.length === 1 || !all.length)
                return eventSentence(list[0], step);
            const to = elementNames(all[0].to[0], all.map(copy => copy.to[1]), all[0].n);
            const from = sourceNames(all);
            const bytes = all.reduce((sum, copy) => sum + copy.bytes, 0);
            return list[0].k === 'arrive'
                ? `${all.length} copies arrive: ${to} hold what ${lineThere(run.steps[all[0].step].p)} asked for.`
                : `${all.length} copies (${all[0].how}) start, from ${from} to ${to}. ${underWay(bytes)}`;
        })
        .filter(sentence => sentence);
}

// What the variables become: 'sum to 4 in lane 0, 8 in lanes 1 to 31', or with another word between
function changeSentence(step, between) {
    const all = changes(step), lanes = lanesOf(step), most = all.length > 4 ? 3 : 4;
    const told = all.slice(0, most).map(([name, some, values, old]) => {
        const same = some.length === lanes.length && new Set(values.map(value => short(value))).size === 1;
        const followed = some.indexOf(view.lane);
        if (followed >= 0 && !same && some.length > 1)
            return `${name} ${between} ${short(values[followed])} in lane ${view.lane}, where it was ${old(view.lane) === null ? 'unset' : short(old(view.lane))}`;
        const kept = lanes.filter(lane => !some.includes(lane) && old(lane) !== null);
        const stays = kept.length ? ` (it stays ${valueNames(kept, kept.map(lane => old(lane)), step.w)}${kept.length === 1 ? ` in lane ${kept[0]}` : ''})` : '';
        return `${name} ${between} ${same ? short(values[0]) : valueNames(some, values, step.w)}${stays}`;
    });
    return listed(all.length > most ? [...told, `${all.length - most} more`] : told);
}
function changes(step) {
    const lanes = lanesOf(step), told = [];
    for (const [variable, values] of Object.entries(step.v ?? {})) {
        const {name} = variables[variable], some = lanes.filter((_, j) => values[j] !== '=');
        const flat = values.filter(value => value !== '=');
        if (!flat.length || flat.every(value => /^0x/.test(value))) // a pointer to registers says nothing
            continue;
        const old = (lane, k) => {
            const value = before(threadOf(step, lane), variable);
            return (k === undefined ? value : value?.[k]) ?? null;
        };
        if (Array.isArray(flat[0])) {
            const moved = [...flat[0].keys()].filter(k => some.some((lane, j) => {
                const old = before(threadOf(step, lane), variable);
                return JSON.stringify(old?.[k] ?? null) !== JSON.stringify(flat[j][k]);
            }));
            for (const k of moved)
                told.push([
                    name + subscript(variables[variable].dims, k), some, flat.map(value => value[k]),
                    lane => old(lane, k)
                ]);
        } else {
            told.push([name, some, flat, old]);
        }
    }
    return told;
}

// What lines do that access no memory and change no variable.
const calls = {
    mbarrier_init: 'it sets up an mbarrier, and says how many arrivals end a phase',
    mbarrier_init_done: 'from here on copies know the mbarriers',
    mbarrier_expect: 'it arrives at the mbarrier, and says for how many bytes of copies the phase waits, too',
    fence_proxy_async: 'what was read and written before it comes before the copies that start after it'
};

// The sentence of the step that was played last: who, and what happens.
function sentence() {
    const step = run.steps[at], block = `${numBlocks > 1 ? `block ${blockName(step.b)}` : ''}`;
    const upper = text => text.charAt(0).toUpperCase() + text.slice(1);
    if (step.s === 'begin')
        return [
            `Block ${blockName(step.b)}`,
            `begins, with ${plural(numThreads, 'thread')} in ${plural(numWarps, 'warp')}.${arrays.some(array => array.space === 'shared')
                ? ' Nobody has written to its shared memory yet.' : ''}${at === 0 ? ' Press \u2192 to let a warp run a line.' : ''}`
        ];
    if (step.s === 'end')
        return [`Block ${blockName(step.b)}`, 'has ended: all its threads are done.'];
    const who = upper([
        block, `warp ${step.w}`, step.p && !step.s || step.s === 'wait' && step.p ? lineName(step.p) : ''
    ].filter(part => part).join(', '));
    const lanes = lanesOf(step), names = laneNames(lanes, step.w), one = lanes.length === 1;
    if (step.s === 'wait') {
        const block = [...Array(numThreads).keys()].map(thread => step.b * numThreads + thread);
        const come =
            block.filter(thread => state.waits[thread]?.at === step.at && state.lanes[thread] === 'waits').length;
        const missing = block.filter(thread => state.lanes[thread] === 'runs').length;
        return [
            who,
            `${names} ${one ? 'waits' : 'wait'} for ${waitName(step).replace(/ in line .*$/, '')}`
                + (step.on === '__syncthreads' ? `: ${come} of the block's ${numThreads} threads have come`
                            + (missing ? `, ${missing} have not.` : '.')
                                               : '.')
        ];
    }
    if (step.s === 'go') {
        const wait = jump(at, -1, other => other.s === 'wait' && other.b === step.b && other.w === step.w);
        const on = wait === null ? null : run.steps[wait],
              many = on && /^(__syncthreads|named|cluster|grid)$/.test(on.on);
        return [
            who,
            on === null ? `${names} ${one ? 'goes' : 'go'} on.`
                : many
                ? `all have come to ${waitName(on)}, so ${names} ${one ? 'goes' : 'go'} on.`
                : `${names} ${one ? 'has' : 'have'} waited long enough for ${waitName(on)}, and ${one ? 'goes' : 'go'} on.`
        ];
    }
    if (step.s === 'done')
        return [who, `${names} ${one ? 'has' : 'have'} reached the end of the kernel.`];
    const parts = eventSentences(step), more = parts.length - 4;
    if (more > 1) // a line that steps over a function does much
        parts.splice(4, more, `This line does ${more} things more.`);
    if (changes(step).length)
        parts.push(parts.length ? `Now ${changeSentence(step, 'is')}.`
                                : `${names} ${one ? 'sets' : 'set'} ${changeSentence(step, 'to')}.`);
    const text = step.p ? lineText(step.p).replace(/\/\*.*?(\*\/|$)|\/\/.*/g, '') : '';
    const asks = /\b(if|while|for)\b/.exec(text)?.[1], call = Object.keys(calls).find(name => text.includes(`${name}(`));
    const {verdict} = run, stopped = at === verdict?.step && !verdict.ok && Number.isInteger(verdict.index)
        ? `${/race: writes/.test(verdict.text) ? 'write' : 'read'} ${elementName(verdict.array, verdict.index)}` : '';
    const after = jump(at, 1, other => other.b === step.b && other.w === step.w && !other.s), then = run.steps[after] ?? {};
    const goesOn = then.p && then.p[0] === step.p?.[0] && (then.d ?? 0) === (step.d ?? 0) && String(lanesOf(then)) === String(lanes)
        ? ` and ${one ? 'goes' : 'go'} on to line ${then.p[1]}` : '';
    if (!parts.length)
        parts.push(asks === 'for' ? `${names} ${one ? 'comes' : 'come'} to the head of the loop.`
                : asks            ? `${names} ${one ? 'tests' : 'test'} the condition${goesOn}.`
                : stopped         ? `${names} ${one ? 'is' : 'are'} about to ${stopped}, and here the simulator stops this run.`
                : call            ? `${names} ${one ? 'calls' : 'call'} ${call}(): ${calls[call]}.`
                                  : `${names} ${one ? 'runs' : 'run'} this line; no variable changes.`);
    if (asks) {
        const inside = after === null ? lanes : lanesOf(then);
        const out = lanes.filter(lane => !inside.includes(lane));
        if (out.length && then.p && inside.every(lane => lanes.includes(lane)))
            parts.push(
                `${upper(laneNames(inside, step.w))} ${inside.length > 1 ? 'go' : 'goes'} on to line `
                + `${then.p[1]}, ${laneNames(out, step.w)} ${out.length > 1 ? 'do' : 'does'} not.`);
    }
    const aside =
        everyLane[step.w].filter(lane => !lanes.includes(lane) && state.lanes[threadOf(step, lane)] === 'runs');
    if (aside.length)
        parts.push(`${upper(laneNames(aside, step.w))} ${aside.length > 1 ? 'are' : 'is'} not active here.`);
    return [who, parts.map((part, n) => n ? upper(part) : part).join(' ')];
}

/* ---- 5. pictures ---- */

// A picture is { left, width, height, items }: shapes from x = -left (names) to width. `pick` says what a click
// chooses, `cell` what is told of it.
const view = {
    block: 0,
    warp: 0,
    lane: null,
    follow: true,
    cell: null,
    width: 32 * 38,
    left: 100,
    room: 560,
    all: 1000
};

const shape = (tag, look, numbers, more) => ({tag, numbers: {class: look, ...numbers}, ...more});
const box = (look, x, y, width, height, more) => shape('rect', look, {x, y, width, height, rx: 2}, more);
const path = (look, d, more) => shape('path', look, {d}, more);

// How wide text is, about: a digit's width is measured once. Text that is wider than its room is squeezed; of a number
// fewer digits are written, down to 2.
const pen = document.createElement('canvas').getContext('2d');
pen.font = '100px system-ui, "DejaVu Sans", sans-serif';
let digitWidth = 0.6;
const widthOf = (text, size) => text.length * size * digitWidth;
function fit(value, size, room) {
    let digits = 4;
    while (digits > 2 && widthOf(short(value, digits), size) > room * 1.15)
        digits--;
    return short(value, digits);
}
function words(look, x, y, size, text, room, more) {
    text = String(text);
    const mono = /\bmono\b/.test(look) ? text.length * size * 0.61 : 0;
    const wide = mono || (room && widthOf(text, size) > room ? pen.measureText(text).width * size / 100 : 0);
    return shape('text', look,
        {x, y, 'font-size': size, ...(room && wide > room ? {textLength: room, lengthAdjust: 'spacingAndGlyphs'} : {})},
        {text, ...more});
}
const clip = (text, size, room) => widthOf(text, size) <= room * 1.25
    ? text
    : text.slice(0, Math.max(1, Math.floor(room * 1.2 / size / digitWidth) - 1)) + '\u2026';
const round = x => Math.round(x * 100) / 100;
const cellWidth = () => view.width / 32;

// What the step does to memory: by array, block and index
function accesses(step) {
    const found = new Map();
    for (const event of eventsOf(step))
        if (isRequest(event)) {
            const lanes = event.m ?? lanesOf(step);
            event.i.forEach((first, j) => {
                for (let k = 0; k < (event.n ?? 1); k++) {
                    const key = `${event.a} ${isShared(event.a) ? event.b ?? step.b : ''} ${first + k}`,
                          access = found.get(key) ?? {reads: [], writes: []};
                    access[isWrite(event) ? 'writes' : 'reads'].push(lanes[j]);
                    found.set(key, access);
                }
            });
        }
    return found;
}

// The two places of a race, or the place of a fault, if the run's verdict is about this step.
function wrongHere() {
    const {verdict} = run;
    return verdict && !verdict.ok && verdict.step !== null && verdict.step !== undefined && at >= verdict.step ? verdict
                                                                                                               : null;
}

const parties = wrong => wrong ? [wrong, wrong.other]
                                     .filter(one => one && one.thread !== undefined)
                                     .map(one => (one.block ?? wrong.block ?? 0) * numThreads + one.thread)
                               : [];

function drawThreads() {
    const step = run.steps[at], wrong = wrongHere(), items = [];
    const most = numBlocks === 1
        ? 1
        : Math.max(1, Math.min(numBlocks, clusterSize > 1 ? clusterSize : 4, Math.floor(view.room / 250)));
    const room = view.room / most, left = 30, right = 58;
    const square = Math.max(5, Math.min(16, Math.floor((room - left - right - 12) / 32) - 1)), pitch = square + 1;
    const blockWidth = left + 32 * pitch + right, blockHeight = numWarps * (square + 5) + 22;
    const active = new Set(step.w === undefined ? [] : lanesOf(step));
    const waiting = new Map();
    let height = 0;
    for (let block = 0; block < numBlocks; block++) {
        const x0 = block % most * (blockWidth + 8), y0 = Math.floor(block / most) * (blockHeight + 6);
        height = Math.max(height, y0 + blockHeight);
        const cluster = clusterSize > 1 ? `, cluster ${Math.floor(block / clusterSize)}` : '';
        items.push(
            words(block === view.block ? 'strong' : 'soft', x0, y0 + 13, 12, `block ${blockName(block)}${cluster}`));
        for (let warp = 0; warp < numWarps; warp++) {
            const y = y0 + 20 + warp * (square + 5), chosen = block === view.block && warp === view.warp;
            const pick = {block, warp};
            items.push(box(`solid ${colour(warp)}`, x0, y - 1, left - 6, square + 2,
                {pick, title: `warp ${warp}: click to see its variables`}));
            items.push(words('on middle', x0 + left / 2 - 3, y + square / 2 + Math.min(4, square * 0.45),
                Math.min(11, square + 3), `w${warp}`, 0, {pick}));
            if (chosen)
                items.push(box('chosen', x0 + left - 4, y - 3, 32 * pitch + 7, square + 6));
            const lines = new Set();
            for (const lane of everyLane[warp]) {
                const thread = block * numThreads + warp * 32 + lane, word = state.lanes[thread],
                      x = x0 + left + lane * pitch;
                const runsNow = step.b === block && step.w === warp && active.has(lane) && !step.s;
                const letter = word === 'waits' ? facts.letters.get(waitName(state.waits[thread]))
                    : word === 'done'           ? '\u2713'
                                                : '';
                if (word === 'waits')
                    waiting.set(letter, [...(waiting.get(letter) ?? []), thread]);
                if (state.places[thread] && word !== 'done')
                    lines.add(state.places[thread][1]);
                const title = `thread ${thread % numThreads} (warp ${warp}, lane ${lane}): `
                    + (runsNow                 ? 'runs the line of this step'
                            : word === 'waits' ? `waits for ${waitName(state.waits[thread])}`
                                               : {absent: 'has not begun', runs: 'may run', done: 'is done'}[word]);
                items.push(box(
                    `${runsNow ? 'solid' : { runs: 'ready', waits: 'wait', done: 'done', absent: 'absent' }[word]} ${colour(warp)}`,
                    x, y, square, square, {pick: {...pick, lane}, title}));
                if (letter && square > 6)
                    items.push(words(
                        'soft middle', round(x + square / 2), round(y + square * 0.8), round(square * 0.8), letter));
                if (parties(wrong).includes(thread))
                    items.push(box('wrong', x - 1, y - 1, square + 2, square + 2));
                if (view.lane === lane && chosen)
                    items.push(box('marked', x - 1, y - 3, square + 2, square + 6));
            }
            const line = [...lines].sort((a, b) => a - b);
            items.push(words('soft', x0 + left + 32 * pitch + 6, y + square / 2 + 4, 11,
                line.length
                    ? `${most < 2 ? 'line ' : ''}${line.length > 2 ? `${line[0]}\u2013${line[line.length - 1]}` : line.join(', ')}`
                    : '',
                right - 4));
        }
    }
    for (const [name, letter] of facts.letters) {
        const threads = waiting.get(letter) ?? [];
        height += 17;
        items.push(words(threads.length ? 'strong' : 'pale', 0, height, 12, letter));
        items.push(words(threads.length ? '' : 'pale', 16, height, 12,
            clip(`wait${threads.length ? '' : 'ing'} for ${name}`
                    + (threads.length ? `: ${plural(threads.length, 'thread')}` : ''),
                12, view.room - 20)));
    }
    return {left: 0, width: Math.max(Math.min(numBlocks, most) * (blockWidth + 8), 100), height: height + 6, items};
}

// Where a variable is first given a value in a run that has it. If it is declared there, it ends with its block, which
// the indentation tells.
const declared = new Map();
for (const one of runs)
    for (const step of one.steps)
        for (const variable of Object.keys(step.v ?? {}))
            if (step.p && !declared.has(variable))
                declared.set(variable, step.p);
function lastLine(variable) {
    const place = declared.get(String(variable)), text = place ? lineText(place) : '', {name} = variables[variable];
    const indent = line => line.search(/\S/);
    const said = [...text.matchAll(/\b(?!return|else|case|goto)[A-Za-z_]\w*[\s*&]+([A-Za-z_]\w*)\s*(?=[=[;,(])/g)];
    if (!said.some(match => match[1] === name))
        return Infinity;
    const inHead = /^\s*for\b/.test(text);
    const {text: all, first = 1} = sources[place[0]];
    for (let n = place[1] - first + 1; n < all.length; n++)
        if (indent(all[n]) >= 0 && !/^\s*#/.test(all[n])
            && (inHead ? indent(all[n]) <= indent(text) && !/^\s*[{}]/.test(all[n]) : indent(all[n]) < indent(text)))
            return /^\s*\{/.test(all[n]) ? Infinity : n + first - 1; // before a brace: the head of a function
    return Infinity;
}
const scopes =
    variables.map(({lines}, number) => [lines?.[0] ?? 0, Math.min(lines?.[1] ?? Infinity, lastLine(number))]);

// The variables that the chosen warp sees: those of the functions it is in, where its line is in their scope, and some
// lane has given them a value. A pointer to the array of the same
// name says nothing, and neither does one to registers.
function visible() {
    const threads = everyLane[view.warp].map(lane => state.values[view.block * numThreads + view.warp * 32 + lane]);
    const known = (value, name) => Array.isArray(value)
        ? value.some(one => known(one))
        : value !== null && value !== undefined && value !== `&${name}[0]` && !/^0x/.test(value);
    const found = [];
    for (const frame of [...(state.frames[view.block * numWarps + view.warp] ?? [])].reverse().filter(one => one))
        variables.forEach((variable, number) => {
            const [first, last] = scopes[number], {source} = functions[variable.function] ?? {};
            if ((variable.function ?? 0) === frame.function && (source === undefined || source === frame.place[0])
                && first <= frame.place[1] && frame.place[1] <= last
                && threads.some(values => known(values[number], variable.name))
                && !found.some(one => one.number === number))
                found.push({...variable, number});
        });
    return found;
}

function drawVariables() {
    const step = run.steps[at], items = [], w = cellWidth(), size = Math.min(13, Math.max(9, w * 0.27)), tall = 20;
    const base = view.block * numThreads + view.warp * 32, lanes = everyLane[view.warp];
    const own = step.b === view.block && step.w === view.warp && !step.s;
    const active = new Set(own ? lanesOf(step) : lanes.filter(lane => state.lanes[base + lane] === 'runs'));
    const where = new Map(lanesOf(step).map((lane, j) => [lane, j]));
    const wrong = wrongHere();
    let y = 0;

    // the lanes
    items.push(words('soft end', -8, 14, 12, 'lane'));
    for (const lane of lanes) {
        const pick = {block: view.block, warp: view.warp, lane}, x = lane * w;
        items.push(box(own && active.has(lane) ? `solid ${colour(view.warp)}`
                : active.has(lane)             ? `ready ${colour(view.warp)}`
                                               : 'wait',
            round(x + 1), 1, round(w - 2), 17,
            {pick, title: `thread ${view.warp * 32 + lane}: click to follow this lane`}));
        items.push(words(`${own && active.has(lane) ? 'on' : active.has(lane) ? '' : 'pale'} middle`, round(x + w / 2),
            14, 11, lane, 0, {pick}));
        if (parties(wrong).includes(base + lane))
            items.push(box('wrong', round(x + 1), 1, round(w - 2), 17));
    }
    y = 22;

    // shuffles: who gives at the top, who gets at the bottom
    const event = facts.exchanges.length && own && !fragmentsOf(step) ? eventsOf(step).find(one => one.k === 'shuffle') : null;
    if (event || facts.exchanges.length && !forText) {
        const bottom = y + 70;
        items.push(words('soft end', -8, y + 16, 11, event ? 'from lane' : 'a shuffle', view.left - 12));
        items.push(words('soft end', -8, bottom - 2, 11, event ? 'to lane' : 'will show here', view.left - 12));
        items.push(path('rule', `M0 ${y + 4}H${round(lanes.length * w)}`),
            path('rule', `M0 ${bottom + 3}H${round(lanes.length * w)}`));
        if (event)
            (event.m ?? lanesOf(step)).forEach((lane, j) => {
                const from = event.from[j], x1 = round((from + 0.5) * w), x2 = round((lane + 0.5) * w),
                      kept = from === lane;
                const bold = lane === view.lane ? ' bold' : '';
                items.push(path(`${kept ? 'own' : `arrow ${colour(view.warp)}`}${bold}`,
                    `M${x1} ${y + 5}C${x1} ${y + 30} ${x2} ${y + 30} ${x2} ${bottom - 15}`, {
                        title: kept ? `lane ${lane} keeps its own`
                                    : `lane ${lane} gets ${whole(event.x?.[j])} from lane ${from}`
                    }));
                if (!kept)
                    items.push(path(`head ${colour(view.warp)}`,
                        `M${x2 - 3} ${bottom - 17}L${x2 + 3} ${bottom - 17}L${x2} ${bottom - 11}Z`));
                items.push(words(`middle${kept ? ' pale' : bold ? ' strong' : ''}`, x2, bottom, round(size * 0.95),
                    fit(event.x?.[j], size, w - 2), w - 2));
            });
        y = bottom + 8;
    }

    // the functions that the warp is in, the innermost first
    const shown = visible().filter(variable => !onlyThese || onlyThese.includes(variable.name)),
          inside = [...new Set(shown.map(variable => variable.function ?? 0))];
    const head = items.length, headHeight = y;
    for (const where of inside) {
        if (inside.length > 1) {
            items.push(words(`strong mono`, 0, y + 12, 12, `${functions[where]?.name ?? ''}()`, 0));
            items.push(words('soft', widthOf(`${functions[where]?.name ?? ''}()  `, 13), y + 12, 11,
                where === inside[0] ? 'runs now' : 'has called it'));
            y += 17;
        }
        drawFrame(shown.filter(variable => (variable.function ?? 0) === where));
    }

    function drawFrame(list) {
        // what is always the same in all lanes, in one row (or more)
        const rows = [], chips = [];
        for (const variable of list)
            if (facts.same[variable.number])
                chips.push(variable);
            else if (variable.dims?.length)
                for (let k = 0; k < volume(variable.dims); k++)
                    rows.push({...variable, k, label: variable.name + subscript(variable.dims, k)});
            else
                rows.push({...variable, label: variable.name});
        if (chips.length) {
            let x = 0;
            items.push(words('soft end', -8, y + 14, 11, 'all lanes:', view.left - 12));
            for (const variable of chips) {
                const value = state.values[base + lanes[0]][variable.number],
                      text = `${variable.name} = ${short(value)}`;
                const wide = Math.ceil(Math.max(variable.name.length + 8, text.length) * 6.6 + 10),
                      changed = own && step.v?.[variable.number];
                if (x > 0 && x + wide > lanes.length * w) {
                    x = 0;
                    y += 22;
                }
                const cell = {
                    told: () =>
                        `${variable.type ?? ''} ${variable.name} = ${whole(value)}, the same in all lanes of warp ${view.warp}`
                };
                items.push(box(changed ? 'changed' : 'cell', x, y, wide - 4, 18, {cell, title: cell.told()}));
                items.push(
                    words(changed ? 'strong' : '', x + 5, y + 13, 11, text, 0, {cell, mark: `v${variable.number}`}));
                x += wide;
            }
            y += 24;
        }

        // a row for each of the others, register arrays last
        rows.sort((a, b) => (a.k === undefined ? 0 : 1) - (b.k === undefined ? 0 : 1));
        for (const row of rows) {
            const part = value => row.k === undefined ? value : value?.[row.k] ?? null;
            items.push(words('end mono', -8, y + 14, 11, clip(row.label, 12, view.left - 12), view.left - 12,
                {title: `${row.type ?? ''} ${row.label}`}));
            for (const lane of lanes) {
                const thread = base + lane, value = part(state.values[thread][row.number] ?? null), x = round(lane * w);
                const entry = own && active.has(lane) ? step.v?.[row.number]?.[where.get(lane)] : undefined;
                const changed = entry !== undefined && entry !== '='
                    && (row.k === undefined
                        || JSON.stringify(part(before(thread, String(row.number)) ?? null))
                            !== JSON.stringify(part(entry)));
                const cell = {
                    told: () => `${row.label} in thread ${view.warp * 32 + lane} (lane ${lane}): ${whole(value)}`
                };
                const pick = {block: view.block, warp: view.warp, lane};
                items.push(box(changed ? 'changed' : 'cell', x, y, round(w), tall, {cell, pick, title: cell.told()}));
                items.push(words(`middle${active.has(lane) ? changed ? ' strong' : '' : ' pale'}`, round(x + w / 2),
                    y + 14, size, fit(value, size, w - 3), round(w - 3),
                    {cell, pick, mark: `v${row.number}${row.k === undefined ? '' : `.${row.k}`} ${lane}`}));
            }
            y += tall;
        }
    }
    if (!shown.length)
        items.push(words('soft', 0, y + 14, 12, 'This warp has no variables yet.')), y += 20;
    if (view.lane !== null && lanes.includes(view.lane)) {
        items.push(box('chosen', round(view.lane * w), headHeight - 1, round(w), y - headHeight));
        items.splice(head, 0, box('chosen', round(view.lane * w), 0, round(w), headHeight - 3));
    }
    return {
        left: view.left,
        width: round(32 * w) + 2,
        height: y + 4,
        items,
        head: head + (view.lane !== null && lanes.includes(view.lane) ? 1 : 0),
        headHeight
    };
}

function subscript(dims, k) {
    let text = '';
    for (const dim of [...dims].reverse()) {
        text = `[${k % dim}]` + text;
        k = Math.floor(k / dim);
    }
    return text;
}

// Memory as rows of 128 bytes: in shared memory a column is a bank, in global memory 8 columns are a sector.
function drawMemory(space) {
    const step = run.steps[at], items = [], w = cellWidth(), size = Math.min(13, Math.max(9, w * 0.27)),
          tall = w < 33 ? 28 : 30;
    const now = accesses(step), wrong = wrongHere(), shared = space === 'shared';
    const coming = new Map();
    for (const copy of Object.values(state.copies))
        if (copy)
            for (let k = 0; k < copy.n; k++)
                coming.set(
                    `${copy.to[0]} ${isShared(copy.to[0]) ? copy.to[2] ?? copy.block : ''} ${copy.to[1] + k}`, copy);
    let y = 0;

    if (shared) {
        const event = eventsOf(step).find(one => one.k.startsWith('shared_') && (one.b ?? step.b) === view.block);
        if (facts.turns) {
            const rows = Math.min(32, facts.turns), pitch = Math.max(5, Math.min(13, Math.floor(170 / rows))),
                  bottom = y + rows * pitch + 12;
            items.push(words('soft end', -8, bottom - 3, 11, rows > 1 ? 'lanes, by turn' : 'lane', view.left - 12));
            if (event) {
                const {boxes, turns} = queue(event, event.m ?? lanesOf(step));
                for (const {bank, turn, lane, others} of boxes) {
                    const x = round(bank * w), top = bottom - 12 - turn * pitch;
                    items.push(
                        box(turn ? 'changed' : `ready ${colour(step.w)}`, round(x + 1), top, round(w - 2), pitch - 1, {
                            title:
                                `lane ${lane}${others ? ` and ${others} more with the same word` : ''}: bank ${bank}, turn ${turn + 1}`
                        }));
                    if (pitch > 8)
                        items.push(words('middle', round(x + w / 2), top + pitch - 3, pitch - 2,
                            others ? `${lane}+${others}` : lane, w - 4));
                }
                if (turns > 1) { // beside the queues: at the side where fewer wait
                    const waiting = boxes.filter(one => one.turn > 0), right = waiting.some(one => one.bank < 8);
                    items.push(words(`wrongtext halo${right ? ' end' : ''}`, right ? round(32 * w) : 0,
                        bottom - 12 - turns * pitch + pitch + 8, 12, `${turns} turns, one after the other`));
                }
            }
            y = bottom + 4;
        }
        items.push(words('soft end', -8, y + 9, 11, 'bank'));
        for (let bank = 0; bank < 32; bank++)
            items.push(words('soft middle', round((bank + 0.5) * w), y + 9, 10, bank));
        y += 14;
    }
    const head = items.length, headHeight = y;

    // The rows that are used; of very many those near the last request.
    const someRows = (number, step) => {
        const rows = [...touched[number]].sort((a, b) => a - b), here = state.last[number];
        if (rows.length <= 40)
            return rows;
        const used = new Set(
            eventsOf(step)
                .filter(event => isRequest(event) && event.a === number)
                .flatMap(
                    event => event.i.map(
                        index => Math.floor(((arrays[number].start ?? 0) + index * arrays[number].element) / 128))));
        return rows.filter(row => used.has(row) || Math.floor(row / 8) === Math.floor(here / 8));
    };
    const nameOfRow = ({number, dims}, first) => {
        const inStage = volume(dims) / (rings.get(number) ?? 1);
        return rings.get(number) > 1 && first % inStage === 0 ? `stage ${first / inStage}` : elementName(number, first);
    };
    const list = arrays.map((array, number) => ({...array, number}))
                     .filter(array => shared === (array.space === 'shared') && touched[array.number].size);
    for (const array of list) {
        const {number, element, start = 0} = array, total = volume(array.dims), cells = cellsOf(number, view.block);
        const rows = someRows(number, step);
        items.push(words('strong mono', -view.left, y + 13, 12, clip(array.name, 12, view.left - 8), view.left - 8));
        items.push(words('soft', 0, y + 13, 11,
            `${array.type}${array.dims.map(dim => `[${dim}]`).join('')}${phased.has(number) ? ', mbarriers' : ''}`));
        y += 18;
        const sectors = new Set();
        let last = Math.min(...touched[number]) - 1;
        const leftOut = gone => {
            if (gone > 0) {
                items.push(words('pale', 0, y + 10, 10, `\u22ee ${plural(gone, 'row')} more`));
                y += 14;
            }
        };
        for (const row of rows) {
            leftOut(row - last - 1);
            last = row;
            const first = Math.max(0, Math.ceil((row * 128 - start) / element)),
                  end = Math.min(total, Math.ceil(((row + 1) * 128 - start) / element));
            items.push(words('soft end mono', -8, y + tall / 2 + 4, 10,
                clip(nameOfRow(array, first), 10, view.left - 12), view.left - 12));
            for (let index = first; index < end; index++) {
                const byte = start + index * element - row * 128, x = round(byte / 4 * w),
                      wide = round(element / 4 * w);
                const key = `${number} ${shared ? view.block : ''} ${index}`, access = now.get(key),
                      who = cells.who[index], copy = coming.get(key);
                const block = shared ? view.block : null;
                const cell = {array: number, index, block, told: () => toldCell(number, view.block, index)};
                const warp = who === null ? null : Math.floor(who % numThreads / 32), mark = `${number} ${index}`;
                items.push(box(copy     ? 'coming'
                        : warp === null ? 'cell'
                                        : `tinted ${colour(warp)}`,
                    x, y, wide, tall, {cell, title: ''}));
                items.push(words(`middle${access ? ' strong' : ''}`, round(x + wide / 2), y + tall * 0.5, size,
                    copy ? '\u2026' : fit(cells.x[index], size, wide - 3), wide - 3, {cell, mark}));
                const by = access
                    ? (access.writes.length ? 'W' : 'R') + laneMark(access.writes.length ? access.writes : access.reads)
                    : who !== null
                    ? (numBlocks > 1 && !shared ? `b${Math.floor(who / numThreads)} ` : '') + `t${who % numThreads}`
                    : '';
                if (by && wide > 10)
                    items.push(words(`middle ${access ? `ofwarp ${colour(step.w)}` : 'soft'}`, round(x + wide / 2),
                        y + tall - 3.5, Math.max(8, size * 0.72), by, wide - 3, {cell}));
                if (!shared && access)
                    sectors.add(`${y} ${Math.floor(byte / 32)}`);
                if (access)
                    items.push(box(`${access.writes.length ? 'writes' : 'reads'} ${colour(step.w)}`, x + 1.5, y + 1.5,
                        wide - 3, tall - 3));
                if (view.cell && view.cell.array === number && view.cell.index === index
                    && (!shared || view.cell.block === view.block))
                    items.push(box('marked', x - 1, y - 1, wide + 2, tall + 2));
                if (wrong && wrong.array === number && wrong.index === index
                    && (!shared || wrong.block === view.block)) {
                    items.push(box('wrong', x - 1, y - 1, wide + 2, tall + 2));
                    items.push(words('wrongtext end', x + wide - 1, y + 9, 12, '!'));
                }
            }
            if (!shared)
                for (let sector = 0; sector < 4; sector++)
                    if (row * 128 + sector * 32 < start + total * element && row * 128 + sector * 32 + 32 > start)
                        items.push(box(sectors.has(`${y} ${sector}`) ? `moved ${colour(step.w)}` : 'sector',
                            round(sector * 8 * w), y, round(8 * w), tall));
            y += tall;
        }
        leftOut(Math.max(...touched[number]) - last);
        y += 6;
    }
    if (!list.length)
        return {left: 0, width: 0, height: 0, items: []};
    return {left: view.left, width: round(32 * w) + 4, height: y + 2, items, head, headHeight};
}
const laneMark = lanes => lanes.length > 1 ? `${lanes[0]}+${lanes.length - 1}` : lanes[0];

// All that is known of a cell, in words.
function toldCell(array, block, index) {
    const cells = cellsOf(array, block), who = cells.who[index];
    const thread = one =>
        `${numBlocks > 1 ? `block ${blockName(Math.floor(one / numThreads))}, ` : ''}thread ${one % numThreads}`;
    const when = number => `${lineName(run.steps[number].p)} (step ${number})`;
    const {start = 0, element} = arrays[array], bank = Math.floor((start + index * element) / 4) % 32;
    const copy = who === null ? null : copyInto(cells.step[index], array, block, index);
    return `${elementName(array, index)}: ${whole(cells.x[index])}`
        + (who === null ? isShared(array) ? '' : ', as it was before the launch'
                : copy  ? `, brought in step ${cells.step[index]} by a copy of ${thread(who)} in ${when(copy.step)}`
                        : `, written by ${thread(who)} in ${when(cells.step[index])}`)
        + (cells.reader[index] === null
                ? ''
                : `, last read by ${thread(cells.reader[index])} in ${when(cells.readAt[index])}`)
        + (isShared(array) ? `. Bank ${bank}` : '') + '. Click it, then c goes to its next write';
}

// Copies that are under way: how many bytes over the steps, and rings of stages.
function drawCopies() {
    const items = [], steps = run.steps.length, wide = Math.min(420, view.room), tall = 90,
          x = number => round(number / Math.max(1, steps - 1) * wide);
    const height = bytes => round(18 + tall - bytes / Math.max(1, facts.most) * tall);
    let d = `M0 ${18 + tall}`;
    facts.flight.forEach((bytes, number) => {
        if (number === 0 || bytes !== facts.flight[number - 1])
            d += `H${x(number)}V${height(bytes)}`;
    });
    items.push(
        words('soft', 0, 12, 12, `${facts.flight[at]} bytes on their way (at most ${facts.most}), over the steps`));
    items.push(path('curve', `${d}H${wide}V${18 + tall}Z`), path('cursor', `M${x(at)} 16V${20 + tall}`));
    items.push(shape('circle', 'head c4', {cx: x(at), cy: height(facts.flight[at]), r: 4}));

    let left = wide + 30, top = 0, bottom = 18 + tall;
    for (const [array, stages] of rings) {
        if (stages < 2)
            continue;
        const small = 104, radius = Math.max(72, stages * 20), cx = left + radius + small / 2, cy = top + radius + 32;
        if (cx + radius + small / 2 > Math.min(view.left + view.width, view.all) && left > 0) {
            left = 0;
            top = bottom + 10;
        }
        const middle = left + radius + small / 2, centre = top + radius + 32;
        items.push(shape('circle', 'rule', {cx: middle, cy: centre, r: radius}));
        items.push(words('strong mono middle', middle, centre - 14, 12, arrays[array].name, radius * 1.6));
        items.push(words('soft middle', middle, centre, 11, `${stages} stages`));
        for (let stage = 0; stage < stages; stage++) {
            const angle = stage / stages * 2 * Math.PI - Math.PI / 2, px = round(middle + radius * Math.cos(angle)),
                  py = round(centre + radius * Math.sin(angle));
            const key = `${array} ${view.block} ${stage}`,
                  flying = Object.values(state.copies).filter(copy => copy && stageKey(copy) === key);
            const bytes = flying.reduce((sum, copy) => sum + copy.bytes, 0), size = volume(arrays[array].dims) / stages;
            const step = run.steps[at],
                  used = eventsOf(step).some(event => isRequest(event) && event.a === array
                          && (event.b ?? step.b) === view.block
                          && event.i.some(first => Math.floor(first / size) === stage));
            const lines = [
                `stage ${stage}`,
                bytes                                 ? `\u2193 ${bytes} B`
                    : used                            ? `used by w${step.w}`
                    : state.landed[key] !== undefined ? 'arrived'
                                                      : 'empty'
            ];
            for (const one of phased) {
                const phase = state.phases[`${one} ${view.block} ${stage}`];
                if (stage < volume(arrays[one].dims))
                    lines.push(`${arrays[one].name}: parity ${phase ? phase.parity : 0}`);
            }
            const tall = lines.length * 12 + 6;
            items.push(box('paper', px - small / 2, py - tall / 2, small, tall));
            items.push(box(bytes                      ? 'coming'
                    : used                            ? `ready ${colour(step.w)}`
                    : state.landed[key] !== undefined ? 'changed'
                                                      : 'cell',
                px - small / 2, py - tall / 2, small, tall));
            lines.forEach((line, n) => items.push(words(
                              `middle halo ${n ? '' : 'strong'}`, px, py - tall / 2 + 13 + n * 12, 10.5, line, small - 6)));
            bottom = Math.max(bottom, py + tall / 2);
        }
        left = middle + radius + small / 2 + 20;
    }
    // mbarriers where there is no ring
    for (const one of phased)
        if (![...rings.values()].some(stages => stages > 1))
            for (let i = 0; i < volume(arrays[one].dims); i++) {
                const phase = state.phases[`${one} ${view.block} ${i}`];
                bottom += 16;
                items.push(words('', 0, bottom, 12,
                    `${elementName(one, i)}: parity ${phase ? phase.parity : 0}`
                        + (phase?.pending ? `, waits for ${plural(phase.pending, 'arrival')}` : '')));
            }
    return {left: 0, width: view.left + view.width, height: bottom + 6, items};
}

// The matrices of a call: name, rows, columns, and where element e of those that lane 4 l + j has of it lies, as [row, column].
function matricesOf({of}) {
    if (of === 'mma_tf32')
        return [['a', 16, 8, 4, (e, l, j) => [l + e % 2 * 8, j + (e >> 1) * 4]], ['b', 8, 8, 2, (e, l, j) => [j + e * 4, l]],
            ['c', 16, 8, 4, (e, l, j) => [l + (e >> 1) * 8, 2 * j + e % 2]]];
    if (of.startsWith('mma_'))
        return [['a', 16, 16, 8, (e, l, j) => [l + (e >> 1) % 2 * 8, 2 * j + e % 2 + (e >> 2) * 8]],
            ['b', 16, 8, 4, (e, l, j) => [2 * j + e % 2 + (e >> 1) * 8, l]], ['c', 16, 8, 4, (e, l, j) => [l + (e >> 1) * 8, 2 * j + e % 2]]];
    return [0, 1, 2, 3].map(i => [`matrix ${i}`, 8, 8, 2, (e, l, j) => of === 'ldmatrix4' ? [l, 2 * j + e] : [2 * j + e, l]]);
}

// Which lane holds which element: of the warp's last call, or where there was none yet, of its first one.
function drawFragments() {
    const own = facts.fragments.filter(number => run.steps[number].b === view.block && run.steps[number].w === view.warp);
    const items = [], number = own.filter(one => one <= at).pop() ?? own[0];
    if (number === undefined)
        return {left: 0, width: view.left + view.width, height: 20, items: [words('soft', 0, 14, 12, 'this warp has none')]};
    const event = fragmentsOf(run.steps[number]), lanes = event.m ?? lanesOf(run.steps[number]), matrices = matricesOf(event);
    const each = event.x.length / lanes.length, w = 30, tall = 26, top = 40;
    const when = number === at ? 'now' : number < at ? 'the last one' : 'not yet';
    items.push(words('soft', 0, 12, 12, `${event.of}, ${when}: above the number of the lane, below the element. Lane ${view.lane} is lit.`));
    let left = 24, first = 0;
    for (const [name, rows, columns, count, placeOf] of matrices) {
        items.push(words('strong middle', left + columns * w / 2, 34, 12, `${name}: ${rows} \u00d7 ${columns}`));
        for (const [n, lane] of lanes.entries())
            for (let e = 0; e < count; e++) {
                const [row, column] = placeOf(e, lane >> 2, lane % 4), value = event.x[n * each + first + e];
                const x = left + column * w, y = top + row * tall, pick = {block: view.block, warp: view.warp, lane};
                const title = `${name}[${row}][${column}] = ${whole(value)}, held by lane ${lane}: click to follow this lane`;
                items.push(box(lane === view.lane ? 'changed' : 'cell', x, y, w, tall, {pick, title}));
                items.push(words('soft middle', x + w / 2, y + 10, 9, lane, 0, {pick, title}));
                items.push(words('middle', x + w / 2, y + 22, 9.5, fit(value, 9.5, w - 3), w - 3, {pick, title}));
            }
        left += columns * w + 36;
        first += count;
    }
    return {left: 0, width: left, height: top + Math.max(...matrices.map(([, rows]) => rows)) * tall + 4, items};
}

// The sentence, for a still: a page has it on top.
function drawSentence() {
    const [who, what] = sentence(), width = view.left + view.width, items = [], lines = [''];
    for (const part of `${who}: ${what}`.split(' '))
        if (widthOf(lines[lines.length - 1] + part, 14) * 0.93 < width)
            lines[lines.length - 1] += `${part} `;
        else
            lines.push(`${part} `);
    lines.forEach((line, n) => items.push(words('', 0, 15 + n * 19, 14, line.trim())));
    const {p} = run.steps[at];
    if (p)
        items.push(words('mono soft', 0, 17 + lines.length * 19, 13, `${p[1]}  ${lineText(p).trim()}`, width));
    return {left: 0, width, height: 26 + lines.length * 19, items};
}

const pictures = {
    threads: drawThreads,
    variables: drawVariables,
    fragments: drawFragments,
    shared: () => drawMemory('shared'),
    global: () => drawMemory('global'),
    copies: drawCopies,
};

const namespace = 'http://www.w3.org/2000/svg';
function node(tag, numbers = {}) {
    const made = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(numbers))
        made.setAttribute(name, value);
    return made;
}
function hatching() {
    const pattern = node(
        'pattern', {id: 'coming', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'});
    pattern.append(node('path', {class: 'hatch', d: 'M0 0V6'}));
    const defs = node('defs');
    defs.append(pattern);
    return defs;
}

// Makes the nodes of an SVG what the items say, and touches only those that differ.
function fill(svg, items) {
    let child = svg.firstChild;
    for (const item of items) {
        if (!child || child.tagName !== item.tag) {
            const made = node(item.tag);
            child ? child.replaceWith(made) : svg.append(made);
            made.had = {};
            child = made;
        }
        for (const name of Object.keys(child.had))
            if (!(name in item.numbers))
                child.removeAttribute(name);
        for (const [name, value] of Object.entries(item.numbers))
            if (child.had[name] !== value)
                child.setAttribute(name, value);
        child.had = item.numbers;
        const text = item.text ?? '';
        if (child.firstChild ? child.firstChild.data !== text : text)
            child.textContent = text;
        child.item = item;
        child.toggleAttribute('data-cell', Boolean(item.cell));
        child.toggleAttribute('data-pick', Boolean(item.pick));
        child = child.nextSibling;
    }
    while (child) {
        const next = child.nextSibling;
        child.remove();
        child = next;
    }
}

// The picture as SVG text, with the names and the cells in one.
let forText = false; // what is drawn stands still, so nothing need keep its place for later steps
let onlyThese = null; // the variables that a still has, if it names some
function stillOf(panels) {
    forText = true;
    onlyThese = panels.find(name => name.startsWith('variables='))?.slice('variables='.length).split('+') ?? null;
    panels = panels.map(name => name.replace(/=.*/, ''));
    const rules =
        document.querySelector('style').textContent.match(/\/\* pictures \*\/([^]*)\/\* end of pictures \*\//)[1];
    const escape = text => String(text).replace(/[&<>"']/g, letter => `&#${letter.charCodeAt(0)};`);
    const [who, what] = sentence(), margin = 10, parts = [];
    let width = 0, height = margin;
    const drawn = panels.map(name => (name === 'sentence' ? drawSentence : pictures[name])())
                      .filter(picture => picture.items.length);
    forText = false;
    for (const picture of drawn)
        width = Math.max(width, picture.left + picture.width);
    for (const {items, left, height: tall} of drawn) {
        const shapes = items.map(({tag, numbers, text}) => {
            const written = Object.entries(numbers).map(([name, value]) => `${name}="${escape(value)}"`).join(' ');
            return text === undefined ? `<${tag} ${written}/>` : `<${tag} ${written}>${escape(text)}</${tag}>`;
        });
        parts.push(`<g transform="translate(${margin + left} ${height})">\n${shapes.join('\n')}\n</g>`);
        height += tall + margin;
    }
    width = Math.ceil(width + 2 * margin);
    height = Math.ceil(height);
    return `<svg xmlns="${namespace}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">\n` +
        `<title>${escape(`${who}: ${what}`)}</title>\n<style>${rules}</style>\n` +
        '<defs><pattern id="coming" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
        `<path class="hatch" d="M0 0V6"/></pattern></defs>\n<rect class="paper" width="${width}" height="${height}"/>\n`
        + parts.join('\n') + '\n</svg>\n';
}

/* ---- 6. the page ---- */

const $ = id => document.getElementById(id);
function element(tag, look, ...content) {
    const made = document.createElement(tag);
    if (look)
        made.className = look;
    made.append(...content);
    return made;
}

// Buttons and keys are one list: what it is called, its key, what it does, and whether narrow windows show its button.
const jump = (from, way, wanted) => {
    for (let number = from + way; number >= 0 && number < run.steps.length; number += way)
        if (wanted(run.steps[number], number))
            return number;
    return null;
};
const show = number => {
    if (number === undefined)
        return;
    if (number === null) {
        tell(`There is no further such step in this run.`);
        return;
    }
    stop();
    goTo(number);
    render();
};
function lineJump(way) {
    const {block, warp} = view, here = state.places[block * numThreads + warp * 32];
    const own = step => step.b === block && step.w === warp && step.p && !step.s;
    const now = own(run.steps[at]) ? run.steps[at].p : here;
    return jump(at, way, step => own(step) && (!now || step.p[0] !== now[0] || step.p[1] !== now[1]));
}
const near = (list, way) =>
    (way > 0 ? list.find(number => number > at) : [...list].reverse().find(number => number < at)) ?? null;
function writeJump(way) {
    if (!view.cell) {
        tell('Click a cell of memory first: this goes to its next write.');
        return undefined;
    }
    return jump(at, way, step => writesTo(step, view.cell));
}
function writesTo(step, {array, index, block}) {
    return eventsOf(step).some(event => {
        if (isWrite(event))
            return event.a === array && (block === null || (event.b ?? step.b) === block)
                && event.i.some(first => first <= index && index < first + (event.n ?? 1));
        return holds(event, array, block, index);
    });
}
function otherWarp(way) {
    const all = numBlocks * numWarps, next = (view.block * numWarps + view.warp + way + all) % all;
    choose({block: Math.floor(next / numWarps), warp: next % numWarps});
}
function otherLane(way) {
    const count = lanesIn(view.warp);
    view.lane = view.lane === null ? (way > 0 ? 0 : count - 1) : (view.lane + way + count) % count;
    render();
}
const actions = [
    {name: 'First', label: 'First step', keys: ['Home'], act: () => show(0)},
    {name: '\u2190 Back', label: 'One step back', keys: ['ArrowLeft'], act: () => show(at - 1 < 0 ? 0 : at - 1)},
    {
        name: '\u25b6 Play',
        label: 'Play or pause',
        keys: [' '],
        shown: 'Space',
        id: 'play',
        act: () => playing ? stop() : start()
    },
    {
        name: 'Step \u2192',
        label: 'One step',
        keys: ['ArrowRight'],
        act: () => show(Math.min(at + 1, run.steps.length - 1))
    },
    {name: 'Last', label: 'Last step', keys: ['End'], act: () => show(run.steps.length - 1)},
    {name: 'Line', label: 'To the next line of this warp', keys: ['n'], act: () => show(lineJump(1))},
    {name: 'Barrier', label: 'To the next barrier', keys: ['b'], act: () => show(near(facts.barriers, 1))},
    {name: 'Request', label: 'To the next request to memory', keys: ['r'], act: () => show(near(facts.requests, 1))},
    {name: 'Shuffle', label: 'To the next shuffle', keys: ['s'], act: () => show(near(facts.exchanges, 1))},
    {
        name: 'Write',
        label: 'To the next write of the cell that was clicked',
        keys: ['c'],
        act: () => show(writeJump(1))
    },
    {
        label: 'The same, backwards',
        keys: ['N', 'B', 'R', 'S', 'C'],
        act: key => show({
            N: () => lineJump(-1),
            B: () => near(facts.barriers, -1),
            R: () => near(facts.requests, -1),
            S: () => near(facts.exchanges, -1),
            C: () => writeJump(-1)
        }[key]())
    },
    {
        label: 'To the step where it goes wrong',
        keys: ['v'],
        act: () => run.verdict?.step !== null && run.verdict?.step !== undefined
            ? show(run.verdict.step)
            : tell('Nothing goes wrong in this run.')
    },
    {
        label: 'The variables of the next warp, of the one before',
        keys: ['w', 'W'],
        act: key => otherWarp(key === 'w' ? 1 : -1)
    },
    {
        label: 'Show the warp that runs, at each step (again)',
        keys: ['f'],
        act: () => {
            view.follow = true;
            render();
        }
    },
    {
        label: 'Follow the next lane, the one before, none',
        keys: [']', '[', 'Escape'],
        act: key => {
            if (key === 'Escape') {
                view.lane = view.cell = null;
                $('keys').hidden = true;
                $('help').setAttribute('aria-expanded', 'false');
                render();
            } else
                otherLane(key === ']' ? 1 : -1);
        }
    },
    {label: 'Slower, faster', keys: ['-', '+'], act: key => changeSpeed(key === '+' ? 1 : -1)},
    {
        label: 'Another run',
        keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
        shown: '1 \u2026 9',
        act: key => runs[key - 1] && chooseRun(key - 1)
    },
    {label: 'These keys', keys: ['?'], act: () => help()},
];

const speeds = [0.5, 1, 2, 4, 8, 16, 32];
let speed = 2, playing = null;
function start() {
    if (at === run.steps.length - 1)
        goTo(0);
    const tick = () => {
        if (at === run.steps.length - 1)
            stop();
        else {
            goTo(at + 1);
            render();
            if (at === run.verdict?.step && !run.verdict.ok)
                stop();
        }
    };
    playing = setInterval(tick, 1000 / speeds[speed]);
    render();
}
function stop() {
    clearInterval(playing);
    playing = null;
    $('play').textContent = '\u25b6 Play';
}
function changeSpeed(way) {
    speed = Math.max(0, Math.min(speeds.length - 1, speed + way));
    $('speed').value = speed;
    if (playing) {
        clearInterval(playing);
        start();
    }
}
function help() {
    $('keys').hidden = !$('keys').hidden;
    $('help').setAttribute('aria-expanded', String(!$('keys').hidden));
    if (!$('keys').hidden)
        $('keys').focus();
}

// Something about a cell, at the foot of the window.
function tell(text) {
    $('detail').textContent = text;
    $('detail').hidden = !text;
}

function choose({block = view.block, warp = view.warp, lane}) {
    Object.assign(view, {block, warp, follow: false});
    if (lane !== undefined)
        view.lane = view.lane === lane ? null : lane;
    render();
}

function chooseRun(number, step = 0) {
    stop();
    runNumber = number;
    run = runs[number];
    facts = factsOf(run);
    copies.clear();
    state = freshState();
    undo = [];
    at = -1;
    for (const [name, list] of Object.entries({Barrier: facts.barriers, Request: facts.requests, Shuffle: facts.exchanges}))
        $(`to-${name}`).hidden = !list.length;
    drawStrip();
    goTo(step);
    render();
}

/* The source. Its lines are made once; a step changes the marks at some of them. */
let shownSource = null, codeLines = [];
const word =
    /(\/\*[^]*?\*\/|\/\/.*)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\b(\d[\w.]*)|(#\w+|\b(?:__\w+__|asm|auto|bool|break|case|char|const|constexpr|continue|default|do|double|else|enum|extern|float|float4|for|goto|if|inline|int|long|return|short|signed|sizeof|size_t|static|struct|switch|template|typedef|typename|union|unsigned|using|void|volatile|while)\b)/g;
function showSource(number) {
    if (number === shownSource || !sources[number])
        return;
    shownSource = number;
    $('file').value = number;
    const {text, first = 1} = sources[number], all = text.join('\n');
    const pieces = [[]]; // for each line: [look, text]
    const put = (look, some) => some.split('\n').forEach((part, n) => {
        if (n)
            pieces.push([]);
        if (part)
            pieces[pieces.length - 1].push([look, part]);
    });
    let done = 0;
    for (const match of all.matchAll(word)) {
        put('', all.slice(done, match.index));
        put(match[1] ? 'comment' : match[2] ? 'quoted' : match[3] ? 'digits' : 'keyword', match[0]);
        done = match.index + match[0].length;
    }
    put('', all.slice(done));
    codeLines = pieces.map((parts, n) => {
        const chips = element('span', 'chips'),
              row = element('div', 'row', element('span', 'number', chips, String(first + n)),
                  element('span', '',
                      ...(parts.length ? parts.map(([look, some]) => look ? element('span', look, some) : some)
                                       : [' '])));
        return {row, chips};
    });
    $('code').replaceChildren(...codeLines.map(line => line.row));
}
function drawSource() {
    const step = run.steps[at], wrong = wrongHere();
    const here = step.p ?? state.frames[view.block * numWarps + view.warp]?.slice(-1)[0]?.place;
    if (here)
        showSource(here[0]);
    else if (functions[0] && at === 0)
        showSource(functions[0].source);
    else if (shownSource === null)
        showSource(functions[0]?.source ?? 0);
    const {first = 1} = sources[shownSource] ?? {};
    const lineAt = place => place && place[0] === shownSource ? codeLines[place[1] - first] : null;
    for (const {row, chips} of codeLines) {
        row.className = 'row';
        chips.replaceChildren();
        row.removeAttribute('aria-current');
    }
    for (let warp = 0; warp < numWarps; warp++) {
        const places = new Map(), base = view.block * numThreads + warp * 32;
        for (const lane of everyLane[warp])
            if (state.places[base + lane] && !['done', 'absent'].includes(state.lanes[base + lane])) {
                const key = state.places[base + lane].join(' ');
                places.set(key, [...(places.get(key) ?? []), lane]);
            }
        const top = state.frames[view.block * numWarps + warp]?.slice(-1)[0]?.place.join(' ');
        for (const [key, lanes] of places) {
            const line = lineAt(key.split(' ').map(Number));
            if (!line)
                continue;
            const all = places.size === 1,
                  chip = element('span', `chip ${colour(warp)}${all || key === top ? ' here' : ''}`, `w${warp}`);
            chip.title = `warp ${warp}, ${laneNames(lanes, warp)}`;
            line.chips.append(chip);
        }
    }
    const line = lineAt(here), leftOut = lineAt(run.without);
    if (leftOut)
        leftOut.chips.append(element('span', 'chip bad', 'left out'));
    if (line) {
        line.row.className = `row lit ${colour(step.w ?? view.warp)}`;
        line.row.setAttribute('aria-current', 'step');
    }
    leftOut?.row.classList.add('left-out');
    if (wrong)
        for (const [place, text] of [[wrong.place, wrong.other ? '2nd' : 'here'], [wrong.other?.place, '1st']]) {
            const bad = lineAt(place);
            if (bad) {
                bad.row.classList.add('bad');
                bad.chips.append(element('span', 'chip bad', text));
            }
        }
    const seen = line ?? (at === 0 ? lineAt([functions[0]?.source, functions[0]?.first]) : null);
    if (seen) {
        const box = $('code'), {offsetTop, offsetHeight} = seen.row;
        if (offsetTop < box.scrollTop + 20 || offsetTop + offsetHeight > box.scrollTop + box.clientHeight - 20)
            box.scrollTop = offsetTop - box.clientHeight / 2;
    }
}

// The value that a read gets, and the one that it might have got, side by side.
function heldValues({array, index, block = 0, step, thread, other}) {
    if (!Number.isInteger(array) || !Number.isInteger(index) || !Number.isInteger(other.step) || at !== step)
        return [];
    const {x} = cellsOf(array, block), was = valueBefore(other.step, x, index) ?? null, name = elementName(array, index);
    const value = (first, what) => element('div', '', element('dt', '', `if thread ${first} comes first, ${name} is `),
        element('dd', '', what === null ? 'unwritten' : short(what)));
    const same = 'The same: this read gets it either way. In another thread, or with other data, the two may differ.';
    return [element('dl', 'either', value(other.thread, x[index]), value(thread, was)), ...(was === x[index] ? [element('p', '', same)] : [])];
}

// What went wrong, and for a race the two accesses one after the other.
function drawVerdict() {
    const {verdict} = run, here = wrongHere();
    $('verdict').hidden = !verdict || verdict.ok && (!verdict.text || at < run.steps.length - 1) && !run.cut;
    if ($('verdict').hidden)
        return;
    const parts = [];
    const button = (text, number) => {
        const made = element('button', '', text);
        made.type = 'button';
        made.addEventListener('click', () => show(number));
        return made;
    };
    if (verdict.ok) {
        $('verdict').className = 'fine';
        parts.push(element('p', '', verdict.text));
    } else if (!here) {
        $('verdict').className = '';
        const last = verdict.step ?? null;
        parts.push(element('p', '', last === null ? verdict.text : `\u2717 This run goes wrong at step ${last}. `,
            ...(last === null ? [] : [button('Go there (v)', last)])));
    } else {
        $('verdict').className = '';
        parts.push(element('p', '', element('strong', '', at === verdict.step ? 'Here it goes wrong. ' : `It went wrong in step ${verdict.step}. `), verdict.text));
        if (verdict.other) {
            const {other} = verdict;
            const what = (number, place, thread, said) => {
                const list =
                    eventsOf(run.steps[number] ?? {}).filter(event => isRequest(event) && event.a === verdict.array);
                const kind = said ?? (list.some(isWrite) ? 'writes' : list.length ? 'reads' : 'uses');
                const cell = (verdict.array ?? null) === null || (verdict.index ?? null) === null
                    ? 'it'
                    : elementName(verdict.array, verdict.index);
                const step = (number ?? null) === null ? '' : `step ${number}: `;
                return {
                    kind,
                    item: element('li', '',
                        `${step}thread ${thread} (warp ${Math.floor(thread / 32)}, lane ${thread % 32}) ${kind} ${cell} in `
                            + `${lineName(place)}. `,
                        ...(step ? [button('Go there', number)] : []))
                };
            };
            const said = verdict.text.match(/race: (reads|writes)[^]* has (read|written)/) ?? [];
            const first = what(other.step, other.place, other.thread, {read: 'reads', written: 'writes'}[said[2]]);
            const second = what(verdict.step, verdict.place, verdict.thread, said[1]);
            parts.push(element('ol', '', first.item, second.item));
            const ends = {
                'writes reads': [`reads what thread ${other.thread} has written`, 'it reads what was there before'],
                'reads writes':
                    [`writes only after thread ${other.thread} has read`, `thread ${other.thread} reads the new value`],
                'writes writes': ['writes last, and its value stays', 'the other value stays']
            }[`${first.kind} ${second.kind}`];
            parts.push(element('p', '',
                'Nothing makes one of the two threads wait for the other, so on a GPU either may come first.'
                    + (ends ? ` Here thread ${verdict.thread} ${ends[0]}; if it comes first, ${ends[1]}. Only one of the two is meant.`
                            : '')),
                ...(first.kind === 'writes' && second.kind === 'reads' ? heldValues(verdict) : []));
        }
    }
    if (!verdict.ok && !verdict.other && Number.isInteger(verdict.array) && Number.isInteger(verdict.index)) {
        const block = isShared(verdict.array) ? verdict.block ?? 0 : null, cell = {array: verdict.array, index: verdict.index, block};
        const write = jump(run.steps.length, -1, step => writesTo(step, cell));
        const name = elementName(verdict.array, verdict.index);
        if (write === null) {
            parts.push(element('p', '', `Nobody writes ${name} in this run.`));
        } else {
            const made = button(`To the last write of ${name}: step ${write}, ${lineName(run.steps[write].p)}`, write);
            made.addEventListener('click', () => view.cell = cell, {capture: true});
            parts.push(element('p', '', made));
        }
    }
    if (run.cut && at === run.steps.length - 1)
        parts.push(element('p', '', run.cut));
    $('verdict').replaceChildren(...parts);
}

// The whole run as a strip: a row for each warp, barriers, and where it goes wrong. Drawn once for a run.
function drawStrip() {
    const steps = run.steps.length, rows = Math.max(1, numBlocks * numWarps), parts = [];
    const svg = $('strip');
    svg.setAttribute('viewBox', `0 0 ${Math.max(1, steps - 1)} ${rows}`);
    for (const [warp, segments] of facts.segments)
        parts.push(node('path', {
            class: colour(warp % numWarps),
            d: segments.map(([a, b]) => `M${a - 0.5} ${warp + 0.5}H${b + 0.5}`).join(''),
            style: `stroke-width: ${Math.max(1, Math.min(8, 28 / rows))}px`
        }));
    parts.push(node('path',
        {class: 'barriers', d: facts.barriers.map(number => `M${number} ${-0.05 * rows}V${0.12 * rows}`).join('')}));
    if (run.verdict && !run.verdict.ok && run.verdict.step !== null && run.verdict.step !== undefined)
        parts.push(node('path', {class: 'verdict', d: `M${run.verdict.step} 0V${rows}`}));
    svg.replaceChildren(...parts);
    $('line').max = steps - 1;
}

function drawCounts() {
    const rows = [];
    for (const [name, value] of Object.entries(state.counts))
        if (facts.all[name])
            rows.push(element('div', facts.counts[at][name] ? 'moved' : '', element('dt', '', name),
                element('dd', '', element('b', '', String(value)), ` of ${facts.all[name]}`)));
    if (state.output.length)
        rows.push(element('div', '', element('dt', '', 'printed'), element('dd', '', String(state.output.length))));
    $('counts').replaceChildren(...rows);
}

/* All of it, for the step that was played last. */
let settle = null, walker = null, walked = null;
function render() {
    const step = run.steps[at];
    if (view.follow)
        [view.block, view.warp] = state.ran;
    const [who, what] = sentence(), wrong = wrongHere();
    $('sentence').className = step.w === undefined ? '' : colour(step.w);
    $('sentence').replaceChildren(element('span', 'who', `${who}: `), what);
    drawVerdict();
    drawSource();
    for (const [name, draw] of Object.entries(pictures)) {
        const panel = $(`${name}-panel`), empty = name === 'copies' && !facts.copies && !phased.size || name === 'fragments' && !facts.fragments.length;
        const picture = empty ? {items: []} : draw();
        panel.hidden = !picture.items.length;
        if (!panel.hidden)
            place($(name), picture);
    }
    const here = `${numBlocks > 1 ? `block ${blockName(view.block)}, ` : ''}warp ${view.warp}`;
    hint('threads',
        `\u2013 ${plural(numBlocks, 'block')}, ${plural(numWarps, 'warp')}, ${plural(numThreads, 'thread')}`
            + `${numBlocks > 1 ? ' each' : ''}. A filled square runs now, a letter waits.`);
    hint('variables',
        `of ${here}, a column for each lane${view.follow ? '' : ' (kept: f shows the running warp again)'}. What has changed is lit.`);
    hint('fragments', '\u2013 which lane holds which element of the matrices that the warp loads or multiplies.');
    hint(
        'shared', `of block ${blockName(view.block)}, a column for each bank. Colour and t5: thread 5 wrote it. `
            + 'R5, W5: lane 5 reads, writes it now.');
    hint('global', '\u2013 32 bytes, a frame, are a sector. R5, W5: lane 5 reads, writes it now.');
    drawCounts();
    $('line').value = at;
    $('line').setAttribute('aria-valuetext', `step ${at} of ${run.steps.length - 1}`);
    $('at').textContent = `step ${at} of ${run.steps.length - 1}`;
    $('play').textContent = playing ? '\u23f8 Pause' : '\u25b6 Play';
    $('run').value = runNumber;
    const missing = view.cell ? toldCell(view.cell.array, view.cell.block ?? view.block, view.cell.index) : '';
    tell(missing);
    settle ??= setTimeout(link, 250); // not at each step: browsers allow some 200 in half a minute
}
function hint(name, text) {
    const span = $(`${name}-panel`).querySelector('.hint');
    if (span.textContent !== text)
        span.textContent = text;
}

// Names and the head of a picture stand in SVGs of their own, which stay when the cells are scrolled.
function place(panel, {left, width, height, items, head = 0, headHeight = 0}) {
    walker?.remove();
    const parts = [];
    for (const [list, top, tall] of [
             [items.slice(0, head), 0, headHeight], [items.slice(head), headHeight, height - headHeight]]) {
        const name = item => left > 0 && item.numbers.x < 0, stays = top === 0 && head ? ' head' : '';
        if (!tall)
            continue;
        if (left)
            parts.push([`names${stays}`, list.filter(name), `${-left} ${top} ${left} ${tall}`, left, tall]);
        parts.push([`cells${stays}`, list.filter(item => !name(item)), `0 ${top} ${width} ${tall}`, width, tall]);
    }
    while (panel.childElementCount < parts.length)
        panel.append(node('svg'));
    while (panel.childElementCount > parts.length)
        panel.lastChild.remove();
    parts.forEach(([look, list, viewBox, wide, tall], n) => {
        const svg = panel.children[n];
        svg.setAttribute('class', look);
        svg.setAttribute('viewBox', viewBox);
        svg.setAttribute('style', `width: ${wide / 16}rem; height: ${tall / 16}rem`);
        fill(svg, list);
    });
    reveal(panel);
}

// Scrolls a picture, and only that, to what the step touches.
function reveal(panel) {
    const touchedNow =
        panel.querySelector('.cells:not(.head) .changed, .cells:not(.head) .reads, .cells:not(.head) .writes, .wrong');
    if (!touchedNow || panel.scrollHeight <= panel.clientHeight + 1)
        return;
    const box = panel.getBoundingClientRect(), it = touchedNow.getBoundingClientRect();
    const top = box.top + (panel.querySelector('.head')?.getBoundingClientRect().height ?? 0);
    if (it.top < top || it.bottom > box.top + panel.clientHeight)
        panel.scrollTop += it.top - top - (panel.clientHeight - (top - box.top)) / 3;
}

// How wide a cell can be, so that 32 fit; where the window is too narrow for readable ones, they scroll.
function measure() {
    digitWidth = pen.measureText('0').width / 100 * 0.98;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const longest = Math.max(4,
        ...variables.map(({name, dims}) => name.length + (dims ?? []).join('').length + 2 * (dims ?? []).length),
        ...arrays.map(
            (array, number) => touched[number].size ? elementName(number, volume(array.dims) - 1).length : 0));
    const room = ($('variables-panel').clientWidth || 1000) / rem;
    view.left = Math.max(64, Math.min(room < 500 ? 84 : 150, longest * 6.4 + 14));
    const fits = (room - view.left - 6) / 32;
    view.width = 32 * (fits < 25 ? 36 : Math.min(58, Math.floor(fits * 4) / 4));
    view.all = room;
    view.room = ($('threads-panel').clientWidth || 500) / rem - 4;
}

function link() {
    settle = null;
    const parts = [`step=${at}`];
    if (runNumber)
        parts.unshift(`run=${runNumber}`);
    if (!view.follow)
        parts.push(`block=${view.block}`, `warp=${view.warp}`);
    if (view.lane !== null)
        parts.push(`lane=${view.lane}`);
    if (location.hash !== `#${parts.join('&')}`)
        history.replaceState(null, '', `#${parts.join('&')}`);
}
function followLink(hash) {
    const asked = new URLSearchParams(hash.slice(1));
    const number = (name, below) => {
        const value = asked.get(name);
        return value !== null && /^\d+$/.test(value) && Number(value) < below ? Number(value) : null;
    };
    if (number('block', numBlocks) !== null || number('warp', numWarps) !== null)
        Object.assign(
            view, {block: number('block', numBlocks) ?? 0, warp: number('warp', numWarps) ?? 0, follow: false});
    view.lane = number('lane', lanesOfWarp);
    const open = asked.get('panels')?.split(',');
    for (const name of open ? Object.keys(pictures) : [])
        fold($(`${name}-panel`), !open.includes(name));
    chooseRun(number('run', runs.length) ?? 0, number('step', Infinity) ?? 0);
}

function setUp() {
    const hatched = node('svg', {width: 0, height: 0, style: 'position: absolute', 'aria-hidden': true});
    hatched.append(hatching());
    document.body.append(hatched);
    $('variables')
        .classList.toggle(
            'tall', runs.some(one => one.steps.some(step => eventsOf(step).some(event => event.k === 'shuffle'))));
    $('title').textContent = document.title = trace.title ?? trace.kernel;
    const sizes = [plural(numBlocks, 'block'), `${numThreads} threads each`].join(' of ').replace(
        ' each', numBlocks > 1 ? ' each' : '');
    $('about').textContent =
        `${trace.kernel}, ${sizes}, on the simulator. ` + (trace.command ? `Made by: ${trace.command}` : '');

    for (const action of actions.filter(one => one.name)) {
        const button = element('button', '', action.name);
        button.type = 'button';
        button.title = `${action.label} (${action.shown ?? action.keys[0]})`;
        button.setAttribute('aria-label', action.label);
        button.setAttribute('aria-keyshortcuts', action.shown ?? action.keys[0]);
        button.id = action.id ?? `to-${action.name}`;
        button.addEventListener('click', () => action.act(action.keys[0]));
        $('controls').append(button);
        if (action.id === 'play') {
            const select = element('select', 'wide', ...speeds.map((rate, n) => {
                const option = element('option', '', `${rate} a second`);
                option.value = n;
                return option;
            }));
            select.id = 'speed';
            select.value = speed;
            select.setAttribute('aria-label', 'Speed: steps a second');
            select.addEventListener('change', () => changeSpeed(select.value - speed));
            $('controls').append(select);
        }
        if (action.keys[0] === 'End')
            $('controls')
                .append(Object.assign(element('span', 'at'), {id: 'at'}), element('span', 'at wide', 'To the next:'));
    }
    const table = element('dl', '',
        ...actions.map(
            ({label, keys, shown}) => element('div', '',
                element('dt', '',
                    ...(shown ? [shown] : keys)
                        .flatMap(key => [element('kbd', '',
                                             {ArrowLeft: '\u2190', ArrowRight: '\u2192', Escape: 'Esc'}[key] ?? key),
                                     ' '])),
                element('dd', '', label))));
    $('keys').append(table,
        element('p', '',
            'Click a warp to keep its variables in view, a lane to follow it, and a cell of memory to jump between its writes. '
                +
                'In a picture that has the focus, arrows with Shift walk over the cells, and Enter clicks.'));
    $('help').addEventListener('click', () => help());

    $('what-if').hidden = runs.length < 2;
    $('run').append(...runs.map((one, number) => {
        const wrong = one.verdict && !one.verdict.ok ? ' \u2717' : '';
        return Object.assign(element('option', '', one.name + wrong), {value: number});
    }));
    $('run').addEventListener('change', () => {
        chooseRun(Number($('run').value));
        $('run').blur(); // the arrows move in time again
    });
    $('file').append(...sources.map(({name}, number) => Object.assign(element('option', '', name), {value: number})));
    $('file').addEventListener('change', () => { showSource(Number($('file').value)); });
    $('line').addEventListener('input', () => show(Number($('line').value)));

    for (const name of Object.keys(pictures)) {
        const panel = $(name);
        const itemOf = event => event.target.item ?? null;
        panel.tabIndex = 0;
        panel.setAttribute('role', 'group');
        panel.setAttribute('aria-label', `Picture of ${name}`);
        panel.addEventListener('click', event => press(itemOf(event)));
        panel.addEventListener('pointerover', event => {
            const item = itemOf(event);
            if (item?.cell || item?.title)
                tell(item.cell ? item.cell.told() : item.title);
        });
        panel.addEventListener('pointerleave',
            () => tell(view.cell ? toldCell(view.cell.array, view.cell.block ?? view.block, view.cell.index) : ''));
        panel.addEventListener('blur', () => walker?.remove());
        panel.addEventListener('scroll', () => {
            for (const other of document.querySelectorAll('.lanes'))
                if (other !== panel && panel.classList.contains('lanes') && other.scrollLeft !== panel.scrollLeft)
                    other.scrollLeft = panel.scrollLeft;
        });
    }
    for (const heading of document.querySelectorAll('.fold'))
        heading.addEventListener('click', () => {
            const panel = heading.closest('section');
            fold(panel, !panel.classList.contains('folded'));
            measure();
            render();
        });
    if (parent !== window) { // in a frame, which is made as high as the page
        document.documentElement.classList.add('embedded');
        new ResizeObserver(() => parent.postMessage({height: document.body.offsetHeight}, '*')).observe(document.body);
        const dark = [...document.styleSheets[0].cssRules].find(rule => rule.media?.mediaText.includes('color-scheme'));
        addEventListener('message', ({data}) => { // the page around it has colours of its own
            dark.media.mediaText = data.colours === 'dark' ? 'screen' : 'not all';
            document.documentElement.style.colorScheme = data.colours;
        });
    }
    document.addEventListener('keydown', keyed);
    window.addEventListener('hashchange', event => followLink(new URL(event.newURL).hash));
    const resized = new ResizeObserver(() => {
        measure();
        render();
    });
    for (const one of [document.body, $('threads-panel'), $('variables-panel')])
        resized.observe(one);
}
function fold(panel, folded) {
    panel.classList.toggle('folded', folded);
    panel.querySelector('.fold').setAttribute('aria-expanded', String(!folded));
}
function press(item) {
    if (item?.cell && item.cell.array !== undefined) {
        const {array, index, block} = item.cell,
                             same = view.cell && view.cell.array === array && view.cell.index === index;
        view.cell = same ? null : {array, index, block};
        render();
    } else if (item?.pick)
        choose(item.pick);
}

/* Walking over the cells of a picture that has the focus, with Shift and the arrows. */
function walk(panel, key) {
    const all = [...panel.querySelectorAll('rect[data-cell], rect[data-pick]')].map(
        shape => ({shape, at: shape.getBoundingClientRect()}));
    const now = walked?.isConnected && panel.contains(walked) ? walked.getBoundingClientRect() : null;
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[key];
    let best = null, least = Infinity;
    for (const one of all) {
        if (!now) {
            best ??= one;
            continue;
        }
        const x = one.at.x + one.at.width / 2 - now.x - now.width / 2,
              y = one.at.y + one.at.height / 2 - now.y - now.height / 2;
        const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
        if (along > 1 && along + 4 * across < least)
            [best, least] = [one, along + 4 * across];
    }
    if (!best)
        return;
    walked = best.shape;
    walker?.remove();
    walker = node('rect', {class: 'chosen'});
    for (const name of ['x', 'y', 'width', 'height'])
        walker.setAttribute(name, walked.getAttribute(name));
    walked.parentNode.append(walker);
    walked.scrollIntoView({block: 'nearest', inline: 'nearest'});
    tell(walked.item.cell ? walked.item.cell.told() : walked.item.title);
}
function keyed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey)
        return;
    const {target, key} = event, picture = target.closest?.('.picture');
    if (picture && event.shiftKey && key.startsWith('Arrow')) {
        walk(picture, key);
    } else if (picture && key === 'Enter' && walked?.isConnected) {
        press(walked.item);
    } else {
        const control = target.closest?.('button, select, input');
        if (control && (key === ' ' || key === 'Enter') || target.tagName === 'SELECT'
            || (picture || target.id === 'code') && /^Arrow(Up|Down)$/.test(key))
            return;
        const action = actions.find(one => one.keys.includes(key));
        if (!action)
            return;
        action.act(key);
    }
    event.preventDefault();
}

// For tests and for the stills of the texts.
window.player = {
    ready: false,
    step: number => show(number),
    at: () => at,
    count: () => run.steps.length,
    run: number => chooseRun(number),
    still: (number = at, panels = 'sentence threads variables shared') => {
        show(number);
        return stillOf(String(panels).split(/[ ,]+/));
    },
    state: () => {
        const lines = {}, lanes = {}, memory = {}, values = {},
              letter = {absent: '-', runs: 'r', waits: 'w', done: 'd'};
        for (let block = 0; block < numBlocks; block++)
            for (let warp = 0; warp < numWarps; warp++) {
                const name = `${block} ${warp}`, base = block * numThreads + warp * 32;
                lines[name] = state.frames[block * numWarps + warp]?.slice(-1)[0]?.place ?? null;
                lanes[name] = everyLane[warp].map(lane => letter[state.lanes[base + lane]]).join('');
            }
        for (const [name, {x}] of Object.entries(state.cells))
            memory[name] = [...x];
        const base = view.block * numThreads + view.warp * 32;
        for (const {number} of visible())
            values[number] = everyLane[view.warp].map(lane => state.values[base + lane][number] ?? null);
        return {
            step: at,
            run: runNumber,
            block: view.block,
            warp: view.warp,
            lines,
            lanes,
            arrays: memory,
            variables: values,
            counts: {...state.counts}
        };
    },
};

setUp();
measure();
followLink(location.hash);
window.player.ready = true;
