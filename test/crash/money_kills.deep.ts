/**
 * Promise: whenever the exchange is killed (-9), of every withdrawal exactly one is true, that it was paid or that its funds came back; and
 * every deposit is credited once.
 *
 * Users withdraw, submit or do not submit what they were given, deposit and pay to their own addresses; after some steps, drawn anew each
 * time, the process is killed, with the chain in it. An outside ledger, which knows nothing but what each user got from the faucet, finds
 * it again to the last base unit, on the chain and in the exchange. Then the journal replays, its invariants hold and snapshots have the
 * digest that replay gives. 200 kills.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { verify } from '../../core/replay/verify.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { hubOf } from '../support/money.ts'
import { clientOf, gatherMoney, killWhileMoving, moneyGenesis, settleMoney, stormListener } from '../support/money_storm.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const USERS = 4
/** Most moves between two kills, and kills between two looks of the outside ledger. */
const [MOVES, KILLS] = [10, 5]
const seed = seedOf()
t.setTimeout(0)
t.comment(`seed ${seed}: SEED=${seed} npm run test:deep -- test/crash/money_kills.deep.ts`)

t.test('kill -9 while money moves', async (t) => {
  const random = createPrng(seed).unit
  const directory = temporaryDirectory()
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, moneyGenesis())
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  const flags = ['--genesis', genesis, '--snapshot-every', '25', '--grpc-thread', '0', '--vault', '1', '--settlement-seconds', '1']
  const start = async (): Promise<Exchange> => (running = await startExchange(directory, flags))
  let exchange = await start()
  const storm = await gatherMoney(exchange, USERS)
  const moved = new Map<string, number>()

  const listener = stormListener(t, moved)
  async function strike(): Promise<void> {
    const hub = await hubOf(exchange, clientOf(exchange, storm.traders[0]!))
    await killWhileMoving(exchange, hub, storm, 1 + Math.floor(random() * MOVES), random, listener)
    exchange = await start()
  }
  async function compare(): Promise<void> {
    for (const [name, difference] of await settleMoney(exchange, storm)) t.equal(difference, 0n, `${name}: what was given is there`)
  }
  for (const round of eachRound(t, { short: KILLS, deep: 200 })) {
    await strike()
    if (round % KILLS === KILLS - 1) await compare()
  }
  // Few kills may have met deposits not at all.
  const isBothWays = (): boolean => moved.has('withdrawal') && moved.has('deposit')
  for (let more = 0; more < 20 && !isBothWays(); more++) await strike()
  await compare()
  t.comment([...moved].map(([what, times]) => `${times} x ${what}`).join(', '))
  t.ok(isBothWays(), 'money went both ways')
  t.equal(await exchange.stop(), 0, 'orderly stop')
  running = null
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'snapshots are what replay gives')
})
