/**
 * The memory model of the language, small enough to try everything: two threads of a few accesses each, and every outcome that the
 * specification of ECMAScript (Memory Model) allows, whatever order a processor or compiler may give them.
 *
 *   load, store, change   `Atomics`: one order of all of them, which the order of each thread is part of; a read gets what was written
 *                         last before it in that order. Read from another thread's write, all that this thread did before the write
 *                         happens before all that the reader does afterwards.
 *   write, read           plain words: a read may get any write to its place that does not happen after it and was not followed by
 *                         another that happens before it. Two reads of one place may get them in any order.
 *
 * A place that is written plainly is read plainly here even by `load`: an atomic read of a plain write orders nothing.
 */
export interface Access {
  readonly kind: 'load' | 'store' | 'change' | 'write' | 'read'
  readonly place: string
  /** What a store or a write leaves; what a change makes of what was there. */
  readonly value?: number
  readonly change?: (before: number) => number
}

export const load = (place: string): Access => ({ kind: 'load', place })
export const store = (place: string, value: number): Access => ({ kind: 'store', place, value })
export const change = (place: string, by: (before: number) => number): Access => ({ kind: 'change', place, change: by })
export const write = (place: string, value: number): Access => ({ kind: 'write', place, value })
export const read = (place: string): Access => ({ kind: 'read', place })

/** What the reads of each thread got, in their order: of a load, a change (what was there before) or a read. */
export type Outcome = readonly (readonly number[])[]

interface Event extends Access {
  readonly thread: number
  /** Its place among the accesses of its thread. */
  readonly index: number
}

/** Calls `seen` with every outcome, possibly several times with the same. All places hold 0 in the beginning. */
export function everyOutcome(threads: readonly (readonly Access[])[], seen: (outcome: Outcome) => void): void {
  const plain = new Set(threads.flat().filter(({ kind }) => kind === 'write').map(({ place }) => place))
  const isPlain = ({ kind, place }: Access): boolean => kind === 'write' || kind === 'read' || (kind === 'load' && plain.has(place))
  const events = threads.map((accesses, thread) => accesses.map((access, index): Event => ({ ...access, thread, index })))
  const atomics = events.map((own) => own.filter((event) => !isPlain(event)))
  const order: Event[] = []
  const merge = (taken: readonly number[]): void => {
    const left = taken.some((count, thread) => count < atomics[thread]!.length)
    if (!left) return withOrder(events, order, isPlain, seen)
    taken.forEach((count, thread) => {
      const next = atomics[thread]![count]
      if (next === undefined) return
      order.push(next)
      merge(taken.map((each, of) => (of === thread ? each + 1 : each)))
      order.pop()
    })
  }
  merge(threads.map(() => 0))
}

/** Every outcome under one order of the atomics. */
function withOrder(
  events: readonly (readonly Event[])[], order: readonly Event[], isPlain: (access: Access) => boolean, seen: (outcome: Outcome) => void,
): void {
  const last = new Map<string, { event: Event; value: number }>()
  const got = new Map<Event, number>()
  /** For each thread and access: how many accesses of each thread happen before it. */
  const before = events.map((own) => own.map(({ thread, index }) => events.map((_, of) => (of === thread ? index : 0))))
  for (const event of order) {
    const { kind, place, thread, index } = event
    const from = last.get(place)
    if (kind !== 'store') {
      got.set(event, from?.value ?? 0)
      if (from !== undefined && from.event.thread !== thread) {
        const known = before[from.event.thread]![from.event.index]!
        for (let later = index; later < events[thread]!.length; later++) {
          const clock = before[thread]![later]!
          known.forEach((count, of) => (clock[of] = Math.max(clock[of]!, count)))
          clock[from.event.thread] = Math.max(clock[from.event.thread]!, from.event.index + 1)
        }
      }
    }
    if (kind !== 'load') last.set(place, { event, value: kind === 'store' ? event.value! : event.change!(from?.value ?? 0) })
  }
  const happensBefore = (a: Event, b: Event): boolean => before[b.thread]![b.index]![a.thread]! > a.index
  const all = events.flat()
  const reads = all.filter((event) => isPlain(event) && event.kind !== 'write')
  const choices = reads.map((event) => {
    const writes = all.filter(({ kind, place }) => kind === 'write' && place === event.place)
    const known = writes.filter((each) => happensBefore(each, event))
    const hidden = (each: Event): boolean => known.some((later) => happensBefore(each, later))
    const values = writes.filter((each) => !happensBefore(event, each) && !hidden(each)).map(({ value }) => value!)
    return known.length === 0 ? [0, ...values] : values
  })
  const choose = (at: number): void => {
    if (at === reads.length) {
      return seen(events.map((own) => own.flatMap((event) => (event.kind === 'write' || event.kind === 'store' ? [] : [got.get(event)!]))))
    }
    for (const value of choices[at]!) {
      got.set(reads[at]!, value)
      choose(at + 1)
    }
  }
  choose(0)
}

/** What `run` does with `Atomics`, in order. `note` is called with each access before it is done. */
export function recordAtomics(
  run: () => void, note: (kind: 'load' | 'store' | 'change', words: object, at: number, value: number | bigint | undefined) => void,
): void {
  const names = { load: 'load', store: 'store', add: 'change', exchange: 'change', sub: 'change', compareExchange: 'change' } as const
  const originals = Object.keys(names).map((name) => [name, Atomics[name as keyof typeof names]] as const)
  try {
    for (const [name, original] of originals) {
      const wrapped = (words: Int32Array, at: number, value: number): unknown => {
        note(names[name as keyof typeof names], words, at, value)
        return (original as (...args: unknown[]) => unknown).call(Atomics, words, at, value)
      }
      Object.assign(Atomics, { [name]: wrapped })
    }
    run()
  } finally {
    for (const [name, original] of originals) Object.assign(Atomics, { [name]: original })
  }
}
