// Conformal sets of reactions in a browser: the model of edits in plain JavaScript, molecules by RDKit's WebAssembly build.
//
// Loaded by the worker sets.js when reactions are chosen. The parts are those of the package's pages on edits, in their
// order: a source's graph and rules, the network, the search under a budget, and products merged.
"use strict";

const ORDERS = [0, 1, 2, 3, 12]; // no bond, single, double, triple, aromatic; their tokens begin at 2
const STATES = [-1, 0, 1, 2].flatMap(q => [0, 1, 2, 3, 4].map(h => [q, h])); // charge and hydrogens; tokens from 7
const PAD = 0, END = 1, KEEP = 27, FIRST = 28; // FIRST: the token of atom 0
const FEATURES = [119, 8, 6, 8, 4, 2, 7, 8], FAR = 11, NONE = 12; // values of features; relations: another molecule, none
const MOST_ATOMS = 150;
let RDKit; // the library, once it has come

// ------------------------------------------------------------------------------------------------ molecules

function withMol(text, what) { // What a function makes of a molecule, given as SMILES or JSON; null where it is none
  const mol = RDKit.get_mol(text, text[0] === "{" ? '{"assignStereo":false}' : ""); // JSON names its double bonds' sides itself
  try { return mol && what(mol); } finally { mol?.delete(); }
}

const smilesOf = text => withMol(text, mol => mol.get_smiles()) || null;

function canonical(text) { // Pieces in alphabetical order
  const pieces = text.split(".").map(smilesOf);
  return pieces.includes(null) ? null : pieces.sort((a, b) => a < b ? -1 : a > b ? 1 : 0).join(".");
}

function parsed(json) { // Atoms, bonds and rings of RDKit's JSON
  const [{atoms, bonds = [], extensions: [more]}] = JSON.parse(json).molecules;
  const ringAtoms = new Set(more.aromaticAtoms || []), ringBonds = new Set(more.aromaticBonds || []);
  return {
    atoms: atoms.map((a, i) => ({z: 6, impHs: 0, chg: 0, ...a, aromatic: ringAtoms.has(i)})),
    bonds: bonds.map((b, i) => ({...b, order: ringBonds.has(i) ? 12 : b.bo ?? 1})),
    rings: more.atomRings || [],
  };
}

function written({atoms, bonds}) { // The JSON that RDKit reads
  const numbers = (list, test) => list.flatMap((x, i) => test(x) ? [i] : []);
  return JSON.stringify({rdkitjson: {version: 12}, defaults: {
    atom: {z: 6, impHs: 0, chg: 0, nRad: 0, isotope: 0, stereo: "unspecified"}, bond: {bo: 1, stereo: "unspecified"}},
  molecules: [{
    atoms: atoms.map(({z, impHs, chg, nRad = 0, isotope = 0, stereo = "unspecified"}) => ({z, impHs, chg, nRad, isotope, stereo})),
    bonds: bonds.map(({order, atoms, stereo, stereoAtoms}) => ({bo: order === 12 ? 1 : order, atoms, ...stereoAtoms && {stereo, stereoAtoms}})),
    extensions: [{name: "rdkitRepresentation", formatVersion: 2, toolkitVersion: RDKit.version(),
      aromaticAtoms: numbers(atoms, a => a.aromatic), aromaticBonds: numbers(bonds, b => b.order === 12)}]}]});
}

function renumbered({atoms, bonds, rings}, order) { // Some or all atoms, in another order
  const place = new Map(order.map((old, i) => [old, i])), to = list => list.map(i => place.get(i));
  const kept = bonds.filter(b => b.atoms.every(i => place.has(i))).map(b => {
    const ends = b.stereoAtoms?.every(i => place.has(i)) ? to(b.stereoAtoms) : undefined;
    return {...b, atoms: to(b.atoms), stereoAtoms: ends};
  });
  return {atoms: order.map(i => atoms[i]), bonds: kept, rings: rings?.map(to)};
}

