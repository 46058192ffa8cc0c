/**
 * Waiting: spin a while, then park. A parked thread costs tens of microseconds to wake, a spinning one costs a core.
 *
 * Word WAKE of a consumer is a number that only grows; SLEEPING says that the consumer parks or is about to. A producer that
 * published something calls {@link wake}, which notifies only a sleeping consumer. The order of the sequentially consistent
 * operations makes a lost wake-up impossible:
 *
 *   consumer: SLEEPING = 1; look again; wait(WAKE, seen)       producer: publish; if SLEEPING: WAKE += 1; notify
 *
 * Either the second look sees what was published, or the producer sees SLEEPING and changes WAKE, which ends the wait.
 */
export const WAIT = { WAKE: 0, SLEEPING: 1 } as const
/** Words of a wait cell: a cache line of its own. */
export const WAIT_WORDS = 16

export function wake(cell: Int32Array): void {
  if (Atomics.load(cell, WAIT.SLEEPING) === 0) return
  Atomics.add(cell, WAIT.WAKE, 1)
  Atomics.notify(cell, WAIT.WAKE)
}

/**
 * Waits until `ready` says so or `timeoutMs` passes: `spins` looks, then parked. For threads that may block. `ready` must be
 * one function object for the life of the thread, so that nothing is allocated per wait.
 */
export function waitFor(cell: Int32Array, ready: () => boolean, spins: number, timeoutMs: number): void {
  for (let i = 0; i < spins; i++) if (ready()) return
  const seen = Atomics.load(cell, WAIT.WAKE)
  Atomics.store(cell, WAIT.SLEEPING, 1)
  if (!ready()) Atomics.wait(cell, WAIT.WAKE, seen, timeoutMs)
  Atomics.store(cell, WAIT.SLEEPING, 0)
}
