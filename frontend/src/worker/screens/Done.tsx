import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { copyText } from "../../shared/copy";
import { Heading } from "../Heading";
import { useTitle } from "../hooks";
import type { Screen } from "../session/reducer";

/** Thanks, and how the worker gets what was promised. */
export function Done({ screen }: { screen: Extract<Screen, { name: "done" }> }) {
  useTitle("Thank you");
  return (
    <div class="page page-still">
      <div class="panel flow done">
        <svg class="done-mark" viewBox="0 0 48 48" aria-hidden="true">
          <circle cx="24" cy="24" r="22" />
          <path d="m15 25 6.5 6.5L34 18" />
        </svg>
        <div>
          <Heading>Thank you!</Heading>
          <p class="lead">
            Your conversations and ratings are safely with us. You have helped to find out what makes a
            chatbot worth talking to.
          </p>
        </div>
        {screen.code && <Code code={screen.code} />}
        {screen.returnTo && (
          <div class="flow">
            <p>One last step: go back, so that your work is counted.</p>
            <div class="actions">
              <a class="button button-primary" href={screen.returnTo}>
                Finish
              </a>
            </div>
          </div>
        )}
      </div>
    </div>
  );
}

function Code({ code }: { code: string }) {
  const output = useRef<HTMLOutputElement>(null);
  const [copied, setCopied] = useState<"yes" | "selected" | null>(null);
  const copy = async () => {
    const copied = await copyText(code, output.current);
    setCopied(copied ? "yes" : "selected");
  };
  return (
    <div class="code">
      <p class="label" id="code-label">
        Your completion code
      </p>
      <div class="code-row">
        <output ref={output} class="code-text" aria-labelledby="code-label">
          {code}
        </output>
        <Button kind="quiet" onClick={() => void copy()}>
          {copied === "yes" ? "Copied" : "Copy"}
        </Button>
      </div>
      <p class="soft small" role="status">
        {copied === "selected"
          ? "The code is selected: copy it with your keyboard or menu."
          : "Paste it where you found this study, so that your work is counted."}
      </p>
    </div>
  );
}
