/**
 * Keep a page that the browser translates alive. A translator puts `<font>` in the place of a text and takes the text
 * out of the page; what the program then writes into that text would be seen by nobody. Such a text is put back, and
 * the translator takes it up anew. `onTranslated` is called whenever texts were translated.
 */
export function surviveTranslation(page: Node, onTranslated: () => void): void {
  const shown = new WeakMap<Node, Element>();
  const written = new MutationObserver((records) => {
    for (const { target } of records) {
      const font = shown.get(target);
      if (font?.isConnected && !target.isConnected) {
        font.replaceWith(target);
      }
    }
  });
  const translated = new MutationObserver((records) => {
    for (const { addedNodes, removedNodes, previousSibling, nextSibling } of records) {
      const font = [...addedNodes, previousSibling, nextSibling].find(isFont);
      const [text] = removedNodes;
      if (font && text instanceof Text && removedNodes.length === 1) {
        shown.set(text, font);
        written.observe(text, { characterData: true });
        onTranslated();
      }
    }
  });
  translated.observe(page, { childList: true, subtree: true });
}

function isFont(node: Node | null): node is Element {
  return node instanceof Element && node.localName === "font";
}
