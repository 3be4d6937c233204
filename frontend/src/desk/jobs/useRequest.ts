import { useContext, useState } from "preact/hooks";
import { send, Unauthorised } from "../api";
import { ResearcherContext } from "../researcher";

/** A way to have the server do something, whether it is at it, and why it would not. */
export interface Request {
  busy: boolean;
  failure: string | null;
  /** Post, and return whether it was done; `verb` stands on the button where it has to be confirmed. */
  post: (address: string, body?: unknown, verb?: string) => Promise<boolean>;
}

/** Return a way to post to the researcher's interface, one request at a time. */
export function useRequest(): Request {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const post = async (address: string, body: unknown = {}, verb?: string) => {
    setBusy(true);
    setFailure(null);
    try {
      await send("POST", address, body, token, verb);
      return true;
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      }
      setFailure(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, post };
}
