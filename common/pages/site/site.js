// SPDX-License-Identifier: MIT
// site.js - what a page of the site does for who learns with it: it remembers what was read, solved and predicted, explains
// terms where they are used, and searches all pages. Each part stands alone; texts, links and pictures work without any.
'use strict';
const { root, page } = document.currentScript.dataset;
const main = document.querySelector('main');

function element(name, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
}

// A file of data comes when it is first needed: search.js, terms.js.
const coming = {};
function load(name) {
    coming[name] ??= new Promise((resolve, reject) =>
        document.head.append(element('script', { src: `${root}${name}.js`, onload: resolve, onerror: reject })));
    return coming[name];
}

// ---- what is remembered, in this browser alone: pages read, exercises solved, predictions ----

const memory = { read: {}, solved: {}, predicted: {}, ...JSON.parse(localStorage.getItem('course')) };
function remember(what, key, value) {
    Object.assign(memory, JSON.parse(localStorage.getItem('course'))); // another window may have written, too
    memory[what][key] = value || undefined;
    localStorage.setItem('course', JSON.stringify(memory));
    show_progress();
}
function tick(what, key, words) {
    const box = element('input', { type: 'checkbox', checked: Boolean(memory[what][key]), ariaLabel: words });
    box.addEventListener('change', () => remember(what, key, box.checked));
    return box;
}

function show_progress() {
    const progress = document.getElementById('progress'), start = new URL(root || '.', location).href;
    const links = [...document.querySelectorAll('#site-contents a[href*=".html"]')];
    for (const link of links)
        link.classList.toggle('read', Boolean(memory.read[link.href.slice(start.length)]));
    const line = (name, done, all) => element('label', {}, `${name}: ${done} of ${all}`, element('progress', { max: all, value: done }));
    const core = links.filter(link => link.matches('.core')), solved = Object.keys(memory.solved).length;
    progress.replaceChildren(line('Core pages read', core.filter(link => link.matches('.read')).length, core.length || 1),
        line('Exercises solved', solved, Number(progress.dataset.exercises) || 1));
}
show_progress();

if (document.querySelector('.turn a')) // a text, not a listing
    document.querySelector('.turn').before(element('label', { className: 'done' }, tick('read', page), ' I have read this page'));
for (const cell of main.querySelectorAll('td:first-child')) {
    const [, number] = cell.textContent.match(/^(\d\d\.\d+) /) ?? [];
    if (number && /^\d\d_/.test(page))
        cell.prepend(tick('solved', number, `I have solved ${number}`), ' ');
}

// ---- predictions: a box for each question, and what was counted or measured once something is in it ----

const is_heading = one => /^H[1-6]$/.test(one?.tagName);
function after(start, until) {
    const found = [];
    for (let next = start.nextElementSibling; next && !until(next); next = next.nextElementSibling)
        found.push(next);
    return found;
}

// A group of questions: the items of a list, or a paragraph. The folded answer is next to it; or it is where things are measured.
function ask(questions, last, name) {
    const folded = last.nextElementSibling?.tagName === 'DETAILS' ? last.nextElementSibling : null;
    const later = after(last, () => false).filter(is_heading);
    const place = later.find(one => /^Measure/.test(one.textContent)) ?? later.find(one => /^Run it/.test(one.textContent));
    const mine = element('ol'), compare = element('button', { type: 'button' });
    compare.textContent = folded ? 'Compare' : 'Compare, further down';
    const boxes = questions.map((question, n) => {
        const key = `${page}#${name}-${n + 1}`, box = element('textarea', { rows: 1, value: memory.predicted[key] ?? '' });
        box.placeholder = box.ariaLabel = 'Your prediction';
        box.addEventListener('input', () => {
            remember('predicted', key, box.value);
            update();
        });
        question.tagName === 'LI' ? question.append(box) : question.after(box);
        return box;
    });
    function update() {
        compare.disabled = !boxes.some(box => box.value);
        mine.replaceChildren(...boxes.map(box => element('li', {}, box.value || '\u2013')));
        mine.parentNode.hidden = compare.disabled;
    }
    compare.addEventListener('click', () => {
        if (folded)
            folded.open = true;
        (folded ?? place).scrollIntoView({ block: 'start' });
    });
    const told = element('aside', {}, 'You predicted:', mine);
    folded ? folded.querySelector('summary').after(told) : place?.after(told);
    if (folded || place)
        (boxes.length > 1 || last.tagName === 'OL' ? last : boxes[0]).after(compare);
    update();
}
for (const heading of main.querySelectorAll('h2[id], h3[id]'))
    if (/^Predict/.test(heading.textContent)) {
        const section = after(heading, is_heading), list = section.findLast(one => one.tagName === 'OL');
        const folded = section.filter((one, n) => one.tagName === 'P' && section[n + 1]?.tagName === 'DETAILS');
        folded.filter(one => /\?\s*$/.test(one.textContent)).forEach((one, n) => ask([one], one, `${heading.id}-count-${n + 1}`));
        if (list)
            ask([...list.children], list, heading.id);
        else if (!folded.length)
            ask([section.at(-1) ?? heading], section.at(-1) ?? heading, heading.id);
    }
