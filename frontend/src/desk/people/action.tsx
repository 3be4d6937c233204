import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { copyText } from "../../shared/browser";
import { Failed, send } from "../api";
import { ResearcherContext } from "../researcher";

type Method = "POST" | "PUT" | "DELETE";

/** Does something, and keeps the secret that it answers, shown once, or the reason why it failed. */
export function useAction() {
  const { token } = useContext(ResearcherContext);
  const [secret, setSecret] = useState<{ what: string; text: string } | null>(null);
  const [complaint, setComplaint] = useState("");
  const act = async (method: Method, address: string, body?: unknown) => {
    setComplaint("");
    try {
      const made = (await send(method, address, body, token)) as Record<string, string> | null;
      if (made?.link) {
        setSecret({
          what: `The link for ${made.name}: it lets them choose a password, once`,
          text: made.link,
        });
      } else if (made?.token) {
        setSecret({ what: `The token ${made.name}: it can’t be shown again`, text: made.token });
      }
      return true;
    } catch (error) {
      setComplaint(error instanceof Failed ? error.message : String(error));
      return false;
    }
  };
  const shown = (
    <>
      <p class="complaint" role="alert">
        {complaint}
      </p>
      <div role="status">{secret && <Secret key={secret.text} {...secret} />}</div>
    </>
  );
  return { act, shown };
}

function Secret({ what, text }: { what: string; text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="box secret">
      <p class="label">{what}</p>
      <p class="copy">
        <code>{text}</code>
        <Button kind="quiet" onClick={() => void copyText(text, null).then(setCopied)}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </p>
    </div>
  );
}

/** A button that has to be pressed twice. */
export function Confirmed({ what, whom, onConfirm }: { what: string; whom: string; onConfirm: () => void }) {
  const [asked, setAsked] = useState(false);
  return (
    <Button kind={asked ? "danger" : "quiet"} onClick={() => (asked ? onConfirm() : setAsked(true))}>
      {asked ? `Really ${what.toLowerCase()}?` : what}
      <span class="unseen"> {whom}</span>
    </Button>
  );
}