function flat({atoms, bonds, rings}) { // Without isotopes and stereochemistry
  return {atoms: atoms.map(a => ({...a, isotope: 0, stereo: undefined})), bonds: bonds.map(b => ({...b, stereoAtoms: undefined})), rings};
}

function numbered(source) { // Atoms in the order of the flat canonical SMILES
  const given = parsed(withMol(source, mol => mol.get_json()));
  const order = withMol(written(flat(given)), mol => { mol.get_smiles(); return JSON.parse(mol.get_prop("_smilesAtomOutputOrder")); });
  return renumbered(given, order);
}

const VALENCES = {1: [1], 2: [0], 4: [2], 5: [3], 6: [4], 7: [3], 8: [2], 9: [1], 10: [0], 13: [3], 14: [4], 15: [3, 5], 16: [2, 4, 6],
  17: [1], 18: [0], 31: [3], 32: [4], 33: [3, 5], 34: [2, 4, 6], 35: [1], 36: [0], 49: [3], 50: [2, 4], 51: [3, 5], 52: [2, 4, 6],
  53: [1, 3, 5], 54: [0, 2, 4, 6], 82: [2, 4], 83: [3, 5]}; // of elements that RDKit fills up with hydrogens

function filled(atom, orders) { // Hydrogens of an atom whose bonds have changed, as RDKit fills them up
  const sum = Math.round(orders.reduce((a, o) => a + (o === 12 ? 1.5 : o), 0));
  const fits = (VALENCES[atom.z - atom.chg] || []).slice(0, atom.aromatic ? 1 : undefined).find(v => v >= sum);
  return fits === undefined ? 0 : fits - sum;
}

function applied(mol, {edits, keep}) { // The product of a script; null where it gives none
  const atoms = mol.atoms.map(a => ({...a})), ends = new Set();
  let bonds = mol.bonds;
  for (const [a, b, what] of edits) {
    if (b === null) continue;
    bonds = bonds.filter(o => !(o.atoms.includes(a) && o.atoms.includes(b)));
    if (what) bonds = [...bonds, {atoms: [a, b], order: ORDERS[what]}];
    ends.add(a).add(b);
  }
  const states = new Map(edits.filter(e => e[1] === null).map(([a, , what]) => [a, STATES[what]]));
  const joined = (a, b) => bonds.some(o => o.atoms.includes(a) && o.atoms.includes(b));
  bonds = bonds.map(b => b.stereoAtoms && !b.atoms.every((a, i) => joined(a, b.stereoAtoms[i])) ? {...b, stereoAtoms: undefined} : b);
  for (const i of new Set([...ends, ...states.keys()])) {
    const atom = atoms[i], orders = bonds.filter(b => b.atoms.includes(i)).map(b => b.order);
    Object.assign(atom, {stereo: undefined, nRad: 0, aromatic: orders.includes(12)});
    if (states.has(i)) [atom.chg, atom.impHs] = states.get(i);
    else atom.impHs = filled(atom, orders);
  }
  const kept = reached(atoms.length, bonds, [...edits.slice(0, 1).map(e => e[0]), ...keep]);
  const order = [...atoms.keys()].filter(i => kept.has(i));
  return withMol(written(renumbered({atoms, bonds}, order)), made => {
    if (JSON.parse(made.get_json()).molecules[0].atoms.some((a, i) => a.nRad && states.has(order[i]))) return null;
    return smilesOf(made.get_smiles()); // aromatic as others are
  });
}

function reached(n, bonds, from) { // Atoms that are connected with some
  const near = Array.from({length: n}, () => []), found = new Set(from), left = [...found];
  for (const {atoms: [a, b]} of bonds) { near[a].push(b); near[b].push(a); }
  while (left.length) for (const i of near[left.pop()]) if (!found.has(i)) { found.add(i); left.push(i); }
  return found;
}

// ------------------------------------------------------------------------------------------------ rules

