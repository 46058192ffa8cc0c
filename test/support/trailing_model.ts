/**
 * Trailing stops of one perpetual as anybody would write them: an array of stops, each with its best mark since it was armed, and a list of
 * marks, each of which is held against all of them. It knows nothing of the engine (core/margin/trails.ts), nor of the naive exchange.
 */

export interface Stop {
  /** The sequence that made it. */
  readonly made: number
  readonly long: boolean
  readonly bps: number
  /** 0: none. */
  readonly activation: number
  /** Best mark since it was armed; 0: it is not. */
  best: number
  /** Sequence behind which it sees marks: of its command, or of the mark that armed it. */
  since: number
  /** Of those that one mark armed: the last one is 1 less than the one before. */
  turn: number
}

export interface Done { stop: Stop; what: 'FIRED' | 'ARMED' }

export class TrailingModel {
  stops: Stop[] = []
  private marks: { sequence: number; price: number }[] = []
  private turns = 0

  /** A stop that is made by the command of this sequence; `mark`: what there is then, 0 when it does not count. */
  add(made: number, long: boolean, bps: number, activation: number, mark: number): Stop {
    const armed = mark !== 0 && (activation === 0 || (long ? mark >= activation : mark <= activation))
    const stop = { made, long, bps, activation, best: armed ? mark : 0, since: made, turn: 0 }
    this.stops.push(stop)
    return stop
  }

  remove(stop: Stop): void {
    this.stops = this.stops.filter((each) => each !== stop)
  }

  /** A mark that counts. */
  mark(sequence: number, price: number): void {
    this.marks.push({ sequence, price })
  }

  /** The first tick at which it fires: best x (10^4 -+ bps) / 10^4, in favour of the position. 0: it is not armed. */
  static tick({ long, best, bps }: Pick<Stop, 'long' | 'best' | 'bps'>): number {
    const product = BigInt(best) * BigInt(long ? 10_000 - bps : 10_000 + bps)
    return Number(long ? product / 10_000n : (product + 9_999n) / 10_000n)
  }

  /** The next thing that the marks lead to; null: nothing, and all were looked at. */
  next(): Done | null {
    for (; this.marks.length > 0; this.marks.shift()) {
      const { sequence, price } = this.marks[0]!
      const seeing = this.stops.filter(({ since }) => since < sequence)
      // What is met at its price or below comes before what is met at its price or above.
      const done = firstOf(seeing, price, false) ?? firstOf(seeing, price, true)
      if (done !== null) {
        if (done.what === 'FIRED') this.remove(done.stop)
        else Object.assign(done.stop, { best: price, since: sequence, turn: --this.turns })
        return done
      }
      for (const stop of seeing) {
        if (stop.best !== 0 && (stop.long ? price > stop.best : price < stop.best)) stop.best = price
      }
    }
    return null
  }
}

/** Where a stop is met: its tick, or its activation price; without one, by anything. */
const metAt = (stop: Stop, above: boolean): number => {
  if (stop.best !== 0) return TrailingModel.tick(stop)
  return stop.activation !== 0 ? stop.activation : above ? 0 : Infinity
}

/** What a price meets first from one side: longs fire below and are armed above, shorts the other way round. */
function firstOf(stops: readonly Stop[], price: number, above: boolean): Done | null {
  const met = stops.filter((stop) => (stop.best === 0) === (stop.long === above))
    .filter((stop) => (above ? price >= metAt(stop, above) : price <= metAt(stop, above)))
  // Of armed stops of one distance the one that was armed first.
  const isBehind = (a: Stop, b: Stop): boolean =>
    a.best !== 0 && b.best !== 0 && a.bps === b.bps && (a.since > b.since || (a.since === b.since && a.turn > b.turn))
  const first = met.filter((stop) => !met.some((other) => isBehind(stop, other))).sort((a, b) => {
    const [one, other] = [metAt(a, above), metAt(b, above)]
    return one === other ? a.made - b.made : (one < other) === above ? -1 : 1
  })[0]
  return first === undefined ? null : { stop: first, what: first.best === 0 ? 'ARMED' : 'FIRED' }
}
