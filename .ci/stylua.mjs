// stylua [--check] FILE...: formats Lua by the stylua.toml in the folder of the first file or above it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const require = createRequire(import.meta.url);
const module = "@johnnymorganz/stylua";
const lib = require(module);

const args = process.argv.slice(2);
if (args[0] === "--version") {
  const home = dirname(require.resolve(module));
  console.log(JSON.parse(readFileSync(join(home, "package.json"))).version);
  process.exit(0);
}
const check = args[0] === "--check";
const files = check ? args.slice(1) : args;

const enums = { line_endings: "LineEndings", indent_type: "IndentType", quote_style: "QuoteStyle", call_parentheses: "CallParenType" };

// settings reads the nearest stylua.toml, of which it knows plain names and values.
function settings() {
  for (let dir = dirname(resolve(files[0])); ; dir = dirname(dir)) {
    const path = join(dir, "stylua.toml");
    if (existsSync(path)) {
      return readFileSync(path, "utf8").split("\n").map((line) => line.match(/^(\w+)\s*=\s*"?(.*?)"?$/)).filter(Boolean);
    }
    if (dir === dirname(dir)) return [];
  }
}

// config makes what a formatting uses up.
function config() {
  const made = lib.Config.new();
  for (const [, name, value] of settings()) {
    made[name] = enums[name] ? lib[enums[name]][value] : Number(value);
    if (made[name] === undefined) throw new Error(`stylua.toml: ${name} = ${value}`);
  }
  return made;
}

let differ = false;
for (const file of files) {
  const before = readFileSync(file, "utf8");
  const after = lib.formatCode(before, config(), undefined, lib.OutputVerification.None);
  if (before === after) continue;
  differ = true;
  if (check) console.log(`stylua would change ${file}`);
  else writeFileSync(file, after);
}
process.exit(check && differ ? 1 : 0);
