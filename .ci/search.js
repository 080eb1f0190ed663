// What the site's search box does in place of a search for phrases: it looks for words, in the beginnings of words.
// .ci/after_render.py puts it into Quarto's script; .ci/check_docs.py asks it what people type.

const QUIET = new Set("a an and any are as at be by can do does for from get how i in is it me my of on or own that the this to use what when where which who why with you your".split(" "));
const WEIGHTS = {words: 12, title: 10, section: 8, text: 1, code: 0.2};

function wordsOf(query) { // Lower-case words, without those that say little where there are others
  const all = query.toLowerCase().match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) || [];
  const telling = all.filter(word => !QUIET.has(word));
  return telling.length ? telling : all;
}

function prepared(doc) { // The fields of a section in lower case; ConformalLevelSets is also three words
  if (!doc.lower) {
    const apart = text => (text || "").replace(/([a-z])([A-Z])/g, "$1 $2");
    const lower = Object.fromEntries(Object.keys(WEIGHTS).map(
      key => [key, ` ${doc[key] || ""} ${/[a-z][A-Z]/.test(doc[key]) ? apart(doc[key]) : ""} `.toLowerCase()]));
    Object.defineProperty(doc, "lower", {value: lower}); // hidden from JSON
  }
  return doc.lower;
}

function patternsOf(query) { // Of each word: where it begins a word, where it is one, its plural aside
  return wordsOf(query).map(word => word.length > 3 ? word.replace(/(?<!s)s$/, "") : word).map(word => {
    const start = `(?<![\\p{L}\\p{N}])${word.replace(/\./g, "\\.").replace(/-/g, "[-–\\s]")}`, end = "s?(?![\\p{L}\\p{N}])";
    return {begins: RegExp(word.length < 3 ? start + end : start, "iu"), whole: RegExp(start + end, "iu")};
  });
}

function firstMatch(query, text) { // Place and length of what is marked in a result: the longest word; -1 where there is none
  const found = patternsOf(query).map(p => text.match(p.whole) || text.match(p.begins)).filter(Boolean);
  const best = found.sort((a, b) => b[0].length - a[0].length)[0];
  return best ? [best.index, best[0].length] : [-1, 0];
}

function rankedSearch(docs, query, limit = 50) { // Sections with all words, then those with most; the best first
  const patterns = patternsOf(query);
  const found = docs.map(doc => ({item: doc, each: patterns.map(p =>
    Object.entries(WEIGHTS).reduce((sum, [key, weight]) => sum + (p.whole.test(prepared(doc)[key]) ? weight : p.begins.test(prepared(doc)[key]) ? weight/2 : 0), 0))}));
  const rare = patterns.map((_, i) => Math.log((1 + docs.length)/(1 + found.filter(f => f.each[i]).length)));
  for (const f of found) {
    f.count = f.each.filter(Boolean).length;
    f.score = 20*(f.item.section.toLowerCase() === query.trim().toLowerCase()) + (f.item.lean || 0) + f.each.reduce((sum, weight, i) => sum + weight*rare[i], 0) - Math.log(20 + f.item.text.length)/10;
  }
  return found.filter(f => f.count).sort((a, b) => b.count - a.count || b.score - a.score).slice(0, limit);
}

// Wide tables, and names and roles for screen readers where Quarto gives none or wrong ones
if (typeof document !== "undefined") document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
  const all = (where, change) => document.querySelectorAll(where).forEach(change);
  all(".aa-Autocomplete, .aa-DetachedSearchButton", o => o.setAttribute("aria-label", "Search"));
  all(".navbar-toggler", o => o.removeAttribute("role"));
  all(".sidebar-item-toggle, .sidebar-item .text-start[data-bs-toggle]", o => { o.setAttribute("role", "button"); o.tabIndex = 0; });
  all("table", o => { // wide ones fade where they go on
    const see = () => o.classList.toggle("goes-on", o.scrollWidth - o.clientWidth - o.scrollLeft > 2);
    o.addEventListener("scroll", see);
    new ResizeObserver(see).observe(o);
  });
  all("p:has(> math)", o => { if (o.scrollWidth > o.clientWidth) o.tabIndex = 0; }); // long formulas scroll
  const names = {"#quarto-header .navbar": "Site", "#quarto-sidebar": "Pages", "#TOC": "On this page", ".quarto-secondary-nav": "Where you are"};
  for (const [where, name] of Object.entries(names)) all(where, o => o.setAttribute("aria-label", name));
}));
