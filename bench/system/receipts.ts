/**
 * A day of keyed orders: 1,000 a second for 24 hours of sequenced time, in three processes that each hold a state, as the matcher and its
 * two followers do, with one directory for the pages of receipts; then an hour more, in which as many are dropped as come. The shipped
 * genesis, 4,096 accounts in turn. Signatures, journal and history are left out: the engine is applied as quickly as it goes.
 *
 * Figures: what a receipt takes in memory (of one process) and on disk, the memory of all processes together, ns a keyed order, repeats of
 * keys of the whole day (most of them read from the files), and a snapshot of it.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { amount, type Result } from '../result.ts'
import type { ReceiptsAsk, ReceiptsSaid } from './receipts_thread.ts'

const START_TIME = Date.UTC(2026, 0, 1)
const PROCESSES = 3
const DAY = 86_400_000
const REPEATS = 100_000

/** Bytes of a process in memory: all, and without pages of files. */
function memoryOf(pid: number): { all: number; own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024
  return { all: of('VmRSS'), own: of('VmRSS') - of('RssFile') }
}

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
  const memory = (): number => pids.reduce((sum, pid) => sum + memoryOf(pid).all, 0)
  try {
    await ask(processes, { what: 'fill', orders: 1000 })
    const before = memory()
    const tenth = await ask(processes, { what: 'fill', orders: Math.floor(orders / 10) - 1000 })
    const atTenth = memory()
    const filled = await ask(processes, { what: 'fill', orders: orders - Math.floor(orders / 10) })
    const after = memory()
    const disk = readdirSync(join(dataDir, 'receipts')).reduce((sum, name) => sum + statSync(join(dataDir, 'receipts', name)).size, 0)
    const on = await ask(processes, { what: 'fill', orders: Math.floor(orders / 24) })
    const later = memory()
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
        gibibytes: after / 2 ** 30, gibibytesAnHourLater: later / 2 ** 30,
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