[...main.querySelectorAll(':scope > p > strong:first-child')].filter(one => /^Predict/.test(one.textContent) && !one.previousSibling)
    .forEach((one, n) => ask([one.parentNode], one.parentNode, `predict-${n + 1}`));

// ---- headings, listings, players ----

for (const heading of main.querySelectorAll(':is(h2, h3, h4)[id]'))
    heading.append(element('a', { className: 'anchor', href: '#' + heading.id, ariaLabel: 'Link to this section' }));
for (const listing of main.querySelectorAll('pre:not(.numberSource)')) {
    const copy = element('button', { className: 'copy', type: 'button' }, 'Copy');
    copy.addEventListener('click', async () => {
        await navigator.clipboard.writeText(listing.textContent.replace(/\n?$/, '\n'));
        copy.textContent = 'Copied';
        setTimeout(() => copy.textContent = 'Copy', 1500);
    });
    const frame = element('div', { className: 'listing' });
    listing.replaceWith(frame);
    frame.append(listing, copy);
}
const players = () => [...document.querySelectorAll('.player iframe')];
const chosen = () => document.documentElement.style.colorScheme; // light, dark, or empty: as the system is
function paint(player) {
    if (chosen())
        player.postMessage({ colours: chosen() }, '*');
}
window.addEventListener('message', event => { // a player says how high it is
    const frame = players().find(one => one.contentWindow === event.source);
    if (frame && event.data?.height > 0) {
        frame.style.height = `${event.data.height + 2}px`;
        paint(event.source);
    }
});

document.getElementById('colours').addEventListener('click', () => {
    const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    document.documentElement.style.colorScheme = (chosen() || system) === 'dark' ? 'light' : 'dark';
    localStorage.setItem('colours', chosen());
    players().forEach(frame => paint(frame.contentWindow));
});

// ---- the contents follow the scroll ----

const sections = new Map([...document.querySelectorAll('#site-contents .section a')]
    .map(link => [document.getElementById(decodeURIComponent(link.hash.slice(1))), link]));
function follow() {
    let here = null;
    for (const [heading, link] of sections) {
        link.removeAttribute('aria-current');
        if (heading.getBoundingClientRect().top < innerHeight / 3)
            here = link;
    }
    here?.setAttribute('aria-current', 'location');
}
document.addEventListener('scroll', follow, { passive: true });
follow();
document.querySelector('#site-contents [aria-current=page]')?.scrollIntoView({ block: 'center' });

// ---- the glossary: its words open where they are used, and its page has letters and a filter ----

const glossary = 'docs/glossary.html', term = element('div', { id: 'term', popover: 'auto' });
document.body.append(term);
async function explain(event) {
    const link = event.target.closest(`a[href^="${root}${glossary}#"]`);
    if (!link || page === glossary || event.ctrlKey || event.metaKey || event.shiftKey || link.closest('.whole'))
        return;
    event.preventDefault();
    await load('terms');
    const text = terms_data[link.hash.slice(1)];
    if (!text) // not an entry
        return location.assign(link.href);
    const at = link.getBoundingClientRect();
    term.innerHTML = text.replaceAll('ROOT/', root);
    term.append(element('p', { className: 'whole' }, element('a', { href: link.href }, 'In the glossary')));
    term.showPopover();
    term.style.left = `${Math.max(8, Math.min(at.left, innerWidth - term.offsetWidth - 8))}px`;
    term.style.top = `${at.bottom + term.offsetHeight > innerHeight ? Math.max(8, at.top - term.offsetHeight) : at.bottom}px`;
}
main.addEventListener('click', explain);
term.addEventListener('click', explain);

