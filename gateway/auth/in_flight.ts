/** How much is under way at once: in all, and for one wallet address, so that one wallet cannot take the room of all. */
import { IN_FLIGHT_PER_ADDRESS } from './challenge.ts'

export interface InFlight {
  /** Takes a place; false, and nothing taken, at a bound. */
  enter(address: string): boolean
  /** Gives back a place that was taken. */
  leave(address: string): void
  readonly size: number
}

export function createInFlight(most: number): InFlight {
  const perAddress = new Map<string, number>()
  let size = 0
  return {
    enter(address) {
      const ofAddress = perAddress.get(address) ?? 0
      if (size >= most || ofAddress >= IN_FLIGHT_PER_ADDRESS) return false
      size++
      perAddress.set(address, ofAddress + 1)
      return true
    },
    leave(address) {
      size--
      const left = perAddress.get(address)! - 1
      if (left === 0) perAddress.delete(address)
      else perAddress.set(address, left)
    },
    get size() {
      return size
    },
  }
}
