// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, it } from "vitest";
import type { StudySettings } from "../../../src/desk/api_types";
import type { Editor } from "../../../src/desk/studies/editor";
import { Form } from "../../../src/desk/studies/Form";
import { optionOf } from "../../../src/desk/studies/items";
import { nameOf } from "../../../src/desk/studies/names";
import {
  alternatives,
  beginning,
  freeParts,
  type Path,
  type Schema,
  withValue,
  wordsOf,
} from "../../../src/desk/studies/settings";
import { STEPS, type StepName, unusedBy } from "../../../src/desk/studies/steps";
import STUDY from "./study.schema.json";

/** The server's own schema of a study; tests/server/desk/studies/test_study_schema.py compares the two. */
const ROOT = STUDY as unknown as Schema;
/** A study is renamed by copying it, and the version counts the settings' own. */
const WITHOUT_FIELD = ["name", "version"];
const OWN = "mybot";

/** A setting, and a study in which it has a place. */
interface Place {
  path: Path;
  content: Record<string, unknown>;
  /** What can be chosen there, where something is. */
  choices: string[];
}

/** Every setting that a schema describes at `path` of a study, however deep. */
function places(schema: Schema, path: Path, content: Record<string, unknown>): Place[] {
  const options = alternatives(schema, ROOT);
  const choices =
    options.length > 1
      ? options.flatMap((each) => (wordsOf(each).length > 0 ? wordsOf(each) : [optionOf(each)]))
      : [];
  const here = choices.length > 0 ? [{ path, content, choices }] : [];
  return [...here, ...options.flatMap((each) => placesWithin(each, path, content))];
}

function placesWithin(schema: Schema, path: Path, content: Record<string, unknown>): Place[] {
  const put = (value: unknown) => withValue(content, path, value) as Record<string, unknown>;
  const part = freeParts(schema);
  if (schema.properties) {
    const kinds = schema.properties.kind?.enum as string[] | undefined;
    return (kinds ?? [null]).flatMap((kind) => {
      const begun = put({ ...(beginning(schema, ROOT) as object), ...(kind && { kind }) });
      return Object.entries(schema.properties ?? {})
        .filter(
          ([, each]) =>
            each.const === undefined && (kind === null || (each["x-kinds"]?.includes(kind) ?? true)),
        )
        .flatMap(([name, each]) => places(each, [...path, name], begun));
    });
  }
  if (part) {
    return places(part, [...path, OWN], put({ [OWN]: beginning(part, ROOT) }));
  }
  const item = schema.type === "array" ? alternatives(schema.items ?? {}, ROOT) : [];
  if (item.some(({ type }) => type !== "string")) {
    return places(schema.items ?? {}, [...path, 0], put([beginning(schema.items ?? {}, ROOT)]));
  }
  return [{ path, content, choices: schema.enum ? wordsOf(schema) : [] }];
}

/** The first task that uses a setting. */
function taskOf(setting: string): string {
  const tasks = wordsOf(ROOT.properties?.task ?? {});
  return tasks.find((task) => !unusedBy(task, ROOT).includes(setting)) ?? "";
}

/** The form's step with this content, with everything in it unfolded. */
function unfolded(step: StepName, content: Record<string, unknown>): Element {
  const editor = {
    content,
    mistakes: [],
    shipped: {},
    left: new Set(),
    asked: false,
    saved: { name: "study" },
    leave: () => undefined,
  } as unknown as Editor;
  const settings: StudySettings = {
    schema_of_study: ROOT as Record<string, unknown>,
    builtin_bots: ["builtin:reflect"],
    registered_bots: [],
  };
  const nothing = () => undefined;
  render(null, document.body);
  act(() => render(h(Form, { editor, settings, step, onStep: nothing, onOpenRun: nothing }), document.body));
  for (;;) {
    const folded = [
      ...document.querySelectorAll<HTMLElement>("details:not([open])"),
      ...document.querySelectorAll<HTMLElement>("button[aria-expanded=false].study-item-head"),
    ];
    if (folded.length === 0) {
      return document.body;
    }
    act(() => {
      for (const each of folded) {
        if (each instanceof HTMLDetailsElement) {
          each.open = true;
          each.dispatchEvent(new Event("toggle"));
        } else {
          each.click();
        }
      }
    });
  }
}

afterEach(() => render(null, document.body));

describe("the form of a study", () => {
  const settings = Object.keys(ROOT.properties ?? {}).filter((name) => !WITHOUT_FIELD.includes(name));

  it("has each setting in exactly one step", () => {
    expect(STEPS.flatMap((step) => step.settings).sort()).toEqual([...settings].sort());
  });

  it.each(settings)("has a field for everything in %s", (setting) => {
    const step = STEPS.find((each) => each.settings.includes(setting));
    const found = places(ROOT.properties?.[setting] ?? {}, [setting], { task: taskOf(setting) });
    expect(found.length).toBeGreaterThan(0);
    let shown: Record<string, unknown> | null = null;
    const missing = found.flatMap(({ path, content, choices }) => {
      // Settings of one mapping follow each other: the same form has them all.
      const form = content === shown ? document.body : unfolded(step?.step ?? "review", content);
      shown = content;
      const fields = [...form.querySelectorAll<HTMLInputElement>(`[name="${path.join(".")}"]`)];
      const offered = fields.flatMap((each) =>
        [...each.querySelectorAll("option")].map(({ value }) => value),
      );
      const labelled = fields.every(
        ({ id, labels }) => (labels?.length ?? 0) > 0 || form.querySelector(`label[for="${id}"]`),
      );
      return fields.length === 0 || !labelled
        ? [path.join(".")]
        : choices.filter((each) => !offered.includes(each));
    });
    expect(missing).toEqual([]);
  });

  it("shows a researcher's own names as they are written", () => {
    const own = settings.flatMap((setting) =>
      places(ROOT.properties?.[setting] ?? {}, [setting], {}).map(({ path }) =>
        path.slice(0, path.indexOf(OWN) + 1),
      ),
    );
    const named = own.filter((path) => path.length > 0);
    expect(named.length).toBeGreaterThan(5);
    expect(new Set(named.map((path) => nameOf(path, ROOT).label))).toEqual(new Set([OWN]));
  });
});
