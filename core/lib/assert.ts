/** A broken invariant: the state cannot be trusted, so the process must stop. Never used for bad input. */
export class InvariantBroken extends Error {
  override name = 'InvariantBroken'
}

/** Stops the caller with the number of the invariant that does not hold. */
export function broken(invariant: string, message: string): never {
  throw new InvariantBroken(`${invariant}: ${message}`)
}

/** Stops the caller when `condition` is false. Stays on in production. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}
