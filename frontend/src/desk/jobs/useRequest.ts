import { useContext, useState } from "preact/hooks";
import { Failed, send, Unauthorised } from "../api";
import { ResearcherContext } from "../researcher";

/** A way to have the server do something, whether it is at it, and why it would not. */
export interface Request {
  busy: boolean;
  failure: string | null;
  /** The code of the failure, where the server has given one. */
  code: string | null;
  /** Post, and return whether it was done. */
  post: (address: string, body?: unknown) => Promise<boolean>;
  /** Forget the failure: what it was about has changed. */
  forget: () => void;
}

/** Return a way to post to the researcher's interface, one request at a time. */
export function useRequest(): Request {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [code, setCode] = useState<string | null>(null);
  const forget = () => {
    setFailure(null);
    setCode(null);
  };
  const post = async (address: string, body: unknown = {}) => {
    setBusy(true);
    forget();
    try {
      await send("POST", address, body, token);
      return true;
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      }
      setCode(error instanceof Failed ? error.code : null);
      setFailure(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, code, post, forget };
}
