// The field on the front page: what is asked goes to the worker sets.js, and its set is shown. Loaded when touched.
"use strict";

{
  const form = document.getElementById("try"), {task, text, coverage, lines, asked} = form.elements;
  const list = form.querySelector("ol"), said = form.querySelector("[role=status]"), bar = form.querySelector("progress");
  const worker = new Worker("try/sets.js"), came = {};
  const SIZES = {additions: 1606632, dates: 938080, reactions: 12970383}; // bytes, for the progress bar
  const MOST = {additions: 990, dates: 990, reactions: 970}; // thousandths: more needs more than the calibration has
  const typed = {additions: "347+58", dates: text.value, reactions: "COc1ccccc1.BrBr"};
  const covers = {additions: 900, dates: 990, reactions: 900};
  let last = 0, timer;

  const SMALL = ["23", "33", "24", "34", "44", "25", "35", "45", "55", "28", "46", "37"]; // digits of two numbers
  const MONTHS = Array.from({length: 12}, (_, i) => new Date(2000, i, 1).toLocaleString("en", {month: "long"}));
  function respelt(t) { // another way to write a day, in one that the model has learnt
    const iso = t.match(/^(\d{4})-(\d{1,2})-(\d{1,2})$/), named = t.match(/^(\d{1,2})\.? ([a-z]{3,})\.?,? (\d{4})$/i);
    const month = named && MONTHS.find(m => m.toLowerCase().startsWith(named[2].toLowerCase()));
    return iso ? `${+iso[3]}.${+iso[2]}.${iso[1]}` : month ? `${month} ${+named[1]}, ${named[3]}` : t;
  }
  const checks = {
    additions: t => {
      const digits = t.match(/^0*(0|[1-9]\d{0,7})\+0*(0|[1-9]\d{0,7})=?$/); // 007 is 7
      if (!digits) throw Error("Type two numbers of at most 8 digits, as 347+58.");
      const sizes = [digits[1], digits[2]].map(d => d.length).sort((a, b) => a - b);
      return {text: `${digits[1]}+${digits[2]}=`, known: sizes[1] < 3 || SMALL.includes(sizes.join(""))};
    },
    dates: said => {
      const t = respelt(said), note = t === said ? "" : `Asked as ${t}. `;
      const known = /^([A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}\/\d{1,2}\/\d{2})$/;
      if (!known.test(t)) throw Error("Type a date as 9/6/80, 9.6.1980, June 9, 1980, 9 June 1980 or 1980-06-09.");
      const [a, b] = t.split(/[ ,./]+/), day = (d, m) => m > 0 && m < 13 && d > 0 && d <= new Date(2000, m, 0).getDate();
      const there = isNaN(a) ? day(b, new Date(`${a} 1, 2000`).getMonth() + 1) : day(a, b) || t.includes("/") && day(b, a);
      if (!there) throw Error(`There is no such day as ${t}.`);
      const [year] = t.match(/\d{4}$/) || [2000];
      return {text: t, note, known: year >= 1950 && year < 2050};
    },
    reactions: t => {
      if (!t) throw Error("Type the SMILES of all that goes into the flask, dots between, as COc1ccccc1.BrBr.");
      return {text: t, known: true};
    },
  };
  const things = {additions: ["sum", "sums"], dates: ["day", "dates"], reactions: ["product", "reactions"]};

  function ask() { // The question goes to the worker
    clearTimeout(timer);
    typed[task.value] = text.value;
    covers[task.value] = coverage.value;
    asked.value = (coverage.value/1000).toFixed(2);
    coverage.setAttribute("aria-valuetext", asked.value);
    try {
      const spaces = {additions: "", dates: " "}[task.value], asks = text.value.trim(); // between molecules one may stand for a dot
      const question = checks[task.value](spaces === undefined ? asks : asks.replace(/\s+/g, spaces));
      text.removeAttribute("aria-invalid");
      form.known = question.known;
      form.note = question.note || "";
      worker.postMessage({id: ++last, task: task.value, text: question.text, coverage: Number(coverage.value),
                          lines: lines.checked && !lines.disabled ? 8 : null});
    } catch (error) { refuse(error.message); }
  }

  function refuse(why) {
    last++;
    text.setAttribute("aria-invalid", "true");
    said.textContent = why;
    list.replaceChildren();
  }

  function member({text, score, svg}) {
    const item = document.createElement("li"), p = Math.exp(Math.min(score, 0));
    const code = document.createElement("code"), share = document.createElement("span");
    code.textContent = text;
    share.textContent = p < 0.01 ? p.toExponential(0) : p.toFixed(2);
    item.style.setProperty("--p", p);
    item.append(code, " ", share);
    if (svg) {
      const picture = new Image(220, 130);
      picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      picture.alt = ""; // its SMILES stands beside it
      item.prepend(picture);
    }
    return item;
  }

  function show(set) {
    const [one, many] = things[task.value], n = set.members.length, open = set.members.some(m => m.open);
    const size = set.more ? `More than ${n} answers` : n === 1 ? "1 answer" : `${n} answers`;
    const counted = open ? `${n} lines; one with … stands for all that ${task.value === "additions" ? "end" : "begin"} so` : n ? size : "No answer: the model is unsure of all";
    const held = `Such sets hold the right ${one} with probability at least ${asked.value}, on average over ${many}`;
    const whole = form.known ? `${held} like the ${set.n.toLocaleString("en")} that calibrated.`
      : `Nothing is guaranteed: no ${many} like this one were among the ${set.n.toLocaleString("en")} that calibrated.`;
    const pieces = set.members.map(m => m.text.split("."));
    const twice = task.value === "reactions" && pieces.some(p => pieces.some(q => q.length > p.length && p.every(o => q.includes(o))));
    const other = " With a further piece, such as HCl, a product is another answer.";
    said.textContent = `${form.note}${set.note || ""}${counted}. ${whole}${twice ? other : ""}`;
    list.replaceChildren(...set.members.map(member));
  }

  worker.onmessage = ({data}) => {
    if (data.came) {
      came[data.task] = (came[data.task] || 0) + data.came;
      bar.hidden = came[data.task] >= SIZES[data.task] || data.task !== task.value;
      bar.value = came[data.task]/SIZES[data.task];
    } else if (data.id === last) {
      bar.hidden = true;
      data.error ? refuse(`This did not work: ${data.error}${data.error.endsWith("?") ? "" : "."}`) : show(data.set);
    }
  };
  worker.onerror = () => refuse("This did not work: the script cannot be loaded.");

  function choose(event) { // Another model, with the question that it had
    text.value = typed[task.value];
    coverage.max = MOST[task.value];
    if (event || task.value !== "dates") { // what stood here belongs to another question
      coverage.value = covers[task.value];
      list.replaceChildren();
      said.textContent = "Loading the model …";
    }
    lines.disabled = task.value === "reactions"; // their open lines would be unfinished scripts
    for (const some of form.querySelectorAll("[data-task]")) some.hidden = some.dataset.task !== task.value;
    ask();
  }

  const later = () => { clearTimeout(timer); timer = setTimeout(ask, 250); };
  form.addEventListener("submit", event => { event.preventDefault(); ask(); });
  text.addEventListener("input", later);
  for (const o of [coverage, lines]) o.addEventListener("input", ask);
  for (const o of task) o.addEventListener("change", choose);
  const pick = event => { if (event.target.type === "button") { text.value = event.target.textContent; ask(); } };
  form.addEventListener("click", pick);
  choose();
  pick({target: form.first}); // what was touched before this came
}
