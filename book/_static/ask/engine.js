"use strict";
/* A decoder of the lab: tokenizer, network, scores of options in nats. One function that uses no outer name, since a
   page runs its text in a worker. Numbers are float32, as the package computes them. */
function lkeEngine() {
  // --- bytes ------------------------------------------------------------------------------------------------
  function bytesOf(base64) {
    const text = atob(base64), out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
    return out;
  }
  async function unzip(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  // bfloat16, all low bytes and then all high ones, which packs better; it is the upper half of a float32.
  function floatsOf(planes) {
    const n = planes.length / 2, bits = new Uint32Array(n);
    for (let i = 0; i < n; i++) bits[i] = (planes[i] << 16) | (planes[n + i] << 24);
    return new Float32Array(bits.buffer);
  }

  // --- tokenizer: byte-level BPE, <s> in front ----------------------------------------------------------------
  const WORDS = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  const PAD = 0, BOS = 1, BYTES = 2, MERGED = 258; // tokens: two special ones, 256 bytes, then one a merge
  // alphabet: the signs of the bytes in the order of their tokens; merges: the tokens of each merge, in order.
  function tokenizer({ alphabet, merges }) {
    const at = new Map([...alphabet].map((sign, i) => [sign, i + BYTES])), rank = new Map(), known = new Map();
    const utf8 = new TextEncoder();
    let more = 256; // a byte that is no visible sign of Latin-1 is written as a sign from here on
    const tokenOf = Array.from({ length: 256 }, (_, byte) => {
      const plain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      return at.get(String.fromCharCode(plain ? byte : more++));
    });
    for (let i = 0; i < merges.length; i += 2) rank.set(merges[i] * 65536 + merges[i + 1], i / 2);
    function word(text) {
      if (known.has(text)) return known.get(text);
      const ids = Array.from(utf8.encode(text), (byte) => tokenOf[byte]);
      for (;;) {
        let best = Infinity, where = -1;
        for (let i = 0; i + 1 < ids.length; i++) {
          const r = rank.get(ids[i] * 65536 + ids[i + 1]);
          if (r < best) { best = r; where = i; }
        }
        if (where < 0) break;
        ids.splice(where, 2, MERGED + best);
      }
      if (known.size < 50000) known.set(text, ids);
      return ids;
    }
    return function encode(text) {
      const ids = [BOS];
      for (const part of text.split(/(<pad>|<s>)/)) { // these are tokens by themselves, also in a reader's text
        if (part === "<pad>") ids.push(PAD);
        else if (part === "<s>") ids.push(BOS);
        else for (const [each] of part.matchAll(WORDS)) for (const id of word(each)) ids.push(id);
      }
      return ids;
    };
  }

  // --- arrays and their product ---------------------------------------------------------------------------------
  // mm.wat: WebAssembly with SIMD, twelve times as fast as the loop below. All arrays lie in its memory.
  const KERNEL = "AGFzbQEAAAABDwJgAXsBfWAGf39/f39/AAMDAgABBQMBAAEHEwIGbWVtb3J5AgAGbWF0bXVsAAEK+gQCGQAgAP0fACAA/R8BkiAA/R8CIAD9HwOSkgvdBAINfwt7IARBAnQhCSAFQQJ0IRIDQCAGIAFIBEBBACEHA0AgACAGIAlsaiEKIAogCWogCiAGQQFqIAFIGyELIAIgByAJbGohDCAMIAlqIQ0gDSAJaiEOIA4gCWohDyAKIAlqIRD9DAAAAAAAAAAAAAAAAAAAAAAhFv0MAAAAAAAAAAAAAAAAAAAAACEX/QwAAAAAAAAAAAAAAAAAAAAAIRj9DAAAAAAAAAAAAAAAAAAAAAAhGf0MAAAAAAAAAAAAAAAAAAAAACEa/QwAAAAAAAAAAAAAAAAAAAAAIRv9DAAAAAAAAAAAAAAAAAAAAAAhHP0MAAAAAAAAAAAAAAAAAAAAACEdA0AgCv0ABAAhEyAL/QAEACEUIAz9AAQAIRUgFiATIBX95gH95AEhFiAaIBQgFf3mAf3kASEaIA39AAQAIRUgFyATIBX95gH95AEhFyAbIBQgFf3mAf3kASEbIA79AAQAIRUgGCATIBX95gH95AEhGCAcIBQgFf3mAf3kASEcIA/9AAQAIRUgGSATIBX95gH95AEhGSAdIBQgFf3mAf3kASEdIApBEGohCiALQRBqIQsgDEEQaiEMIA1BEGohDSAOQRBqIQ4gD0EQaiEPIAogEEkNAAsgAyAGIBJsIAdBAnRqaiERIBEgFhAAOAIAIBEgFxAAOAIEIBEgGBAAOAIIIBEgGRAAOAIMIAZBAWogAUgEQCARIBJqIREgESAaEAA4AgAgESAbEAA4AgQgESAcEAA4AgggESAdEAA4AgwLIAdBBGohByAHIAVIDQALIAZBAmohBgwBCwsL";
  function arena(lengths, plain) { // {name: length}
    let kernel = null, used = 1024;
    const bytes = Object.values(lengths).reduce((sum, n) => sum + 4 * n + 16, used), found = {};
    if (!plain) try {
      kernel = new WebAssembly.Instance(new WebAssembly.Module(bytesOf(KERNEL))).exports;
      kernel.memory.grow(Math.ceil(bytes / 65536));
    } catch { kernel = null; } // a browser without SIMD: slower, the same numbers
    const memory = kernel ? kernel.memory.buffer : new ArrayBuffer(bytes);
    for (const [name, n] of Object.entries(lengths)) {
      found[name] = new Float32Array(memory, used, n);
      used += (4 * n + 15) & ~15;
    }
    // y[t, o] = sum over i of x[t, i] w[o, i]; inner and outer are multiples of 4.
    function matmul(x, n, w, y, inner, outer) {
      if (kernel) return void kernel.matmul(x.byteOffset, n, w.byteOffset, y.byteOffset, inner, outer);
      for (let t = 0; t < n; t++) for (let o = 0; o < outer; o += 4) {
        const a = t * inner, p = o * inner, q = p + inner, r = q + inner, s = r + inner;
        let y0 = 0, y1 = 0, y2 = 0, y3 = 0;
        for (let i = 0; i < inner; i++) {
          const u = x[a + i];
          y0 += u * w[p + i]; y1 += u * w[q + i]; y2 += u * w[r + i]; y3 += u * w[s + i];
        }
        y.set([y0, y1, y2, y3], t * outer + o);
      }
    }
    return { found, matmul };
  }

  // --- network: a Llama in which each head has keys of its own ----------------------------------------------------
  function network({ config: c, tensors }, weights, plain) { // tensors: [[name, how many numbers], ...]
    const D = c.hidden_size, H = c.num_attention_heads, d = c.head_dim, A = H * d, half = d / 2;
    const F = c.intermediate_size, L = c.num_hidden_layers, MAX = c.max_position_embeddings, V = c.vocab_size, V4 = (V + 3) & ~3;
    if (c.num_key_value_heads !== H || [D, d, F].some((n) => n % 4)) throw new RangeError("a network of another shape");
    const SLOTS = 2 * MAX; // of the cache: a stem, and the tree of options behind it
    const lengths = Object.fromEntries(tensors);
    lengths["model.embed_tokens.weight"] = V4 * D; // it has rows of zeros at its end
    for (let l = 0; l < L; l++) lengths[`K${l}`] = lengths[`V${l}`] = SLOTS * A; // (head, slot, i)
    const { found: all, matmul } = arena({
      ...lengths, x: MAX * D, y: MAX * D, q: MAX * A, k: MAX * A, v: MAX * A, one: MAX * d, turned: SLOTS * d,
      p: MAX * SLOTS, gate: MAX * F, up: MAX * F, out: MAX * V4,
    }, plain);
    let first = 0;
    for (const [name, n] of tensors) all[name].set(weights.subarray(first, first += n));
    const W = (l, name) => all[`model.layers.${l}.${name}.weight`], embed = all["model.embed_tokens.weight"];
    const { x, y, q, k, v, one, turned, p, gate, up, out } = all;
    const cos = new Float32Array(MAX * half), sin = new Float32Array(MAX * half), sums = new Float32Array(MAX);
    for (let at = 0; at < MAX; at++) for (let i = 0; i < half; i++) {
      const angle = Math.fround(at * Math.fround(1 / Math.pow(c.rope_parameters.rope_theta, (2 * i) / d)));
      cos[at * half + i] = Math.cos(angle);
      sin[at * half + i] = Math.sin(angle);
    }
    function norm(n, g) { // of x, into y
      for (let o = 0; o < n * D; o += D) {
        let s = 0;
        for (let i = 0; i < D; i++) s += x[o + i] * x[o + i];
        const f = 1 / Math.sqrt(s / D + c.rms_norm_eps);
        for (let i = 0; i < D; i++) y[o + i] = x[o + i] * f * g[i];
      }
    }
    function rotate(z, n, position) {
      for (let t = 0; t < n; t++) for (let o = t * A, r = position[t] * half; o < (t + 1) * A; o += d) {
        for (let i = 0; i < half; i++) {
          const a = z[o + i], b = z[o + half + i];
          z[o + i] = a * cos[r + i] - b * sin[r + i];
          z[o + half + i] = b * cos[r + i] + a * sin[r + i];
        }
      }
    }
    // Row t of p, scores of all slots, becomes exponentials of those that token t sees, and 0.
    function soften(t, slots, see, more) {
      const row = p.subarray(t * slots, (t + 1) * slots), own = more.map((j) => row[j]);
      let top = Math.max(...own), sum = 0;
      for (let j = 0; j < see; j++) if (row[j] > top) top = row[j];
      row.fill(0, see);
      for (let j = 0; j < see; j++) sum += row[j] = Math.exp(row[j] - top);
      more.forEach((j, i) => { sum += row[j] = Math.exp(own[i] - top); });
      sums[t] = sum;
    }
    // Tokens ids[t] at slots from + t. Token t sees the slots before see[t], and those of more[t].
    function forward(ids, from, position, see, more) {
      const n = ids.length, slots = (from + n + 3) & ~3;
      if (n > MAX || slots > SLOTS) throw new RangeError(`more than ${MAX} tokens at once`);
      ids.forEach((id, t) => x.set(embed.subarray(id * D, (id + 1) * D), t * D));
      for (let l = 0; l < L; l++) {
        norm(n, W(l, "input_layernorm"));
        matmul(y, n, W(l, "self_attn.q_proj"), q, D, A);
        matmul(y, n, W(l, "self_attn.k_proj"), k, D, A);
        matmul(y, n, W(l, "self_attn.v_proj"), v, D, A);
        rotate(q, n, position);
        rotate(k, n, position);
        for (let h = 0; h < H; h++) {
          const keys = all[`K${l}`].subarray(h * SLOTS * d, (h + 1) * SLOTS * d);
          const values = all[`V${l}`].subarray(h * SLOTS * d, (h + 1) * SLOTS * d);
          for (let t = 0; t < n; t++) for (let i = 0, o = t * A + h * d; i < d; i++) {
            one[t * d + i] = q[o + i] / Math.sqrt(d);
            keys[(from + t) * d + i] = k[o + i];
            values[(from + t) * d + i] = v[o + i];
          }
          matmul(one, n, keys, p, d, slots);
          for (let t = 0; t < n; t++) soften(t, slots, see[t], more[t]);
          for (let j = 0; j < slots; j++) for (let i = 0; i < d; i++) turned[i * slots + j] = values[j * d + i];
          matmul(p, n, turned, one, slots, d);
          for (let t = 0; t < n; t++) for (let i = 0; i < d; i++) q[t * A + h * d + i] = one[t * d + i] / sums[t];
        }
        matmul(q, n, W(l, "self_attn.o_proj"), y, A, D);
        for (let i = 0; i < n * D; i++) x[i] += y[i];
        norm(n, W(l, "post_attention_layernorm"));
        matmul(y, n, W(l, "mlp.gate_proj"), gate, D, F);
        matmul(y, n, W(l, "mlp.up_proj"), up, D, F);
        for (let i = 0; i < n * F; i++) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
        matmul(gate, n, W(l, "mlp.down_proj"), y, F, D);
        for (let i = 0; i < n * D; i++) x[i] += y[i];
      }
      norm(n, all["model.norm.weight"]);
      return y; // (n, D)
    }
    // Log-probabilities of what follows on row t of n rows: logprob(t, token).
    function following(rows, n) {
      y.set(rows);
      matmul(y, n, embed, out, D, V4);
      const lse = Array.from({ length: n }, (_, t) => {
        let top = -Infinity, sum = 0;
        for (let i = t * V4; i < t * V4 + V; i++) if (out[i] > top) top = out[i];
        for (let i = t * V4; i < t * V4 + V; i++) sum += Math.exp(out[i] - top);
        return top + Math.log(sum);
      });
      return (t, token) => out[t * V4 + token] - lse[t];
    }
    return { forward, following, MAX, D };
  }

  // --- scores ---------------------------------------------------------------------------------------------------
  function common(a, b) {
    let i = 0;
    while (i < a.length && i < b.length && a[i] === b[i]) i++;
    return i;
  }
  function scorer(encode, net) {
    let held = [], last = null; // the stem in the cache, and what the network says behind it
    function read(stem) { // what it shares with the stem before is not computed again
      const keep = Math.min(common(held, stem), stem.length - 1), ids = stem.slice(keep);
      held = []; // if this fails, the cache holds parts of two stems
      const at = ids.map((_, i) => keep + i);
      const rows = net.forward(ids, keep, at, at.map((i) => i + 1), at.map(() => []));
      last = rows.slice((ids.length - 1) * net.D, ids.length * net.D);
      held = stem;
      return ids.length;
    }
    // The log-probability of each continuation: of its tokens behind the longest prefix that they share with the
    // context's own tokens, which is the package's border rule.
    function score(context, continuations) {
      const own = encode(context), all = continuations.map((each) => encode(context + each));
      const borders = all.map((ids) => common(own, ids));
      if (all.some((ids) => ids.length > net.MAX)) throw new RangeError(`The model reads ${net.MAX} tokens at most.`);
      if (all.some((ids, i) => ids.length <= borders[i])) throw new RangeError("An option is empty.");
      const n = all.reduce((least, ids, i) => Math.min(least, borders[i], common(all[0], ids)), own.length);
      let tokens = read(all[0].slice(0, n));
      const root = { children: new Map(), depth: 0, slots: [] };
      const paths = all.map((ids) => {
        let node = root;
        return ids.slice(n).map((id) => {
          const { children, depth } = node;
          if (!children.has(id)) children.set(id, { id, children: new Map(), parent: node, depth: depth + 1 });
          return (node = children.get(id));
        });
      });
      let level = [root], rows = last, slot = n; // nodes that have children, level by level
      while (level.length) {
        const logprob = net.following(rows, level.length);
        level.forEach((node, t) => { for (const [id, child] of node.children) child.logprob = logprob(t, id); });
        level = level.flatMap((node) => [...node.children.values()]).filter((node) => node.children.size);
        if (!level.length) break;
        level.forEach((node, t) => { node.slots = [...node.parent.slots, slot + t]; });
        const positions = level.map((node) => n + node.depth - 1), slots = level.map((node) => node.slots);
        rows = net.forward(level.map((node) => node.id), slot, positions, level.map(() => n), slots);
        slot += level.length;
        tokens += level.length;
      }
      const logprob = paths.map((path, i) => path.slice(borders[i] - n).reduce((sum, node) => sum + node.logprob, 0));
      return { logprob, tokens };
    }
    return score;
  }
  function confidence(logprob) {
    const top = Math.max(...logprob), each = logprob.map((value) => Math.exp(value - top));
    const sum = each.reduce((a, b) => a + b, 0);
    return each.map((value) => value / sum);
  }
  // A model of a weights script, ready to be asked: score(context, continuations) gives {logprob, tokens}.
  async function open(model, plain) {
    const weights = floatsOf(await unzip(bytesOf(model.weights))), encode = tokenizer(model.tokenizer);
    return { encode, score: scorer(encode, network(model, weights, plain)) };
  }
  return { open, confidence };
}
if (typeof module !== "undefined") module.exports = lkeEngine;
