import type { ComponentChild, VNode } from "preact";
import { describe, expect, it } from "vitest";
import { markdown } from "../../src/worker/markdown";

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
});
