import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isSeen } from "../shared/browser";
import type { PrefixedStorage } from "../shared/storage";
import { useSession } from "./hooks";
import type { Writing } from "./session/protocol";
import { cameBack, changed, REFUSED_WRITING, together, told, UNWRITTEN } from "./session/writing";

/**
 * Count how the conversation's next line is written into `field`, where the study records that and the worker has been
 * told. Returns how to take what was counted: null where nothing is recorded. It outlives the tab, as the draft does.
 */
export function useWriting(
  field: RefObject<HTMLTextAreaElement | null>,
  conversation: number,
): () => Writing | null {
  const { drafts, state } = useSession();
  const records = state.study?.records_writing ?? false;
  const meter = useRef<WritingMeter | null>(null);
  useEffect(() => {
    if (!records || !field.current) {
      return undefined;
    }
    meter.current = new WritingMeter(field.current, drafts, `${conversation}:writing`);
    return meter.current.listen();
  }, [records, drafts, conversation]);
  return () => meter.current?.take() ?? null;
}

/** Counts the changes of a field, and how often the page loses the focus. It keeps nothing of what is written. */
class WritingMeter {
  readonly #field: HTMLTextAreaElement;
  readonly #drafts: PrefixedStorage;
  readonly #key: string;
  #written: Writing;
  /** Characters that stay when the next change has taken out what is selected. */
  #kept: number;
  #composing = false;
  /** What is dropped next was in the field before. */
  #moving = false;
  #changedAt: number | null = null;
  #leftAt: number | null = null;

  constructor(field: HTMLTextAreaElement, drafts: PrefixedStorage, key: string) {
    this.#field = field;
    this.#drafts = drafts;
    this.#key = key;
    this.#written = drafts.get<Writing>(key) ?? UNWRITTEN;
    this.#kept = field.value.length;
  }

  /** Begin to count; returns how to end it. */
  listen(): () => void {
    const ended = new AbortController();
    const { signal } = ended;
    const field = this.#field;
    field.addEventListener("beforeinput", () => this.#before(), { signal });
    field.addEventListener("input", (event) => this.#input((event as InputEvent).inputType ?? ""), {
      signal,
    });
    field.addEventListener("compositionstart", () => this.#compose(), { signal });
    field.addEventListener("compositionend", () => this.#commit(), { signal });
    const look = () => this.#look();
    window.addEventListener("blur", look, { signal });
    window.addEventListener("focus", look, { signal });
    document.addEventListener("visibilitychange", look, { signal });
    return () => ended.abort();
  }

  /** Return what was counted, and begin anew. */
  take(): Writing {
    this.#commit();
    const refused = this.#drafts.get<Writing>(REFUSED_WRITING) ?? UNWRITTEN;
    const written = told(together(this.#written, refused));
    this.#written = UNWRITTEN;
    this.#changedAt = null;
    this.#kept = 0;
    this.#drafts.remove(REFUSED_WRITING);
    this.#drafts.remove(this.#key);
    return written;
  }

  #before(): void {
    if (!this.#composing) {
      const { value, selectionStart, selectionEnd } = this.#field;
      this.#kept = value.length - (selectionEnd - selectionStart);
    }
  }

  #input(inputType: string): void {
    if (!this.#composing) {
      this.#count(inputType);
    }
    this.#moving = inputType === "deleteByDrag";
  }

  // What an input method shows until the right word is found is not written yet: what it commits is.
  #compose(): void {
    this.#before();
    this.#composing = true;
  }

  #commit(): void {
    if (this.#composing) {
      this.#composing = false;
      this.#count("insertCompositionText");
    }
  }

  #count(inputType: string): void {
    const now = performance.now();
    const { length } = this.#field.value;
    const added = this.#moving ? 0 : length - this.#kept;
    this.#keep(changed(this.#written, inputType, added, now - (this.#changedAt ?? now)));
    this.#changedAt = now;
    this.#kept = length;
  }

  #look(): void {
    const away = !isSeen() || !document.hasFocus();
    if (away) {
      this.#leftAt ??= performance.now();
    } else if (this.#leftAt !== null) {
      this.#keep(cameBack(this.#written, performance.now() - this.#leftAt));
      this.#leftAt = null;
    }
  }

  #keep(written: Writing): void {
    this.#written = written;
    this.#drafts.set(this.#key, written);
  }
}
