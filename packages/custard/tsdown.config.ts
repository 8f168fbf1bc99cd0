import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defineConfig } from "tsdown";

const outDir = `${import.meta.dirname}/dist/bundle`;

/** Modules find files of the package by their own place; in the bundle they keep it. */
const keepPlaces = {
  name: "keep-places",
  transform: (code: string, id: string) =>
    isOurs(id) && code.includes("import.meta.url")
      ? code.replaceAll(
          "import.meta.url",
          `new URL(${JSON.stringify(relative(outDir, id))}, import.meta.url).href`,
        )
      : undefined,
};

/** What is bundled keeps its licence. */
const keepLicences = {
  name: "keep-licences",
  generateBundle(this: { getModuleIds(): Iterable<string>; emitFile(file: object): string }) {
    const packages = new Set([...this.getModuleIds()].flatMap((id) => packageOf(id) ?? []));
    const texts = [...packages].toSorted().map(licenceOf);
    this.emitFile({ type: "asset", fileName: "LICENCES.txt", source: texts.join("\n\n") });
  },
};

function isOurs(id: string): boolean {
  return id.startsWith("/") && packageOf(id) === undefined;
}

function packageOf(id: string): string | undefined {
  return /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(id)?.[0];
}

function licenceOf(folder: string): string {
  const name = readdirSync(folder).find((file) => /^licen[cs]e/iu.test(file));
  const manifest = readFileSync(join(folder, "package.json"), "utf8");
  const { name: title, license } = JSON.parse(manifest) as { name: string; license?: string };
  if (name === undefined) return `${title}: ${license ?? "no licence named"}`;
  return `${title}\n\n${readFileSync(join(folder, name), "utf8")}`;
}

// The command line as few files: Node.js starts it in half the time that one file per module takes. The database
// driver stays outside, as it brings a binary.
export default defineConfig({
  entry: { bin: "dist/cli/bin.js" },
  outDir,
  format: "esm",
  platform: "node",
  target: "node20",
  dts: false,
  clean: true,
  fixedExtension: false,
  noExternal: [/^(?!libsql)/u],
  external: ["libsql"],
  plugins: [keepPlaces, keepLicences],
  outputOptions: { chunkFileNames: "[name].js" },
});
