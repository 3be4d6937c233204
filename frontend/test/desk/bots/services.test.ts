import { expect, test } from "vitest";
import { endpointSchema, movedTo, serviceOf, servicesOf } from "../../../src/desk/bots/services";

const kind = (name: string, more: object = {}) => ({
  type: "object",
  properties: { kind: { const: name }, urls: {}, model: {}, key: {}, ...more },
  "x-kind": { name, about: "", example: "" },
});
const ROOT = {
  properties: {
    bots: {
      additionalProperties: {
        oneOf: [
          { type: "object", properties: { kind: { const: "http" }, urls: {} } },
          kind("openai"),
          kind("anthropic", { urls: { default: ["https://api.anthropic.com/v1"] } }),
        ],
      },
    },
  },
};

const named = (id: string) => {
  const found = servicesOf(ROOT).find((service) => service.id === id);
  if (!found) {
    throw new Error(`no ${id}`);
  }
  return found;
};

test("every kind of the schema is a service, also one that the page does not know", () => {
  const ids = servicesOf(ROOT).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(["openai.com", "openai", "anthropic", "http", "ollama"]));
});

test("an endpoint is at the service whose address it has, or at any other of its kind", () => {
  const at = (urls: string[]) => serviceOf({ kind: "openai", urls }, servicesOf(ROOT))?.id;
  expect(at(["https://api.openai.com/v1"])).toBe("openai.com");
  expect(at(["http://127.0.0.1:8100/v1"])).toBe("openai");
  expect(serviceOf({ kind: "http" }, servicesOf(ROOT))?.id).toBe("http");
});

test("another service of the same kind keeps the settings, one of another kind the model alone", () => {
  const openai = movedTo(undefined, named("openai.com"), endpointSchema(ROOT, "openai"));
  expect(openai).toEqual({ kind: "openai", urls: ["https://api.openai.com/v1"], key: "OPENAI_API_KEY" });
  const tuned = { ...openai, model: "m", temperature: 1 };
  expect(movedTo(tuned, named("ollama"), endpointSchema(ROOT, "openai"))).toEqual({
    kind: "openai",
    model: "m",
    temperature: 1,
    urls: ["http://127.0.0.1:11434/v1"],
  });
  // Its address is the schema's default, which need not be written.
  expect(movedTo(tuned, named("anthropic"), endpointSchema(ROOT, "anthropic"))).toEqual({
    kind: "anthropic",
    model: "m",
    key: "ANTHROPIC_API_KEY",
  });
  expect(movedTo(tuned, named("http"), endpointSchema(ROOT, "http"))).toEqual({ kind: "http" });
});
