// @ts-check
// Shows /api/openapi.json to who has signed in at the desk, or with a token: from the address' fragment, or kept
// by this tab.

const KEY = "candor:desk:token";
const METHODS = ["get", "post", "put", "patch", "delete"];

/** @typedef {Record<string, any>} Node A part of the schema. */

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Element | string)} content
 */
function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...content);
  return made;
}

/** Return the token that the address carries or this tab keeps; the address is cleared of it. */
function rememberedToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    history.replaceState(history.state, "", location.pathname);
    keepToken(given);
    return given;
  }
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null; // a browser that refuses storage forgets the token, no more
  }
}

/** @param {string} token */
function keepToken(token) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(token));
  } catch {
    // As above.
  }
}

/** @param {string} ref */
const nameOf = (ref) => ref.slice(ref.lastIndexOf("/") + 1);

/**
 * Return a type in words, with links to the models that it names.
 *
 * @param {Node} type
 * @returns {(Element | string)[]}
 */
function typeOf(type) {
  if (type.$ref) {
    const name = nameOf(type.$ref);
    return [element("a", { href: `#${name}` }, name)];
  }
  const choices = type.anyOf ?? type.oneOf;
  if (choices) {
    return choices.flatMap((/** @type {Node} */ choice, /** @type {number} */ i) =>
      i ? [" or ", ...typeOf(choice)] : typeOf(choice),
    );
  }
  if (type.enum || "const" in type) {
    return [(type.enum ?? [type.const]).map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" or ")];
  }
  if (type.type === "array") {
    return ["list of ", ...typeOf(type.items ?? {})];
  }
  return [type.format ?? type.type ?? "anything"];
}

/**
 * @param {string} name
 * @param {Node} type
 * @param {boolean} required
 */
function field(name, type, required) {
  const note = required ? "" : "default" in type ? `, default ${JSON.stringify(type.default)}` : ", may be left out";
  return [element("dt", {}, element("code", {}, name)), element("dd", {}, ...typeOf(type), note)];
}

/** @param {Node} content */
const schemaIn = (content) => content?.["application/json"]?.schema;

/**
 * @param {string} path
 * @param {string} method
 * @param {Node} operation
 */
function call(path, method, operation) {
  const parts = [element("p", {}, operation.description ?? "")];
  const parameters = operation.parameters ?? [];
  if (parameters.length) {
    const rows = parameters.flatMap((/** @type {Node} */ one) =>
      field(`${one.name} (${one.in})`, one.schema, one.required),
    );
    parts.push(element("h3", {}, "Parameters"), element("dl", {}, ...rows));
  }
  const body = schemaIn(operation.requestBody?.content);
  if (body) {
    parts.push(element("h3", {}, "Body"), element("p", {}, ...typeOf(body)));
  }
  const answers = Object.entries(operation.responses).flatMap(([status, answer]) => {
    const type = schemaIn(answer.content);
    const what = status === "default" ? "any error" : status;
    return [element("dt", {}, what), element("dd", {}, ...(type ? typeOf(type) : ["nothing"]))];
  });
  parts.push(element("h3", {}, "Answers"), element("dl", {}, ...answers));
  const title = element("summary", {}, element("span", { class: "method" }, method.toUpperCase()), " ");
  title.append(element("code", {}, path));
  return element("details", {}, title, element("div", {}, ...parts));
}

/**
 * @param {string} name
 * @param {Node} model
 */
function modelOf(name, model) {
  const required = new Set(model.required ?? []);
  const rows = Object.entries(model.properties ?? {}).flatMap(([key, type]) => field(key, type, required.has(key)));
  const shape = rows.length ? element("dl", {}, ...rows) : element("p", {}, ...typeOf(model));
  const title = element("summary", {}, element("code", {}, name));
  return element("details", { id: name }, title, element("div", {}, element("p", {}, model.description ?? ""), shape));
}

/** @param {Node} schema */
function show(schema) {
  const calls = Object.entries(schema.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => call(path, method, item[method])),
  );
  const models = Object.entries(schema.components.schemas).map(([name, model]) => modelOf(name, model));
  document.querySelector("#api")?.replaceChildren(
    element("p", {}, "Every call takes the header ", element("code", {}, "Authorization: Bearer TOKEN"), "."),
    element("h2", {}, "Calls"),
    ...calls,
    element("h2", {}, "Models"),
    ...models,
  );
}

/** Open the model that the address names. */
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}

/**
 * Fetch the schema and show it; return what went wrong, in a sentence, or nothing.
 *
 * @param {string | null} token Without one the browser's own sign-in counts.
 */
async function load(token) {
  /** @type {Record<string, string>} */
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch("openapi.json", { headers }).catch(() => null);
  if (!answer) {
    return "The server can’t be reached.";
  }
  const content = await answer.json().catch(() => null);
  if (!answer.ok) {
    const error = content?.error;
    return error ? `${error.message}. ${error.hint}` : `HTTP ${answer.status}`;
  }
  if (token) {
    keepToken(token);
  }
  show(content);
  openNamed();
  return "";
}

const form = /** @type {HTMLFormElement} */ (document.querySelector("#sign-in"));
const input = /** @type {HTMLInputElement} */ (document.querySelector("#token"));
const problem = /** @type {HTMLElement} */ (document.querySelector("#problem"));

/** @param {string} token */
async function open(token) {
  const wrong = await load(token).catch((error) => `The description cannot be shown: ${error}`);
  problem.textContent = wrong;
  form.hidden = !wrong;
  if (wrong) {
    input.focus();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void open(input.value.trim());
});
window.addEventListener("hashchange", openNamed);
const token = rememberedToken();
if (token) {
  void open(token);
} else {
  // Whoever has not signed in is asked, and has done nothing wrong.
  void load(null).then((wrong) => {
    form.hidden = !wrong;
  });
}
