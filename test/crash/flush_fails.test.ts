/**
 * Promise: a commit whose flush fails is no commit. Whether the disk fails while pages are written, while they are flushed, or with LMDB's
 * meta page; at the first commit of a directory's life or at a later one: nothing of that batch is answered, the process ends with its
 * code, and the next start goes on from what was answered.
 *
 * strace makes the k-th call of the thread that commits fail. At many points in a small process (support/committing.ts), at one in the
 * whole exchange; test/torture/system_calls.torture.ts does it to the exchange over and over.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { dataFile, journalPath } from '../../core/journal/file.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { verdictOf } from '../../core/supervisor/ending.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { failing, reasonToSkip } from '../support/strace.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const skip = reasonToSkip()
const program = join(import.meta.dirname, '..', 'support', 'committing.ts')

/** Client order ids of all orders in the journal that look like this. */
function recorded(dataDir: string, pattern: RegExp): string[] {
  return [...openSource(dataDir).steps].flatMap(({ command }) => pattern.exec(command.toString('latin1'))?.[0] ?? [])
}

/**
 * Points one after the other on one directory, as strace counts them. A first start commits the head record, the genesis and the head
 * record of the next writer; from the 4th on it is a sign-in, a faucet request and orders. A later start commits its head record first.
 */
const POINTS = [
  'fdatasync:error=EIO:when=1', 'fdatasync:error=EIO:when=2', 'fdatasync:error=ENOSPC:when=3', 'fdatasync:error=EIO:when=5',
  'pwrite64:error=EIO:when=10', 'pwrite64:error=ENOSPC:when=13',
]

t.test('flushes and writes that fail at several points', { skip }, async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  mkdirSync(journalPath(dataDir))
  const run = (before: readonly string[], round: number): { code: number; answered: string[]; last: string } => {
    const [command, ...words] = [...before, process.execPath, '--disable-warning=ExperimentalWarning', program, dataDir, '8', String(round)]
    const { status, signal, stdout } = spawnSync(command!, words, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } })
    // As the supervisor sees it: a code that was announced counts, whatever native clean-up does afterwards.
    const said = /^code (\d+)$/m.exec(stdout)?.[1]
    const { code } = verdictOf({ code: status, signal, said: said === undefined ? null : Number(said), text: '' })
    const lines = stdout.trim().split('\n')
    return { code, answered: lines.flatMap((line) => /^answered (.*)$/.exec(line)?.[1] ?? []), last: lines.at(-1)! }
  }
  const answered: string[] = []
  POINTS.forEach((point, round) => {
    const each = run(failing(dataFile(dataDir), [point]), round)
    t.match(each, { code: EXIT.DISK, last: /^stopped .*(Input\/output error|No space left)/ }, point)
    answered.push(...each.answered)
  })
  const whole = run([], POINTS.length)
  t.match(whole, { code: 0, last: 'ended' }, 'the next start goes on')
  answered.push(...whole.answered)
  t.ok(answered.length > 8, `${answered.length} orders were answered`)
  t.same(recorded(dataDir, /r\d+-order-\d+\./), answered, 'those that were answered are in the journal, and no others')
})

t.test('the exchange ends when a flush fails under load', { skip }, async (t) => {
  const dataDir = temporaryDirectory()
  const [flush, orders] = [40, 500]
  mkdirSync(journalPath(dataDir))
  const faults = failing(dataFile(dataDir), [`fdatasync:error=EIO:when=${flush}`])
  const exchange = await startExchange(dataDir, ['--chain', '0', '--grpc-thread', '0', '--gateways', '1'], {}, faults)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { signer } = await newTrader(exchange.baseUrl, 3)
  const client = createClient({ baseUrl: exchange.baseUrl, signer, timeoutMs: 10_000 })
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const acknowledged: string[] = []
  const place = async (trader: number): Promise<void> => {
    for (let number = 0; number < orders; number++) {
      const clientOrderId = `order-${trader}-${number}.`
      await client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000', clientOrderId })
      acknowledged.push(clientOrderId)
    }
  }
  await Promise.all([0, 1, 2].map((trader) => place(trader).catch(() => undefined)))
  t.equal(await exchange.ended, EXIT.DISK, 'its own exit code')
  t.ok(exchange.log.some(({ msg }) => /CommitFailed: Input\/output error/.test(String(msg))), 'and the reason')
  const kept = new Set(recorded(dataDir, /order-\d+-\d+\./))
  t.ok(acknowledged.length > 5, `${acknowledged.length} acknowledged orders`)
  t.same(acknowledged.filter((order) => !kept.has(order)), [], 'each of them is in the journal')
  verify(dataDir, () => undefined)
})
