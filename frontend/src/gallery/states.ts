/**
 * Let `.state-hover` and `.state-focus` look like what the pointer is on and what has the focus, so that these states
 * can be shown beside the others: every rule of theirs is repeated for the class. Parts that a browser draws (`::…`) can't have a class.
 */
export function forceStates(): void {
  for (const sheet of document.styleSheets) {
    repeat(sheet);
  }
}

function repeat(sheet: CSSStyleSheet | CSSMediaRule): void {
  for (let at = sheet.cssRules.length - 1; at >= 0; at--) {
    const rule = sheet.cssRules[at];
    if (rule instanceof CSSMediaRule) {
      repeat(rule);
    } else if (rule instanceof CSSStyleRule && /^(?!.*::).*:(hover|focus-visible)/s.test(rule.selectorText)) {
      const selector = rule.selectorText
        .replaceAll(":hover", ".state-hover")
        .replaceAll(":focus-visible", ".state-focus");
      sheet.insertRule(`${selector} { ${rule.style.cssText} }`, at + 1);
    }
  }
}
