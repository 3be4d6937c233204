// Makes the types of what the server sends from its schemas: protocol.ts and english.ts from protocol.schema.json,
// api_types.ts from openapi.json. With --check: fails when a file on disk differs.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const source = new URL("../src/", import.meta.url);

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

function compiled(schema, name, file) {
  return compile(schema, name, {
    additionalProperties: false,
    bannerComment: `// Made from ${file} by \`npm run types\`. Do not edit.`,
    ignoreMinAndMaxItems: true,
    style: { printWidth: 110 },
  });
}

/** The messages between the worker's page and the server, and the version of their protocol. */
async function wireTypes({ texts: _, ...schema }, file) {
  const plain = canonical(schema);
  // The server writes fields that have a default, too: what it sends is always whole.
  for (const name of reachable(plain, plain.properties.server)) {
    const definition = plain.$defs[name];
    if (definition.properties) {
      definition.required = Object.keys(definition.properties);
    }
  }
  return `${await compiled(plain, "Wire", file)}
/**
 * The version of the protocol that these types describe.
 */
export const PROTOCOL_VERSION = ${schema.$defs.Snapshot.properties.protocol.default};
`;
}

/** What the worker's page says by itself: the English texts, by name. */
async function english({ texts }, file) {
  return `// Made from ${file} by \`npm run types\`. Do not edit: the words are in server/study/texts/en.yaml.

export const ENGLISH = ${JSON.stringify(texts, null, 2)} as const;
`;
}

/** What the researcher's interface answers with 200 to a method at each path, as `type`. */
function answersOf(openapi, method, type, description) {
  const found = (call) => call[method]?.responses["200"]?.content?.[type];
  const answers = Object.entries(openapi.paths)
    .filter(([path, call]) => /^\/api\/(desk|account)/.test(path) && found(call))
    .map(([path, call]) => [path, found(call).schema]);
  return {
    description,
    type: "object",
    properties: Object.fromEntries(answers),
    required: answers.map(([path]) => path),
    additionalProperties: false,
  };
}

/** What the researcher's interface answers, by path, and the data of the events that it pushes. */
async function apiTypes(openapi, file) {
  const text = JSON.stringify({
    description: "The researcher's interface.",
    type: "object",
    properties: {
      answers: { $ref: "#/$defs/Answers" },
      pushed: { $ref: "#/$defs/Pushed" },
      replies: { $ref: "#/$defs/Replies" },
    },
    required: ["answers", "pushed", "replies"],
    $defs: {
      ...openapi.components.schemas,
      Answers: answersOf(openapi, "get", "application/json", "What is answered to a GET, by path."),
      Replies: answersOf(openapi, "post", "application/json", "What is answered to a POST, by path."),
      Pushed: answersOf(
        openapi,
        "get",
        "text/event-stream",
        "The data of each event that is pushed, by path.",
      ),
    },
  });
  return compiled(canonical(JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"))), "Api", file);
}

const MADE = [
  { types: "worker/session/protocol.ts", schema: "worker/session/protocol.schema.json", make: wireTypes },
  { types: "worker/texts/english.ts", schema: "worker/session/protocol.schema.json", make: english },
  { types: "desk/api_types.ts", schema: "desk/openapi.json", make: apiTypes },
];

for (const { types, schema, make } of MADE) {
  const content = JSON.parse(await readFile(new URL(schema, source), "utf8"));
  const wanted = await make(content, schema.split("/").at(-1));
  const file = new URL(types, source);
  if (!process.argv.includes("--check")) {
    await writeFile(file, wanted);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
    console.error(`src/${types} differs from src/${schema}: run \`npm run types\` and commit.`);
    process.exitCode = 1;
  }
}
