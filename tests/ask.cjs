// What the scripts of the page "Ask it yourself" say, for tests: a job in, as JSON, what came out, as JSON.
// node ask.cjs FOLDER_OF_SCRIPTS FOLDER_OF_DATA < job
const { readFileSync } = require("fs");
const [, , scripts, data] = process.argv;
const engine = require(`${scripts}/engine.js`)(), page = require(`${scripts}/app.js`);
const job = JSON.parse(readFileSync(0, "utf-8"));
require(`${data}/facts.js`);
const D = globalThis.LKE_ASK.facts;
const relation = (name) => D.relations.find((each) => each.name === name);
const fact = (name, i) => page.factsOf(relation(name), D.fields)[i];
const milliseconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
(async () => {
  const said = {};
  if (job.questions) { // [relation, place of a fact, way, what is given]
    said.questions = job.questions.map(([name, i, way, given]) => page.question(way, relation(name), fact(name, i), given));
  }
  if (job.told) {
    said.told = Object.fromEntries(D.relations.map((each) => [each.name, page.factsOf(each, D.fields).map((one) =>
      ({ subject: one.subject, ...page.told(each, one, { twin: job.told === "twin", epochs: D.epochs }) }))]));
  }
  if (job.pairs) {
    said.pairs = page.pairsOf(page.factsOf(relation(job.pairs), D.fields), 10)
      .map((pair) => pair.map(({ subject, times }) => [subject, times]));
  }
  if (job.strings || job.asked) {
    require(`${data}/weights-${job.model.split("/")[1]}.js`);
    const model = await engine.open(globalThis.LKE_ASK.models[job.model], job.plain);
    if (job.strings) said.tokens = job.strings.map((each) => model.encode(each));
    if (job.asked) { // [context, continuations]
      said.asked = job.asked.map(([context, continuations]) => {
        const from = milliseconds(), { logprob, tokens } = model.score(context, continuations);
        return { logprob, tokens, milliseconds: milliseconds() - from, share: engine.confidence(logprob) };
      });
    }
  }
  process.stdout.write(JSON.stringify(said));
})();
