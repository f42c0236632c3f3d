// SPDX-License-Identifier: MIT
// site.js - search in all pages, and keys. Everything else on a page works without it.
'use strict';
const root = document.currentScript.dataset.root;
const field = document.getElementById('search');
const found = document.getElementById('found');

// The index, which is large, comes when it is first needed; as a script, because a page from a file may read no other.
let index;
function load() {
    index ??= new Promise((resolve, reject) => {
        const script = document.createElement('script');
        script.src = root + 'search.js';
        script.onload = () => resolve(search_index);
        script.onerror = reject;
        document.head.append(script);
    });
    return index;
}

// The sections that have all words, the best first: words in a heading count more than words in its text.
function search(pages, words) {
    const hits = [];
    for (const [title, page, sections] of pages)
        for (const [heading, anchor, text] of sections) {
            const head = (title + ' ' + heading).toLowerCase(), body = text.toLowerCase();
            if (words.every(word => head.includes(word) || body.includes(word))) {
                const score = words.filter(word => heading.toLowerCase().includes(word)).length * 100
                    + Math.min(50, words.reduce((sum, word) => sum + body.split(word).length - 1, 0));
                const href = root + page + '#' + anchor;
                hits.push({ title, heading, text, score, href, at: body.indexOf(words[0]) });
            }
        }
    return hits.sort((a, b) => b.score - a.score);
}

// A line of the text around the first word, which is marked. Text is never taken for HTML.
function snippet(hit, word) {
    const line = document.createElement('span');
    if (hit.at < 0)
        return line;
    const begin = Math.max(0, hit.at - 60), end = hit.at + word.length, mark = document.createElement('mark');
    mark.append(hit.text.slice(hit.at, end));
    line.append((begin ? '\u2026' : '') + hit.text.slice(begin, hit.at), mark,
        hit.text.slice(end, end + 100), '\u2026');
    return line;
}

async function show() {
    const pages = await load();
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word);
    const hits = words.join('').length > 1 ? search(pages, words) : [];
    const items = hits.slice(0, 30).map(hit => {
        const item = document.createElement('li'), link = document.createElement('a');
        link.href = hit.href;
        link.append(hit.title === hit.heading ? hit.title : hit.title + ': ' + hit.heading);
        item.append(link, snippet(hit, words[0]));
        return item;
    });
    if (!items.length && words.join('').length > 1) {
        items.push(document.createElement('li'));
        items[0].append('No page has ' + (words.length > 1 ? 'all these words' : 'this word') + '.');
    }
    found.replaceChildren(...items);
}

function clear() {
    found.replaceChildren();
    field.value = '';
}

field.addEventListener('input', show);
field.addEventListener('focus', load);

document.addEventListener('keydown', event => {
    const links = [...found.querySelectorAll('a')], at = links.indexOf(document.activeElement);
    const searching = document.activeElement === field || at >= 0;
    if (event.ctrlKey || event.altKey || event.metaKey)
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
found.addEventListener('click', event => { // the result may be on this page
    if (event.target.tagName === 'A')
        clear();
});

document.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
window.addEventListener('beforeprint', () => {
    for (const part of document.querySelectorAll('details'))
        part.open = true;
});
