import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { copyText } from "../shared/browser";

interface Props {
  /** What the link leads to, for who cannot see where the button stands. */
  of: string;
  link: string;
  /** Show where it leads in few letters: the list has many. */
  short?: boolean;
}

/** A link to be given away, with a button that copies it. */
export function CopyLink({ of, link, short }: Props) {
  const anchor = useRef<HTMLAnchorElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (await copyText(link, anchor.current)) {
      setCopied(true);
    }
  };
  return (
    <p class={short ? "copy copy-short" : "copy"}>
      {!short && <span class="label">Workers’ link</span>}
      <a ref={anchor} href={link} target="_blank" rel="noreferrer">
        {short ? new URL(link).pathname : link}
      </a>
      <Button kind="quiet" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy"}
        <span class="unseen"> the workers’ link of {of}</span>
      </Button>
    </p>
  );
}
