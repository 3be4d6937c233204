import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { copyText } from "../shared/browser";
import { useTexts } from "./hooks";

/** What proves that the worker is to be paid. `hasReturn`: a way back brings it there by itself. */
export function Code({ code, hasReturn }: { code: string; hasReturn: boolean }) {
  const { say } = useTexts();
  const output = useRef<HTMLOutputElement>(null);
  const [copied, setCopied] = useState<"yes" | "selected" | null>(null);
  const copy = async () => {
    const copied = await copyText(code, output.current);
    setCopied(copied ? "yes" : "selected");
  };
  return (
    <div class="code">
      <p class="label" id="code-label">
        {say("done.code")}
      </p>
      <div class="code-row">
        <output ref={output} class="code-text" dir="ltr" translate={false} aria-labelledby="code-label">
          {code}
        </output>
        <Button kind="secondary" onClick={() => void copy()}>
          {say(copied === "yes" ? "done.copied" : "done.copy")}
        </Button>
      </div>
      <p class="soft small" role="status">
        {say(copied === "selected" ? "done.selected" : hasReturn ? "done.keep" : "done.paste")}
      </p>
    </div>
  );
}
