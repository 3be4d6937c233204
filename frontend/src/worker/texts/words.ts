import { localeOf } from "../../shared/locale";
import type { TextsCard } from "../session/protocol";
import { ENGLISH } from "./english";

/** The name of a text. The English ones are all there are. */
export type TextKey = keyof typeof ENGLISH;

/** What is put into a text; `n` also decides about its form. */
export type Values = Record<string, string | number>;

type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;

/** The texts of a page. */
export interface Texts {
  language: string;
  direction: "ltr" | "rtl";
  /** A text, with the values put in. Its marks of stress are left out. */
  say: (key: TextKey, values?: Values) => string;
  /** The same in pieces: every second one is stressed. */
  pieces: (key: TextKey, values?: Values) => string[];
}

const made = new WeakMap<TextsCard, Texts>();

/** The texts of a study's card; whatever it has not is English. No card: all is English. */
export function textsOf(card: TextsCard | null): Texts {
  if (card === null) {
    return english;
  }
  const texts = made.get(card) ?? make(card);
  made.set(card, texts);
  return texts;
}

/** Sentences as one paragraph. After a full-width stop, as in Chinese and Japanese, there is no space. */
export function paragraph(sentences: string[]): string {
  return sentences.join(" ").replace(/(?<=[。！？]) /g, "");
}

/** Whether there is a text of this name. */
export function isTextKey(name: string): name is TextKey {
  return name in ENGLISH;
}

const english = make({ language: "en", direction: "ltr", words: {} });

function make({ language, direction, words }: TextsCard): Texts {
  const format = new Intl.NumberFormat(localeOf(language));
  const template = (key: TextKey, values: Values): string => {
    const own = words[key];
    return own === undefined ? formOf(ENGLISH[key], "en", values) : formOf(own, language, values);
  };
  const filled = (text: string, values: Values) =>
    text.replace(/\{(\w+)\}/g, (place, name: string) => {
      const value = values[name];
      return value === undefined ? place : typeof value === "number" ? format.format(value) : value;
    });
  const pieces = (key: TextKey, values: Values = {}) =>
    template(key, values)
      .split("**")
      .map((piece) => filled(piece, values));
  return { language, direction, pieces, say: (key, values) => pieces(key, values).join("") };
}

function formOf(text: string | Forms, language: string, { n }: Values): string {
  if (typeof text === "string") {
    return text;
  }
  const form = new Intl.PluralRules(localeOf(language)).select(Number(n));
  return text[form] ?? text.other ?? "";
}