const above = (a, b) => { // Does a list of numbers come after another?
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] > b[i];
  return a.length > b.length;
};
const ascending = (a, b) => above(a, b) ? 1 : above(b, a) ? -1 : 0;

function script(ids) { // What the tokens have said, and those of the unfinished part
  const edits = [], keep = [];
  let open = [];
  for (const id of ids) {
    open.push(id);
    if (open[0] === KEEP && open.length === 2) keep.push(id - FIRST);
    else if (open.length > 1 && id < FIRST) edits.push(id < 7 ? [open[0] - FIRST, open[1] - FIRST, id - 2] : [open[0] - FIRST, null, id - 7]);
    else continue;
    open = [];
  }
  return {edits, keep, open};
}

class Source { // A mixture: its atoms, and what may come next in its scripts
  constructor(text) {
    this.mol = numbered(text);
    const {atoms, bonds, rings} = this.mol, n = this.n = atoms.length, all = [...atoms.keys()];
    this.near = all.map(() => new Map()); // neighbour to order
    for (const {atoms: [a, b], order} of bonds) { this.near[a].set(b, order); this.near[b].set(a, order); }
    const kinds = atoms.map((a, i) => [[a.z], [...this.near[i].keys()].map(j => atoms[j].z).sort((x, y) => y - x), [a.impHs], [a.chg]]);
    const order = (a, b) => a.reduce((found, part, i) => found || ascending(part, b[i]), 0);
    const ranks = [...new Map([...kinds].sort(order).map(k => [String(k.map(p => p.join())), 0])).keys()];
    this.kinds = kinds.map(k => ranks.indexOf(String(k.map(p => p.join()))));
    this.states = atoms.map(a => STATES.findIndex(([q, h]) => q === a.chg && h === a.impHs));
    this.smallest = all.map(i => Math.min(...rings.filter(r => r.includes(i)).map(r => r.length)));
    this.piece = [];
    for (const i of all) if (this.piece[i] === undefined) for (const j of reached(n, bonds, [i])) this.piece[j] = i;
    this.alike = new Map();
    this.products = new Map();
  }

  features(i) {
    const a = this.mol.atoms[i], size = this.piece.filter(p => p === this.piece[i]).length, ring = this.smallest[i];
    const double = [...this.near[i].values()].filter(o => o === 2).length;
    return [Math.min(a.z, 118), Math.min(Math.max(a.chg + 3, 0), 7), Math.min(a.impHs, 5), Math.min(this.near[i].size, 7),
            Math.min(double, 3), Number(a.aromatic), ring < Infinity ? Math.min(ring, 8) - 2 : 0, Math.min(Math.floor(Math.log2(size)), 7)];
  }

  relations() { // [n][n] how each two atoms are related
    return this.mol.atoms.map((_, i) => {
      const row = this.piece.map(p => p === this.piece[i] ? 10 : FAR), seen = new Set([i]);
      let edge = [i];
      for (let away = 1; away < 5; away++) {
        edge = edge.flatMap(j => [...this.near[j].keys()]).filter(j => !seen.has(j) && seen.add(j));
        for (const j of edge) row[j] = away > 1 ? away + 4 : 1 + Math.max(ORDERS.indexOf(this.near[i].get(j)), 1);
      }
      row[i] = 1;
      return row;
    });
  }

  firstOfAlike(named) { // Is an atom the first of those that symmetry exchanges?
    const marks = [...new Set(named)], key = marks.join();
    if (!this.alike.has(key)) {
      const number = (list) => { const known = new Map(); return list.map(x => known.get(x) ?? (known.set(x, known.size), known.size - 1)); };
      let colours = number(this.mol.atoms.map((a, i) => [...this.features(i).slice(0, 7), a.chg, marks.indexOf(i)].join()));
      for (let before = 0, now; (now = new Set(colours).size) > before;) {
        before = now;
        colours = number(colours.map((c, i) => `${c}:${[...this.near[i]].map(([j, o]) => `${o}-${colours[j]}`).sort()}`));
      }
      this.alike.set(key, colours.map((c, i) => colours.indexOf(c) === i));
    }
    return this.alike.get(key);
  }

