import type { ComponentChildren } from "preact";
import type { MistakeView } from "../api_types";
import { capitalised } from "../format";
import { layoutOf } from "./layout";
import { nameOf } from "./names";
import { type Path, type Schema, samePath } from "./settings";

/** What keeps settings while they are filled in. */
export interface SettingsEditor {
  content: Record<string, unknown> | null;
  mistakes: MistakeView[];
  /** Texts that workers read where nothing is written, by path ("criteria.0.statement"). */
  shipped?: Record<string, string>;
  set: (path: Path, value: unknown) => void;
  remove: (path: Path) => void;
}

/** What shows a setting, and has it changed. */
export interface SettingProps {
  editor: SettingsEditor;
  root: Schema;
  schema: Schema;
  path: Path;
  /** Names that can be chosen from while writing, by the last part of a path. */
  suggestions: Record<string, string>;
  required?: boolean;
}

/** What is wrong at a place, in words. */
export function mistakesAt(mistakes: MistakeView[], path: Path): string {
  return mistakes
    .filter((mistake) => samePath(mistake.path, path))
    .map(({ reason }) => capitalised(reason))
    .join(". ");
}

/** The frame of a setting: what it is called and means, and what is wrong with it. */
export function Field({
  path,
  root,
  editor,
  id,
  label,
  children,
}: {
  path: Path;
  root: Schema;
  editor: SettingsEditor;
  id: string;
  /** What it is called, where that is not the setting's name. */
  label?: string | undefined;
  children: ComponentChildren;
}) {
  const { label: name, hint } = nameOf(path, root);
  return (
    <div class="field">
      <label class="label" for={id}>
        {label ?? layoutOf(path).label ?? name}
      </label>
      {children}
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="complaint" id={`${id}-complaint`}>
        {mistakesAt(editor.mistakes, path)}
      </p>
    </div>
  );
}
