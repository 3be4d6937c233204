import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";

/** A link to be given away, with a button that copies it. */
export function CopyLink({ label, link }: { label: string; link: string }) {
  const anchor = useRef<HTMLAnchorElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link);
      setCopied(true);
    } catch {
      // Without https there is no clipboard: select the link, so that the usual keys copy it.
      if (anchor.current) {
        window.getSelection()?.selectAllChildren(anchor.current);
      }
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
