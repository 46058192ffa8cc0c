/** Records of 128 bytes through one SPSC ring: a producer thread that publishes each record, a consumer that takes what is there. */
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { attachRing, available, consume, createRing, front, publish, reserve } from '../../core/ring/spsc.ts'
import { amount, median, type Result } from '../result.ts'

const CAPACITY = 8192
const RECORDS = amount(20_000_000, 1_000_000)

/** Writes the records; each carries its number in every word that is checked. */
function produce(buffer: SharedArrayBuffer, records: number, perPublish: number): void {
  const ring = attachRing(buffer)
  const { i32 } = ring.slots
  for (let sent = 0; sent < records; ) {
    let ahead = 0
    while (ahead < perPublish && sent < records) {
      const at = reserve(ring, ahead)
      if (at < 0) break
      for (let word = 0; word < RECORD_WORDS; word++) i32[at + word] = sent
      ahead++
      sent++
    }
    if (ahead > 0) publish(ring, ahead)
  }
}

/** Takes the records, reading every word; seconds it took. */
function take(buffer: SharedArrayBuffer, records: number): number {
  const ring = attachRing(buffer)
  const { i32 } = ring.slots
  const started = performance.now()
  for (let taken = 0; taken < records; ) {
    const waiting = available(ring)
    for (let index = 0; index < waiting; index++, taken++) {
      const at = front(ring, index)
      for (let word = 0; word < RECORD_WORDS; word++) if (i32[at + word] !== taken) throw new Error(`record ${taken} is torn`)
    }
    if (waiting > 0) consume(ring, waiting)
  }
  return (performance.now() - started) / 1000
}

async function measure(perPublish: number): Promise<number> {
  const { buffer } = createRing(CAPACITY)
  const worker = new Worker(new URL(import.meta.url), { workerData: { buffer, records: RECORDS, perPublish } })
  await once(worker, 'message')
  worker.postMessage('go')
  const seconds = take(buffer, RECORDS)
  await once(worker, 'exit')
  return RECORDS / seconds
}

export async function run(): Promise<Result> {
  const single: number[] = []
  const grouped: number[] = []
  for (let round = 0; round < 3; round++) {
    single.push(await measure(1))
    grouped.push(await measure(16))
  }
  return {
    name: 'ring: records between two threads',
    settings: { recordBytes: 128, capacity: CAPACITY, records: RECORDS, rounds: 3, check: 'the consumer compares every word' },
    figures: { 'records/s, publish each': median(single), 'records/s, publish per 16': median(grouped) },
    targets: [{ figure: 'records/s, publish each', atLeast: 4_000_000, unit: 'records/s' }],
  }
}

if (!isMainThread) {
  const { buffer, records, perPublish } = workerData as { buffer: SharedArrayBuffer; records: number; perPublish: number }
  parentPort!.once('message', () => produce(buffer, records, perPublish))
  parentPort!.postMessage('ready')
}