if (page === glossary) {
    const entries = [...main.querySelectorAll('h3[id]')].map(heading => [heading, ...after(heading, is_heading)]);
    const first = {};
    for (const [heading] of entries)
        first[heading.textContent.match(/[a-z]/i)?.[0].toUpperCase()] ??= heading;
    const filter = element('input', { type: 'search', placeholder: 'Filter', ariaLabel: 'Filter the terms' });
    filter.addEventListener('input', () => {
        for (const entry of entries)
            for (const part of entry)
                part.hidden = !entry.some(one => one.textContent.toLowerCase().includes(filter.value.toLowerCase()));
    });
    main.querySelector('h1').after(element('div', { className: 'letters' }, filter,
        ...Object.keys(first).sort().map(letter => element('a', { href: '#' + first[letter].id }, letter))));
}

// ---- the search ----

const field = document.getElementById('search'), found = document.getElementById('found');

// The sections that have all words, the best first: what is named so, then where the core first speaks of it, then by how often.
function search(pages, words) {
    const hits = [];
    let introduced = false;
    for (const [title, path, core, sections] of pages)
        for (const [heading, anchor, text] of sections) {
            const name = heading.toLowerCase(), head = `${title} ${heading}`.toLowerCase(), body = text.toLowerCase();
            if (!words.every(word => head.includes(word) || body.includes(word)))
                continue;
            const introduces = core && !introduced && words.every(word => body.includes(word));
            introduced ||= introduces;
            const score = (name === words.join(' ') ? 200 : 0) + (introduces ? 150 : 0)
                + 100 * words.filter(word => name.includes(word)).length
                + Math.min(50, words.reduce((sum, word) => sum + body.split(word).length - 1, 0));
            hits.push({ title, heading, text, score, href: `${root}${path}#${anchor}` });
        }
    return hits.sort((a, b) => b.score - a.score);
}

// A line of the text around the first of the words, which are all marked. Text is never taken for HTML.
function snippet(text, words) {
    const body = text.toLowerCase(), places = words.map(word => body.indexOf(word)).filter(at => at >= 0);
    if (!places.length)
        return '';
    const begin = Math.max(0, Math.min(...places) - 60), line = text.slice(begin, begin + 200);
    const any = new RegExp(`(${words.map(word => word.replace(/[^\w\s]/g, '\\$&')).join('|')})`, 'gi');
    const parts = line.split(any).map((part, n) => n % 2 ? element('mark', {}, part) : part);
    return element('span', {}, begin ? '\u2026' : '', ...parts, '\u2026');
}

async function show() {
    await load('search');
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word);
    const asked = words.join('').length > 1, hits = asked ? search(search_data, words) : [];
    const items = hits.slice(0, 30).map(({ title, heading, text, href }) => element('li', {},
        element('a', { href }, title === heading ? title : `${title}: ${heading}`), snippet(text, words)));
    if (asked && !items.length)
        items.push(element('li', {}, `No page has ${words.length > 1 ? 'all these words' : 'this word'}.`));
    found.replaceChildren(...items);
}

function clear() {
    found.replaceChildren();
    field.value = '';
}

field.addEventListener('input', show);
field.addEventListener('focus', () => load('search'));
found.addEventListener('click', event => { // the result may be on this page
    if (event.target.closest('a'))
        clear();
});

// ---- keys ----

document.addEventListener('keydown', event => {
    const links = [...found.querySelectorAll('a')], at = links.indexOf(document.activeElement);
    const searching = document.activeElement === field || at >= 0;
    if (event.ctrlKey || event.altKey || event.metaKey || !searching && event.target.closest('input, textarea'))
        return;
    if (event.key === 'Escape') {
        clear();
        field.blur();
        if (location.hash === '#site-contents') // in a narrow window
            location.hash = '';
    } else if (searching && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
        const to = at + (event.key === 'ArrowDown' ? 1 : -1);
        (to < 0 ? field : links[Math.min(to, links.length - 1)])?.focus();
    } else if (document.activeElement === field && event.key === 'Enter' && links.length) {
        links[0].click();
    } else if (!searching && event.key === '/') {
        field.focus();
    } else if (!searching && (event.key === 'n' || event.key === 'p')) {
        document.querySelector(event.key === 'n' ? '[rel=next]' : '[rel=prev]')?.click();
        return;
    } else {
        return;
    }
    event.preventDefault();
});
window.addEventListener('beforeprint', () => {
    for (const part of main.querySelectorAll('details'))
        part.open = true;
});
