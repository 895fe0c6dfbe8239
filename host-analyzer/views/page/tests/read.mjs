// `node read.mjs PAGE`: opens a report in headless Chromium and prints its content as JSON:
// figures, table rows, drawn graphs, and all errors. host-analyzer/views/tests/report compares the
// output with the data of the page. Exit code 2: Chromium or the packages are not installed.

import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { launch } from "../tools/browser.mjs";

const [file] = process.argv.slice(2);
const browser = await launch();
const problems = [];
const requests = [];

async function open(options) {
  const context = await browser.newContext(options);
  // Record the texts on the timeline, which is a canvas.
  await context.addInitScript(() => {
    window.__written = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      if (this.canvas.closest(".time-view")) {
        window.__written.push(text);
      }
      return write.call(this, text, ...rest);
    };
  });
  const page = await context.newPage();
  page.on(
    "console",
    (m) => ["error", "warning"].includes(m.type()) && problems.push(`${m.type()}: ${m.text()}`),
  );
  page.on("pageerror", (e) => problems.push(`uncaught: ${e.message}`));
  page.on("request", (r) => requests.push(r.url()));
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  return page;
}

/** Rows of all tables, as keys and values, after clicks on all "Show all" buttons. */
async function tables(page) {
  const more = page.locator("button.more:visible");
  while ((await more.count()) > 0) {
    await more.first().click();
  }
  return page.evaluate(() => {
    const out = {};
    for (const t of document.querySelectorAll("[data-table]")) {
      out[t.dataset.table] = [...t.querySelectorAll("tbody tr:not(.none)")].map((row) =>
        Object.fromEntries([...row.children].map((cell) => [cell.dataset.key, cell.dataset.value])),
      );
    }
    return out;
  });
}

/** Selects a fold level, if the parts of the model are known. */
async function foldInto(page, level) {
  const button = page.locator("#profdag .choice[aria-label=Fold] button", { hasText: level });
  if ((await button.count()) > 0) {
    await button.click();
  }
}

/** Each graph as drawn. */
async function graphs(page) {
  await foldInto(page, "Nodes");
  const names = await page.locator("#profdag .choice[aria-label=Graph] button").allTextContents();
  const out = [];
  for (const name of names.length > 0 ? names : [null]) {
    if (name !== null) {
      await page
        .locator("#profdag .choice[aria-label=Graph] button", { hasText: name })
        .first()
        .click();
    }
    out.push(
      await page.evaluate(() => {
        const view = document.querySelector(".dag-view");
        const boxes = [...view.querySelectorAll("[data-node]")];
        const rects = boxes.map((b) => b.getBoundingClientRect());
        let overlaps = 0;
        for (let i = 0; i < rects.length; i++) {
          for (let k = i + 1; k < rects.length; k++) {
            const [a, b] = [rects[i], rects[k]];
            overlaps +=
              a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom ? 1 : 0;
          }
        }
        return {
          phase: view.dataset.phase,
          nodes: boxes.map((b) => Number(b.dataset.node)).sort((a, b) => a - b),
          edges: [...view.querySelectorAll("[data-edge]")].map((e) => e.dataset.edge).sort(),
          names: boxes.map((b) => b.querySelector("text").textContent),
          overlaps,
          outside: rects.filter((r) => r.width <= 0 || !Number.isFinite(r.left)).length,
          layout_ms: Number(view.dataset.layoutMs),
        };
      }),
    );
  }
  return out;
}

/**
 * The graph at each fold level, and a box that is opened and closed with mouse and keys. Null if
 * folding is not possible.
 */
