// Conformal sets in a browser, without any library: a T5 in float32, level sets, and sets of lines.
//
// A worker: it is told {id, task, text, coverage, lines} (the coverage in thousandths) and answers with the set, with
// how much of the model's files has come, or with an error. What it finds equals what Python finds, up to rounding;
// the page "In your browser" says how that is checked.
"use strict";

const MARGIN = 3e-4; // nats: how far scores by decoding may lie from those of the calibration, as in Python
const UNIT = 4096;   // parts of a nat in a file of calibration scores
const MOST = 200;    // members that are listed

// ------------------------------------------------------------------------------------------------ files

async function bytes(url, told) { // The file, telling how many bytes of it have come
  const answer = await fetch(url), parts = [];
  if (!answer.ok) throw Error(`${url} is not there`);
  for (const reader = answer.body.getReader();;) {
    const {done, value} = await reader.read();
    if (done) break;
    parts.push(value);
    told(value.length);
  }
  return new Blob(parts).arrayBuffer();
}

const json = async url => (await fetch(url)).json();

function tensors(buffer) { // Name to {shape, data} of a safetensors file, in float32
  const size = Number(new DataView(buffer).getBigUint64(0, true)), found = {};
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  delete head.__metadata__;
  for (const [name, {dtype, shape, data_offsets: [from, to]}] of Object.entries(head)) {
    const own = buffer.slice(8 + size + from, 8 + size + to);
    const data = dtype === "F32" ? new Float32Array(own) : dtype === "I8" ? Float32Array.from(new Int8Array(own))
      : new Float32Array(Uint32Array.from(new Uint16Array(own), x => x << 16).buffer); // bfloat16: the upper half
    found[name] = {shape, data};
  }
  for (const [name, {data: scale}] of Object.entries(found)) { // 8 bits: a scale for each row
    if (!name.endsWith(".scale")) continue;
    const {shape: [, width], data} = found[name.slice(0, -6)];
    for (let i = 0; i < data.length; i++) data[i] *= scale[Math.floor(i/width)];
    delete found[name];
  }
  return found;
}

function unpacked({n, scores}) { // Calibration scores, rising; −∞ for targets that no set can hold
  let sum = 0;
  const found = scores.split(" ").map(x => (sum += Number(x))/UNIT);
  return [...Array(n - found.length).fill(-Infinity), ...found];
}

// ------------------------------------------------------------------------------------------------ tokenizers

class Digits { // Sums: digits from last to first, those of operands with their place
  constructor({places = 8}) {
    this.words = ["<pad>", "</s>", "<unk>", ..."0123456789+="];
    for (let i = 0; i < places; i++) for (const d of "0123456789") this.words.push(`${d}e${i}`);
  }
  encode(text) {
    return [...text.matchAll(/[0-9]+|[^0-9]/g)].flatMap(({0: run, index}) => {
      const placed = "+=".includes(text[index + run.length] || " ") && /[0-9]/.test(run);
      return [...run].reverse().map((d, i) => this.words.indexOf(placed ? `${d}e${i}` : d));
    });
  }
  decode(ids, open) { // each number from its first digit to its last
    const text = ids.map(i => this.words[i]).map(w => w[1] === "e" ? w[0] : w).join("");
    return (open ? "…" : "") + text.replace(/[0-9]+/g, run => [...run].reverse().join(""));
  }
}

class Letters { // A token for each character
  constructor(file) {
    this.words = [];
    for (const [word, id] of Object.entries(file.model.vocab)) this.words[id] = word;
  }
  encode(text) { return [...text].map(c => this.words.indexOf(c)); }
  decode(ids, open) { return ids.map(i => this.words[i]).join("") + (open ? "…" : ""); }
}

// ------------------------------------------------------------------------------------------------ the model

function times({shape: [rows, columns], data}, x) { // W x
  const out = new Float32Array(rows);
  for (let r = 0, at = 0; r < rows; r++) {
    let sum = 0;
    for (let c = 0; c < columns; c++) sum += data[at++]*x[c];
    out[r] = sum;
  }
  return out;
}

const plus = (x, y) => x.map((v, i) => v + y[i]);

function attention(q, keys, values, heads, bias) { // Of one query; bias(h, j) is added to the score of key j
  const size = q.length/heads, out = new Float32Array(q.length);
  for (let h = 0; h < heads; h++) {
    const scores = keys.map((k, j) => {
      let sum = bias ? bias(h, j) : 0;
      for (let i = h*size; i < (h + 1)*size; i++) sum += q[i]*k[i];
      return sum;
    });
    const top = Math.max(...scores), weights = scores.map(s => Math.exp(s - top));
    const total = weights.reduce((a, b) => a + b);
    values.forEach((v, j) => { for (let i = h*size; i < (h + 1)*size; i++) out[i] += weights[j]/total*v[i]; });
  }
  return out;
}

class T5 {
  constructor(config, weights) { Object.assign(this, {config, weights}); }

