/**
 * Promise: a journal older than its own snapshot or history is not served. The start ends with the journal's exit code and says which file
 * is older and by how much. The operator may accept the loss by naming the sequence at which the journal ends: it is written into the
 * journal, no order id is given out twice, what knew more is put aside, and the journal replays and verifies from then on.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openJournal } from '../../core/journal/file.ts'
import { SEQUENCES_SKIPPED } from '../../core/recovery/loss.ts'
import { endSequence } from '../../core/journal/reader.ts'
import { verify } from '../../core/replay/verify.ts'
import { openSource, printable } from '../../core/replay/steps.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { historyReached, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

t.setTimeout(900_000)
const FLAGS = ['--chain', '0', '--grpc-thread', '0']

/** The id of a fresh order that rests. */
async function rest(client: Client): Promise<string> {
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000', timeInForce: 'GTC' } as const
  return (await client.CreateOrder(order)).orderId
}

const lastOf = async (directory: string): Promise<number> => {
  const database = openJournal(directory, true)
  const end = endSequence(database)
  await database.close()
  return end
}

/** Expects the start to fail; what it said last. */
async function refused(t: Test, directory: string, flags: string[] = []): Promise<string> {
  const failed = await startExchange(directory, [...FLAGS, ...flags]).then(
    async (exchange) => {
      await exchange.kill()
      return null
    },
    (error: unknown) => error as StartFailed,
  )
  t.ok(failed instanceof StartFailed, 'the start failed')
  t.equal(failed?.code, EXIT.JOURNAL, 'as one of the journal')
  return String(failed?.log.at(-1)?.['msg'])
}

t.test('a journal put back from a copy', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const copy = join(directory, 'copy')
  const first = await startExchange(directory, FLAGS)
  const trader = await newTrader(first.baseUrl, 3)
  const kept = await rest(trader.client)
  await first.stop()
  const end = await lastOf(directory)
  // The journal and its head alone, as somebody copies them; snapshots and history go on.
  cpSync(join(directory, 'journal'), copy, { recursive: true })
  const second = await startExchange(directory, FLAGS)
  const lost = [await rest(signedIn(second, trader)), await rest(signedIn(second, trader))]
  await historyReached(second)
  await second.stop()
  const known = await lastOf(directory)
  rmSync(join(directory, 'journal'), { recursive: true })
  cpSync(copy, join(directory, 'journal'), { recursive: true })

  const words = await refused(t, directory)
  t.match(words, new RegExp(`it ends at sequence ${end}, so ${end + 1} to ${known} are missing`), 'by how much')
  t.match(words, new RegExp(`older than snapshots/0*${known}\\.sqlite \\(${known}\\)`), 'than which snapshot')
  t.match(words, new RegExp(`history\\.sqlite \\(${known}\\)`), 'and than the history')
  t.match(words, new RegExp(`--accept-loss ${end} `), 'and what accepts it')
  t.match(await refused(t, directory, ['--accept-loss', String(known)]), /older than/, 'another sequence does not')
  t.equal(await lastOf(directory), end, 'nothing was written')

  const third = await startExchange(directory, [...FLAGS, '--accept-loss', String(end)])
  t.ok(third.log.some(({ msg }) => String(msg).includes('is accepted and written into the journal')), 'the loss is accepted')
  const fresh = await rest(signedIn(third, trader))
  t.notOk([kept, ...lost].includes(fresh), 'no id is given out twice')
  t.equal((await signedIn(third, trader).GetOrder({ orderId: kept })).orderId, kept, 'what is left is served')
  await historyReached(third)
  t.equal(await third.stop(), EXIT.OK)
  const names = [...readdirSync(directory), ...readdirSync(join(directory, 'snapshots'))]
  const aside = names.filter((name) => name.includes('.lost-after-'))
  t.match(aside.sort().join(), /\.sqlite\.lost-after-.*history\.sqlite\.lost-after-/, 'what knew more is put aside')

  t.ok((await lastOf(directory)) > known + SEQUENCES_SKIPPED, 'sequences go on behind all of them')
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.every(({ verdict }) => verdict === 'ok'), JSON.stringify(verified.snapshots))
  const steps = [...openSource(directory).steps]
  const accepted = steps.filter((step) => printable(step)['command'] === 'ACCEPT_LOSS')
  t.equal(accepted.length, 1, 'the journal says so')
  t.equal(accepted[0]?.sequence, known + SEQUENCES_SKIPPED)
  const fourth = await startExchange(directory, [...FLAGS, '--accept-loss', String(end)])
  t.ok(fourth.log.some(({ msg }) => String(msg).includes('has no effect')), 'the flag is not taken twice')
  t.equal(await fourth.stop(), EXIT.OK)
  t.equal([...openSource(copied(t, directory)).steps].length, steps.length, 'nor the loss')
})

/** The same trader at an exchange that was started again. */
const signedIn = ({ baseUrl }: Exchange, { signer }: Trader): Client => createClient({ baseUrl, signer })

function copied(t: Test, directory: string): string {
  const to = temporaryDirectory()
  t.teardown(() => removeDirectory(to))
  cpSync(join(directory, 'journal'), join(to, 'journal'), { recursive: true })
  return to
}

t.test('a journal that is gone', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const exchange = await startExchange(directory, FLAGS)
  await exchange.stop()
  const end = await lastOf(directory)
  rmSync(join(directory, 'journal'), { recursive: true })
  const words = await refused(t, directory)
  t.match(words, new RegExp(`it ends at sequence 0, so 1 to ${end} are missing`), 'no second genesis beside its snapshot')
})