  after({edits}, kind, a, b) { // Does an edit stand after the last one?
    if (!edits.length) return true;
    const [i, j, what] = edits.at(-1);
    const sort = j === null ? 3 : !this.near[i].has(j) ? 0 : what === 0 ? 2 : 1;
    const old = [sort, this.kinds[i], this.kinds[j ?? i]];
    return !above(old, [kind, this.kinds[a], this.kinds[b]]);
  }

  partner(p, a, b) { // May the bond of two atoms form, change and break?
    if (a === b || p.edits.some(([i, j]) => j !== null && (i === a && j === b || i === b && j === a))) return [false, false, false];
    const here = this.near[a].has(b), ascend = this.kinds[a] <= this.kinds[b];
    return [!here && ascend, here && ascend, here].map((may, kind) => may && this.after(p, kind, a, b));
  }

  allowed(ids) { // [28 + n] which tokens may come next
    const p = script(ids), out = new Array(FIRST + this.n).fill(false), {edits, keep, open} = p;
    const alike = () => this.firstOfAlike(ids.filter(id => id >= FIRST).map(id => id - FIRST));
    if (!open.length) {
      out[KEEP] = true;
      out[END] = edits.length + keep.length > 0;
      if (!keep.length) alike().forEach((first, i) => { out[FIRST + i] = first; });
    } else if (open[0] === KEEP) {
      const changed = edits.filter(e => e[1] !== null), same = ([a, b], {atoms}) => atoms.includes(a) && atoms.includes(b);
      const bonds = [...this.mol.bonds.filter(b => !changed.some(e => same(e, b))), ...changed.filter(e => e[2]).map(([a, b]) => ({atoms: [a, b]}))];
      const named = reached(this.n, bonds, [...edits.slice(0, 1).map(e => e[0]), ...keep]);
      alike().forEach((first, i) => { out[FIRST + i] = first && !named.has(i); });
    } else if (open.length === 1) {
      const a = open[0] - FIRST;
      alike().forEach((first, b) => { out[FIRST + b] = first && this.partner(p, a, b).includes(true); });
      if (this.after(p, 3, a, a) && !edits.some(([i, j]) => j === null && i === a)) {
        const touched = edits.some(e => e[0] === a || e[1] === a);
        STATES.forEach((_, s) => { out[7 + s] = touched || s !== this.states[a]; });
      }
    } else {
      const [a, b] = open.map(id => id - FIRST), [form, change, gone] = this.partner(p, a, b);
      for (let id = 3; id < 7; id++) out[id] = form || change;
      out[2] = gone;
      if (this.near[a].has(b)) out[2 + Math.max(ORDERS.indexOf(this.near[a].get(b)), -1)] = false; // as it is
    }
    return out;
  }

  product(ids) {
    const key = ids.join();
    if (!this.products.has(key)) this.products.set(key, applied(this.mol, script(ids)));
    return this.products.get(key);
  }
}

// ------------------------------------------------------------------------------------------------ the network

class EditNet {
  constructor(config, weights) { Object.assign(this, {config, weights}); }
  by(name, x) { return times(this.weights[`${name}.weight`], x); }
  row(name, i) { const {data, shape: [, d]} = this.weights[`${name}.weight`]; return data.subarray(i*d, (i + 1)*d); }
  norm(name, x) {
    const w = this.weights[`${name}.weight`].data, scale = 1/Math.sqrt(x.reduce((sum, v) => sum + v*v, 0)/x.length + 1e-6);
    return x.map((v, i) => v*scale*w[i]);
  }
  feed(name, x) {
    const wide = this.by(`${name}.feed.wide`, this.norm(`${name}.feed_norm`, x)).map(v => v > 0 ? v*v : 0);
    return plus(x, this.by(`${name}.feed.out`, wide));
  }
  asked(name, x) { const q = this.by(name, x), scale = (q.length/this.config.heads)**-0.5; return q.map(v => v*scale); }