  has(name) { return `${name}.weight` in this.weights; }
  by(name, x) { return times(this.weights[`${name}.weight`], x); }
  embedded(id) { return this.weights["shared.weight"].data.slice(id*this.config.d_model, (id + 1)*this.config.d_model); }

  norm(name, x) { // Root mean square, and no mean
    const square = x.reduce((sum, v) => sum + v*v, 0)/x.length;
    const scale = 1/Math.sqrt(square + this.config.layer_norm_epsilon), w = this.weights[`${name}.weight`].data;
    return x.map((v, i) => v*scale*w[i]);
  }

  feed(name, x) { // The block's feed-forward part, with its residual
    const inner = this.norm(`${name}.layer_norm`, x), wide = `${name}.DenseReluDense`;
    const gelu = v => 0.5*v*(1 + Math.tanh(Math.sqrt(2/Math.PI)*(v + 0.044715*v**3)));
    let h;
    if (this.has(`${wide}.wi`)) h = this.by(`${wide}.wi`, inner).map(v => Math.max(v, 0));
    else {
      const linear = this.by(`${wide}.wi_1`, inner);
      h = this.by(`${wide}.wi_0`, inner).map((v, i) => gelu(v)*linear[i]);
    }
    return plus(x, this.by(`${wide}.wo`, h));
  }

  bias(part, distance, h) { // Of a key so far behind its query (in the encoder also before it)
    const both = part === "encoder", {data, shape} = this.weights[`${part}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`];
    const buckets = both ? shape[0]/2 : shape[0], exact = buckets/2, n = Math.abs(distance);
    const far = () => exact + Math.floor(Math.log(n/exact)/Math.log(this.config.relative_attention_max_distance/exact)*(buckets - exact));
    const bucket = n < exact ? n : Math.min(far(), buckets - 1);
    return data[(bucket + (both && distance < 0 ? buckets : 0))*shape[1] + h];
  }

  read(ids) { // Keys and values of the source, for each layer of the decoder
    const heads = this.config.num_heads;
    let xs = ids.map(id => this.embedded(id));
    for (let b = 0; b < this.config.num_layers; b++) {
      const name = `encoder.block.${b}.layer`, at = `${name}.0.SelfAttention`;
      const inner = xs.map(x => this.norm(`${name}.0.layer_norm`, x));
      const [q, k, v] = ["q", "k", "v"].map(w => inner.map(x => this.by(`${at}.${w}`, x)));
      xs = xs.map((x, i) => plus(x, this.by(`${at}.o`, attention(q[i], k, v, heads, (h, j) => this.bias("encoder", i - j, h)))));
      xs = xs.map(x => this.feed(`${name}.1`, x));
    }
    xs = xs.map(x => this.norm("encoder.final_layer_norm", x));
    return Array.from({length: this.config.num_decoder_layers}, (_, b) => ["k", "v"].map(
      w => xs.map(x => this.by(`decoder.block.${b}.layer.1.EncDecAttention.${w}`, x))));
  }

  step(source, before, token) { // One more token: keys and values of each layer, and log-probabilities of the next
    const heads = this.config.num_heads, state = [];
    let x = this.embedded(token);
    for (let b = 0; b < this.config.num_decoder_layers; b++) {
      const name = `decoder.block.${b}.layer`;
      let inner = this.norm(`${name}.0.layer_norm`, x);
      const [q, k, v] = ["q", "k", "v"].map(w => this.by(`${name}.0.SelfAttention.${w}`, inner));
      const [keys, values] = before ? [[...before[b][0], k], [...before[b][1], v]] : [[k], [v]];
      state.push([keys, values]);
      const own = attention(q, keys, values, heads, (h, j) => this.bias("decoder", keys.length - 1 - j, h));
      x = plus(x, this.by(`${name}.0.SelfAttention.o`, own));
      inner = this.by(`${name}.1.EncDecAttention.q`, this.norm(`${name}.1.layer_norm`, x));
      x = plus(x, this.by(`${name}.1.EncDecAttention.o`, attention(inner, ...source[b], heads)));
      x = this.feed(`${name}.2`, x);
    }
    const scale = this.config.d_model**-0.5; // the embedding is the last layer too
    const logits = this.by("shared", this.norm("decoder.final_layer_norm", x).map(v => v*scale));
    const top = Math.max(...logits), total = logits.reduce((sum, v) => sum + Math.exp(v - top), 0);
    return {state, logProbs: Array.from(logits, v => v - top - Math.log(total))};
  }
}

// ------------------------------------------------------------------------------------------------ sets

