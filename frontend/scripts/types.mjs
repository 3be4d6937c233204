// Makes protocol.ts from protocol.schema.json. With --check: fails when the file on disk differs.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const folder = new URL("../src/worker/session/", import.meta.url);
const schemaFile = new URL("protocol.schema.json", folder);
const typesFile = new URL("protocol.ts", folder);

/** Every `$ref` name reachable from a schema node. */
function reachable(schema, node, found = new Set()) {
  if (Array.isArray(node)) {
    for (const item of node) {
      reachable(schema, item, found);
    }
  } else if (node && typeof node === "object") {
    const name = typeof node.$ref === "string" ? node.$ref.replace("#/$defs/", "") : null;
    if (name && !found.has(name)) {
      found.add(name);
      reachable(schema, schema.$defs[name], found);
    }
    for (const value of Object.values(node)) {
      reachable(schema, value, found);
    }
  }
  return found;
}

/**
 * A copy with sorted keys, so that only what the schema says decides the outcome, and without the titles
 * of fields: each would become a type of its own.
 */
function canonical(node) {
  if (Array.isArray(node)) {
    return node.map(canonical);
  }
  if (!node || typeof node !== "object") {
    return node;
  }
  const copy = Object.fromEntries(
    Object.keys(node)
      .sort()
      .map((key) => [key, canonical(node[key])]),
  );
  if (copy.properties) {
    for (const field of Object.values(copy.properties)) {
      delete field.title;
    }
  }
  return copy;
}

function prepared(schema) {
  const plain = canonical(schema);
  // The server writes fields that have a default, too: what it sends is always whole.
  for (const name of reachable(plain, plain.properties.server)) {
    const definition = plain.$defs[name];
    if (definition.properties) {
      definition.required = Object.keys(definition.properties);
    }
  }
  return plain;
}

async function generated() {
  const schema = JSON.parse(await readFile(schemaFile, "utf8"));
  const types = await compile(prepared(schema), "Wire", {
    additionalProperties: false,
    bannerComment: "// Made from protocol.schema.json by `npm run types`. Do not edit.",
    ignoreMinAndMaxItems: true,
    style: { printWidth: 110 },
  });
  return `${types}
/**
 * The version of the protocol that these types describe.
 */
export const PROTOCOL_VERSION = ${schema.$defs.Snapshot.properties.protocol.default};
`;
}

const wanted = await generated();
if (process.argv.includes("--check")) {
  const present = await readFile(typesFile, "utf8").catch(() => "");
  if (present !== wanted) {
    console.error("protocol.ts differs from protocol.schema.json: run `npm run types` and commit.");
    process.exit(1);
  }
} else {
  await writeFile(typesFile, wanted);
}
