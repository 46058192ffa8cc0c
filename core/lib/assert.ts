/** A broken invariant: the state cannot be trusted, so the process must stop. Never used for bad input. */
export class InvariantBroken extends Error {
  override name = 'InvariantBroken'
}

/** Stops the caller when `condition` is false. Stays on in production. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}
