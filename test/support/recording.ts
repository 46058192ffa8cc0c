/** Command streams kept in memory, so that they can be run again: the commands of a workload and everything the engine said to them. */
import { COMMAND_SLOTS } from '../../core/layout/command.ts'
import { columnsOf, type Column } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { rebuildDerived } from '../../core/state/rebuild.ts'
import { allocateBuffers, columnOf, type Buffers } from '../../core/state/memory.ts'
import { attachState, type State } from '../../core/state/state.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { benchOf, createBench, type Bench } from './naive_compare.ts'
import { Workload } from './workload.ts'
import type { WorkloadOptions } from './workload_options.ts'

export interface Recording {
  text: string
  /** Two slots of room for each. */
  commands: Views
  times: Float64Array
  count: number
  /** Events of each command, as bytes. */
  events: Buffer[]
  /** The state after the last command. */
  state: State
}

const COMMAND_WORDS = COMMAND_SLOTS * RECORD_WORDS

/** Runs `count` commands of a workload and keeps them. */
export function recordWorkload(text: string, seed: number, count: number, options: WorkloadOptions = {}): Recording {
  const bench = createBench(text)
  const workload = new Workload(seed, parseGenesis(text), options)
  const commands = viewsOf(new ArrayBuffer(count * COMMAND_SLOTS * RECORD_BYTES))
  const times = new Float64Array(count)
  const events: Buffer[] = []
  for (let index = 0; index < count; index++) {
    workload.next(commands, index * COMMAND_WORDS)
    times[index] = workload.time
    const records = bench.run(commands, index * COMMAND_WORDS, workload.time)
    events.push(Buffer.from(bench.said.bytes.slice(0, records * RECORD_BYTES).buffer))
    workload.learn(bench.said, records)
  }
  return { text, commands, times, count, events, state: bench.state }
}

/** Runs commands `from`..`to` of a recording; calls `each` with the events of every one. */
export function replay(recording: Recording, bench: Bench, from: number, to: number, each: (index: number, events: Buffer) => void): void {
  for (let index = from; index < to; index++) {
    const records = bench.run(recording.commands, index * COMMAND_WORDS, recording.times[index]!)
    each(index, Buffer.from(bench.said.bytes.buffer, 0, records * RECORD_BYTES))
  }
}

const BYTES = { i32: 4, f64: 8, i64: 8 } as const

/** The bytes of a stored column that a snapshot keeps: the rows ever used. */
export function storedBytes(state: State, column: Column): Buffer {
  const rows = column.used < 0 ? column.rows : state.scalars[column.used]!
  return Buffer.from(columnOf(state.genesis, state.buffers, column.name)).subarray(0, rows * column.stride * BYTES[column.type])
}

export const storedColumns = (state: State): Column[] => columnsOf(state.genesis).filter((column) => !column.derived)

/** A second engine made of the stored columns alone, as a snapshot is loaded; of the genesis in a text, or that of the first one. */
export function copyStored(text: string | null, source: State): Bench {
  const genesis = text === null ? source.genesis : parseGenesis(text)
  const buffers: Buffers = allocateBuffers(genesis)
  for (const column of storedColumns(source)) columnOf(genesis, buffers, column.name).set(storedBytes(source, column))
  const state = attachState(genesis, buffers)
  rebuildDerived(state)
  return benchOf(state)
}
