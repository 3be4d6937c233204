import { describe, expect, it } from "vitest";
import { nameOf } from "../../../src/desk/studies/names";
import {
  alternatives,
  beginning,
  fits,
  isOptional,
  type Schema,
  withValue,
} from "../../../src/desk/studies/settings";
import STUDY from "./study.schema.json";

const ROOT: Schema = {
  $defs: {
    Bot: {
      type: "object",
      properties: {
        name: { type: "string" },
        size: { type: "integer", minimum: 1 },
        loud: { type: "boolean" },
      },
      required: ["name", "size"],
    },
  },
};

describe("settings", () => {
  it("leaves what it is given as it was", () => {
    const before = { systems: [{ name: "a" }, { name: "b" }], title: "x" };
    expect(withValue(before, ["systems", 1, "name"], "c")).toEqual({
      systems: [{ name: "a" }, { name: "c" }],
      title: "x",
    });
    expect(withValue(before, ["systems", 0], undefined)).toEqual({ systems: [{ name: "b" }], title: "x" });
    expect(withValue(before, ["timeouts", "idle"], 5)).toEqual({ ...before, timeouts: { idle: 5 } });
    expect(before.systems).toHaveLength(2);
  });

  it("knows the alternatives of a setting, and that nothing is none", () => {
    const choices = alternatives({ anyOf: [{ $ref: "#/$defs/Bot" }, { type: "null" }] }, ROOT);
    expect(choices).toHaveLength(1);
    expect(fits({ name: "a" }, choices[0] ?? {})).toBe(true);
    expect(fits("a", choices[0] ?? {})).toBe(false);
  });

  it("knows what may be left out altogether", () => {
    expect(isOptional({ anyOf: [{ $ref: "#/$defs/Bot" }, { type: "null" }] }, ROOT)).toBe(true);
    expect(isOptional({ anyOf: [{ anyOf: [{ type: "null" }] }, { $ref: "#/$defs/Bot" }] }, ROOT)).toBe(true);
    expect(isOptional({ $ref: "#/$defs/Bot" }, ROOT)).toBe(false);
  });

  it("begins with what is needed", () => {
    expect(beginning({ $ref: "#/$defs/Bot" }, ROOT)).toEqual({ name: "", size: 1 });
    expect(beginning({ type: "array", items: { type: "string" } }, ROOT)).toEqual([""]);
  });

  it("names a setting by its place, and one that is new by its own name", () => {
    const study = STUDY as unknown as Schema;
    expect(nameOf(["criteria", 3, "qc"], study).label).toBe("Counts for quality control");
    expect(nameOf(["bots", "mine", "max_tokens"], study).label).toBe("Maximum tokens of a reply");
    expect(nameOf(["something_new"], study).label).toBe("Something new");
  });

  it("begins with a new code where any will do", () => {
    const begun = beginning({ type: "string", "x-code": true }, ROOT);
    expect(begun).toMatch(/^C[0-9A-F]{8}$/);
    expect(beginning({ type: "string", "x-code": true }, ROOT)).not.toBe(begun);
    expect(beginning({ type: "string" }, ROOT)).toBe("");
  });
});
