/**
 * Bytes, or places, that client addresses may have in a thread: of one pool each address has at most as much as is free beside it. So one
 * has half at most, two have a third each, and whoever comes next finds as much free as any of them holds. Nothing is set aside per
 * address, and behind a proxy, where all have one, half is to be used.
 */
export class SharedBytes {
  readonly #total: number
  readonly #held = new Map<string, number>()
  #used = 0

  constructor(total: number) {
    this.#total = total
  }

  get used(): number {
    return this.#used
  }

  /** Takes `bytes` for an address, or nothing: `share`, it has what one may have; `full`, there is no room for anybody. */
  take(address: string, bytes: number): 'taken' | 'share' | 'full' {
    if (this.#used + bytes > this.#total) return 'full'
    const held = (this.#held.get(address) ?? 0) + bytes
    if (held > this.#total - this.#used) return 'share'
    this.#held.set(address, held)
    this.#used += bytes
    return 'taken'
  }

  give(address: string, bytes: number): void {
    const held = (this.#held.get(address) ?? 0) - bytes
    if (held > 0) this.#held.set(address, held)
    else this.#held.delete(address)
    this.#used -= bytes
  }
}
