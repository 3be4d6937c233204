import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { copyText } from "../shared/copy";

/** A link to be given away, with a button that copies it. */
export function CopyLink({ label, link }: { label: string; link: string }) {
  const anchor = useRef<HTMLAnchorElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (await copyText(link, anchor.current)) {
      setCopied(true);
    }
  };
  return (
    <p class="copy">
      <span class="label">{label}</span>
      <a ref={anchor} href={link} target="_blank" rel="noreferrer">
        {link}
      </a>
      <Button kind="plain" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy"}
      </Button>
    </p>
  );
}
