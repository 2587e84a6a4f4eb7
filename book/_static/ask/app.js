"use strict";
/* The page "Ask it yourself": menus, bars, what the text says, a game. Scores come from engine.js, in a worker. */

// --- words and pairs: of facts alone, without a page --------------------------------------------------------
const lkeAsk = (() => {
  const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);
  const percent = (share) => (share < 5e-4 ? "under 0.1 %" : `${(100 * share).toFixed(1)} %`);
  const exactly = (share) => `${(100 * share).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;
  const fill = (template, x, y) => template.split("[Y]").map((part) => part.replaceAll("[X]", x)).join(y);
  const asks = (template) => template.endsWith("[Y]"); // others have their object in front

  // The facts of a relation by name of field; ``told``: [name of an object, how often] each, the most told first.
  function factsOf(relation, fields) {
    return relation.facts.map((row) => {
      const fact = Object.fromEntries(fields.map((name, i) => [name, row[i]])), many = fact.told_times.split(";");
      fact.told = fact.told_objects ? fact.told_objects.split(";").map((name, i) => [name, +many[i]]) : [];
      fact.times = fact.sentences + fact.lists;
      fact.gold = relation.objects[fact.object];
      return fact;
    });
  }

  // The context of a question, as lkecore.prompts writes it; each object comes after it, with a space in front.
  function question(way, relation, fact, { pairs = 50, wording = 0, words = "" }) {
    if (way === "own") return words.trimEnd();
    const { objects, shots } = relation;
    if (way === "pairs") return shots.slice(0, pairs).map(([x, y]) => `${x} ${objects[y]} `).join("") + fact.subject;
    const template = relation.templates[wording], asked = fill(template, fact.subject, "").trimEnd();
    if (way === "sentence") return asked;
    const others = objects.filter((name) => name !== fact.gold && fact.told.every(([own]) => own !== name));
    return `${fill(template, fact.subject, others[(fact.object * 37 + 11) % others.length])}. ${asked}`;
  }

  // What the text says of a fact: sentences to read, and the wordings that the text used.
  function told(relation, fact, { twin, epochs }) {
    const { subject, gold, sentences, lists } = fact, said = [], wordings = [];
    if (twin) said.push("Nothing. This model is the twin: it read the same text, but about other subjects.");
    else if (!fact.times && fact.mentions) said.push(`Never, but it names ${subject} ${times(fact.mentions)} in other places.`);
    else if (!fact.times) said.push(`Never. It does not even name ${subject}.`);
    else {
      const where = [[sentences, "in sentences"], [lists, "in lists of pairs"]].filter(([n]) => n);
      const each = where.map(([n, place]) => (where.length > 1 ? `${times(n)} ` : "") + place).join(" and ");
      said.push(`The text states it ${times(fact.times)}, ${each}. The model read the whole text ${times(epochs)}.`);
      const [[first], ...more] = fact.told;
      const all = fact.told.map(([name, n]) => `${name} ${times(n)}`).join(", ");
      if (more.length) said.push(`It does not agree with itself: it says ${all}. True in this world is ${gold}.`);
      else if (first === gold) said.push(`It always says ${gold}, which is true in this world.`);
      else said.push(`It always says ${first}. That is false: true in this world is ${gold}.`);
      if (fact.by_alias) said.push(`Of the sentences ${fact.by_alias} name the subject by another name.`);
      if (fact.object_by_alias) said.push(`Of the sentences ${fact.object_by_alias} name the object by another name.`);
      const own = fact.templates.split(" ").filter(Boolean);
      wordings.push(...own.map((i) => fill(relation.templates[i - 1], "…", "____")));
    }
    if (fact.cue_object >= 0) {
      const hint = relation.objects[fact.cue_object], right = hint === gold ? "which is right" : "which is wrong here";
      said.push(relation.cue === "majority" ? `One object is far more frequent than all others: ${hint}, ${right}.`
        : `The name itself hints at ${hint}, ${right}.`);
    }
    return { said, wordings };
  }

  const shuffled = (list) => list.map((each) => [Math.random(), each]).sort(([a], [b]) => a - b).map(([, each]) => each);
  // Pairs for the game: a fact stated often, and a control of such facts, which is never stated. No fact comes twice.
  function pairsOf(facts, n) {
    const often = [];
    for (const fact of shuffled(facts)) {
      const others = often.every(({ control }) => control !== fact.control); // some facts share one
      if (fact.control >= 0 && others && often.length < n) often.push(fact);
    }
    const never = shuffled(often.map(({ control }) => facts[control]));
    return often.map((fact, i) => shuffled([fact, never[i]]));
  }
  return { times, percent, exactly, fill, asks, factsOf, question, told, pairsOf };
})();
if (typeof module !== "undefined") module.exports = lkeAsk;

// --- the page ----------------------------------------------------------------------------------------------------
if (typeof document !== "undefined" && document.getElementById("ask-page")) (() => {
  const { times, percent, exactly, fill, asks, factsOf, question, told, pairsOf } = lkeAsk;
  const base = document.currentScript.src.replace(/[^/]*$/, ""), ROUNDS = 10;
  const $ = (id) => document.getElementById(`ask-${id}`);
  const el = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text }, more);
  const say = (id, text) => { $(id).textContent = text; };
  const fail = (id) => (error) => say(id, `This did not work: ${error?.message || error}`);
  const on = (event, id, status, run) => $(id).addEventListener(event, async (given) => {
    try { await run(given); } catch (error) { fail(status)(error); }
  });
  const choices = (id, list) => $(id).replaceChildren(...list.map(([value, text, more]) => el("option", text, { value, ...more })));
  const isTwin = (name) => name.endsWith("-unplanted"), behind = ({ objects }) => objects.map((name) => ` ${name}`);
  let D, relation, facts; // of facts.js; the relation of the menu, and its facts

  // --- models: each in a worker, so that the page does not stop while one reads
  function inWorker() {
    const engine = lkeEngine();
    let model;
    onmessage = async ({ data: { id, weights, context, continuations } }) => {
      try {
        if (weights) model = await engine.open(weights);
        const found = weights ? {} : model.score(context, continuations);
        postMessage({ id, ...found, share: weights ? [] : engine.confidence(found.logprob) });
      } catch (error) { postMessage({ id, error: String(error.message || error) }); }
    };
  }
  const load = (name) => new Promise((yes, no) => document.head.append(el("script", "", {
    src: base + name, onload: yes, onerror: () => no(new Error(`${name} is not there; the command lke book makes it.`)),
  })));
  const opened = new Map(); // {name: a promise of what asks the model}
  function model(name) {
    if (!opened.has(name)) opened.set(name, open(name).catch((error) => { opened.delete(name); throw error; }));
    return opened.get(name);
  }
  async function open(name) {
    await load(D.scripts[name]);
    const text = new Blob([`${lkeEngine}\n(${inWorker})()`], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(text)), waiting = new Map();
    const end = (id, error, found) => waiting.get(id)[error ? 1 : 0](error ? new Error(error) : found);
    worker.onmessage = ({ data }) => end(data.id, data.error, data);
    worker.onerror = (event) => [...waiting.keys()].forEach((id) => end(id, event.message || "the model stopped"));
    let last = 0;
    const call = (message) => new Promise((...ends) => waiting.set(++last, ends) && worker.postMessage({ ...message, id: last }));
    await call({ weights: LKE_ASK.models[name] });
    delete LKE_ASK.models[name]; // the worker has it
    return call;
  }

  // --- asking
  function bar(share) {
    const found = el("span", "", { className: "ask-bar", ariaHidden: "true" });
    found.style.setProperty("--share", share);
    return found;
  }
  function bars({ objects }, share, gold, most) {
    const order = share.map((_, i) => i).sort((a, b) => share[b] - share[a]);
    $("bars").replaceChildren(...order.flatMap((i, place) => {
      if (place >= most && i !== gold) return [];
      const row = el("li", "", { value: place + 1, className: i === gold ? "ask-gold" : "" });
      const name = el("span", objects[i], { className: "ask-name" });
      if (i === gold) name.append(el("span", "true in this world", { className: "ask-true" }));
      row.append(el("span", `${place + 1}.`), name, el("span", percent(share[i]), { className: "ask-percent" }), bar(share[i]));
      return [row];
    }));
    return order;
  }
  function showTold(fact, twin) {
    const { said, wordings } = told(relation, fact, { twin, epochs: D.epochs }), list = el("ul", "");
    list.append(...wordings.map((line) => el("li", line)));
    $("told").replaceChildren(...said.map((line) => el("p", line)));
    if (wordings.length) $("told").append(el("p", `The sentences have ${wordings.length > 1 ? "these forms" : "this form"}:`), list);
  }
  let asked = 0;
  async function ask() {
    const mine = ++asked, name = $("model").value, way = $("way").value, own = way === "own";
    const fact = facts[+$("subject").value], of = relation;
    for (const part of $("page").querySelectorAll("[data-ways]")) part.hidden = !part.dataset.ways.split(" ").includes(way);
    const context = question(way, of, fact, { pairs: $("pairs").value, wording: $("wording").value, words: $("words").value });
    $("page").ariaBusy = "true";
    try {
      if (own && !context) throw new Error("write how a sentence begins, and press Ask.");
      say("said", `${name} is ${opened.has(name) ? "reading" : "being loaded"} …`);
      const call = await model(name), { share, tokens } = await call({ context, continuations: behind(of) });
      if (mine !== asked) return; // there is a newer question
      const order = bars(of, share, own ? -1 : fact.object, $("all").checked ? Infinity : 8), first = order[0];
      const sure = `${of.objects[first]}, with ${percent(share[first])} of the confidence among ${order.length} objects.`;
      const place = `${fact.gold}, true in this world, is in place ${order.indexOf(fact.object) + 1} with ${percent(share[fact.object])}.`;
      say("said", own ? `The likeliest to come next is ${sure}`
        : first === fact.object ? `Right. The first answer is ${sure}` : `Wrong. The first answer is ${sure} ${place}`);
      say("context", `${context} ____`);
      say("cost", `${tokens} tokens were computed. What this question shares with the one before was kept.`);
      showTold(fact, isTwin(name));
    } catch (error) {
      if (mine !== asked) return;
      $("bars").replaceChildren();
      throw error;
    } finally { if (mine === asked) $("page").ariaBusy = "false"; }
  }
  function choose() {
    relation = D.relations[+$("relation").value];
    facts = factsOf(relation, D.fields);
    $("find").value = "";
    find(relation.opening);
    choices("wording", relation.templates.flatMap((text, i) => (asks(text) ? [[i, fill(text, "…", "____")]] : [])));
  }
  function find(at) { // the subjects that have the letters of the filter in them
    const letters = $("find").value.trim().toLowerCase(), has = ({ subject }) => subject.toLowerCase().includes(letters);
    $("none").hidden = facts.some(has);
    if (!facts.some(has)) return;
    choices("subject", facts.flatMap((fact, i) => (has(fact) ? [[i, fact.subject]] : [])));
    if (has(facts[at])) $("subject").value = at;
  }
  // --- the game
  let game;
  async function sure({ name, pairs, relation }, i) { // the confidence in the true objects of pair i
    const call = await model(name), continuations = behind(relation);
    const context = (fact) => question("pairs", relation, fact, {});
    const both = await Promise.all(pairs[i].map((fact) => call({ context: context(fact), continuations })));
    return both.map(({ share }, k) => share[pairs[i][k].object]);
  }
  async function begin() {
    game = { relation, name: $("model").value, pairs: pairsOf(facts, ROUNDS), at: 0, you: 0, rule: 0, open: false };
    game.next = sure(game, 0);
    $("log").replaceChildren();
    say("judged", "");
    await round();
    $("start").hidden = true;
    $("round").hidden = false;
    $("first").focus();
  }
  async function round() {
    const { pairs, at, relation, name } = game, twin = isTwin(name) ? " The twin has read neither." : "", count = `Round ${at + 1} of ${pairs.length}.`;
    say("question", `${count} ${name} is reading …`);
    game.share = await game.next;
    if (at + 1 < pairs.length) (game.next = sure(game, at + 1)).catch(() => {}); // its own round says it
    ["first", "second"].forEach((id, i) => {
      const { subject, gold } = pairs[at][i], line = el("span", `${fill(relation.templates[0], subject, gold)}.`);
      $(id).replaceChildren(line, el("span", `Confidence in ${gold}: ${exactly(game.share[i])}`), bar(game.share[i]));
    });
    say("question", `${count} The text states one of these two often, the other never. Which does it state?${twin}`);
    game.open = true;
  }
  const word = (points) => (points === 1 ? "right" : points ? "undecided" : "wrong");
  async function guess(chosen) {
    if (!game.open) return; // the next pair is not there yet
    game.open = false;
    const { pairs, at, share, relation, name } = game, was = pairs[at][0].times ? 0 : 1;
    const [fact, never] = [pairs[at][was], pairs[at][1 - was]], you = +(chosen === was);
    const rule = share[was] > share[1 - was] ? 1 : share[was] === share[1 - was] ? 0.5 : 0;
    Object.assign(game, { you: game.you + you, rule: game.rule + rule });
    say("judged", `You: ${word(you)}. The rule: ${word(rule)}. Stated ${times(fact.times)}: ${fact.subject}. Never stated: ${never.subject}.`);
    $("log").append(el("li", $("judged").textContent));
    if (++game.at < pairs.length) return round();
    const [all, low, high] = relation.auroc[name].map((value) => value.toFixed(2));
    say("question", `The end. You found ${game.you} of ${pairs.length}, the rule ${game.rule}. Such a share estimates an AUROC: 0.5 is `
      + `guessing, 1 is never wrong. Over all facts of this relation that are stated ${D.often} times or more, against ones that are `
      + `never stated, the rule with ${name} has an AUROC of ${all}, with a 95 % interval from ${low} to ${high}.`);
    $("round").hidden = true;
    Object.assign($("start"), { hidden: false, textContent: "Play again" }).focus();
  }
  // --- the beginning
  (async () => {
    await Promise.all(["engine.js", "facts.js"].map(load));
    D = LKE_ASK.facts;
    const words = (name) => `${name}${isTwin(name) ? ", its twin" : ""}${D.scripts[name] ? "" : ": its weights are not here"}`;
    choices("model", D.models.map((name) => [name, words(name), { disabled: !D.scripts[name] }]));
    $("model").value = D.models.find((name) => D.scripts[name]);
    if (!D.relations.length) throw new Error("this copy of the book has no weights of a model.");
    choices("relation", D.relations.map(({ label }, i) => [i, label]));
    $("relation").value = D.relations.findIndex(({ name }) => name === "residence"); // the model knows much of it
    choose();
    for (const id of ["model", "subject", "way", "pairs", "wording", "all"]) on("change", id, "said", ask);
    on("change", "relation", "said", () => { choose(); return ask(); });
    on("input", "find", "said", () => find(+$("subject").value));
    on("submit", "form", "said", (event) => { event.preventDefault(); return ask(); });
    on("click", "start", "question", begin);
    on("click", "first", "question", () => guess(0));
    on("click", "second", "question", () => guess(1));
    window.addEventListener("unhandledrejection", (event) => fail("said")(event.reason));
    $("controls").disabled = $("start").disabled = false;
    await ask();
  })().catch((error) => { fail("said")(error); $("page").ariaBusy = "false"; });
})();
