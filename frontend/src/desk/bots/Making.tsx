import type { ComponentChildren } from "preact";
import type { RecordedCall, TrialView } from "../api_types";
import { latency } from "../format";
import { money, type Round } from "./trial";

/** What was done to a model's output before it is shown, by the kind of the change. */
const CHANGES: Record<TrialView["changes"][number], string> = {
  thoughts: "Its thoughts were removed: workers never see them.",
  marks: "Marks of the model’s template, or its own name before the line, were removed.",
  turns: "Lines that it wrote for other speakers were removed.",
  limit: "It was cut after the last whole sentence, because the limit of tokens ended the reply.",
  looks: "Spelling of tokens, an unpaired quotation mark or invisible characters were cleaned.",
};

interface Props {
  answer: TrialView;
  said: string;
  before: Round[];
  free: boolean;
}

/** How a reply came about: seconds, tokens and price at once, and the rest to unfold. */
export function Making({ answer, said, before, free }: Props) {
  const { changes, calls, output, persona, prompt } = answer;
  return (
    <details class="making small">
      <summary>
        <span>{inShort(answer, free)}</span>
        {changes.length > 0 && <span class="making-changed">Cleaned</span>}
      </summary>
      <div class="making-parts">
        {changes.length > 0 && (
          <Part title="What was removed or cleaned">
            <ul>
              {changes.map((change) => (
                <li key={change}>{CHANGES[change]}</li>
              ))}
            </ul>
          </Part>
        )}
        {output !== null && (
          <Part title="What the model wrote">
            <Raw text={output} />
          </Part>
        )}
        <Part title="Persona">{persona.length > 0 ? persona.join(" ") : "None"}</Part>
        {prompt && (
          <Part title="Prompt of the system and scenario">
            <Raw text={prompt} />
          </Part>
        )}
        {calls.length === 0 && (
          <Part title="What was sent">
            <Messages
              messages={[
                ...before.flatMap((round) => [
                  { role: "worker", content: round.said },
                  { role: "bot", content: round.answer?.text ?? "" },
                ]),
                { role: "worker", content: said },
              ]}
            />
          </Part>
        )}
        {calls.map((call, index) => (
          <Call key={index} call={call} count={calls.length} number={index + 1} />
        ))}
      </div>
    </details>
  );
}

/** One request to an endpoint, and its answer. */
function Call({ call, count, number }: { call: RecordedCall; count: number; number: number }) {
  const which = count > 1 ? `, call ${number} of ${count}` : "";
  const messages = messagesIn(call.sent);
  return (
    <>
      <Part title={`What was sent${which}`}>
        {messages.length > 0 && <Messages messages={messages} />}
        <details>
          <summary>The request as JSON</summary>
          <Raw text={pretty(call.sent)} />
        </details>
      </Part>
      <Part title={`What came back${which}`}>
        {call.status === null || call.status === undefined ? (
          "No answer"
        ) : (
          <>
            <p>HTTP status {call.status}</p>
            {call.received ? <Raw text={pretty(call.received)} /> : <p>The answer was empty.</p>}
          </>
        )}
      </Part>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function Raw({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <pre class="making-raw" tabIndex={0}>
      {text}
    </pre>
  );
}

interface Message {
  role: string;
  content: string;
}

function Messages({ messages }: { messages: Message[] }) {
  return (
    <dl class="making-messages">
      {messages.map(({ role, content }, index) => (
        <div key={index}>
          <dt>{role}</dt>
          <dd>{content}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Seconds, tokens and price of a reply on one line. */
function inShort({ seconds, provenance, text }: TrialView, free: boolean): string {
  const { cost = null, tokens_in: sent = null, tokens_out: written = null } = provenance ?? {};
  const tokens = sent === null && written === null ? [] : [`${sent ?? "?"} + ${written ?? "?"} tokens`];
  const price = cost !== null ? [`cost ${money(cost)}`] : free ? ["free"] : text ? ["no price set"] : [];
  return [latency(Math.round(1000 * seconds)), ...tokens, ...price].join(" · ");
}

/** The messages in a request, where its service has such a list; none otherwise. */
export function messagesIn(request: string): Message[] {
  const body = parsed(request) as { system?: unknown; messages?: unknown; turns?: unknown } | null;
  const opening = typeof body?.system === "string" ? [{ role: "system", content: body.system }] : [];
  const list = Array.isArray(body?.messages) ? body.messages : [];
  const said = list.flatMap((each: { role?: unknown; content?: unknown } | null) =>
    typeof each?.role === "string" && typeof each.content === "string"
      ? [{ role: each.role, content: each.content }]
      : [],
  );
  return [...opening, ...said];
}

/** JSON with its parts on lines of their own; any other text as it is. */
function pretty(text: string): string {
  const found = parsed(text);
  return found === null ? text : JSON.stringify(found, null, 2);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
