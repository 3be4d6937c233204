import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { inLocalStorage } from "../shared/storage";
import { useTexts } from "./hooks";

const WANTED = "sound";
const SECONDS = 0.3;
let audio: AudioContext | null = null;

/** Offer a sound for replies that come while another tab is in front. The choice is kept in this browser. */
export function ReplySound({ replies }: { replies: number }) {
  const { say } = useTexts();
  const kept = inLocalStorage("candor:");
  const [wanted, setWanted] = useState(() => kept.get<boolean>(WANTED) ?? false);
  const known = useRef(replies);
  useLayoutEffect(() => {
    if (wanted && replies > known.current && document.visibilityState !== "visible") {
      beep();
    }
    known.current = replies;
  }, [wanted, replies]);
  if (!("AudioContext" in window)) {
    return null;
  }
  const choose = (wants: boolean) => {
    kept.set(WANTED, wants);
    setWanted(wants);
    if (wants) {
      beep();
    }
  };
  return (
    <label class="tick small chat-sound">
      <input type="checkbox" checked={wanted} onChange={(event) => choose(event.currentTarget.checked)} />
      <span>{say("chat.sound")}</span>
    </label>
  );
}

/** Play a short tone. Browsers allow it once the worker has pressed something on the page. */
function beep(): void {
  try {
    audio ??= new AudioContext();
    void audio.resume().catch(() => undefined);
    const [tone, volume, now] = [audio.createOscillator(), audio.createGain(), audio.currentTime];
    tone.frequency.value = 660;
    volume.gain.setValueAtTime(0.15, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + SECONDS);
    tone.connect(volume).connect(audio.destination);
    tone.start(now);
    tone.stop(now + SECONDS);
  } catch {
    // Where there is nothing to play it on, the tab's title still says that a reply has come.
  }
}