  read(text) { // What the decoder knows of a source
    const source = new Source(text), related = source.relations(), {heads, encoder, decoder} = this.config;
    const offsets = FEATURES.map((_, k) => FEATURES.slice(0, k).reduce((a, b) => a + b, 0));
    let xs = source.mol.atoms.map((_, i) => source.features(i).map((f, k) => this.row("atoms", f + offsets[k])).reduce(plus));
    const bias = this.weights["relation.weight"].data;
    for (let b = 0; b < encoder; b++) {
      const name = `encoder.${b}`, inner = xs.map(x => this.norm(`${name}.norm`, x));
      const [k, v] = ["k", "v"].map(w => inner.map(x => this.by(`${name}.attention.${w}`, x)));
      xs = xs.map((x, i) => {
        const seen = attention(this.asked(`${name}.attention.q`, inner[i]), k, v, heads, (h, j) => bias[related[i][j]*heads + h]);
        return this.feed(name, plus(x, this.by(`${name}.attention.out`, seen)));
      });
    }
    xs = xs.map(x => this.norm("encoder_norm", x));
    const kept = Array.from({length: decoder}, (_, b) => ["k", "v"].map(w => xs.map(x => this.by(`decoder.${b}.cross.${w}`, x))));
    return {source, related, kept, pointed: xs.map(x => this.by("pointed", x)), answers: xs.map(x => this.by("answer", x))};
  }

  step({source, related, kept, pointed, answers}, before, ids) { // One more token: keys and values, log-probabilities
    const {heads, decoder, slots: most} = this.config, n = source.n, token = ids.at(-1) ?? PAD, state = [];
    const slots = ids.filter(id => id >= FIRST).reverse().slice(0, most).map(id => id - FIRST);
    const codes = Array.from({length: most}, (_, s) => answers.map((_, j) => s*(NONE + 1) + (s in slots ? related[slots[s]][j] : NONE)));
    const slot = this.weights["slot.weight"].data;
    let x = plus(this.row("words", Math.min(token, FIRST)), this.row("places", ids.length));
    if (token >= FIRST) x = plus(x, pointed[token - FIRST]);
    for (let b = 0; b < decoder; b++) {
      const name = `decoder.${b}`;
      let inner = this.norm(`${name}.norm`, x);
      const [k, v] = ["k", "v"].map(w => this.by(`${name}.attention.${w}`, inner));
      const [keys, values] = before ? [[...before[b][0], k], [...before[b][1], v]] : [[k], [v]];
      state.push([keys, values]);
      x = plus(x, this.by(`${name}.attention.out`, attention(this.asked(`${name}.attention.q`, inner), keys, values, heads)));
      inner = this.asked(`${name}.cross.q`, this.norm(`${name}.cross_norm`, x));
      const seen = attention(inner, ...kept[b], heads, (h, j) => codes.reduce((sum, c) => sum + slot[c[j]*heads + h], 0));
      x = this.feed(name, plus(x, this.by(`${name}.cross.out`, seen)));
    }
    x = this.norm("decoder_norm", x);
    const ask = this.by("ask", x), near = this.by("slot_key", x), scale = x.length**-0.5;
    const atoms = answers.map((a, j) => a.reduce((sum, v, i) => sum + v*ask[i], 0)*scale + codes.reduce((sum, c) => sum + near[c[j]], 0));
    const may = source.allowed(ids), logits = [...this.by("word_out", x), ...atoms].map((v, i) => may[i] ? v : -Infinity);
    const top = Math.max(...logits), total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    return {state, logProbs: top > -Infinity ? logits.map(v => v - top - Math.log(total)) : logits};
  }
}

// ------------------------------------------------------------------------------------------------ sets of products

