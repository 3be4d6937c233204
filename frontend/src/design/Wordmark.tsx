/** The product's name, drawn: an open ring that is a speech bubble, with somebody in it. */
export function Wordmark() {
  return (
    <span class="wordmark" translate={false}>
      <svg viewBox="0 0 32 32" aria-hidden="true" fill="none">
        <path
          class="wordmark-ring"
          d="M25.5 8.2A12 12 0 1 0 9.4 26.6L6 30l9.6-2.1a12 12 0 0 0 9.9-5.6"
          stroke-width="4"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
        <circle class="wordmark-dot" cx="16.4" cy="15.4" r="3.4" />
      </svg>
      Candor
    </span>
  );
}
