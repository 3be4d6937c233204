import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { inFull } from "../../design/dates";
import { copyText } from "../../shared/browser";
import { Failed, send } from "../api";
import { moment } from "../format";
import { ResearcherContext } from "../researcher";

type Method = "POST" | "PUT" | "DELETE";
/** Does something at an address, and returns whether it was done. */
export type Act = (method: Method, address: string, body?: unknown) => Promise<boolean>;

/** The parts of the answers that hold a secret. */
interface Made {
  name: string;
  token?: string;
  link?: string | null;
  link_expires_at?: string | null;
  mailed?: boolean;
  mail_failure?: string | null;
}

/** Does something, and keeps the secret that it answers, shown once, or the reason why it failed. */
export function useAction() {
  const { token } = useContext(ResearcherContext);
  const [made, setMade] = useState<Made | null>(null);
  const [complaint, setComplaint] = useState("");
  const act: Act = async (method, address, body) => {
    setComplaint("");
    try {
      const answer = (await send(method, address, body, token)) as Made | null;
      setMade(answer?.link || answer?.token ? answer : null);
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
      <div role="status">{made && <Secret key={made.link ?? made.token} made={made} />}</div>
    </>
  );
  return { act, shown };
}

function Secret({ made }: { made: Made }) {
  const [copied, setCopied] = useState(false);
  const text = made.link ?? made.token ?? "";
  return (
    <div class="box secret">
      <p class="label">{made.link ? `Invitation link for ${made.name}` : `Token ${made.name}`}</p>
      <p class="copy">
        <code>{text}</code>
        <Button kind="quiet" onClick={() => void copyText(text, null).then(setCopied)}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </p>
      <p class="soft small">{aboutOf(made)}</p>
      {made.mail_failure && (
        <p class="failure">The e-mail could not be sent: {made.mail_failure}. Copy the link instead.</p>
      )}
    </div>
  );
}

/** How long a secret is good for, and where it was sent, in words. */
export function aboutOf({ name, link, link_expires_at: until, mailed }: Made): string {
  if (!link) {
    return "Copy it now: it is not shown again.";
  }
  const sent = mailed ? `Sent to ${name}. ` : "";
  const expiry = until ? `, until ${inFull(moment(until))}` : "";
  return `${sent}It works once${expiry}, to choose a password. It is not shown again; you can revoke it in the list.`;
}
