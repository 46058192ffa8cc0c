/**
 * Snapshots on the simulated disk: written under another name, synced, renamed, the name made durable; as
 * core/snapshot/file.ts does it.
 */
import { drawHashKey } from '../../core/lib/hash_key.ts'
import { loadColumns, storedColumns, type StoredColumn } from '../../core/state/digest.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState, type State } from '../../core/state/state.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import type { SnapshotInfo, SnapshotStore } from '../../core/snapshot/store.ts'
import type { WitnessSource } from '../../core/recovery/witnesses.ts'
import type { SimulatedDisk } from './disk.ts'

const FOLDER = 'snapshots/'
const CHUNK = 1 << 16
const nameOf = (sequence: number): string => `${FOLDER}${String(sequence).padStart(16, '0')}`

interface Described extends SnapshotInfo {
  readonly columns: readonly { readonly name: string; readonly length: number }[]
}

/** Length of the description, the description, then the columns one behind another. */
function encode(state: State, info: SnapshotInfo): Buffer {
  const columns = storedColumns(state)
  const said: Described = { ...info, columns: columns.map(({ name, bytes }) => ({ name, length: bytes.length })) }
  const text = Buffer.from(JSON.stringify(said))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text, ...columns.map(({ bytes }) => Buffer.from(bytes))])
}

export class SimulatedSnapshots implements SnapshotStore {
  readonly #disk: SimulatedDisk

  constructor(disk: SimulatedDisk) {
    this.#disk = disk
  }

  list(): number[] {
    const names = this.#disk.names().filter((name) => /^snapshots\/[0-9]{16}$/.test(name))
    return names.map((name) => Number(name.slice(FOLDER.length))).sort((a, b) => b - a)
  }

  /** Another name for what is put aside; whether it was there. */
  rename(from: string, to: string): boolean {
    if (this.#disk.find(from) === null) return false
    this.#disk.rename(from, to)
    return true
  }

  /** What the matcher asks how far the journal went. */
  sources(): WitnessSource[] {
    return this.list().map((sequence) => ({
      name: nameOf(sequence), path: nameOf(sequence),
      place: () => ({ sequence: sequence + 1, checksum: this.#described(sequence).said.batchChecksum }),
    }))
  }

  #described(sequence: number): { said: Described; body: Buffer } {
    const file = this.#disk.find(nameOf(sequence))!
    const bytes = file.read(0, file.size)
    const length = bytes.readUInt32LE(0)
    return { said: JSON.parse(bytes.toString('utf8', 4, 4 + length)) as Described, body: bytes.subarray(4 + length) }
  }

  load(sequence: number, io: Parameters<SnapshotStore['load']>[1]): { state: State; info: SnapshotInfo } {
    const { said, body } = this.#described(sequence)
    const state = createState(parseGenesis(said.genesis), undefined, drawHashKey(io))
    let at = 0
    const columns: StoredColumn[] = said.columns.map(({ name, length }) => ({ name, bytes: body.subarray(at, (at += length)) }))
    loadColumns(state, columns)
    if (state.clock[CLOCK.SEQUENCE] !== sequence || stateDigest(state) !== said.digest) throw new Error('its digest does not match')
    return { state, info: said }
  }

  write(
    state: State, genesis: string, batchChecksum: number, eventsChecksum: number, between: () => void = () => undefined,
  ): SnapshotInfo {
    const sequence = state.clock[CLOCK.SEQUENCE]!
    const digest = stateDigest(state)
    const info: SnapshotInfo = { sequence, timeMs: state.clock[CLOCK.TIME]!, batchChecksum, eventsChecksum, digest, genesis }
    const unfinished = `${nameOf(sequence)}.unfinished`
    const bytes = encode(state, info)
    this.#disk.remove(unfinished)
    const file = this.#disk.open(unfinished)
    for (let at = 0; at < bytes.length; at += CHUNK) {
      file.write(at, bytes.subarray(at, at + CHUNK))
      between()
    }
    file.sync()
    this.#disk.rename(unfinished, nameOf(sequence))
    this.#disk.syncNames()
    return info
  }

  prune(keep: number): void {
    for (const sequence of this.list().slice(keep)) this.#disk.remove(nameOf(sequence))
    for (const name of this.#disk.names()) if (name.endsWith('.unfinished')) this.#disk.remove(name)
  }
}
