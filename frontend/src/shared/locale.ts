/** Return `language` where a browser knows what it means, else English: a tag like "C" or "de-12" makes Intl throw. */
export function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? "en";
  } catch {
    return "en";
  }
}
