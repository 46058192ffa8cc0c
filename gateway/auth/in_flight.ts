/**
 * How many signatures are being looked at at once: in all, and for one client network. Nobody takes the places of all, and the last tenth
 * is for networks that have almost none.
 *
 * The share is the asking client's and not the named wallet's: whoever names somebody else's wallet uses up places of its own.
 */

/** A network's share is this part of all, and at least {@link SHARE_LEAST}. */
const SHARE_PART = 4
const SHARE_LEAST = 4
const RESERVED_PART = 10
/** A network with fewer than this many may use the reserved places. */
const FEW = 2

export interface InFlight {
  /** Takes a place; false, and nothing taken, at a bound. */
  enter(network: string): boolean
  /** Gives back a place that was taken. */
  leave(network: string): void
  readonly size: number
}

export function createInFlight(most: number): InFlight {
  const perNetwork = new Map<string, number>()
  const share = Math.max(SHARE_LEAST, Math.floor(most / SHARE_PART))
  const common = most - Math.floor(most / RESERVED_PART)
  let size = 0
  return {
    enter(network) {
      const held = perNetwork.get(network) ?? 0
      if (size >= most || held >= share || (size >= common && held >= FEW)) return false
      size++
      perNetwork.set(network, held + 1)
      return true
    },
    leave(network) {
      size--
      const left = perNetwork.get(network)! - 1
      if (left === 0) perNetwork.delete(network)
      else perNetwork.set(network, left)
    },
    get size() {
      return size
    },
  }
}
