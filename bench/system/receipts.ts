/**
 * A day of keyed orders: 1,000 a second for 24 hours of sequenced time, in three processes that each hold a state, as the matcher and its
 * two followers do, with one directory for the pages of receipts; then an hour more, in which as many are dropped as come. The shipped
 * genesis, 4,096 accounts in turn. Signatures, journal and history are left out: the engine is applied as quickly as it goes.
 *
 * Figures: what a receipt takes in memory (of one process) and on disk, the memory of all processes together, ns a keyed order, repeats of
 * keys of the whole day (most of them read from the files), and a snapshot of it. Memory is what the kernel calls PSS: pages of processes,
 * shared ones counted once. Files of receipts are not in it: they are written and read, not mapped, and the kernel's copies of them
 * (page cache) go when somebody needs the memory. `gibibytesWithFiles` is what it were if all of them stayed.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pageFilesBytes, receiptDirectory } from '../../core/lib/page_files.ts'
import { amount, type Result } from '../result.ts'
import type { ReceiptsAsk, ReceiptsSaid } from './receipts_thread.ts'

const START_TIME = Date.UTC(2026, 0, 1)
const PROCESSES = 3
const DAY = 86_400_000
const REPEATS = 100_000

/** Bytes of memory of a process; what several share is divided among them. */
const memoryOf = (pid: number): number => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) * 1024

async function ask(processes: readonly ChildProcess[], what: ReceiptsAsk): Promise<ReceiptsSaid[]> {
  return Promise.all(processes.map(async (process) => {
    const answer = once(process, 'message')
    process.send(what)
    const said = (await answer)[0] as ReceiptsSaid
    if (said.wrong !== 0) throw new Error(`${said.wrong} answers of ${JSON.stringify(what)} are wrong`)
    return said
  }))
}

const nsEach = (said: readonly ReceiptsSaid[], count: number): number => (Math.max(...said.map(({ ms }) => ms)) * 1e6) / count

export async function run(): Promise<Result> {
  const orders = amount(DAY, 400_000)
  const genesis = join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json')
  const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  const processes = Array.from({ length: PROCESSES }, () =>
    fork(join(import.meta.dirname, 'receipts_process.ts'), [genesis, dataDir, String(START_TIME)]))
  const pids = processes.map(({ pid }) => pid!)
  const memory = (): number => pids.reduce((sum, pid) => sum + memoryOf(pid), 0)
  try {
    await ask(processes, { what: 'fill', orders: 1000 })
    const before = memory()
    const tenth = await ask(processes, { what: 'fill', orders: Math.floor(orders / 10) - 1000 })
    const atTenth = memory()
    const filled = await ask(processes, { what: 'fill', orders: orders - Math.floor(orders / 10) })
    const after = memory()
    const disk = pageFilesBytes(receiptDirectory(dataDir))
    const on = await ask(processes, { what: 'fill', orders: Math.floor(orders / 24) })
    const later = memory()
    const diskLater = pageFilesBytes(receiptDirectory(dataDir))
    const repeated = await ask(processes, { what: 'repeat', orders: REPEATS })
    const [snapshot] = await ask([processes[1]!], { what: 'snapshot' })
    const [loaded] = await ask([processes[1]!], { what: 'load' })
    const { kept } = on[0]!
    return {
      name: 'receipts',
      settings: { orders, perSecond: 1000, processes: PROCESSES, accounts: 4096 },
      figures: {
        kept, bytesOfMemory: (after - before) / PROCESSES / orders, bytesOfDisk: disk / orders,
        gibibytesBefore: before / 2 ** 30, gibibytesAtATenth: atTenth / 2 ** 30,
        gibibytes: after / 2 ** 30, gibibytesAnHourLater: later / 2 ** 30, gibibytesOfFiles: disk / 2 ** 30,
        gibibytesWithFiles: (later + diskLater) / 2 ** 30,
        nsPerOrderFirstTenth: nsEach(tenth, Math.floor(orders / 10) - 1000), nsPerOrder: nsEach(filled, orders - Math.floor(orders / 10)),
        nsPerOrderWithDrops: nsEach(on, Math.floor(orders / 24)), nsPerRepeat: nsEach(repeated, REPEATS),
        snapshotSeconds: snapshot!.ms / 1000, snapshotMebibytes: snapshot!.bytes / 2 ** 20, loadSeconds: loaded!.ms / 1000,
      },
      targets: [
        { figure: 'kept', atLeast: Math.min(orders, DAY), unit: 'receipts' },
        { figure: 'gibibytesAnHourLater', atMost: 6, unit: 'GiB' },
      ],
    }
  } finally {
    for (const process of processes) process.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
