// Writes dist/report.html and dist/compare.html (the pages without data, which the analyzer embeds)
// and dist/THIRD-PARTY.md. With --check it writes nothing and fails if dist/ is out of date.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load, modulesDir, root } from "./modules.mjs";

/** Libraries bundled with the page. The build fails if the actual list differs. */
const BUNDLED = ["@dagrejs/dagre", "uplot"];
/** Maximum size of a page without data, bytes. The report has 280,000. */
const LIMIT = 300_000;

function notices(modules) {
  return BUNDLED.map((name) => {
    const dir = join(modules, name);
    const { version, license } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
    const file = readdirSync(dir).find((f) => /^licen[cs]e(\.md|\.txt)?$/i.test(f));
    if (!file) {
      throw new Error(`${name} has no licence file`);
    }
    return { name, version, license, text: readFileSync(join(dir, file), "utf8").trim() };
  });
}

function bundledPackages(metafile) {
  const names = Object.keys(metafile.inputs).flatMap((path) => {
    const tail = path.split("node_modules/").pop();
    return tail === path
      ? []
      : [tail.startsWith("@") ? tail.split("/").slice(0, 2).join("/") : tail.split("/")[0]];
  });
  return [...new Set(names)].sort();
}

/** Pages: entry point, bundled libraries, title. */
const PAGES = {
  "report.html": { entry: "src/main.ts", bundled: BUNDLED, title: "ProfInfer report" },
  "compare.html": { entry: "src/compare/main.ts", bundled: [], title: "ProfInfer comparison" },
};

async function buildPage(name, { entry, bundled, title }, parts) {
  const esbuild = await load("esbuild");
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "iife",
    // Older browsers than those that can read the data (src/data/read.ts), so that they can at
    // least show the message about it.
    target: ["es2020", "chrome100", "firefox100", "safari15"],
    charset: "utf8",
    legalComments: "none",
    nodePaths: [modulesDir()],
    define: { THIRD_PARTY: JSON.stringify(parts) },
    outdir: "out",
    write: false,
    metafile: true,
  });
  const found = bundledPackages(result.metafile);
  if (found.join() !== [...bundled].sort().join()) {
    throw new Error(
      `packages in ${name}: ${found.join(", ")}; expected in tools/build.mjs: ${bundled.join(", ")}`,
    );
  }
  const text = (end) => result.outputFiles.find((f) => f.path.endsWith(end)).text.trim();
  const script = text(".js");
  const style = text(".css");
  const hash = (content) => createHash("sha256").update(content, "utf8").digest("base64");
  // Replacement functions, because `$` in the script would be a pattern.
  const page = readFileSync(join(root, "src/page.html"), "utf8")
    .replace("ProfInfer report", () => title)
    .replace("%SCRIPT-HASH%", () => hash(script))
    .replace("%STYLE-HASH%", () => hash(style))
    .replace("%STYLE%", () => style)
    .replace("%SCRIPT%", () => script);
  if (Buffer.byteLength(page) > LIMIT) {
    throw new Error(`${name} has ${Buffer.byteLength(page)} bytes; the limit is ${LIMIT}`);
  }
  return page;
}

/** Outputs by file name. */
export async function build() {
  const parts = notices(modulesDir());
  const outputs = {};
  for (const [name, page] of Object.entries(PAGES)) {
    outputs[name] = await buildPage(name, page, parts);
  }
  const list = parts
    .map((p) => `## ${p.name} ${p.version} (${p.license})\n\n\`\`\`text\n${p.text}\n\`\`\`\n`)
    .join("\n");
  return {
    ...outputs,
    "THIRD-PARTY.md": `# Libraries inside report.html\n\nWritten by tools/build.mjs.\n\n${list}`,
  };
}

const outputs = await build();
const dist = join(root, "dist");
if (process.argv.includes("--check")) {
  const stale = Object.entries(outputs).filter(
    ([name, text]) =>
      !existsSync(join(dist, name)) || readFileSync(join(dist, name), "utf8") !== text,
  );
  if (stale.length > 0) {
    console.error(
      `dist/ is out of date (${stale.map(([name]) => name).join(", ")}): run \`npm run build\` in host-analyzer/views/page and commit dist/.`,
    );
    process.exit(1);
  }
  console.log("dist/ is up to date");
} else {
  mkdirSync(dist, { recursive: true });
  for (const [name, text] of Object.entries(outputs)) {
    writeFileSync(join(dist, name), text);
    console.log(`dist/${name}  ${Buffer.byteLength(text)} bytes`);
  }
}
