import type { ComponentChild, VNode } from "preact";
import { describe, expect, it } from "vitest";
import { markdown, researchersMarkdown } from "../../src/worker/markdown";

/** What a reply becomes, as text with the names of its elements; parts that are functions are called. */
function drawn(node: unknown): string {
  if (Array.isArray(node)) {
    return node.map(drawn).join("");
  }
  if (node === null || node === undefined || typeof node === "boolean") {
    return "";
  }
  if (typeof node !== "object") {
    return String(node);
  }
  const { type, props } = node as VNode<{ children?: ComponentChild }>;
  if (typeof type === "function") {
    return drawn((type as (given: unknown) => unknown)(props));
  }
  return `<${type}>${drawn(props.children)}</${type}>`;
}

/** How many elements lie within each other at most. */
function depth(node: unknown): number {
  if (Array.isArray(node)) {
    return Math.max(0, ...node.map(depth));
  }
  if (node === null || typeof node !== "object") {
    return 0;
  }
  const { type, props } = node as VNode<{ children?: ComponentChild }>;
  return typeof type === "function"
    ? depth((type as (given: unknown) => unknown)(props))
    : 1 + depth(props.children);
}

/** Pseudo-random numbers below 1, the same ones for the same seed (Mulberry32). */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PIECES = [
  ..."*_~`#>-+|[]()!<>&\\:=^$\t \n\n\0",
  ..."- ,> ,1. ,10) ,**,***,~~,```,``` js\n,    ,](,![,[^1],[a]: b\n,<b>,<!--,-->,<script>,&amp;,---\n".split(
    ",",
  ),
  ..."\n\n,\n- ,\n  - ,\n> ,\n1. ,| a | b |\n|---|---|\n,word,two words,https://a.example,ü,👩‍👩‍👧,\ud800,\u202e".split(
    ",",
  ),
];

/** A text that a chatbot might write that has lost its mind: pieces of Markdown, some of them many times in a row. */
function babble(draw: () => number): string {
  return Array.from({ length: 1 + Math.floor(draw() * 30) }, () => {
    const piece = PIECES[Math.floor(draw() * PIECES.length)] ?? "";
    return piece.repeat(draw() < 0.1 ? 1 + Math.floor(draw() * 120) : 1);
  }).join("");
}

// A block may hold an inline part that is as deep, and each level of a list is two elements.
const DEEPEST_DRAWN = 2 * 50 + 2;

describe("a degenerate reply in Markdown", () => {
  const lines = (line: (level: number) => string) =>
    Array.from({ length: 600 }, (_, n) => line(n)).join("\n");
  it.each([
    ["lists", `${"- ".repeat(600)}x`],
    ["quotes", `${">".repeat(600)}x`],
    ["numbered lists", `${"1. ".repeat(600)}x`],
    ["quotes and lists", `${"> - ".repeat(250)}x`],
    ["lists over many lines", lines((n) => `${"  ".repeat(n)}- x`)],
    ["quotes over many lines", lines((n) => `${"> ".repeat(Math.min(n, 60))}x`)],
    ["emphasis", `${"*a **b ".repeat(300)}x${"** *".repeat(300)}`],
    ["links", `${"[".repeat(600)}x${"](y)".repeat(600)}`],
  ])("is drawn, however deep: %s", (_, text) => {
    expect(depth(markdown(text))).toBeLessThanOrEqual(DEEPEST_DRAWN);
    expect(drawn(markdown(text))).toContain("x");
  });

  it("is plain text beyond 50 levels, and no earlier", () => {
    const quoted = (levels: number) => `${"> ".repeat(levels)}x`;
    expect(depth(markdown(quoted(49)))).toBe(50); // and its paragraph
    expect(markdown(quoted(51))).toBe(quoted(51));
    expect(markdown(`${"- ".repeat(600)}x`)).toBe(`${"- ".repeat(600)}x`);
  });

  it("is drawn, whatever it is (1,500 seeded texts)", () => {
    const draw = draws(20_261_126);
    for (let n = 0; n < 1_500; n += 1) {
      const text = babble(draw);
      expect(depth(markdown(text)), JSON.stringify(text)).toBeLessThanOrEqual(DEEPEST_DRAWN);
      expect(drawn(markdown(text))).not.toMatch(/<(a|img)>/);
    }
  });
});

describe("a reply in Markdown", () => {
  it("has emphasis, lists, code and quotes", () => {
    expect(drawn(markdown("**a** and *b* and `c`"))).toBe(
      "<p><strong>a</strong> and <em>b</em> and <code>c</code></p>",
    );
    expect(drawn(markdown("- one\n- two"))).toBe("<ul><li>one</li><li>two</li></ul>");
    expect(drawn(markdown("# Big"))).toBe("<p><strong>Big</strong></p>");
  });

  it("takes no HTML, loads nothing and leads nowhere", () => {
    const text =
      "<script>x()</script>\n\n<b>a</b> [here](https://example.org) ![a cat](https://example.org/c.png)";
    const shown = drawn(markdown(text));
    for (const element of ["<a>", "<img>"]) {
      expect(shown).not.toContain(element);
    }
    expect(shown).toContain("here");
    expect(shown).toContain("a cat");
    expect(shown).not.toContain("example.org");
    // Written as it is: text for the page, no element of it.
    expect(shown).toContain("<script>x()</script>");
  });

  it("keeps formulas as they are written", () => {
    expect(drawn(markdown("So \\(a_1 * b_2 * c_1\\) holds."))).toBe("<p>So \\(a_1 * b_2 * c_1\\) holds.</p>");
    expect(drawn(markdown("\\[\n- x_1\n- y_1\n\\]\nHence *x*."))).toBe(
      "<p>\\[\n- x_1\n- y_1\n\\]\n</p><p>Hence <em>x</em>.</p>",
    );
    expect(drawn(markdown("An open \\( stays."))).toBe("<p>An open \\( stays.</p>");
    expect(drawn(markdown("Five \\* five"))).toBe("<p>Five * five</p>");
  });

  it("of the researcher has headings, and links that can be followed", () => {
    const text =
      "## Your data\n\n- kept *ten* years\n\nWrite to [us](https://lab.example) or [not](javascript:x).";
    expect(drawn(researchersMarkdown(text))).toBe(
      "<h2>Your data</h2><ul><li>kept <em>ten</em> years</li></ul><p>Write to <a>us</a> or not.</p>",
    );
    expect(drawn(researchersMarkdown("<b>as it is</b>"))).toBe("<p><b>as it is</b></p>");
    expect(drawn(markdown("[us](https://lab.example)"))).toBe("<p>us</p>");
  });
});