function scriptsAbove(model, memory, threshold, maxLen, budget, rows = {n: 0}) { // Step by step, the best `budget` go on
  let live = [{ids: [], score: 0, before: null}];
  const found = [];
  while (live.length) {
    const more = [];
    for (const {ids, score, before} of live) {
      const key = ids.join(); // each prefix is computed once, so another coverage costs little
      if (!memory.steps.has(key)) { memory.steps.set(key, model.step(memory, before, ids)); rows.n++; }
      const {state, logProbs} = memory.steps.get(key);
      logProbs.forEach((p, token) => {
        const sum = score + p;
        if (!(sum >= threshold)) return;
        if (token !== END) more.push({ids: [...ids, token], score: sum, before: state});
        else if (memory.source.product(ids) !== null) found.push({ids, score: sum});
      });
    }
    live = more.filter(c => c.ids.length < maxLen).sort(falling).slice(0, budget);
  }
  return found.sort(falling);
}

function cleaned(text) { // A source as the model was trained on
  const sides = text.trim().replace(/\s*;\s*/g, ".").split(">"), source = sides.slice(0, 2).filter(Boolean).join(".").replace(/:\d+(?=\])/g, "");
  if (sides[2]) throw Error("it names a product: give what goes into the flask");
  if (/\s/.test(source)) throw Error("white space in it: was a dot forgotten?");
  const pieces = source.split("."), bad = pieces.find(p => !p || !smilesOf(p));
  if (bad !== undefined) throw Error(bad ? `${bad} is no valid SMILES, and names are not read` : "a dot with no molecule beside it");
  const found = canonical(source);
  if (withMol(found, mol => mol.get_num_atoms()) > MOST_ATOMS) throw Error(`this model is for at most ${MOST_ATOMS} atoms`);
  return found;
}

function products(memory, scripts) { // Scripts merged by product
  const classes = new Map();
  for (const {ids, score} of scripts) {
    const text = canonical(memory.source.product(ids)), known = classes.get(text);
    if (text === null) continue;
    if (known) known.score = Math.max(known.score, score) + Math.log1p(Math.exp(-Math.abs(known.score - score)));
    else classes.set(text, {text, score});
  }
  return [...classes.values()].sort(falling);
}

const drawn = text => withMol(text, mol => mol.get_svg_with_highlights(JSON.stringify({width: 220, height: 130, clearBackground: false, fixedBondLength: 24})));

async function loadReactions(told) {
  if (!(await fetch("reactions/RDKit_minimal.wasm", {method: "HEAD"})).ok) throw Error("this site was built without RDKit, which reactions need");
  const [config, calibration, weights, library] = await Promise.all([json("reactions/edits.json"), json("reactions/calibration.json"),
    bytes("reactions/model.safetensors", told), bytes("reactions/RDKit_minimal.wasm", told)]);
  if (typeof initRDKitModule === "undefined") importScripts("reactions/RDKit_minimal.js");
  const place = URL.createObjectURL(new Blob([library], {type: "application/wasm"}));
  RDKit = await initRDKitModule({locateFile: () => place});
  RDKit.disable_logging?.();
  return {model: new EditNet(config, tensors(weights)), list: calibration.lists[0]};
}

function predictedReactions({model, list}, {text, coverage}) {
  const clean = cleaned(text);
  if (trees.reactions?.clean !== clean) trees.reactions = {clean, memory: {...model.read(clean), steps: new Map()}};
  const {memory} = trees.reactions, scores = list.rising ??= unpacked(list), rows = {n: 0};
  const threshold = thresholdAt(coverage, scores);
  if (threshold === -Infinity) throw Error("the calibration allows no such coverage");
  const found = products(memory, scriptsAbove(model, memory, threshold - 1e-3, list.max_len, list.max_candidates, rows));
  const note = clean.includes(".") ? "" : "One molecule alone: is what it reacts with missing? ";
  return {n: scores.length, more: found.length > MOST, threshold, rows: rows.n, note,
          members: found.slice(0, MOST).map((m, i) => ({...m, open: false, svg: i < 24 ? drawn(m.text) : null}))};
}
