/**
 * Copy a text; returns whether it was copied. Without https there is no clipboard: then what shows the text is
 * selected, so that the usual keys copy it.
 */
export async function copyText(text: string, shown: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) {
      window.getSelection()?.selectAllChildren(shown);
    }
    return false;
  }
}