async function folding(page) {
  const buttons = page.locator("#profdag .choice[aria-label=Fold] button");
  if ((await buttons.count()) === 0) {
    return null;
  }
  const drawn = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".dag-view [data-node]")].map((e) => {
        const folded = e.dataset.part !== undefined;
        return {
          index: Number(e.dataset.node),
          name: folded ? e.querySelector("text").textContent : null,
          count: Number(e.dataset.count ?? 1),
          wall: folded ? Number(e.dataset.wall) : null,
        };
      }),
    );
  const press = async (key) => {
    await page.locator(".dag-view").focus();
    await page.keyboard.press(key);
    return (await drawn()).length;
  };
  const out = {
    first: await page
      .locator("#profdag .choice[aria-label=Fold] button[aria-pressed=true]")
      .textContent(),
    levels: {},
  };
  for (const level of ["Modules", "Layers"]) {
    await foldInto(page, level);
    out.levels[level] = await drawn();
  }
  await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".dag-view .folded")];
    boxes
      .find((b) => b.querySelector("text").textContent === "layer 0")
      .dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  });
  out.opened = (await drawn()).length;
  out.deeper = await press("Enter");
  out.back = await press("Enter");
  out.closed = await press("Shift+Enter");
  // Finding a hidden tensor opens its box.
  await page.locator("#dag-search").fill("ffn_out");
  await page.locator("#dag-search").press("Enter");
  out.found = await page.locator("#profdag .detail h4").textContent();
  await page.locator("#dag-search").fill("");
  await foldInto(page, "Nodes");
  return out;
}

/** Experts: content per choice, and tooltip and colour of every cell of the heat map. */
async function experts(page) {
  const names = await page
    .locator('#experts .choice[aria-label="Experts of"] button')
    .allTextContents();
  const out = {};
  for (const name of names) {
    await page
      .locator('#experts .choice[aria-label="Experts of"] button', { hasText: name })
      .click();
    const shown = await tables(page);
    const figures = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll("#experts .num[data-key]")].map((e) => [
          e.dataset.key,
          e.dataset.value,
        ]),
      ),
    );
    const sentence = await page.locator("#experts .sentence").textContent();
    const view = page.locator("#experts .heat-view");
    const g = await view.evaluate((e) => ({ ...e.dataset }));
    const cells = [];
    for (let y = 0; y < Number(g.lines); y++) {
      for (let x = 0; x < Number(g.columns); x++) {
        const position = {
          x: Number(g.left) + (x + 0.5) * Number(g.cellWidth),
          y: Number(g.top) + (y + 0.5) * Number(g.cellHeight),
        };
        await view.hover({ position });
        const told = await page.locator("#experts .tip > *").allTextContents();
        const colour = await view.locator("canvas").evaluate((c, p) => {
          // Read from a copy, because the canvas is not made for reading.
          const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          const k = window.devicePixelRatio;
          pixel.drawImage(c, Math.round(p.x * k), Math.round(p.y * k), 1, 1, 0, 0, 1, 1);
          return [...pixel.getImageData(0, 0, 1, 1).data].join(",");
        }, position);
        cells.push({ line: y, column: x, told: told.slice(0, 2), colour });
      }
    }
    await page
      .locator('#experts .choice[aria-label="Order"] button', { hasText: "most used" })
      .click();
    await view.focus();
    await page.keyboard.press("ArrowRight");
    const most = await page.locator("#experts .tip strong").textContent();
    await page
      .locator('#experts .choice[aria-label="Order"] button', { hasText: "number" })
      .click();
    out[name] = { layers: shown.experts, pins: shown.pins, figures, sentence, cells, most };
  }
  return out;
}

