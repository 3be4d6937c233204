import { Marked, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";

/**
 * A reply in Markdown, as elements of this page: emphasis, lists, quotes, code, tables. Nothing is taken over
 * as HTML: what is written as HTML is shown as it is written, an image as its description, and a link as its
 * words, which cannot be followed. So nothing from elsewhere is ever loaded.
 */
export function markdown(text: string): ComponentChildren {
  const tokens = parsed(text);
  return tokens ? blocks(tokens) : text;
}

/** A text of the researcher's in Markdown: like a reply, with headings, and links that can be followed. */
export function researchersMarkdown(text: string): ComponentChildren {
  const tokens = parsed(text);
  if (!tokens) {
    return text;
  }
  marked.walkTokens(tokens, (token) => {
    if (token.type === "heading") {
      token.type = "title";
    } else if (token.type === "link" && /^(https?:\/\/|mailto:)/i.test(token.href)) {
      token.type = "followed";
    }
  });
  return blocks(tokens);
}

/** Levels of nesting that are drawn. Hundreds would overflow the stack of a browser, and show nothing. */
const DEEPEST = 50;
const MARKER = "(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])";
/**
 * A line that opens more quotes and lists than that, or lies as far in as such lists would: marked takes it apart level
 * by level, each time whole.
 */
const DEEP_LINE = new RegExp(
  `^(?:(?:[ \\t]*${MARKER}){${DEEPEST + 1}}|[ \\t]{${4 * DEEPEST},}${MARKER})`,
  "m",
);

/** The tokens of a text; null where it is nested too deep to be drawn. */
function parsed(text: string): Token[] | null {
  if (DEEP_LINE.test(text)) {
    return null;
  }
  try {
    const tokens = marked.lexer(text);
    return isShallow(tokens, DEEPEST) ? tokens : null;
  } catch {
    return null; // deep over many lines, or what marked itself gives up
  }
}

/** Whether no token lies more than so many levels below these. */
function isShallow(tokens: Token[], levels: number): boolean {
  return tokens.every((token) => {
    const below = tokensBelow(token);
    return below.length === 0 || (levels > 0 && isShallow(below, levels - 1));
  });
}

function tokensBelow(token: Token): Token[] {
  switch (token.type) {
    case "list":
      return (token as Tokens.List).items;
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flat().flatMap(({ tokens }) => tokens);
    }
    default:
      return ("tokens" in token && token.tokens) || [];
  }
}

/** A formula is shown as it is written, with its marks: its stars and underscores stress nothing. */
const formula = (level: "inline" | "block", pattern: RegExp) => ({
  name: "formula",
  level,
  tokenizer: (source: string) => {
    const raw = pattern.exec(source)?.[0];
    return raw === undefined ? undefined : { type: "formula", raw };
  },
});

const marked = new Marked({
  gfm: true,
  breaks: true,
  extensions: [
    {
      ...formula("inline", /^\\\([\s\S]+?\\\)|^\\\[[\s\S]+?\\\]/),
      start: (source: string) => source.search(/\\[([]/),
    },
    formula("block", /^\\\[[\s\S]+?\\\] *(?:\n|$)/),
  ],
});

function blocks(tokens: Token[]): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

function Block({ token }: { token: Token }) {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return (
        <p>
          <strong>{inline(token.tokens)}</strong>
        </p>
      );
    case "title": {
      const { depth, tokens } = token as Tokens.Heading;
      return depth > 2 ? <h3>{inline(tokens)}</h3> : <h2>{inline(tokens)}</h2>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return <>{token.tokens ? inline(token.tokens) : plain(token)}</>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    default:
      return <p>{token.raw}</p>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => <li key={index}>{blocks(item.tokens)}</li>);
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <table tabIndex={0}>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            <th key={index}>{inline(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, line) => (
          <tr key={line}>
            {row.map((cell, index) => (
              <td key={index}>{inline(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token }: { token: Token }) {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <s>{inline(token.tokens)}</s>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <>{inline(token.tokens)}</>;
    case "followed":
      return (
        <a href={(token as Tokens.Link).href} target="_blank" rel="noopener noreferrer">
          {inline((token as Tokens.Link).tokens)}
        </a>
      );
    case "image":
      return <>{(token as Tokens.Image).text}</>;
    case "escape":
      // \( … \) and \[ … \] enclose a formula: the marks are part of what is said.
      return <>{/^\\[()[\]]$/.test(token.raw) ? token.raw : plain(token)}</>;
    case "text":
      return <>{"tokens" in token && token.tokens ? inline(token.tokens) : plain(token)}</>;
    default:
      return <>{token.raw}</>;
  }
}

function plain(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}
