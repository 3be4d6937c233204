import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Button } from "../../design/Button";
import { AccountContext, may } from "../account";

interface RowProps {
  bot: string;
  /** Where it comes from, and where the study has it. */
  about: string;
  /** What opens a chat with it; left out where no bot answers. */
  onTry?: () => void;
  /** Further actions. */
  children?: ComponentChildren;
  /** Its state in a few words. */
  check?: ComponentChildren;
  /** What a check has found. */
  found?: ComponentChildren;
}

/** A bot on a line: its name and state, what can be done with it, and what was found. */
export function BotRow({ bot, about, onTry, children, check, found }: RowProps) {
  const mayTry = may(useContext(AccountContext), "rehearse");
  return (
    <li class="bot-row">
      <div class="bot-name">
        <div class="bot-title">
          <code>{bot}</code>
          {check}
        </div>
        {about && <p class="soft small">{about}</p>}
      </div>
      <div class="bot-actions">
        {onTry && mayTry && (
          <Button kind="secondary" onClick={onTry}>
            Try
            <span class="unseen"> {bot}</span>
          </Button>
        )}
        {children}
      </div>
      {found && <div class="bot-found">{found}</div>}
    </li>
  );
}
