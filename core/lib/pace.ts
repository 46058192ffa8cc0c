/** Work on a disk that the journal shares, at a bounded rate, so that its fsync does not wait behind it. */

const MIB = 2 ** 20

/** Told what was written; sleeps so that not more than a rate is. */
export interface Pace {
  (bytes: number): void
}

/** At most `mib` MiB a second; `said` hears the bytes so far, about every second. */
export function paceOf(mib: number, said: (bytes: number) => void): Pace {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const started = performance.now()
  let bytes = 0
  let saidAt = started
  return (more) => {
    bytes += more
    const early = started + (bytes / (mib * MIB)) * 1000 - performance.now()
    if (early > 1) Atomics.wait(cell, 0, 0, early)
    if (performance.now() - saidAt < 1000) return
    saidAt = performance.now()
    said(bytes)
  }
}
