/**
 * Whether a key press means Enter. The Enter that confirms a word of an input method does not: Safari tells of it
 * when the composition is over, with the key code of all keys that an input method has taken.
 */
export function isEnter(event: KeyboardEvent): boolean {
  return event.key === "Enter" && !event.isComposing && event.keyCode !== 229;
}