/** Rows of thread states: tooltips of some slices, and the text on a slice that fills the view. */
async function threadStates(page) {
  const view = page.locator(".time-view");
  const hint = await page.locator("#proftime .hint").first().textContent();
  if ((await view.count()) === 0) {
    return { hint, tracks: [] };
  }
  const timeline = JSON.parse(
    gunzipSync(Buffer.from(await page.locator("#timeline").textContent(), "base64")),
  );
  // All of it: the view begins with the longest token.
  await view.press("0");
  const rows = await page.evaluate((t) => {
    const g = document.querySelector(".time-view").dataset;
    const places = JSON.parse(g.places);
    const tall = Math.max(...places.map((p) => p.height));
    const thin = places.filter((p) => p.height < tall);
    const width = document.querySelector(".time-view canvas").clientWidth - Number(g.gutter);
    const scale = width / (t.end_ns - t.start_ns);
    return t.tracks
      .filter((track) => track.kind === "state")
      .map((track, i) => {
        const slices = [];
        for (let k = 0; k < track.slices.length; k += 4) {
          const [start, length, state] = track.slices.slice(k, k + 3);
          slices.push({
            state: t.states[state][0],
            length,
            x: Number(g.gutter) + (start + length / 2) * scale,
            y: thin[i].top + thin[i].height / 2,
          });
        }
        // The excerpt begins before the first event of some threads.
        return {
          track: track.track,
          slices,
          first: { x: Number(g.gutter) + 2, y: thin[i].top + thin[i].height / 2 },
        };
      });
  }, timeline);
  const told = async ({ x, y }) => {
    await view.hover({ position: { x, y } });
    return page.locator(".time-view .tip > *").allTextContents();
  };
  const tracks = [];
  for (const { track, slices, first } of rows) {
    const taken = slices.find((s) => s.state === "preempted");
    const out = {
      track,
      states: slices.map((s) => s.state),
      begins: await told(first),
      taken: taken ? await told(taken) : null,
      written: [],
    };
    if (taken) {
      await page.evaluate(() => (window.__written = []));
      await view.dblclick({ position: { x: taken.x, y: taken.y } });
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      out.written = await page.evaluate(() => window.__written);
      await view.focus();
      await page.keyboard.press("0");
    }
    tracks.push(out);
  }
  return { hint, tracks };
}

/** A link to a folded section opens it; a link to a token also moves the timeline. */
async function jump(page) {
  const link = page.locator(".to-time").first();
  if ((await link.count()) === 0) {
    return null;
  }
  await link.click();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  const shown = await page.evaluate(() => ({
    open: document.getElementById("group-timeline").open,
    others: [...document.querySelectorAll("details.group")].filter((e) => e.open).length,
    window: document.querySelector(".time-view").dataset.window,
  }));
  await page.locator(".time-view").press("0");
  return shown;
}

/** The list of keys: `?` opens it, Escape closes it; in a field for text `?` is a character. */
async function keyList(page) {
  const open = () => page.evaluate(() => document.querySelector(".key-list").open);
  const search = page.locator("#dag-search");
  await search.fill("");
  await search.press("?");
  const typed = { text: await search.inputValue(), open: await open() };
  await search.fill("");
  await page.locator(".time-view").press("?");
  const out = {
    typed,
    open: await open(),
    keys: await page.locator(".key-list kbd").allTextContents(),
  };
  await page.keyboard.press("Escape");
  return { ...out, closed: !(await open()) };
}

