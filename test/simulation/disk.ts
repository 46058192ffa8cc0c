/**
 * A disk that forgets. What is written stands in the cache, where everybody sees it; what was synced stands on the
 * disk. A power failure leaves of each page that was written since the last sync of its file the old bytes, the new
 * ones, or a mixture by sectors, and of each change of a directory since its last sync either all or nothing. The death
 * of a process leaves the cache as it is.
 *
 * Every operation calls {@link DiskOptions.reached} with its name before and after it takes effect: where crashes
 * happen. A sync may fail, once, as the world decides: what it should have made durable is then durable or not, page by
 * page, and nobody will try again, as Linux does it.
 *
 * What it does not model: a page that is written twice between two syncs and reaches the disk in its first form, bits
 * that rot, and disks that say that they synced. Of bits that rot see test/crash/journal_flips.test.ts.
 */
import type { Prng } from '../../core/lib/prng.ts'

export const PAGE = 4096
const SECTOR = 512

export interface DiskOptions {
  /** Numbers of the seed. */
  readonly random: Prng
  /** An operation is about to happen, or has happened; throws to end what asked for it there. */
  readonly reached: (operation: string) => void
  /** Whether this sync fails. */
  readonly syncFails: (file: string) => boolean
}

/** What a power failure leaves of the pages that were not synced. */
export type Loss = 'all' | 'none' | 'some' | 'torn'
export const LOSSES: readonly Loss[] = ['all', 'none', 'some', 'some', 'torn', 'torn']

/** `bytes` or, when it ends before `end`, a longer copy of whole pages. */
const grown = (bytes: Buffer<ArrayBuffer>, end: number): Buffer<ArrayBuffer> =>
  end <= bytes.length ? bytes : Buffer.concat([bytes], Math.ceil(Math.max(2 * end, 64 * PAGE) / PAGE) * PAGE)

export class SimulatedFile {
  readonly name: string
  readonly #disk: SimulatedDisk
  #cached = Buffer.alloc(0)
  #durable = Buffer.alloc(0)
  #size = 0
  #durableSize = 0
  /** Pages that were written since the last sync. */
  readonly #dirty = new Set<number>()

  constructor(disk: SimulatedDisk, name: string) {
    this.#disk = disk
    this.name = name
  }

  get size(): number {
    return this.#size
  }

  /** A view of the bytes as everybody sees them; shorter at the end of the file. */
  read(at: number, length: number): Buffer {
    return this.#cached.subarray(at, Math.min(this.#size, at + length))
  }

  write(at: number, bytes: Uint8Array): void {
    this.#disk.options.reached(`write ${this.name}`)
    this.#put(at, bytes)
    this.#disk.options.reached(`written ${this.name}`)
  }

  #put(at: number, bytes: Uint8Array): void {
    const end = at + bytes.length
    this.#cached = grown(this.#cached, end)
    this.#cached.set(bytes, at)
    this.#size = Math.max(this.#size, end)
    for (let page = Math.floor(at / PAGE); page * PAGE < end; page++) this.#dirty.add(page)
  }

  /** Makes what was written durable; throws when the disk fails. */
  sync(): void {
    const { reached, syncFails } = this.#disk.options
    reached(`sync ${this.name}`)
    if (syncFails(this.name)) {
      this.#settle('some')
      throw new Error(`EIO: i/o error, fsync of ${this.name}`)
    }
    this.#settle('none')
    reached(`synced ${this.name}`)
  }

  /** Decides of every dirty page what of it is on the disk from now on. */
  #settle(loss: Loss): void {
    const { random } = this.#disk.options
    for (const page of this.#dirty) {
      if (loss === 'all' || (loss !== 'none' && random.below(2) === 0)) continue
      this.#persist(page, loss === 'torn' && random.below(2) === 0)
    }
    this.#dirty.clear()
    if (loss === 'none') this.#durableSize = Math.max(this.#durableSize, this.#size)
  }

  /** Brings a page to the disk; `torn`: only some of its sectors. */
  #persist(page: number, torn: boolean): void {
    const { random } = this.#disk.options
    const end = (page + 1) * PAGE
    this.#durable = grown(this.#durable, end)
    for (let at = page * PAGE; at < end; at += SECTOR) {
      if (torn && random.below(2) === 0) continue
      this.#cached.copy(this.#durable, at, at, at + SECTOR)
    }
    this.#durableSize = Math.max(this.#durableSize, Math.min(end, this.#size))
  }

  /** A copy of what everybody sees now. */
  copy(): Buffer {
    return Buffer.from(this.#cached.subarray(0, this.#size))
  }

  /** Has this content, on the disk too, whatever was written and synced. */
  become(content: Buffer): void {
    this.#dirty.clear()
    this.#cached = Buffer.concat([content], Math.ceil(content.length / PAGE) * PAGE)
    this.#durable = Buffer.from(this.#cached)
    this.#size = this.#durableSize = content.length
  }

  /** What is there when the machine is on again. */
  lose(loss: Loss): void {
    this.#settle(loss)
    this.#size = this.#durableSize
    this.#cached = Buffer.from(this.#durable)
  }
}

export class SimulatedDisk {
  readonly options: DiskOptions
  /** Names as everybody sees them, and as they are on the disk. */
  #files = new Map<string, SimulatedFile>()
  #durable = new Map<string, SimulatedFile>()

  constructor(options: DiskOptions) {
    this.options = options
  }

  names(): string[] {
    return [...this.#files.keys()].sort()
  }

  find(name: string): SimulatedFile | null {
    return this.#files.get(name) ?? null
  }

  /** The file of this name, made if need be. */
  open(name: string): SimulatedFile {
    const found = this.#files.get(name)
    if (found !== undefined) return found
    const file = new SimulatedFile(this, name)
    this.#files.set(name, file)
    return file
  }

  rename(from: string, to: string): void {
    this.options.reached(`rename ${from}`)
    this.#files.set(to, this.#files.get(from)!)
    this.#files.delete(from)
    this.options.reached(`renamed ${to}`)
  }

  remove(name: string): void {
    this.#files.delete(name)
  }

  /** Makes the names durable. */
  syncNames(): void {
    this.options.reached('sync names')
    this.#durable = new Map(this.#files)
    this.options.reached('synced names')
  }

  /** The power fails. */
  fail(loss: Loss): void {
    const { random } = this.options
    if (random.below(2) === 0) this.#files = new Map(this.#durable)
    else this.#durable = new Map(this.#files)
    for (const file of this.#files.values()) file.lose(loss)
  }
}