class Tree { // All that a model says about one input; each prefix is computed once
  constructor(model, ids) {
    this.model = model;
    this.source = model.read(ids);
    this.known = new Map();
  }
  prefix(ids) { // The decoder after these tokens
    const key = ids.join();
    if (!this.known.has(key)) {
      const before = ids.length ? this.prefix(ids.slice(0, -1)).state : null;
      this.known.set(key, this.model.step(this.source, before, ids.length ? ids.at(-1) : this.model.config.decoder_start_token_id));
    }
    return this.known.get(key);
  }
  children({ids, score}, least) { // Continuations whose log-probability is at least that
    const {pad_token_id: pad, eos_token_id: end} = this.model.config, found = [];
    this.prefix(ids).logProbs.forEach((p, token) => {
      if (token !== pad && score + p >= least) found.push({ids: [...ids, token], score: score + p, ended: token === end});
    });
    return found;
  }
}

const falling = (a, b) => b.score - a.score;

function levelSet(tree, threshold, maxLen, most = MOST) { // All sequences above the threshold; the best `most`
  const open = [{ids: [], score: 0}], found = [];
  while (open.length && found.length <= most) { // the most probable prefix first: members come in their order
    const top = open.pop();
    if (top.ended) { found.push(top); continue; }
    const more = tree.children(top, threshold).filter(c => c.ended || c.ids.length < maxLen);
    open.push(...more);
    open.sort((a, b) => a.score - b.score);
  }
  return {members: found.slice(0, most), more: found.length > most};
}

function lines(tree, threshold, maxLen, most) { // At most so many lines; open ones stand for all that begins so
  let open = [{ids: [], score: 0}], ended = [], bar = -Infinity;
  while (open.length) {
    const top = open.shift();
    const children = tree.children(top, threshold).filter(c => c.score > bar);
    const present = [...open, ...ended, ...children].sort(falling);
    if (present.length > most) bar = Math.max(bar, present[most].score);
    if (bar >= threshold) { open.unshift(top); break; }
    const done = children.filter(c => c.ended || c.ids.length === maxLen), above = c => c.score > bar;
    ended = [...ended, ...done].filter(above);
    open = [...open, ...children.filter(c => !done.includes(c))].filter(above).sort(falling);
  }
  const found = [...ended, ...open].map(c => ({...c, open: !c.ended})).sort(falling);
  return {members: found, more: false};
}

function thresholdAt(coverage, scores) { // The k-th smallest score, k = ⌊α(n + 1)⌋, in whole numbers
  const k = Math.floor((1000 - coverage)*(scores.length + 1)/1000);
  return k ? scores[k - 1] : -Infinity;
}

// ------------------------------------------------------------------------------------------------ tasks

const loading = {}, trees = {};

async function load(task) { // Model, tokenizer and calibration, once
  const told = n => postMessage({task, came: n});
  if (task === "reactions") {
    if (typeof loadReactions === "undefined") importScripts("reactions.js"); // it was there before a download that failed
    return loadReactions(told);
  }
  const [config, words, calibration, weights] = await Promise.all([
    ...["config.json", task === "additions" ? "tokenizer_config.json" : "tokenizer.json", "calibration.json"]
      .map(name => json(`${task}/${name}`)), bytes(`${task}/model.safetensors`, told)]);
  const tokenizer = task === "additions" ? new Digits(words) : new Letters(words);
  return {model: new T5(config, tensors(weights)), tokenizer, lists: calibration.results};
}

function predicted(ready, question) {
  return question.task === "reactions" ? predictedReactions(ready, question) : predictedTexts(ready, question);
}

function predictedTexts({model, tokenizer, lists}, {task, text, coverage, lines: most}) {
  const ids = tokenizer.encode(text), unknown = ids.findIndex(id => id < 0);
  if (unknown >= 0) throw Error("the model does not know all of these characters");
  if (trees[task]?.text !== text) trees[task] = {text, tree: new Tree(model, [...ids, model.config.eos_token_id])};
  const {tree} = trees[task], list = lists.find(one => (one.max_lines || 0) === (most || 0));
  const scores = list.rising ??= unpacked(list), threshold = thresholdAt(coverage, scores);
  if (threshold === -Infinity) throw Error("the calibration allows no such coverage");
  const least = threshold - MARGIN, before = tree.known.size;
  const {members, more} = most ? lines(tree, least, list.max_len, most) : levelSet(tree, least, list.max_len);
  const end = model.config.eos_token_id, texts = new Map(); // of sequences with one text the most probable stays
  for (const m of members) {
    const text = tokenizer.decode(m.ids.filter(id => id !== end), m.open), open = Boolean(m.open);
    if (!texts.has(text)) texts.set(text, {text, score: m.score, open}); // an open one bears its …
  }
  return {n: scores.length, more, threshold, rows: tree.known.size - before, members: [...texts.values()]};
}

self.onmessage = async ({data}) => {
  const {task, id} = data;
  try {
    loading[task] ??= load(task);
    loading[task].catch(() => delete loading[task]); // the next question tries again
    const ready = await loading[task];
    const start = performance.now(), set = predicted(ready, data);
    postMessage({id, task, set: {...set, seconds: (performance.now() - start)/1000}});
  } catch (error) {
    postMessage({id, task, error: error.message});
  }
};