/** Uses the page like a person, so that code for clicks and keys runs too. */
async function exercise(page) {
  await page.locator("#dag-search").fill("ffn_out");
  await page.locator("#dag-search").press("Enter");
  const found = await page.locator("#profdag .detail h4").textContent();
  await page.locator(".dag-view").focus();
  for (const key of [".", ",", "+", "-", "ArrowLeft", "0", "Escape"]) {
    await page.keyboard.press(key);
  }
  await page.locator("#profdag .check input").click();
  const withoutWeights = await page.locator(".dag-view [data-node]").count();
  await page.locator("#profdag .check input").click();
  await page.locator(".time-view").focus();
  for (const key of ["+", "ArrowRight", "-", "0"]) {
    await page.keyboard.press(key);
  }
  await page.locator(".time-view").hover({ position: { x: 400, y: 40 } });
  const slice = await page.locator(".time-view .tip strong").textContent();
  await page.locator("#operator-filter").fill("ffn_out-0");
  const filtered = await page.locator('[data-table="operators"] tbody tr').count();
  await page.locator("#operator-filter").fill("");
  const part = page.locator('[data-table="modules"] tbody tr a').first();
  let of = null;
  if ((await part.count()) > 0) {
    const name = await part.textContent();
    await part.click();
    const rows = (await tables(page)).operators;
    of = { name, operators: rows, wall: rows.reduce((sum, r) => sum + Number(r.wall_ns), 0) };
    await page.locator("#operator-filter").fill("");
  }
  await page.emulateMedia({ colorScheme: "dark" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  return { part: of, found, without_weights: withoutWeights, slice, filtered };
}

/** Reaction of the page's content security policy to injected markup and traffic. */
async function injected(page) {
  return page.evaluate(async () => {
    const refused = new Set();
    document.addEventListener("securitypolicyviolation", (e) => refused.add(e.effectiveDirective));
    const put = (tag, attributes, text = "") => {
      const element = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) {
        element.setAttribute(name, value);
      }
      element.textContent = text;
      document.body.append(element);
      return element;
    };
    put("script", {}, "window.__injected = 'script'");
    put("style", {}, "body { display: none }");
    put("button", { onclick: "window.__injected = 'attribute'" }).click();
    const styled = put("p", { style: "position: fixed" });
    const answer = await fetch("https://127.0.0.1:9/").then(
      () => "answered",
      () => "refused",
    );
    await new Promise((done) => setTimeout(done, 100));
    return {
      refused: [...refused].sort(),
      ran: String(window.__injected),
      answer,
      hidden: getComputedStyle(document.body).display === "none",
      styled: getComputedStyle(styled).position === "fixed",
    };
  });
}

const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
const facts = await page.evaluate(() => {
  const health = document.getElementById("health");
  const figures = [...document.querySelectorAll(".num[data-key]")];
  return {
    title: document.title,
    heading: document.querySelector("h1")?.textContent ?? null,
    head: [...document.querySelectorAll("header.head .model, header.head .lines span")].map(
      (e) => e.textContent,
    ),
    command: document.querySelector(".command")?.textContent ?? null,
    health: {
      kind: health.className,
      lines: [...health.querySelectorAll("[data-health-line]")].map((e) => e.textContent),
    },
    figures: Object.fromEntries(
      figures.map((e) => [e.dataset.key, { value: e.dataset.value, text: e.textContent }]),
    ),
    threads: [...document.querySelectorAll("#threads .work, #threads .wait")]
      .filter((e) => e.dataset.key)
      .map((e) => ({
        tid: e.closest("[data-tid]").dataset.tid,
        key: e.dataset.key,
        value: e.dataset.value,
      })),
    // The first screen: speeds, and codes of findings and excluded causes, including folded ones.
    speeds: Object.fromEntries(
      [...document.querySelectorAll("#speed [data-speed]")].map((e) => [
        e.dataset.speed,
        { value: e.dataset.value, text: e.querySelector(".value").textContent },
      ]),
    ),
    speed_says: document.querySelector("#speed .says")?.textContent ?? null,
    answer: {
      findings: [...document.querySelectorAll("#answer .findings > li")].map((e) => e.dataset.code),
      excluded: [...document.querySelectorAll("#answer .excluded > li")].map((e) => e.dataset.code),
      evidence: [...document.querySelectorAll("#answer .evidence-list div")].map((e) =>
        [...e.children].map((part) => part.textContent),
      ),
      links: [...document.querySelectorAll("#answer a")].map((e) => e.hash),
      commands: [...document.querySelectorAll("#answer .copyable code")].map((e) => e.textContent),
    },
    // Upper edge of the ladder, without scrolling.
    ladder_begins: document.getElementById("ladder")?.getBoundingClientRect().top ?? null,
    ladders: Object.fromEntries(
      [...document.querySelectorAll("[data-ladder]")].map((e) => [
        e.dataset.ladder,
        {
          hidden: e.hidden,
          folded: e.closest("details:not([open])") !== null,
          measured: Number(e.dataset.measured),
          steps: [...e.querySelectorAll("[data-step]")].map((step) => ({
            kind: step.dataset.step,
            ns: Number(step.dataset.value),
            text: step.querySelector(".label").textContent,
            title: step.title,
            left: parseFloat(step.querySelector(".fill").style.left),
            width: parseFloat(step.querySelector(".fill").style.width),
          })),
        },
      ]),
    ),
    tokens: Number(document.querySelector("[data-chart=tokens]")?.dataset.count ?? 0),
    programs: [...document.querySelectorAll(".programs li")].map((e) => ({
      pid: Number(e.dataset.pid),
      ns: Number(e.dataset.value),
    })),
    folded: [...document.querySelectorAll("details.group")].map((e) => [e.id, !e.open]),
    bars: Object.fromEntries(
      [...document.querySelectorAll("[data-bar]")].map((e) => [
        e.dataset.bar,
        {
          whole: Number(e.dataset.whole),
          parts: [...e.children].map((part) => Number(part.dataset.value)),
          filled: [...e.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0),
        },
      ]),
    ),
    states: Object.fromEntries(
      [...document.querySelectorAll('[data-key^="sched."]')].map((e) => [
        e.dataset.key,
        Number(e.dataset.value),
      ]),
    ),
    conditions: Object.fromEntries(
      [...document.querySelectorAll("#conditions dt")].map((e) => [
        e.textContent,
        e.nextElementSibling.textContent,
      ]),
    ),
    environment: [...document.querySelectorAll(".environment li")].map((e) => e.textContent),
    absent: [...document.querySelectorAll(".not-read li")].map((e) => e.textContent),
    navigation: [...document.querySelectorAll("nav .links a")].map((e) => e.hash),
    // Links without a target.
    dead: [...document.querySelectorAll('a[href^="#"]')]
      .map((e) => e.hash)
      .filter((hash) => !document.getElementById(hash.slice(1))),
    // Each statement of the first screen, and the targets of its links.
    statements: [
      "#answer .findings > li",
      "#answer .excluded > li",
      "#budget .lead",
      "#budget h5",
      "#budget .budget-legend > li",
    ].flatMap((kind) =>
      [...document.querySelectorAll(kind)].map((e) => ({
        kind,
        text: e.textContent,
        links: [...e.querySelectorAll("a")].map((a) => a.hash),
      })),
    ),
    timeline: { ...document.querySelector(".time-view")?.dataset },
    chart: Number(document.querySelector("[data-chart=tpot]")?.dataset.count ?? 0),
  };
});
// A session without computation has nothing else to check.
if (!(await page.locator("#operators .choice button").count())) {
  await browser.close();
  console.log(JSON.stringify({ ...facts, problems, requests }));
  process.exit(0);
}
facts.jump = await jump(page);
await page.evaluate(() => {
  for (const group of document.querySelectorAll("details.group, details.each")) {
    group.open = true;
  }
});
// The first view of the graph: its level of detail, and captions that touch boxes.
await page.evaluate(
  () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
);
facts.graph_opens = await page.evaluate(() => {
  const rects = (kind) =>
    [...document.querySelectorAll(`.dag-view ${kind}`)].map((e) => e.getBoundingClientRect());
  const boxes = rects(".node > rect");
  const touch = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return {
    detail: document.querySelector(".dag-view svg").dataset.lod,
    crossed: rects(".captions text").filter((a) => boxes.some((b) => touch(a, b))).length,
  };
});
facts.tables = await tables(page);
facts.operators = {};
for (const phase of ["decode", "prefill"]) {
  await page.locator("#operators .choice button", { hasText: phase }).click();
  facts.operators[phase] = (await tables(page)).operators;
}
facts.folding = await folding(page);
facts.graphs = await graphs(page);
facts.experts = await experts(page);
facts.thread_states = await threadStates(page);
facts.exercise = await exercise(page);
facts.key_list = await keyList(page);
// No horizontal overflow at the widths that the page is designed for, the last that of a phone.
facts.overflow = {};
for (const width of [1280, 800, 390]) {
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  facts.overflow[width] = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
}
// On a phone: tables that have more columns than fit, and those of them that say so.
facts.sideways = await page.evaluate(() => {
  const all = [...document.querySelectorAll(".table")].filter((e) => e.checkVisibility());
  const wide = all.filter((e) => {
    const box = e.querySelector(".scroll");
    return box.scrollWidth > box.clientWidth + 1;
  });
  const says = (e) => getComputedStyle(e, "::before").content.includes("Scroll sideways");
  return { wide: wide.length, told: wide.filter(says).length, all: all.filter(says).length };
});
facts.hostile = await page.evaluate(() => ({
  executed: String(window.__hostile),
  images: document.images.length,
  // The program removes its own element; only the three data elements may remain.
  scripts: [...document.scripts].map((e) => e.type),
}));
const dark = await open({ viewport: { width: 800, height: 900 }, colorScheme: "dark" });
// Requests and errors of the page itself; the following ones are provoked.
const own = { problems: [...problems], requests: [...requests] };
facts.injected = await injected(dark);
await browser.close();
console.log(JSON.stringify({ ...facts, ...own }));
